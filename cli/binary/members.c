/* Members of variables: see members.h. */
#include "members.h"
#include "debug_info.h"
#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    Dwarf_Die type;      /* of where it is, */
    unsigned dimensions; /* of which this many indices were given already */
    struct pct_member member;
    const char *path; /* what is left of it */
    char *why;
    size_t why_size;
};

static bool say(struct walk *w, const char *format, const char *text)
{
    snprintf(w->why, w->why_size, format, text);
    return false;
}

/* The type behind typedef, const and the like. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type) &&
           !dwarf_peel_type(type, type);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t none)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value) ? value : none;
}

/* Add where this member is in its structure, and how large. A bit field: the bytes that it touches. */
static void add_place(struct walk *w, Dwarf_Die *member)
{
    Dwarf_Word size = 0;
    uint64_t *offset = &w->member.offset[w->member.pointers];
    uint64_t bit = number_of(member, DW_AT_data_bit_offset, UINT64_MAX);
    dwarf_aggregate_size(&w->type, &size);
    w->member.size = size;
    *offset += number_of(member, DW_AT_data_member_location, 0);
    if (bit == UINT64_MAX)
        return;
    *offset += bit / 8;
    w->member.size = (bit % 8 + number_of(member, DW_AT_bit_size, 1) + 7) / 8;
}

/* In this structure, in those without a name that are in it, and in those that it is derived from. */
static bool find_field(struct walk *w, Dwarf_Die structure, const char *name, size_t length)
{
    Dwarf_Die die;
    if (dwarf_child(&structure, &die))
        return false;
    do {
        const char *own = dwarf_diename(&die);
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(&die, &w->type))
            continue;
        bool meant = tag == DW_TAG_member && own && strlen(own) == length && !memcmp(own, name, length);
        struct pct_member before = w->member;
        if (!meant && own)
            continue;
        add_place(w, &die);
        if (meant || find_field(w, w->type, name, length))
            return true;
        w->member = before;
    } while (!dwarf_siblingof(&die, &die));
    return false;
}

static bool take_field(struct walk *w)
{
    size_t length = 0;
    char name[128];
    int tag = dwarf_tag(&w->type);
    while (isalnum((unsigned char)w->path[length]) || w->path[length] == '_')
        length++;
    snprintf(name, sizeof name, "%.*s", (int)length, w->path);
    if (!length)
        return say(w, "a field's name is wanted at '%s'", w->path);
    if (tag == DW_TAG_pointer_type)
        return say(w, "a pointer has no field '%s': write -> for what it points to", name);
    if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type)
        return say(w, "there is no structure that could have a field '%s'", name);
    if (!find_field(w, w->type, w->path, length))
        return say(w, "its structure has no field '%s'", name);
    w->path += length;
    return true;
}

/* From here on it is about what the pointer points to. */
static bool follow(struct walk *w)
{
    if (dwarf_tag(&w->type) != DW_TAG_pointer_type || !type_of(&w->type, &w->type))
        return say(w, "there is no pointer%s", "");
    if (w->member.pointers == PCT_MEMBER_POINTERS)
        return say(w, "it follows too many pointers%s", "");
    Dwarf_Word size = 0;
    dwarf_aggregate_size(&w->type, &size);
    w->member.offset[++w->member.pointers] = 0;
    w->member.size = size;
    return true;
}

/* How many elements this dimension of the array has, and how many one of it consists of. 0: it has no such dimension.
 */
static uint64_t dimension(Dwarf_Die *array, unsigned which, uint64_t *each)
{
    Dwarf_Die die;
    uint64_t count = 0;
    *each = 1;
    if (dwarf_child(array, &die))
        return 0;
    for (unsigned i = 0;; i++) {
        uint64_t upper = number_of(&die, DW_AT_upper_bound, UINT64_MAX - 1);
        uint64_t elements = number_of(&die, DW_AT_count, upper + 1);
        if (i == which)
            count = elements;
        else if (i > which)
            *each *= elements;
        if (dwarf_siblingof(&die, &die))
            return count;
    }
}

/* [N]: of an array, or of what a pointer points to. */
static bool take_index(struct walk *w)
{
    char *end;
    uint64_t index = isdigit((unsigned char)*w->path) ? strtoull(w->path, &end, 0) : UINT64_MAX, each;
    if (index > UINT32_MAX || *end != ']')
        return say(w, "an index is wanted at '[%s'", w->path);
    w->path = end + 1;
    if (dwarf_tag(&w->type) == DW_TAG_pointer_type) {
        if (!follow(w))
            return false;
        w->member.offset[w->member.pointers] = index * w->member.size;
        return true;
    }
    if (dwarf_tag(&w->type) != DW_TAG_array_type)
        return say(w, "there is no array%s", "");
    uint64_t count = dimension(&w->type, w->dimensions, &each);
    if (index >= count)
        return say(w, "the array is shorter%s", "");
    Dwarf_Die array = w->type, element;
    Dwarf_Word size = 0;
    if (!type_of(&array, &element) || dwarf_aggregate_size(&element, &size))
        return say(w, "the debug information does not say how large the elements are%s", "");
    w->member.size = size * each;
    w->member.offset[w->member.pointers] += index * w->member.size;
    w->dimensions++;
    if (!dimension(&array, w->dimensions, &each)) {
        w->type = element;
        w->dimensions = 0;
    }
    return true;
}

static bool walk(struct walk *w)
{
    while (*w->path) {
        bool fine = true;
        if (*w->path == '[') {
            w->path++;
            fine = take_index(w);
        } else if (*w->path == '.' || (w->path[0] == '-' && w->path[1] == '>')) {
            fine = *w->path == '.' || follow(w);
            w->path += *w->path == '.' ? 1 : 2;
            fine = fine && take_field(w);
        } else {
            fine = say(w, "'%s' is no .FIELD, ->FIELD or [INDEX]", w->path);
        }
        if (!fine)
            return false;
    }
    return w->member.size || say(w, "the debug information does not say how large it is%s", "");
}

/* --- The variable ------------------------------------------------------------------------------------------------- */

struct search {
    const char *variable, *path;
    struct pct_member *member;
    bool found, fits;
    char *why;
    size_t why_size;
};

static bool take_variable(struct search *s, Dwarf_Die *die)
{
    struct walk w = { .path = s->path, .why = s->why, .why_size = s->why_size };
    Dwarf_Word size = 0;
    if (!type_of(die, &w.type))
        return true;
    s->found = true;
    dwarf_aggregate_size(&w.type, &size);
    w.member.size = size;
    if (!walk(&w))
        return true;
    if (s->fits && memcmp(s->member, &w.member, sizeof w.member) != 0) {
        snprintf(s->why, s->why_size, "there are several variables of this name, with different types");
        s->fits = false;
        return false;
    }
    *s->member = w.member;
    s->fits = true;
    return true;
}

/* False: it is of no use to look on. */
static bool look_below(struct search *s, Dwarf_Die *parent)
{
    Dwarf_Die die;
    if (dwarf_child(parent, &die))
        return true;
    do {
        int tag = dwarf_tag(&die);
        const char *name = tag == DW_TAG_variable ? dwarf_diename(&die) : NULL;
        if (name && !strcmp(name, s->variable) && !take_variable(s, &die))
            return false;
        if (tag == DW_TAG_namespace && !look_below(s, &die))
            return false;
    } while (!dwarf_siblingof(&die, &die));
    return true;
}

static void look_in(struct search *s, const char *file)
{
    Dwfl_Module *module;
    Dwfl *dwfl = pct_debug_info_open(file, &module);
    Dwarf_Die *unit = NULL;
    for (Dwarf_Addr bias = 0; module && (unit = pct_debug_info_next(module, unit, &bias));)
        if (!look_below(s, unit))
            break;
    if (dwfl)
        dwfl_end(dwfl);
}

bool pct_member_find(struct pct_member *member, char *const *files, size_t count, const char *variable,
                     const char *path, char *why, size_t size)
{
    const char *last = strrchr(variable, ':');
    struct search s = {
        .variable = last ? last + 1 : variable, .path = path, .member = member, .why = why, .why_size = size
    };
    *why = 0;
    for (size_t i = 0; i < count && !s.found; i++)
        look_in(&s, files[i]);
    return s.fits;
}
