/* Whose locals other threads may know of: which functions make a pointer into their own frame. Decoded by Zydis, from
 * bytes alone. With --memory=stacks, what these do by the stack or frame pointer are sites, too; in all other functions
 * nobody else can know where a local is. */
#ifndef PCT_CLI_FRAMES_H
#define PCT_CLI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, or a part of one that the compiler has put elsewhere, which has no frame of its own. */
struct pct_frame {
    uint64_t from, to;
    size_t of;    /* the first that it shares its frame with, perhaps; its own number: none before it */
    bool part;    /* it begins with a frame on the stack, and nothing has told yet whose that is */
    bool pointed; /* something may point into its frame */
};

/* `push %rbp; mov %rsp, %rbp` (after endbr64, perhaps): the function has a frame, and keeps its address in rbp for as
 * long as it lasts. */
bool pct_frames_has_pointer(const uint8_t *code, size_t size);

/* Whether a function of these unwinding instructions (DW_CFA_*) begins with more on the stack than the return address:
 * a part of another one then. */
bool pct_frames_begins_within(const uint8_t *at, const uint8_t *end);

/* Set `pointed` of all of these, which stand by address. bytes: the code at an address. False: there are bytes that are
 * no instructions. */
bool pct_frames_look(struct pct_frame *frames, size_t count,
                     const uint8_t *(*bytes)(const void *file, uint64_t address, uint64_t size), const void *file);

#endif
