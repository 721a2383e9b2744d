/* Which accesses and races the user has chosen: the ranges of a scope (common/scope.h), laid over the modules that are
 * loaded, and the sample of places in the code that the seed draws.
 *
 * The scope is a file that the `pct` command has made before the run (PCT_SCOPE); a bare run under LD_PRELOAD, which
 * has only patterns, has the command make one. It is read when the second thread is made, and laid over modules that
 * came later whenever another one is. */
#ifndef PCT_PRELOAD_SCOPE_H
#define PCT_PRELOAD_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

struct pct_snap_race;
struct pct_text;

/* Not every access may be a point: pct_scope_wants() is to be asked. */
extern bool pct_scope_chooses;

/* start.c: where the scope is, and the suppressions for a run that has none; NULL: nowhere. */
extern const char *pct_scope_file, *pct_scope_suppressions;

/* With the baton, before a thread is made: find out about modules that were loaded since the last time. */
void pct_scope_look(void);

/* Whether an access of size bytes at address, by the instruction that ends before pc, may be a scheduling point. With
 * the baton. */
bool pct_scope_wants(uintptr_t address, uintptr_t size, uintptr_t pc, bool atomic);

/* The range of this kind with this index, in rising order of addresses. False: there are fewer. */
bool pct_scope_range(unsigned kind, uint32_t index, uintptr_t *from, uintptr_t *to);

/* Add the functions of --functions in the module at this base, as `pct sites --functions` takes them. False: it has
 * none.
 */
bool pct_scope_functions(uintptr_t base, struct pct_text *text);

/* Whether this race does not matter: pct_races_filter of sched/races.h. */
bool pct_scope_suppresses(const struct pct_snap_race *race);

/* A number for this place in the code that does not depend on where its file is mapped. */
uint64_t pct_scope_name(uintptr_t pc);

/* The same as strategies get it (common/place.h); 0 for 0. */
uint32_t pct_scope_place(uint64_t pc);

/* forkserver.c: where the program's own code is, which all runs have: so that none has to look for it. */
void pct_scope_find_program(void);

/* The run cannot be what the user wants: say why, and end the process with the status for usage. */
void pct_scope_refuse(const char *message) __attribute__((noreturn));

/* In a child: forget all. */
void pct_scope_forget(void);

#endif
