/* Where contracts come from: a file of them, and comments in the program's sources, which its debug information names.
 */
#ifndef PCT_DEMON_SOURCE_H
#define PCT_DEMON_SOURCE_H

#include "spec.h"
#include <elfutils/libdw.h>

enum { DEMON_SOURCES = 256 };

struct demon_sources {
    struct demon_source item[DEMON_SOURCES];
    size_t count;
};

/* Read a file of contracts. False: *error. */
bool demon_sources_add_file(struct demon_sources *sources, const char *path, char *error, size_t size);

/* Read the comments that begin with @demon and stand above functions of this program. What has no debug information
 * has none; a source that cannot be read has none either. False: *error says what is wrong with one. */
bool demon_sources_add_comments(struct demon_sources *sources, const char *program, char *error, size_t size);

/* The path of the source that has this function or variable, absolute where the debug information has enough for it;
 * "?": it names none. */
void demon_source_path(Dwarf_Die *die, char *path, size_t size);

#endif
