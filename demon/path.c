/* Paths of contracts, by the program's debug information: see shape.h. */
#include "shape.h"
#include <common/text.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCK_WORD = 4 };

static bool is_mutex(Dwarf_Die *die);

/* Whether this class of C++'s library, as std::mutex, begins with one. */
static bool begins_with_mutex(Dwarf_Die *type)
{
    static const char *const names[] = { "mutex",        "recursive_mutex",
                                         "timed_mutex",  "recursive_timed_mutex",
                                         "__mutex_base", "__recursive_mutex_base" };
    const char *name = dwarf_diename(type);
    bool known = false;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        known |= !strcmp(name, names[i]);
    Dwarf_Die child;
    for (int more = known ? dwarf_child(type, &child) : 1; !more; more = dwarf_siblingof(&child, &child)) {
        uint32_t offset;
        Dwarf_Die base;
        if (dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance)
            if (demon_pointers_offset(&child, &offset) && !offset && demon_shape_type(&child, &base))
                if (is_mutex(&child) || begins_with_mutex(&base))
                    return true;
    }
    return false;
}

static bool is_mutex(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    while (dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, &type)) {
        const char *name = dwarf_diename(&type);
        if ((name && !strcmp(name, "pthread_mutex_t")) || begins_with_mutex(&type))
            return true;
        int tag = dwarf_tag(&type);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
            return false;
        die = &type;
    }
    return false;
}

uint32_t demon_shape_lock(Dwarf_Die *variable)
{
    Dwarf_Die type;
    if (is_mutex(variable))
        return 1;
    return demon_shape_type(variable, &type) && dwarf_tag(&type) == DW_TAG_pointer_type && is_mutex(&type) ? 2 : 0;
}

struct members {
    char wanted[DEMON_NAME];
    const char *name[256];
    size_t count;
    Dwarf_Die found;
    bool known;      /* where that is; */
    uint32_t offset; /* in the class that was asked about */
};

/* Those of the classes that a class is derived from are its own, unless it hides them. */
static bool look_for_member(struct members *m, Dwarf_Die *type, uint32_t offset, unsigned depth)
{
    enum { DEEPEST = 16 };
    Dwarf_Die child, base;
    uint32_t at;
    for (int more = dwarf_child(type, &child); !more; more = dwarf_siblingof(&child, &child)) {
        const char *is = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
        if (is && !strcmp(is, m->wanted)) {
            m->found = child;
            m->known = demon_pointers_offset(&child, &at);
            m->offset = m->known ? offset + at : 0;
            return true;
        }
        if (is && m->count < sizeof m->name / sizeof *m->name)
            m->name[m->count++] = is;
    }
    for (int more = dwarf_child(type, &child); !more; more = dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_inheritance && depth < DEEPEST && demon_pointers_offset(&child, &at) &&
            demon_shape_type(&child, &base) && look_for_member(m, &base, offset + at, depth + 1))
            return true;
    return false;
}

static bool find_member(struct demon_shape *s, const struct demon_leaf *leaf, unsigned line, Dwarf_Die *type,
                        const char *name, size_t length, Dwarf_Die *member, uint32_t *offset)
{
    struct members m = { .count = 0 };
    snprintf(m.wanted, sizeof m.wanted, "%.*s", (int)length, name);
    const bool found = look_for_member(&m, type, 0, 0);
    *member = m.found;
    *offset = m.offset;
    if (found)
        return m.known ||
               demon_shape_fail(s, line, "%s: where %s is in its structure is not known", leaf->path, m.wanted);
    const char *wanted = m.wanted, *structure = dwarf_diename(type);
    const char *nearest = pct_text_closest(wanted, m.name, m.count);
    return demon_shape_fail(s, line, "%s: struct %s has no member '%s'%s%s%s", leaf->path, structure ? structure : "",
                            wanted, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static bool finish_leaf(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, Dwarf_Die *member)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (dwarf_attr_integrate(member, DW_AT_bit_size, &attribute))
        return demon_shape_fail(s, line, "%s is a bit field, which contracts cannot speak of", leaf->path);
    leaf->lock = demon_shape_lock(member);
    if (leaf->lock == 1) {
        leaf->size = LOCK_WORD;
        return true;
    }
    if (!demon_shape_type(member, &type))
        return demon_shape_fail(s, line, "%s: its type is not in the debug information", leaf->path);
    if (!demon_shape_scalar(&type, &leaf->size, &leaf->is_signed, &leaf->pointer))
        return demon_shape_fail(s, line, "%s is neither a whole number of 1, 2, 4 or 8 bytes nor a pointer",
                                leaf->path);
    return true;
}

/* Where a path has come to. */
struct walk {
    Dwarf_Die at; /* what has the type of that */
    const struct demon_proc *proc;
    bool root;                 /* it is still the parameter */
    bool container;            /* it is in a structure, `in`, of which a member was there */
    struct demon_structure in; /* the structure of the last member, and */
    uint32_t member;           /* where in that it is */
    /* The structure that the last pointer led to, or that is an element; where it begins, in the path and behind the
     * last step. */
    char owner[DEMON_NAME];
    const char *owner_text;
    int32_t owner_at;
    uint32_t elements; /* of the array whose element this is, a pointer; 0: it is none */
    int32_t first;     /* the offset of the first of these */
};

static void own(struct walk *w, const char *name, const char *text, int32_t at)
{
    snprintf(w->owner, sizeof w->owner, "%s", name);
    w->owner_text = text;
    w->owner_at = at;
}

/* The path goes on in what a pointer leads to; what a parameter points to is where the path begins. */
static bool follow(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, struct walk *w)
{
    if (!w->root && leaf->steps == PCT_DEMON_STEPS)
        return demon_shape_fail(s, line, "%s: contracts follow at most %d pointers", leaf->path, PCT_DEMON_STEPS);
    if (!w->root)
        leaf->step[leaf->steps++] = leaf->offset;
    leaf->offset = 0;
    return true;
}

/* In an element, of which the number stands there; *type: of what has them. */
static bool enter_element(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, const char **at,
                          struct walk *w)
{
    Dwarf_Die type, element;
    Dwarf_Word size;
    char *end;
    const unsigned long index = strtoul(*at + 1, &end, 10);
    const bool known = demon_shape_type(&w->at, &type), array = known && dwarf_tag(&type) == DW_TAG_array_type;
    if (!known || (!array && dwarf_tag(&type) != DW_TAG_pointer_type) || !demon_shape_type(&type, &element))
        return demon_shape_fail(s, line,
                                "%s: what stands before [%lu] is no array, and points to nothing with elements",
                                leaf->path, index);
    if (demon_shape_is_structure(&element))
        demon_pointers_define(s->dwarf, &element);
    if (dwarf_aggregate_size(&element, &size))
        return demon_shape_fail(s, line, "%s: how large an element is, is not in the debug information", leaf->path);
    const uint32_t count = array ? demon_pointers_elements(&type) : 0;
    if (count && index >= count)
        return demon_shape_fail(s, line, "%s: that array has %u elements", leaf->path, count);
    if (!array && !follow(s, leaf, line, w))
        return false;
    w->elements = count;
    w->first = leaf->offset;
    leaf->offset += (int32_t)(index * size);
    w->at = type; /* whose type is the element's */
    *at = end + 1;
    struct demon_structure of;
    if (demon_shape_is_structure(&element) && demon_pointers_of_type(s->dwarf, &element, &of))
        own(w, of.name, *at, leaf->offset);
    else if (!array)
        own(w, "", *at, 0);
    return true;
}

/* In a member of the structure, or of what points to one; *at: behind the dot. */
static bool enter_member(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, const char **at, struct walk *w)
{
    uint32_t offset;
    Dwarf_Die member;
    const size_t length = strcspn(*at, ".[,");
    Dwarf_Die type, behind;
    const bool container = w->container;
    w->container = false;
    if (!container && demon_shape_type(&w->at, &type) &&
        (dwarf_tag(&type) == DW_TAG_union_type ||
         (dwarf_tag(&type) == DW_TAG_pointer_type && demon_shape_type(&type, &behind) &&
          dwarf_tag(&behind) == DW_TAG_union_type)))
        return demon_shape_fail(s, line, "%s: what stands before .%.*s is a union, which contracts cannot speak of",
                                leaf->path, (int)length, *at);
    if (!container && (!demon_pointers_structure(s->dwarf, &w->at, &w->in) || w->in.array || w->in.plain))
        return demon_shape_fail(s, line, "%s: what stands before a dot is no structure, and does not point to one",
                                leaf->path);
    if (w->in.pointer && !follow(s, leaf, line, w))
        return false;
    if (w->in.pointer || !w->owner_text)
        own(w, w->in.name, *at - 1, leaf->offset);
    if (!find_member(s, leaf, line, &w->in.die, *at, length, &member, &offset))
        return false;
    leaf->offset += (int32_t)offset;
    w->member = offset;
    w->at = member;
    w->elements = 0;
    *at += length;
    return true;
}

/* Others know the structures that this pointer leads to members of, unless it is one of what they do not know. */
static bool add_container(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, const struct walk *w,
                          const char *end, const struct demon_container *is)
{
    struct demon_spec *spec = s->spec;
    struct demon_container to = *is;
    const bool known = w->root ? w->proc->is_test : !w->owner_text || *w->owner;
    to.parameter = known && w->root ? leaf->parameter : -1;
    to.shared = known && !w->root && !w->owner_text ? leaf->shared : -1;
    to.own = !strcmp(w->in.name, to.link);
    if (known) {
        memcpy(to.owner, w->owner, sizeof to.owner);
        to.offset = (w->elements ? w->first : leaf->offset) - w->owner_at;
        to.count = w->elements ? w->elements : 1;
        const char *from = w->owner_text ? w->owner_text : end;
        const char *bracket = w->elements ? memrchr(from, '[', (size_t)(end - from)) : NULL;
        snprintf(to.path, sizeof to.path, "%.*s", (int)((bracket ? bracket : end) - from), from);
    }
    /* Where it is in the path: the pointer is followed behind this. */
    uint32_t *number = &leaf->container[w->root ? 0 : (leaf->steps + 1) % (1 + PCT_DEMON_STEPS)];
    for (int i = 0; i < spec->containers; i++) {
        *number = (uint32_t)i + 1;
        if (spec->container[i].parameter == to.parameter && spec->container[i].shared == to.shared &&
            spec->container[i].offset == to.offset && spec->container[i].member_offset == to.member_offset &&
            !strcmp(spec->container[i].owner, to.owner) && !strcmp(spec->container[i].structure, to.structure))
            return true;
    }
    if (spec->containers == DEMON_CONTAINERS)
        return demon_shape_fail(s, line, "%s: contracts speak of more than %d pointers to members", leaf->path,
                                DEMON_CONTAINERS);
    spec->container[spec->containers++] = to;
    *number = (uint32_t)spec->containers;
    return true;
}

/* In the structure of which a member is where the pointer leads to; *at: at the comma before its name. */
static bool enter_container(struct demon_shape *s, struct demon_leaf *leaf, unsigned line, const char **at,
                            struct walk *w)
{
    struct demon_container to = { 0 };
    struct demon_structure from, is, link;
    Dwarf_Die member;
    uint32_t offset;
    const char *nearest = NULL;
    sscanf(*at, ", %63[^,], %63[^)]", to.structure, to.member);
    const bool pointer = !w->container && (demon_pointers_structure(s->dwarf, &w->at, &from) || from.any) &&
                         from.pointer && !from.array && !from.plain;
    if (!pointer)
        return demon_shape_fail(s, line, "%s: what stands before `, %s` does not point to a structure", leaf->path,
                                to.structure);
    if (!demon_pointers_named(s->dwarf, to.structure, &is, &nearest))
        return demon_shape_fail(s, line, "%s: %s has no structure %s%s%s%s", leaf->path, s->program, to.structure,
                                nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    if (!find_member(s, leaf, line, &is.die, to.member, strlen(to.member), &member, &offset))
        return false;
    if (!demon_pointers_structure(s->dwarf, &member, &link) || link.pointer || link.array ||
        (!from.any && strcmp(link.name, from.name) != 0))
        return demon_shape_fail(s, line, "%s: %s of %s is no structure %s, which the pointer leads to", leaf->path,
                                to.member, to.structure, from.any ? "" : from.name);
    if (offset >= 1 << 23)
        return demon_shape_fail(s, line, "%s: it lies too far behind the beginning of its structure", leaf->path);
    memcpy(to.structure, is.name, sizeof to.structure);
    memcpy(to.link, link.name, sizeof to.link);
    to.structure_die = dwarf_dieoffset(&is.die);
    to.link_die = dwarf_dieoffset(&link.die);
    to.member_offset = offset;
    if (!add_container(s, leaf, line, w, *at, &to) || !follow(s, leaf, line, w))
        return false;
    leaf->offset -= (int32_t)offset;
    w->in = is;
    w->container = true;
    w->elements = 0;
    *at += strcspn(*at, ")") + 1;
    own(w, is.name, *at, leaf->offset);
    return true;
}

static const struct demon_variable *variable_of(const struct demon_shape *s, const struct demon_proc *proc,
                                                const struct demon_leaf *leaf)
{
    return leaf->parameter >= 0 ? &proc->parameter[leaf->parameter] : &s->spec->shared[leaf->shared];
}

/* walk: where the path ends. */
static bool walk_path(struct demon_shape *s, const struct demon_proc *proc, struct demon_leaf *leaf, unsigned line,
                      struct walk *w)
{
    const struct demon_variable *v = variable_of(s, proc, leaf);
    *w = (struct walk){ .proc = proc, .root = leaf->parameter >= 0 };
    const char *at = demon_leaf_root(leaf);
    at += strcspn(at, ".[,");
    if (!w->root && v->type.embedded)
        own(w, v->type.name, at, 0);
    if (!v->type.object || !dwarf_offdie(s->dwarf, v->type.variable, &w->at))
        return demon_shape_fail(s, line, "%s: %s is no structure, and does not point to one", leaf->path, v->name);
    while (*at) {
        const bool element = *at == '[', container = *at == ',';
        at += *at == '.';
        if (!(element ? enter_element : container ? enter_container : enter_member)(s, leaf, line, &at, w))
            return false;
        w->root = false;
    }
    return true;
}

bool demon_shape_leaf(struct demon_shape *s, const struct demon_proc *proc, struct demon_leaf *leaf, unsigned line)
{
    const struct demon_variable *v = variable_of(s, proc, leaf);
    struct walk w;
    if (!demon_leaf_is_bare(leaf) && !walk_path(s, proc, leaf, line, &w))
        return false;
    if (!demon_leaf_is_bare(leaf) && w.container)
        return demon_shape_fail(s, line, "%s is a structure: name a member, as in %s.member", leaf->path, leaf->path);
    if (!demon_leaf_is_bare(leaf))
        return finish_leaf(s, leaf, line, &w.at);
    leaf->whole = leaf->parameter >= 0;
    if (v->type.object && (leaf->whole || !v->type.embedded)) { /* the pointer itself */
        leaf->pointer = true;
        leaf->size = sizeof(uint64_t);
        return true;
    }
    if (v->type.object)
        return demon_shape_fail(s, line, "%s is %s: name %s, as in %s%s", leaf->path,
                                v->type.plain ? "an array" : "a structure", v->type.plain ? "an element" : "a member",
                                leaf->path, v->type.plain ? "[0]" : ".member");
    leaf->lock = leaf->whole ? 0 : v->type.lock;
    leaf->size = leaf->lock == 1 ? LOCK_WORD : v->type.size;
    leaf->is_signed = v->type.is_signed;
    leaf->pointer = v->type.pointer;
    return true;
}

bool demon_shape_address(struct demon_shape *s, const struct demon_proc *proc, struct demon_leaf *leaf, unsigned line)
{
    Dwarf_Attribute attribute;
    struct walk w;
    const bool bare = demon_leaf_is_bare(leaf);
    leaf->size = 1;
    leaf->lock = PCT_DEMON_PRESENCE;
    if (bare && leaf->parameter >= 0)
        return demon_shape_fail(s, line, "a parameter has no address that others know: &%s", leaf->path);
    if (bare && s->spec->shared[leaf->shared].ghost)
        return demon_shape_fail(s, line, "a ghost has no address: &%s", leaf->path);
    if (!bare && !walk_path(s, proc, leaf, line, &w))
        return false;
    return bare || w.container || !dwarf_attr_integrate(&w.at, DW_AT_bit_size, &attribute) ||
           demon_shape_fail(s, line, "a bit field has no address: &%s", leaf->path);
}

bool demon_shape_object(struct demon_shape *s, struct demon_object_clause *object)
{
    struct walk w;
    s->from = object->proc->from;
    if (!walk_path(s, object->proc, &object->leaf, object->line, &w))
        return false;
    for (int i = 0; i < s->spec->containers; i++)
        if (s->spec->container[i].structure_die == dwarf_dieoffset(&w.in.die))
            return true;
    return demon_shape_fail(s, object->line, "object %s: others know no such pointer", object->leaf.path);
}

/* What `array` says: both paths end in members of one structure. */
bool demon_shape_array(struct demon_shape *s, struct demon_array *array)
{
    struct walk w;
    struct demon_leaf *leaf = &array->leaf, *by = &array->by;
    s->from = array->proc->from;
    const char *dot = strrchr(leaf->path, '.');
    const size_t length = dot ? (size_t)(dot - leaf->path) : 0;
    if (!dot || strchr(dot, '['))
        return demon_shape_fail(s, array->line, "array %s: a member is expected, as in array q.items has q.size",
                                leaf->path);
    if (array->counted && (strncmp(leaf->path, by->path, length + 1) != 0 || strpbrk(by->path + length + 1, ".[")))
        return demon_shape_fail(s, array->line, "array %s: %s is no member of the same structure", leaf->path,
                                by->path);
    if (!walk_path(s, array->proc, leaf, array->line, &w))
        return false;
    memcpy(array->structure, w.in.name, sizeof array->structure);
    array->offset = w.member;
    struct demon_structure of;
    if (!demon_pointers_structure(s->dwarf, &w.at, &of) || (!of.pointer && !of.array))
        return demon_shape_fail(s, array->line,
                                "array %s: it is no array of structures or of pointers to such, and points to none",
                                leaf->path);
    if (!array->counted)
        return true;
    if (!walk_path(s, array->proc, by, array->line, &w) || !finish_leaf(s, by, array->line, &w.at))
        return false;
    array->length.offset = w.member;
    array->length.size = by->size;
    array->length.is_signed = by->is_signed;
    return (!by->lock && !by->pointer && w.member < 1 << 23) ||
           demon_shape_fail(s, array->line, "array %s: %s is no number", leaf->path, by->path);
}
