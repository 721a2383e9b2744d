/* The script of a run: between the shim and libpct-script.so (runtime/script/), which the dynamic linker loads beside
 * it, before any code of the target runs, only where `pct script` asks for it. Without a script nothing of Lua is in
 * the process. */
#ifndef PCT_PRELOAD_SCRIPT_H
#define PCT_PRELOAD_SCRIPT_H

#include <stdbool.h>
#include <common/script.h>
#include <strategies/processes.h>
#include <strategies/script.h>

/* At the start of a run, before its strategy's: what decides in it, by the script in this file (NULL: there is none).
 * NULL: nothing does: no part of it is for this process, or libpct-script.so is not loaded. */
const struct pct_script_engine *pct_script_open(const char *path);

/* A child is about to be made, which will have this ticket in its family (0: it has none): it gets the next number.
 * With the baton. */
void pct_script_expect(uint32_t ticket);

/* Of the host (struct pct_host). */
void pct_script_rests(void);
struct pct_thread;
bool pct_script_returned(const struct pct_thread *thread);

/* Whether this run has a script, and its process others beside it, which the script may keep: a thread may wait for
 * these in a loop on memory. */
bool pct_script_has_family(void);

/* If so, see to it that such a loop is found, though nobody else in this process waits. At the start of a run. */
void pct_script_watch(void);

/* Whether there is a script that is not over yet. */
bool pct_script_listens(void);

/* The running thread has passed no point for some time, and is here now; cpu: its CPU time, in ns. waits: it goes round
 * a loop that only what others write can end. True: the script lets nobody else go on, so the thread keeps the baton.
 * Once it has had its time, the script is over. With the baton, in a signal handler. */
bool pct_script_keeps(const struct pct_thread *self, bool waits, uint64_t cpu, uintptr_t pc);

/* Of the host (struct pct_host). */
bool pct_script_spun(const struct pct_thread *thread);

/* This process's part in the run of several, which the strategy `processes` makes again without a script: it stays, and
 * is right until the next call. At the start of a run. */
const struct pct_board *pct_script_board(void);

/* The run has ended with this many steps, and this hash over them: a script's is noted. first: it is that of the first
 * process; well: the process exits. Returns what one without a script, of several processes, did otherwise than under
 * it, or NULL. With the baton. */
const char *pct_script_ended(uint64_t steps, uint64_t hash, bool first, bool well);

/* Whether this process, which is not the first, leaves a trace beside that of the first, however it ends: the script
 * has lines for it, and somebody wants to see what it did. It is noted that it does. */
bool pct_script_leaves_trace(void);

/* In libpct-script.so, and NULL without it: what decides in a run by the script in this channel. All stay. Called once
 * in a process, and again in its forked child. */
__attribute__((weak, visibility("default"))) const struct pct_script_engine *
pct_script_engine_open(const struct pct_script_host *host, struct pct_script_channel *channel,
                       const struct pct_script_self *self);

#endif
