/* Which members of structures are structures, or point to some, by the debug information: what leads others from the
 * objects that they know to more of them. */
#ifndef PCT_DEMON_POINTERS_H
#define PCT_DEMON_POINTERS_H

#include "spec.h"
#include <elfutils/libdw.h>

/* A structure that a variable or member is, or points to; or a pointer (to ... to one) that it points to. */
struct demon_structure {
    Dwarf_Die die;         /* with its members, where the program has them */
    char name[DEMON_NAME]; /* its tag; without one that of its type; without both one of its own; of another structure
                              of this name: with a number behind it; of a pointer: with a star for each: "node **" */
    bool pointer;
    bool array;                /* of them, or of pointers to them */
    bool plain;                /* it is no structure, but a pointer */
    bool any;                  /* it is a pointer to void: nothing else is known */
    uint32_t elements, stride; /* of an array of them; else 1; 0: how many is not known */
    uint32_t behind;           /* bytes of what it points to */
};

/* False: it is no such thing. */
bool demon_pointers_structure(Dwarf *dwarf, Dwarf_Die *variable, struct demon_structure *structure);

/* The same of a type. */
bool demon_pointers_of_type(Dwarf *dwarf, Dwarf_Die *type, struct demon_structure *structure);

/* What a structure that is only declared here is where it is defined. */
void demon_pointers_define(Dwarf *dwarf, Dwarf_Die *structure);

/* Where this member, or class that one is derived from, is in its class. False: that is not known, or it is of no
 * object (static). */
bool demon_pointers_offset(Dwarf_Die *member, uint32_t *offset);

/* How many elements this type, an array, has; 0: that is not known. */
uint32_t demon_pointers_elements(Dwarf_Die *array);

/* A structure of this name, by its tag or a typedef. False: there is none; nearest: the one whose name is most like it,
 * NULL: none is. */
bool demon_pointers_named(Dwarf *dwarf, const char *name, struct demon_structure *structure, const char **nearest);

enum { DEMON_HEADS = 32 };

struct demon_pointers {
    struct {
        uint64_t address;
        uint32_t type;
        enum pct_demon_is is;
    } head[DEMON_HEADS]; /* variables, and members of such, that lists of containers may come back to, or hold */
    uint32_t heads;
    char type[PCT_DEMON_TYPES][DEMON_NAME]; /* their names, in the order of the map's numbers */
    uint32_t types;
    char name[PCT_DEMON_FIELDS][DEMON_NAME]; /* of the map's fields */
    bool cut;                                /* there is no room for all */
};

/* The number of this type in the map; PCT_DEMON_ANY: it is none there. */
uint32_t demon_pointers_type(const struct demon_pointers *pointers, const char *name);

/* Of this program, whose names are found: what leads from objects of the test and shared ones to those that others can
 * be called with. */
void demon_pointers_find(const struct demon_spec *spec, const char *program, struct demon_pointers *pointers,
                         struct pct_demon_map *map);

#endif
