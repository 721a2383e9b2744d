/* Calls of memcpy, strlen and their like (patch/strings.h) in patched modules: functions that tell of what libc reads
 * and writes for their caller, as accesses of its own (strings_calls.h). From when a module is patched on, the linker's
 * table leads its calls there (preload/patch/patch_slots.c); tokens say so (strings=). */
#ifndef PCT_PRELOAD_MEMORY_STRINGS_H
#define PCT_PRELOAD_MEMORY_STRINGS_H

#include <patch/plan.h>
#include <stdbool.h>
#include <stddef.h>

/* A module whose calls come here. */
struct pct_strings_module {
    const struct pct_strings_module *next;
    struct pct_plan_range image;                     /* in memory */
    struct pct_plan_range written[PCT_PLAN_WRITTEN]; /* of that; then empty */
};

/* Find libc's functions: once, while there is one thread, or before the run. */
void pct_strings_find(void);

/* Whether calls of this function, enum pct_string_function, can be led to ours: not where the program has one of its
 * own, or libc lacks some. Libc's; and ours. */
bool pct_strings_lead(unsigned function);
void *pct_strings_libc(unsigned function);
void *pct_strings_told(unsigned function);

/* Whether this place is in the code of ours: to the watchdog it is as the program's own. */
bool pct_strings_has(uintptr_t pc);

/* Whether this place is in a module whose calls come here; how many bytes of an access of its at this place are told.
 */
bool pct_strings_calls(const void *pc);
size_t pct_strings_wants(const void *at, size_t size);

/* Calls of this module come here from now on: it stays where it is. With the baton. */
void pct_strings_take(struct pct_strings_module *module);

#endif
