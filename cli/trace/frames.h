/* How much a frame says to whom the program belongs. Called by all that show stacks. */
#ifndef PCT_CLI_FRAMES_H
#define PCT_CLI_FRAMES_H

#include "unwind.h"

enum pct_frame_rank {
    PCT_FRAME_NO_LINE, /* there is no debug information */
    PCT_FRAME_LIBRARY,
    PCT_FRAME_HEADER, /* helpers in headers */
    PCT_FRAME_OWN
};

enum pct_frame_rank pct_frame_rank(const struct pct_frame *frame);

/* The frame of a stack that says most: the innermost of the highest rank. NULL: the stack is empty. */
const struct pct_frame *pct_frame_best(const struct pct_stack *stack);

/* Whether this is a module that everybody has, whatever its debug information calls its files: libc's and the
 * compilers'. */
bool pct_frame_is_system(const char *module);

/* Whether it belongs to a library that everybody has: of C, of C++, of Rust, or another one below /usr. */
bool pct_frame_is_library(const char *function, const char *file, const char *module);

/* Whether frames of libraries are shown all the same (--all-frames); at first they are not. */
extern bool pct_frames_all;

#endif
