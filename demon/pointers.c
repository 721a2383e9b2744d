/* Members that lead to objects: see pointers.h. */
#include "pointers.h"
#include "binary.h"
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
static void find_definition(Dwarf *dwarf, Dwarf_Die *structure)
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

static void finish_structure(Dwarf *dwarf, const char *alias, struct demon_structure *s)
{
    find_definition(dwarf, &s->die);
    const char *name = dwarf_diename(&s->die);
    if (name || alias)
        snprintf(s->name, sizeof s->name, "%s", name ? name : alias);
    else
        snprintf(s->name, sizeof s->name, "(no name, %llx)", (unsigned long long)dwarf_dieoffset(&s->die));
}

bool demon_pointers_structure(Dwarf *dwarf, Dwarf_Die *variable, struct demon_structure *s)
{
    const char *alias = NULL; /* the last typedef's name */
    Dwarf_Die at = *variable, type;
    Dwarf_Word size = sizeof(uint64_t);
    *s = (struct demon_structure){ .elements = 1 };
    while (next_type(&at, &type)) {
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
            if (s->pointer || s->elements > 1)
                return false;
            s->elements = demon_pointers_elements(&type);
            break;
        case DW_TAG_pointer_type:
            if (s->pointer)
                return false;
            s->pointer = true;
            alias = NULL;
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            s->die = type;
            finish_structure(dwarf, alias, s);
            if (!s->pointer && dwarf_aggregate_size(&s->die, &size))
                return false;
            s->stride = (uint32_t)size;
            return s->elements > 0;
        default:
            return false;
        }
        at = type;
    }
    s->any = s->pointer; /* to void */
    s->stride = (uint32_t)size;
    return false;
}

/* --- The map ------------------------------------------------------------------------------------------------------ */

struct maker {
    Dwarf *dwarf;
    struct {
        char name[DEMON_NAME];
        Dwarf_Die die;
        bool wanted, leads; /* to one that is wanted */
        uint32_t number;    /* in the map */
    } type[MOST_TYPES];
    uint32_t types;
    struct pct_demon_field field[MOST_FIELDS];
    char name[MOST_FIELDS][DEMON_NAME];
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

static void add_field(struct maker *m, uint32_t type, Dwarf_Die *member)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    struct demon_structure s;
    const bool known = demon_pointers_structure(m->dwarf, member, &s);
    const char *name = dwarf_diename(member);
    const uint32_t target = known ? add_type(m, s.name, &s.die) : PCT_DEMON_ANY;
    if (!name || (known ? target == PCT_DEMON_ANY : !s.any) || dwarf_hasattr(member, DW_AT_bit_size) ||
        (dwarf_attr_integrate(member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &offset)))
        return;
    m->cut |= m->fields == MOST_FIELDS || s.elements > MOST_ELEMENTS;
    if (m->fields == MOST_FIELDS)
        return;
    snprintf(m->name[m->fields], DEMON_NAME, "%s", name);
    m->field[m->fields++] = (struct pct_demon_field){ .type = type,
                                                      .target = target,
                                                      .offset = (uint32_t)offset,
                                                      .count = s.elements < MOST_ELEMENTS ? s.elements : MOST_ELEMENTS,
                                                      .stride = s.stride,
                                                      .pointer = s.pointer };
}

static void add_fields(struct maker *m, uint32_t type)
{
    Dwarf_Die child;
    for (int more = dwarf_child(&m->type[type].die, &child); !more; more = dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_member)
            add_field(m, type, &child);
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
        m->cut |= map->fields == PCT_DEMON_FIELDS;
        if (map->fields == PCT_DEMON_FIELDS)
            break;
        memcpy(p->name[map->fields], m->name[i], DEMON_NAME);
        map->field[map->fields++] = f;
    }
    p->cut = m->cut;
}

static void want(struct maker *m, const struct demon_type *type)
{
    Dwarf_Die die;
    uint32_t number = type->object && dwarf_offdie(m->dwarf, type->die, &die) ? add_type(m, type->name, &die) : 0;
    if (type->object && number < m->types)
        m->type[number].wanted = true;
}

static void make(struct maker *m, const struct demon_spec *spec)
{
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
        make(m, spec);
        put_map(m, p, map);
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
