/* The family of a process: itself, its descendants and their ancestors under pct. They share one virtual time, as they
 * natively share that of the machine: it jumps to a deadline only when none of them can run, and then to the least of
 * all.
 *
 * Each process keeps a time of its own, which its steps advance, so what it does is a function of its own schedule as
 * before. Where a process alone would jump, one with relatives asks whether the family's clock may go that far, and
 * waits until it may. What comes from outside meanwhile brings it up to the family's clock.
 *
 * The family meets in a piece of memory with a slot for each process: whether it is idle (nothing in it can run), and
 * until when. It comes with the first child; fork inherits it, and exec finds it by PCT_FAMILY, which the wrappers of
 * exec and its like put into the environment of programs that are preloaded, too. A child has its slot before it
 * exists. What a slot says may be out of date: a process to which another one has just written is not idle, and a
 * killed one says nothing. So before a jump the kernel is asked whether all threads of an idle relative sleep; and a
 * relative that finds out by asking itself (whether a child has ended) is made to.
 *
 * While a relative can run, time passes for those that wait as long as it computes: its CPU time, or real time while it
 * sleeps in the kernel. So a child that is not under pct (a static program) takes the time that it takes. One that is
 * stopped cannot run. A process that could not be entered, or cannot find its family, makes time pass as in the real
 * world. */
#ifndef PCT_PRELOAD_FAMILY_H
#define PCT_PRELOAD_FAMILY_H

#include <sched/sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* With the baton, before a child is made: its slot (a ticket: family_memory.h), which the next functions take; 0: it
 * has none. */
uint32_t pct_family_expect(void);
/* In the parent: the child has this id, 0: that is not known; negative: it could not be made. */
void pct_family_born(uint32_t slot, long pid);
/* In a forked child, before its run begins. */
void pct_family_forked(uint32_t slot);
/* A child with this id has been awaited: it is gone. */
void pct_family_gone(long pid);
/* In a program that begins its run: enter the family that PCT_FAMILY names. */
void pct_family_join(const char *text);

/* The process as the family knows it, by the ordinals of the forks from the first process to this one, as in "1.2"; "":
 * it is the first; NULL: not known. *image: how many programs it was before, by exec. With the baton. */
enum { PCT_FAMILY_PATH = 48 };
const char *pct_family_path(uint32_t *image);
/* The same of a child that is about to be made, by its slot. Empty: not known. */
void pct_family_path_of(uint32_t slot, char path[PCT_FAMILY_PATH]);

/* What processes of a replayed script tell each other (strategies/processes.h), in the family's memory; without one, in
 * memory of this process, from which a family that comes takes it over. With the baton. */
struct pct_family_board {
    uint32_t posted;     /* a futex, shared: counts what is there, and the end of all waits */
    uint32_t deadlocked; /* all processes waited: whoever waits does so in vain */
    uint32_t begun;      /* processes, but the first one, that have a part in the replay */
    uint32_t strayed;    /* one was stopped, or crashed, otherwise than under the script */
    uint8_t there[256];
};
struct pct_family_board *pct_family_board(void);

/* The time at which the run of this process begins, virtual ns; and the time of day at which virtual time began, 0: not
 * known. */
uint64_t pct_family_began(void);
uint64_t pct_family_epoch(void);

/* Processes of a script, and of its replay, go on one at a time: each until nothing in it can go on, then the first of
 * those that can, by the forks from the first process. Nothing else decides what one sees that another does: in files,
 * pipes, sockets, shared memory. From now on; with the baton, once there is a family. */
void pct_family_take_turns(void);
/* Returns when it is this process's turn. False: there are none. With the baton. */
bool pct_family_await_turn(void);
/* There are none any more: the one whose turn it is keeps it for too long. */
void pct_family_end_turns(void);
/* While this process waits: the only relative that keeps the family's time and neither is idle nor waits for its turn,
 * and how much CPU time it has used; 0: there is none, or more. */
uint32_t pct_family_runner(uint64_t *cpu);
/* Whether there were turns, and no longer are: somebody computed, or waited in a way that nobody sees, for longer than
 * others could wait. */
bool pct_family_lost_turns(void);

/* The slot of the child of vfork that runs in this thread. */
extern __thread uint32_t pct_family_vforked;
/* That of the calling process, also if it is one of those. */
uint32_t pct_family_slot(void);

/* The environment with which a process in this slot becomes another program: a copy of the given one with
 * PCT_FAMILY in it, for which `room` has this size; 0: it needs none. Any thread, also in a child of vfork. */
size_t pct_family_room(char *const *environment);
char **pct_family_environment(void *room, char *const *environment, uint32_t slot);
#define PCT_FAMILY_ENVIRONMENT(environment, slot)                                                                      \
    ({                                                                                                                 \
        size_t pct_size_ = pct_family_room(environment);                                                               \
        pct_size_ ? pct_family_environment(__builtin_alloca(pct_size_), environment, slot) : (char **)(environment);   \
    })
/* Whether the caller is the process whose run this is: not a child of vfork, nor one that pct does not know, in our
 * memory. */
bool pct_family_is_itself(void);
/* This process is about to become another program; or it has failed to. */
void pct_family_leaves(void);
void pct_family_stays(void);

/* The process has done something that a relative may see: the family's clock is to show it. With the baton. */
extern uint64_t *pct_family_clock; /* NULL: no family */
void pct_family_tell_slow(void);
static inline void pct_family_tell(void)
{
    if (PCT_UNLIKELY(pct_family_clock))
        pct_family_tell_slow();
}

/* Of the host (struct pct_host). */
bool pct_family_relatives(void);

/* Whether all relatives have ended, and no process is one of which the family knows too little. With the baton. */
bool pct_family_is_last(void);

/* Whether all relatives sleep, and none until a deadline of its own. With the baton. */
bool pct_family_still(void);
/* While this process is idle, or goes round a loop that only others can end: whether no relative will do anything that
 * this one could hear of, but for what the world may bring: each has ended, is stopped, or is idle without a deadline.
 * strangers: also one that is not under pct (yet) and sleeps will do nothing. Also where there are none. With the
 * baton. */
bool pct_family_stuck(bool strangers);
/* Such a loop begins: what relatives have been asked is to be asked again. With the baton. */
void pct_family_ask_anew(void);
bool pct_family_idle(uint64_t now, uint64_t deadline, bool world, uint64_t *again);
uint64_t pct_family_busy(uint64_t now);
bool pct_family_behind(void);
void pct_family_caught_up(uint64_t by);

/* While this process is idle: sleep until *word is not value, a relative wants to know, or `left` has passed (NULL: no
 * limit). False: it is not idle, or alone. */
bool pct_family_sleep(const uint32_t *word, uint32_t value, const struct timespec *left);
/* After another sleep, before it is asked whether something has come. */
void pct_family_woken(void);
/* End that sleep: *word has changed. Any thread, also in a signal handler. */
void pct_family_nudge(void);

#endif
