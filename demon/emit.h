/* --emit-test: a confirmed finding as a program of two threads in C, which needs no contracts and no `pct demon`. */
#ifndef PCT_DEMON_EMIT_H
#define PCT_DEMON_EMIT_H

#include "search.h"

/* Write what the other thread of the confirmed finding does into this file: linked with the program's own sources, it
 * makes the same calls. Says by which token that fails; runs the program for it. False after a message: other files
 * cannot name what is called or passed, it does not fail that way, or the file cannot be written. */
bool demon_emit(const struct demon_search *search, const char *path);

#endif
