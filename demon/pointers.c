/* Members that lead to objects: see pointers.h. */
#include "pointers.h"
#include "binary.h"
#include <cli/binary/debug_info.h>
#include <common/text.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the map has room for: those that lead nowhere are left out of it. */
enum { MOST_TYPES = 256, MOST_FIELDS = 2048, MOST_ELEMENTS = 64 };

/* --- Types -------------------------------------------------------------------------------------------------------- */

static bool next_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

/* Where a file only says that there is such a structure, another has its members. */
void demon_pointers_define(Dwarf *dwarf, Dwarf_Die *structure)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    Dwarf_Attribute signature;
    if (dwarf_attr(structure, DW_AT_signature, &signature) && dwarf_formref_die(&signature, structure))
        return;
    const char *name = dwarf_diename(structure);
    const int tag = dwarf_tag(structure);
    if (!name || !dwarf_hasattr(structure, DW_AT_declaration))
        return;
    for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next) {
        Dwarf_Die unit, child;
        if (!dwarf_offdie(dwarf, offset + header, &unit))
            continue;
        for (int more = dwarf_child(&unit, &child); !more; more = dwarf_siblingof(&child, &child)) {
            const char *is = dwarf_tag(&child) == tag ? dwarf_diename(&child) : NULL;
            if (is && !strcmp(is, name) && !dwarf_hasattr(&child, DW_AT_declaration)) {
                *structure = child;
                return;
            }
        }
    }
}

bool demon_pointers_offset(Dwarf_Die *member, uint32_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0;
    if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration) ||
        (dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &at)) ||
        at > INT32_MAX)
        return false;
    *offset = (uint32_t)at;
    return true;
}

uint32_t demon_pointers_elements(Dwarf_Die *array)
{
    Dwarf_Die child;
    uint64_t count = 1;
    for (int more = dwarf_child(array, &child); !more; more = dwarf_siblingof(&child, &child)) {
        Dwarf_Attribute attribute;
        Dwarf_Word number = 0;
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (dwarf_attr_integrate(&child, DW_AT_count, &attribute))
            dwarf_formudata(&attribute, &number);
        else if (dwarf_attr_integrate(&child, DW_AT_upper_bound, &attribute) && !dwarf_formudata(&attribute, &number))
            number++;
        if (number > UINT32_MAX)
            return 0;
        count *= number;
    }
    return count <= UINT32_MAX ? (uint32_t)count : 0;
}

/* What tells structures of one name apart: their size, and where which members are. */
static uint64_t layout_of(Dwarf_Die *structure)
{
    const uint64_t prime = UINT64_C(0x100000001b3); /* FNV-1a */
    Dwarf_Die child;
    Dwarf_Word size = 0;
    uint32_t at;
    dwarf_aggregate_size(structure, &size);
    uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ size;
    for (int more = dwarf_child(structure, &child); !more; more = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_member || !demon_pointers_offset(&child, &at))
            continue;
        const char *name = dwarf_diename(&child);
        for (; name && *name; name++)
            sum = (sum ^ (unsigned char)*name) * prime;
        sum = (sum ^ at) * prime;
    }
    return sum;
}

/* Files and classes may have structures of their own that are called the same: others than the first have a number
 * behind it. All that is asked in a process is of one program. */
static void put_name(struct demon_structure *s, const char *name)
{
    enum { MOST_LAYOUTS = 512 };
    static struct {
        char name[DEMON_NAME];
        uint64_t layout;
    } known[MOST_LAYOUTS];
    static uint32_t count;
    uint32_t same = 0, i = 0;
    snprintf(s->name, sizeof s->name, "%s", name);
    if (dwarf_hasattr(&s->die, DW_AT_declaration))
        return;
    const uint64_t layout = layout_of(&s->die);
    for (; i < count; i++) {
        if (strcmp(known[i].name, s->name) != 0)
            continue;
        if (known[i].layout == layout)
            break;
        same++;
    }
    if (i == count && count < MOST_LAYOUTS) {
        memcpy(known[count].name, s->name, DEMON_NAME);
        known[count++].layout = layout;
    }
    if (same)
        snprintf(s->name, sizeof s->name, "%.*s (%u)", DEMON_NAME - 16, name, same + 1);
}

static void finish_structure(Dwarf *dwarf, const char *alias, struct demon_structure *s)
{
    demon_pointers_define(dwarf, &s->die);
    const char *name = dwarf_diename(&s->die);
    if (name || alias)
        put_name(s, name ? name : alias);
    else
        snprintf(s->name, sizeof s->name, "(no name, %llx)", (unsigned long long)dwarf_dieoffset(&s->die));
}

/* A pointer that something points to. False: it does not lead to a structure. */
static bool finish_pointer(Dwarf *dwarf, Dwarf_Die *pointer, struct demon_structure *s)
{
    struct demon_structure to;
    if (!demon_pointers_of_type(dwarf, pointer, &to) || strlen(to.name) + 3 > sizeof s->name)
        return false;
    s->die = *pointer;
    s->plain = true;
    snprintf(s->name, sizeof s->name, "%.*s%s", DEMON_NAME - 3, to.name, to.plain ? "*" : " *");
    return true;
}

bool demon_pointers_of_type(Dwarf *dwarf, Dwarf_Die *first, struct demon_structure *s)
{
    const char *alias = NULL; /* the last typedef's name */
    Dwarf_Die type = *first;
    Dwarf_Word size = sizeof(uint64_t);
    *s = (struct demon_structure){ .elements = 1 };
    do {
        switch (dwarf_tag(&type)) {
        case DW_TAG_typedef:
            alias = dwarf_diename(&type);
            break;
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            break;
        case DW_TAG_array_type:
            if (s->pointer || s->array)
                return false;
            s->elements = demon_pointers_elements(&type);
            s->array = true;
            break;
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
            s->stride = s->behind = sizeof(uint64_t);
            if (s->pointer)
                return finish_pointer(dwarf, &type, s);
            s->pointer = true;
            alias = NULL;
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            s->die = type;
            finish_structure(dwarf, alias, s);
            size = 0;
            if (dwarf_aggregate_size(&s->die, &size) && !s->pointer)
                return false;
            s->behind = (uint32_t)size;
            s->stride = s->pointer ? s->stride : (uint32_t)size;
            return true;
        default:
            return false;
        }
    } while (next_type(&type, &type));
    s->any = s->pointer; /* to void */
    s->stride = (uint32_t)size;
    return false;
}

bool demon_pointers_structure(Dwarf *dwarf, Dwarf_Die *variable, struct demon_structure *s)
{
    Dwarf_Die type;
    *s = (struct demon_structure){ .elements = 1 };
    return next_type(variable, &type) && demon_pointers_of_type(dwarf, &type, s);
}

bool demon_pointers_named(Dwarf *dwarf, const char *name, struct demon_structure *s, const char **nearest)
{
    Dwarf_Off offset = 0, next;
    size_t header, count = 0;
    const char *names[1024];
    for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next) {
        Dwarf_Die unit, child;
        if (!dwarf_offdie(dwarf, offset + header, &unit))
            continue;
        for (int more = dwarf_child(&unit, &child); !more; more = dwarf_siblingof(&child, &child)) {
            const int tag = dwarf_tag(&child);
            const bool may = tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_typedef;
            const char *is = may ? dwarf_diename(&child) : NULL;
            if (is && !strcmp(is, name) && demon_pointers_of_type(dwarf, &child, s) && !s->pointer && !s->array)
                return true;
            if (is && count < sizeof names / sizeof *names)
                names[count++] = is;
        }
    }
    *nearest = pct_text_closest(name, names, count);
    return false;
}

/* --- The map ------------------------------------------------------------------------------------------------------ */

struct maker {
    Dwarf *dwarf;
    const struct demon_spec *spec;
    struct {
        char name[DEMON_NAME];
        Dwarf_Die die;
        bool wanted, leads; /* to one that is wanted */
        uint32_t number;    /* in the map */
    } type[MOST_TYPES];
    uint32_t types;
    struct pct_demon_field field[MOST_FIELDS];
    char name[MOST_FIELDS][DEMON_NAME];
    uint32_t member[MOST_FIELDS]; /* of a container: the type of what is pointed to */
    uint32_t fields;
    bool cut;
};

static uint32_t find_type(const struct maker *m, const char *name)
{
    for (uint32_t i = 0; i < m->types; i++)
        if (!strcmp(m->type[i].name, name))
            return i;
    return PCT_DEMON_ANY;
}

static uint32_t add_type(struct maker *m, const char *name, const Dwarf_Die *die)
{
    uint32_t number = find_type(m, name);
    if (number != PCT_DEMON_ANY)
        return number;
    m->cut |= m->types == MOST_TYPES;
    if (m->types == MOST_TYPES)
        return PCT_DEMON_ANY;
    memcpy(m->type[m->types].name, name, DEMON_NAME);
    m->type[m->types].die = *die;
    return m->types++;
}

/* What this member, or (without a name) an object that is no structure, is or points to. */
static void add_target(struct maker *m, uint32_t type, const char *name, uint32_t offset,
                       const struct demon_structure *s, const struct demon_array *array)
{
    const uint32_t target = s->any ? PCT_DEMON_ANY : add_type(m, s->name, &s->die);
    const bool bounded = array && array->length.size;
    if ((!s->any && target == PCT_DEMON_ANY) || (!s->elements && !array))
        return;
    const uint32_t sign = bounded && !array->length.is_signed ? PCT_DEMON_UNSIGNED : 0;
    const uint32_t elements = bounded ? MOST_ELEMENTS : array ? array->elements : s->elements;
    m->cut |= m->fields == MOST_FIELDS || elements > MOST_ELEMENTS;
    if (m->fields == MOST_FIELDS)
        return;
    snprintf(m->name[m->fields], DEMON_NAME, "%s", name);
    m->field[m->fields++] =
        (struct pct_demon_field){ .type = type,
                                  .target = target,
                                  .offset = offset,
                                  .count = elements < MOST_ELEMENTS ? elements : MOST_ELEMENTS,
                                  .stride = s->pointer && array && !s->array ? s->behind : s->stride,
                                  .pointer = s->pointer,
                                  .behind = s->pointer && array && !s->array,
                                  .length_size = bounded ? array->length.size | sign : 0,
                                  .length_offset = bounded ? array->length.offset : 0 };
}
/* What the contracts say of how many elements it has. NULL: nothing. */
static const struct demon_array *find_array(const struct maker *m, uint32_t type, uint32_t offset)
{
    for (int i = 0; i < m->spec->arrays; i++)
        if (!strcmp(m->spec->array[i].structure, m->type[type].name) && m->spec->array[i].offset == offset)
            return &m->spec->array[i];
    return NULL;
}

/* A member that is a pointer is an object itself, where others pass addresses of such. */
static void add_slot(struct maker *m, uint32_t type, const char *name, uint32_t offset,
                     const struct demon_structure *of, Dwarf_Die *member)
{
    struct demon_structure slot = *of;
    Dwarf_Die pointer;
    if (!of->pointer || of->any || of->elements != 1 || !strcmp(of->name, m->type[type].name) ||
        !next_type(member, &pointer) || strlen(of->name) + 3 > sizeof slot.name)
        return;
    snprintf(slot.name, sizeof slot.name, "%.*s%s", DEMON_NAME - 3, of->name, of->plain ? "*" : " *");
    const uint32_t number = find_type(m, slot.name);
    if (number == PCT_DEMON_ANY || !m->type[number].wanted)
        return;
    slot.die = pointer;
    slot.plain = true;
    slot.pointer = false;
    add_target(m, type, name, offset, &slot, NULL);
}

/* from: where what has the member begins. */
static void add_field(struct maker *m, uint32_t type, Dwarf_Die *member, uint32_t from)
{
    uint32_t offset;
    struct demon_structure s;
    const bool known = demon_pointers_structure(m->dwarf, member, &s);
    const char *name = dwarf_diename(member);
    if (!name || (!known && !s.any) || dwarf_hasattr(member, DW_AT_bit_size) || !demon_pointers_offset(member, &offset))
        return;
    add_slot(m, type, name, from + offset, &s, member);
    add_target(m, type, name, from + offset, &s, find_array(m, type, from + offset));
}

/* Of this class, and of those that it is derived from. */
static void add_members(struct maker *m, uint32_t type, Dwarf_Die *of, uint32_t from, unsigned depth)
{
    enum { DEEPEST = 16 };
    Dwarf_Die child, base;
    uint32_t offset;
    for (int more = dwarf_child(of, &child); !more; more = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) == DW_TAG_member)
            add_field(m, type, &child, from);
        if (dwarf_tag(&child) == DW_TAG_inheritance && depth < DEEPEST && demon_pointers_offset(&child, &offset) &&
            next_type(&child, &base))
            add_members(m, type, &base, from + offset, depth + 1);
    }
}

/* The structures that have, as a member, what pointers of this one lead to. What is such a member is looked for, too:
 * one that is none of theirs ends a list. */
static void add_containers(struct maker *m, uint32_t type)
{
    for (int i = 0; i < m->spec->containers; i++) {
        const struct demon_container *c = &m->spec->container[i];
        Dwarf_Die structure, link;
        if (strcmp(c->owner, m->type[type].name) != 0 || !dwarf_offdie(m->dwarf, c->structure_die, &structure) ||
            !dwarf_offdie(m->dwarf, c->link_die, &link))
            continue;
        const uint32_t target = add_type(m, c->structure, &structure), member = add_type(m, c->link, &link);
        m->cut |= m->fields == MOST_FIELDS || c->count > MOST_ELEMENTS;
        if (target == PCT_DEMON_ANY || member == PCT_DEMON_ANY || m->fields == MOST_FIELDS)
            continue;
        m->member[m->fields] = member;
        snprintf(m->name[m->fields], DEMON_NAME, "%s", c->path + (*c->path == '.'));
        m->field[m->fields++] = (struct pct_demon_field){ .type = type,
                                                          .target = target,
                                                          .offset = (uint32_t)c->offset,
                                                          .count = c->count < MOST_ELEMENTS ? c->count : MOST_ELEMENTS,
                                                          .stride = sizeof(uint64_t),
                                                          .pointer = 1,
                                                          .container = 1,
                                                          .own = c->own,
                                                          .length_offset = c->member_offset };
    }
}

static void add_fields(struct maker *m, uint32_t type)
{
    add_containers(m, type);
    Dwarf_Die die = m->type[type].die;
    struct demon_structure s;
    if (dwarf_tag(&die) == DW_TAG_pointer_type || dwarf_tag(&die) == DW_TAG_array_type) {
        if (demon_pointers_of_type(m->dwarf, &die, &s))
            add_target(m, type, "", 0, &s, NULL);
        return;
    }
    add_members(m, type, &die, 0, 0);
}

/* Whether it leads to an object that is wanted, on whatever way. */
static bool leads(const struct maker *m, const struct pct_demon_field *f)
{
    return f->target == PCT_DEMON_ANY || m->type[f->target].wanted || m->type[f->target].leads;
}

static void find_leading(struct maker *m)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < m->fields; i++)
            if (leads(m, &m->field[i]) && !m->type[m->field[i].type].leads)
                m->type[m->field[i].type].leads = more = true;
    }
}

/* What leads somewhere. */
static void put_map(struct maker *m, struct demon_pointers *p, struct pct_demon_map *map)
{
    for (uint32_t i = 0; i < m->types; i++) {
        const bool counts = m->type[i].wanted || m->type[i].leads;
        m->type[i].number = counts && p->types < PCT_DEMON_TYPES ? p->types : PCT_DEMON_ANY;
        m->cut |= counts && p->types == PCT_DEMON_TYPES;
        if (m->type[i].number == PCT_DEMON_ANY)
            continue;
        map->wanted |= (uint32_t)m->type[i].wanted << p->types;
        memcpy(p->type[p->types++], m->type[i].name, DEMON_NAME);
    }
    for (uint32_t i = 0; i < m->fields; i++) {
        struct pct_demon_field f = m->field[i];
        if (!leads(m, &f))
            continue;
        const bool any = f.target == PCT_DEMON_ANY;
        f.type = m->type[f.type].number;
        f.target = any ? PCT_DEMON_ANY : m->type[f.target].number;
        if (f.type == PCT_DEMON_ANY || (!any && f.target == PCT_DEMON_ANY))
            continue;
        if (f.container && m->type[m->member[i]].number == PCT_DEMON_ANY)
            continue;
        if (f.container)
            f.length_size = m->type[m->member[i]].number;
        const bool said =
            !f.container || pct_demon_container(f.target, f.length_size, f.length_offset, false) != PCT_DEMON_NOT_SAID;
        m->cut |= !said;
        if (!said)
            continue;
        m->cut |= map->fields == PCT_DEMON_FIELDS;
        if (map->fields == PCT_DEMON_FIELDS)
            break;
        memcpy(p->name[map->fields], m->name[i], DEMON_NAME);
        map->field[map->fields++] = f;
    }
    p->cut = m->cut;
}

/* --- Variables that lists may come back to ---------------------------------------------------------------------- */

/* Whether what is there in this structure is the member that pointers to its containers lead to. */
static bool is_contained(const struct maker *m, const char *structure, Dwarf_Word offset)
{
    for (int i = 0; i < m->spec->containers; i++)
        if (m->spec->container[i].member_offset == offset && !strcmp(m->spec->container[i].structure, structure))
            return true;
    return false;
}

/* This variable, or parts of it, of the type of a member that pointers to containers lead to. */
static void add_heads(struct maker *m, struct demon_pointers *p, Dwarf_Die *of, uint64_t address)
{
    struct demon_structure s;
    Dwarf_Die child;
    if (!demon_pointers_of_type(m->dwarf, of, &s) || s.pointer || s.plain)
        return;
    const uint32_t type = find_type(m, s.name), elements = s.elements < MOST_ELEMENTS ? s.elements : MOST_ELEMENTS;
    bool is_member = false, is_element = false;
    for (int i = 0; i < m->spec->containers; i++) {
        is_member |= !strcmp(m->spec->container[i].link, s.name);
        is_element |= !strcmp(m->spec->container[i].structure, s.name);
    }
    for (uint32_t e = 0; e < elements; e++) {
        const uint64_t at = address + (uint64_t)e * s.stride;
        const bool counts = (is_member || is_element) && type != PCT_DEMON_ANY;
        m->cut |= is_member && p->heads == DEMON_HEADS;
        if (counts && p->heads < DEMON_HEADS) {
            p->head[p->heads].address = at;
            p->head[p->heads].is = is_member ? PCT_DEMON_HEAD : PCT_DEMON_ELEMENT;
            p->head[p->heads++].type = m->type[type].number;
        }
        for (int more = dwarf_child(&s.die, &child); !more && !is_member; more = dwarf_siblingof(&child, &child)) {
            uint32_t offset;
            Dwarf_Die inner;
            if ((dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance) &&
                next_type(&child, &inner) && demon_pointers_offset(&child, &offset) && !is_contained(m, s.name, offset))
                add_heads(m, p, &inner, at + offset);
        }
    }
}

/* Of all variables in this scope. */
static void find_heads(struct maker *m, struct demon_pointers *p, Dwarf_Die *scope)
{
    Dwarf_Die child, type;
    Dwarf_Addr address;
    for (int more = dwarf_child(scope, &child); !more; more = dwarf_siblingof(&child, &child)) {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
            find_heads(m, p, &child);
        if (tag == DW_TAG_variable && pct_debug_info_address(&child, &address) && next_type(&child, &type))
            add_heads(m, p, &type, address);
    }
}

static void find_all_heads(struct maker *m, struct demon_pointers *p)
{
    Dwarf_Off offset = 0, next;
    size_t header;
    Dwarf_Die unit;
    for (; m->spec->containers && !dwarf_nextcu(m->dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next)
        if (dwarf_offdie(m->dwarf, offset + header, &unit))
            find_heads(m, p, &unit);
    p->cut |= m->cut;
}

static void want(struct maker *m, const struct demon_type *type)
{
    Dwarf_Die die;
    uint32_t number = type->object && dwarf_offdie(m->dwarf, type->die, &die) ? add_type(m, type->name, &die) : 0;
    if (type->object && number < m->types)
        m->type[number].wanted = true;
}

static void make(struct maker *m)
{
    const struct demon_spec *spec = m->spec;
    Dwarf_Die die;
    for (int i = 0; i < spec->procs; i++)
        for (int k = 0; spec->proc[i].acts && k < spec->proc[i].parameters; k++)
            want(m, &spec->proc[i].parameter[k].type);
    const struct demon_proc *test = &spec->proc[0];
    for (int i = 0; i < test->parameters + spec->shareds; i++) {
        const struct demon_type *type =
            i < test->parameters ? &test->parameter[i].type : &spec->shared[i - test->parameters].type;
        if (type->object && dwarf_offdie(m->dwarf, type->die, &die))
            add_type(m, type->name, &die);
    }
    for (int i = 0; i < spec->containers; i++) {
        Dwarf_Die structure, link;
        if (!dwarf_offdie(m->dwarf, spec->container[i].structure_die, &structure) ||
            !dwarf_offdie(m->dwarf, spec->container[i].link_die, &link))
            continue;
        add_type(m, spec->container[i].structure, &structure);
        const uint32_t member = add_type(m, spec->container[i].link, &link);
        if (member != PCT_DEMON_ANY)
            m->type[member].leads = true;
    }
    for (uint32_t i = 0; i < m->types; i++)
        add_fields(m, i);
    find_leading(m);
}

uint32_t demon_pointers_type(const struct demon_pointers *p, const char *name)
{
    for (uint32_t i = 0; i < p->types; i++)
        if (!strcmp(p->type[i], name))
            return i;
    return PCT_DEMON_ANY;
}

void demon_pointers_find(const struct demon_spec *spec, const char *program, struct demon_pointers *p,
                         struct pct_demon_map *map)
{
    struct demon_binary binary = demon_binary_open(program);
    struct maker *m = calloc(1, sizeof *m);
    if (m && binary.dwarf) {
        m->dwarf = binary.dwarf;
        m->spec = spec;
        make(m);
        put_map(m, p, map);
        find_all_heads(m, p);
    }
    free(m);
    demon_binary_close(&binary);
    for (int i = 0; i < PCT_DEMON_FUNCTIONS; i++)
        for (int k = 0; k < PCT_DEMON_ARGUMENTS; k++) {
            const struct demon_variable *v = &spec->proc[i].parameter[k];
            const bool object =
                i < spec->procs && !spec->proc[i].is_line && k < spec->proc[i].parameters && v->type.object;
            map->parameter[i][k] = object ? demon_pointers_type(p, v->type.name) : PCT_DEMON_ANY;
        }
}
