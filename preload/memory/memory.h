/* Memory events: the target is about to read or write memory. They come from programs that were compiled for it
 * (through libpct-tsan.so, the library of runtime/) and from code that was patched at load time; both call what stands
 * here.
 *
 * An event is a scheduling point if the location counts (sched/memory.h): then pct_memory_access() may pass the baton
 * on, and returns when the thread has it again; the caller makes the access then, with nothing in between. Any thread
 * may call all of these, at any time, signal handlers included: where the caller does not hold the baton, they do
 * nothing. They leave errno alone, allocate nothing but by mmap, and call nothing that a program may have replaced.
 * They follow the C calling convention: a caller that is not compiled code saves the registers that it does not
 * preserve, vector registers too. */
#ifndef PCT_PRELOAD_MEMORY_H
#define PCT_PRELOAD_MEMORY_H

#include <preload/core/shim.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Goes up with any change to what stands here that programs and libpct-tsan.so use, and so do the names of what has
 * changed: neither side misreads the other then, and libpct-tsan.so says so. */
enum { PCT_MEMORY_INTERFACE = 1 };
extern const unsigned pct_memory_interface;

/* What kind of access. */
enum {
    PCT_MEMORY_READ,
    PCT_MEMORY_WRITE, /* also: of an unlocked read-modify-write, the part that writes */
    PCT_MEMORY_ATOMIC_READ,
    PCT_MEMORY_ATOMIC_WRITE,
    PCT_MEMORY_ATOMIC_UPDATE, /* reads and writes at once: fetch_add, a locked instruction */
    PCT_MEMORY_ATOMIC_TRY,    /* the same, but it may fail, and then be tried in a loop: exchange, compare and exchange.
                                 Afterwards    comes pct_memory_after() */
    PCT_MEMORY_KIND = 7,
    /* What the access orders, for the race detector. A machine's instruction, which does not say what its program
     * meant, is taken to have both if it is locked. A lone acquire or release comes with its access. */
    PCT_MEMORY_ACQUIRE = 8,
    PCT_MEMORY_RELEASE = 16,
    /* pct_memory_after() only: the access has changed the value; it has written, if only what was there. */
    PCT_MEMORY_CHANGED = 32,
    PCT_MEMORY_WRITTEN = 64,
    /* Not told by compiled code, but seen in the machine's: a plain access may be meant to be atomic. */
    PCT_MEMORY_SEEN = 128,
    PCT_MEMORY_PLAIN = 256, /* of such a one: but this cannot be */
    PCT_MEMORY_WAITS =
        512 /* of such a one: it waits in a loop for the place to change, so that is meant to be atomic */
};

/* The calling thread is about to access size bytes at address. what: a kind, or'ed with what it orders. pc: the
 * instruction, or the one behind it, for reports and for the choice of what counts. */
void pct_memory_access(const volatile void *address, size_t size, unsigned what, const void *pc);

/* The same for patched code, which tells by itself where it waits in a loop (patch_event.c). */
void pct_memory_patched(const volatile void *address, size_t size, unsigned what, const void *pc);

/* The calling thread waits for others, in a loop. May change errno. */
void pct_memory_spin(void);

/* The plain access that the calling thread makes now, whose point it has passed, uses this, too: no point. */
void pct_memory_more(const volatile void *address, size_t size, unsigned what, const void *pc);

/* The run is an explored one, and has a second thread. */
bool pct_memory_is_explored(void);

/* The second half of a PCT_MEMORY_ATOMIC_TRY: what it has ordered, and whether it has changed anything. */
void pct_memory_after(const volatile void *address, unsigned what);

/* Behind that, of a compare and exchange that failed: what it found has been written to this address. */
void pct_memory_expected(const void *address);

/* A fence that acquires, releases or both. */
void pct_memory_fence(unsigned what);

/* This memory has been given to the calling thread: what happened there before does not matter to it. */
void pct_memory_fresh(const volatile void *address, size_t size);

/* The same where it is known only to the race detector: the memory has been mapped. */
void pct_memory_renewed(const volatile void *address, size_t size);

/* The calling thread is about to give this memory up: free() and the like. */
void pct_memory_gone(const volatile void *address, size_t size, const void *pc);

/* The calling thread has entered the function that was called from before pc, whose frame is at frame; leaves it. For
 * the stacks of race reports. */
void pct_memory_function(const void *pc, const void *frame);
void pct_memory_function_exit(void);

/* The calling thread acquires from, or releases to, this address as it would by an atomic access: annotations, and
 * objects that are read inline (a static's guard). */
void pct_memory_order(const volatile void *address, unsigned what);

/* +1: from here on, races of the calling thread do not matter; -1: they do again. Of nobody at this place in memory,
 * ever. */
void pct_memory_ignore(int change);
void pct_memory_benign(const volatile void *address, size_t size);

/* What a caller may look at itself, to save the call of pct_memory_access(): it need not be made while `active` is
 * false, nor, where `quick` is not NULL, for a plain access within one location for which pct_memory_marked() holds
 * (sched/memory.h) with the calling thread's mark. */
struct pct_memory_view {
    void **quick;   /* the table of cells; NULL until the first event that may matter, and for the race detector */
    void **cells;   /* the same for the race detector, too */
    bool active;    /* a second thread has been made, and somebody wants to know of accesses */
    bool chosen;    /* not each access to a location that counts is a point (scope.h): pct_memory_access() knows */
    bool wants_all; /* the race detector does: of all accesses, and of functions */
};
extern struct pct_memory_view pct_memory_view;

/* What the calling thread looks at: a thread's own, so that one place is asked for. */
struct pct_memory_own {
    void *const *quick; /* that of the view; NULL: not found out yet, look there */
    void *points;       /* the thread, once it may pass points by pct_memory_pass() alone; NULL: it may not */
    uint32_t mark;      /* pct_memory_mark() of the thread */
    uint32_t unmark;    /* the number that makes it 0 */
};
extern __thread struct pct_memory_own pct_memory_own;

/* It has found this race, or none (NULL): with --races=fail, one that is certain ends the run. With the baton. */
struct pct_snap_race;
void pct_memory_met(const struct pct_snap_race *race);

/* Whether the race detector was told of an access, or of a function of code that tells. */
bool pct_memory_was_seen(void);

/* thread.c: the calling thread is this one; a second thread is made. start.c: forget all, in a child. */
void pct_memory_adopt(uint32_t thread);
void pct_memory_second_thread(void);
void pct_memory_forget(void);

/* forkserver.c: in the first thread, which has a stack that all runs will have: where it ends. */
void pct_memory_find_main(void);

/* start.c: this is a forked run; what the process that it was forked from has of memory is to be as the run's own
 * configuration says. */
void pct_memory_settle(void);

/* The table of cells, for code that has its address built in: it stays where it is, in children, too. Made now if need
 * be; NULL: there is none, or every access is to be told of. With the baton, when a second thread is about to be made;
 * or before any run, for those that are forked. */
void *const *pct_memory_table(void);

/* Where the mark of this location stands, for code that has that built in: the high half of its cell, which stays
 * there, in children, too. map: for the part of the table that it is in, if that is not there yet. 0: it may not. After
 * pct_memory_table(), likewise. */
uint64_t pct_memory_mark_of(uint64_t address, void *(*map)(size_t size));

/* No code has the place of a mark any more, and no run has begun: those parts of the table go. */
void pct_memory_unmark(void);

#endif
