/* In the watchdog's place in a process with a single thread, while a timer of the target's is armed whose signal that
 * thread may wait for without a call: a timer of the kernel's that goes off as the thread uses CPU time, by the same
 * signal (preempt.h). It is no thread, with which a process could not unshare() or setns(), and costs nothing while the
 * target makes calls. A fork child has none, nor what exec starts. All with the baton. */
#ifndef PCT_PRELOAD_LONE_H
#define PCT_PRELOAD_LONE_H

#include <signal.h>
#include <stdbool.h>

/* Such a timer has been armed. */
void pct_lone_watch(void);
/* There is a watchdog, or the process is about to forbid itself system calls. */
void pct_lone_end(void);
/* The second, for good. may_delete: a timer; may_return: what handles its signal. */
void pct_lone_silence(bool may_delete, bool may_return);
/* It is about to do so, but what it takes to handle a signal passes. From now on a timer is one that goes off again and
 * again, which takes no other call, and looks for nothing but that signal. may_make: a timer can be made later, too. */
void pct_lone_confine(bool may_make);
/* The watchdog's signal has come. True: it was from here, and all is done. */
bool pct_lone_sampled(const siginfo_t *info, void *context);
/* Whether the kernel's timer with this number is this one. */
bool pct_lone_has(int timer);

#endif
