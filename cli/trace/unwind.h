/* Stacks of the threads of a snapshot, unwound after the fact with libdw: registers and stack bytes come from the
 * snapshot, everything else from the ELF files that its memory map names. Called by the report. */
#ifndef PCT_CLI_UNWIND_H
#define PCT_CLI_UNWIND_H

#include "snapshot.h"

enum { PCT_STACK_MAX = 64 };

struct pct_frame {
    uint64_t pc;
    char function[200]; /* demangled; "" if no symbol is known */
    char file[200];     /* "" if there is no debug information */
    int line;
    int begins;       /* the line at which the function does, if it is in this file; 0: not known */
    char module[200]; /* the file that the code is in, without directories; "" if it is in none */
    uint64_t offset;  /* from the start of the module */
};

struct pct_stack {
    size_t count;
    bool cut; /* there are more frames */
    struct pct_frame frames[PCT_STACK_MAX];
};

struct pct_unwinder;
struct Dwfl;

/* NULL when the snapshot has no memory map, or libdw cannot work with it. The snapshot must stay. */
struct pct_unwinder *pct_unwind_open(const struct pct_snapshot *snapshot);
void pct_unwind_close(struct pct_unwinder *unwinder);

/* The stack of the thread at this index of the snapshot, innermost frame first, without the frames that belong to pct
 * or to the start of a thread. Empty when nothing could be found. */
void pct_unwind_thread(struct pct_unwinder *unwinder, size_t index, struct pct_stack *stack);

/* The same for the stop at this index. */
void pct_unwind_stop(struct pct_unwinder *unwinder, size_t index, struct pct_stack *stack);

/* The frame of main(), which is there as long as there are other threads. */
struct pct_main_frame {
    uint64_t call; /* an address in the call that it is in, or where it stands */
    uint64_t cfa;  /* the canonical frame address of DWARF */
    uint64_t rbp, rsp;
};

/* False: the first thread has left main(), or its stack cannot be unwound so far. */
bool pct_unwind_main(struct pct_unwinder *unwinder, struct pct_main_frame *frame);

/* Name the place of a call that returns to this address, or (call is false) the code at it. */
void pct_unwind_name(const struct pct_unwinder *unwinder, uint64_t address, bool call, struct pct_frame *frame);

/* The same, with a frame for each function that was inlined there, innermost first. */
void pct_unwind_place(const struct pct_unwinder *unwinder, uint64_t address, bool call, struct pct_stack *stack);

/* The same number for the same files at the same addresses. */
uint64_t pct_unwind_code(const struct pct_unwinder *unwinder);

/* The modules that were loaded, for libdwfl. */
struct Dwfl *pct_unwind_modules(const struct pct_unwinder *unwinder);

/* The name of a source file as it is printed. */
const char *pct_unwind_shorten(const struct pct_unwinder *unwinder, const char *file);

/* The variable at this address, by the symbols of its file: "queue", "table+24". False: it is in none, or has no
 * symbol. */
bool pct_unwind_object(const struct pct_unwinder *unwinder, uint64_t address, char *name, size_t size);
/* The stack of these addresses, each behind the instruction that it stands for; up to the first 0, or count. The same
 * frames are left out. */
void pct_unwind_addresses(struct pct_unwinder *unwinder, const uint64_t *addresses, size_t count,
                          struct pct_stack *stack);

#endif
