/* What the files share that find a specification's names in the debug information (shape.c, path.c). Each says in the
 * shape's `error` what there is not. */
#ifndef PCT_DEMON_SHAPE_H
#define PCT_DEMON_SHAPE_H

#include "binary.h"
#include "pointers.h"

struct demon_shape {
    struct demon_spec *spec;
    const char *from; /* the file of what is looked up */
    const char *program;
    const struct demon_binary *binary;
    Dwarf *dwarf;
    char *error;
    size_t size;
};

/* Say what is wrong in this line. Returns false. */
bool demon_shape_fail(struct demon_shape *shape, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The type of a variable or member, without names and qualifiers. False: it is not known. */
bool demon_shape_type(Dwarf_Die *die, Dwarf_Die *type);

bool demon_shape_is_structure(Dwarf_Die *type);

/* Whether it is a number or a pointer, of 1, 2, 4 or 8 bytes; which, if it is. */
bool demon_shape_scalar(Dwarf_Die *type, uint32_t *size, bool *is_signed, bool *pointer);

/* Whether it is a mutex (1), or a pointer to one (2); else 0. */
uint32_t demon_shape_lock(Dwarf_Die *variable);

/* Find what this path of the procedure, in this line, names. False: it names nothing that contracts can speak of. */
bool demon_shape_leaf(struct demon_shape *shape, const struct demon_proc *proc, struct demon_leaf *leaf, unsigned line);

/* The same of &PATH: whatever has an address. */
bool demon_shape_address(struct demon_shape *shape, const struct demon_proc *proc, struct demon_leaf *leaf,
                         unsigned line);

/* What `array` says: both of its paths end in members of one structure. False: they do not. */
bool demon_shape_array(struct demon_shape *shape, struct demon_array *array);

/* What `object` says: others know what its path leads to. False: its path is none. */
bool demon_shape_object(struct demon_shape *shape, struct demon_object_clause *object);

#endif
