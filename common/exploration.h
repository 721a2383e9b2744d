/* The channel between `pct explore` and the runs that it makes: a file that both map. The command writes the plan,
 * which thread is to make each of the first steps; the run writes the log, what each thread was about to do when, who
 * could go on, and who enabled whom. Together with the trace that is all that systematic exploration needs to know of a
 * run (docs/EXPLORE.md). */
#ifndef PCT_COMMON_EXPLORATION_H
#define PCT_COMMON_EXPLORATION_H

#include <stdint.h>

#define PCT_CHANNEL_MAGIC "PCTEXPL"
#define PCT_CHANNEL_VERSION 5u

/* Keys of what is none of the program's objects. */
#define PCT_KEY_THREADS (UINT64_C(255) << 56) /* who makes the next thread gets the next id */
#define PCT_KEY_KERNEL (UINT64_C(254) << 56)  /* descriptors, files, and whatever else the kernel keeps */
#define PCT_KEY_RANDOM (UINT64_C(253) << 56)  /* who draws the next random number gets it; what else libc keeps */
#define PCT_KEY_END (UINT64_C(252) << 56)     /* who ends the process first gives it its exit status */
#define PCT_KEY_TIME (UINT64_C(251) << 56)    /* who lets it go on early; who looks at it */
#define PCT_KEY_LOCALE (UINT64_C(250) << 56)
#define PCT_KEY_ENVIRONMENT (UINT64_C(249) << 56)
#define PCT_KEY_KEYS                                                                                                   \
    (UINT64_C(248) << 56) /* of threads' own data: those that are deleted have no destructors any more */
#define PCT_KEY_ENDED (UINT64_C(247) << 56) /* and a thread's id: whether it has ended */
#define PCT_KEY_HIDDEN PCT_KEY_ENDED        /* from here on: touched between scheduling points, by what runs there */

enum pct_log_kind {
    PCT_LOG_NONE,
    PCT_LOG_PICK,     /* the thread goes on; value: the steps made before */
    PCT_LOG_ANNOUNCE, /* it is about to do op on the object of this key (0: none); value: where in the code, the lower
                         half of the address behind the call, 0: not known */
    PCT_LOG_ENABLE,   /* and could */
    PCT_LOG_DISABLE,  /* or could not, or has finished */
    PCT_LOG_CAUSED,   /* the running thread has ended this one's wait, or made it; value 1: its deadline has */
    PCT_LOG_TOUCH,    /* the running thread's step is also op on this object; of memory, value: on this many locations
                         behind this one, too */
    PCT_LOG_VALUE,    /* what the semaphore of this key counts now, or how many are still to arrive at the barrier */
    PCT_LOG_NAME,     /* the number in value is from now on that of the object with this key */
    PCT_LOG_CHOICE,   /* value: waiters that the running thread's step could wake, times 65536, and the one chosen */
    PCT_LOG_JUMP,     /* time went on to a deadline, as nobody could run */
    PCT_LOG_NEAR,     /* the deadline of this thread's wait may come early from now on */
    PCT_LOG_HIDDEN,   /* the running thread has used what has this key, though that is no operation; value 1: it only
                         read */
    PCT_LOG_AGAIN,    /* what this thread is about to do is one more round of a loop that looks at memory and counts;
                         value 1: there were more than a loop makes that ends by itself */
    PCT_LOG_OWN,      /* that this thread waits in a loop is known if no other one uses this location on its stack */
    PCT_LOG_FREED,    /* as TOUCH, of memory: a block that the running thread gives up; op 1: the program tells of its
                         accesses to the heap, so that whatever orders that with the use of a lock in it is known */
    PCT_LOG_HELD,     /* the end of this thread, to which it comes, gives the robust mutex of this key up */
    PCT_LOG_DOUBT /* op, enum pct_doubt, is for what was done first at this place in the code: value as of ANNOUNCE */
};

/* 16 bytes. Keys: the address, and the class in the highest byte (sched/object.h); of a thread its id. */
struct pct_log_entry {
    uint8_t kind; /* enum pct_log_kind */
    uint8_t op;
    uint16_t thread;
    uint32_t value;
    uint64_t key;
};

/* What a run may do that exploration cannot see or order, so that nothing can be said of all schedules. X(identifier,
 * text) */
#define PCT_DOUBTS(X)                                                                                                  \
    X(JUMP, "time passed while a thread spun")                                                                         \
    X(GUARD, "static variables with guards: to find one initialised is no scheduling point")                           \
    X(WRITER, "a read-write lock that prefers writers: a thread that only waits keeps others out")                     \
    X(VALUE, "sem_getvalue, which is no scheduling point")                                                             \
    X(CHOICES, "an operation that chose among waiters more than once")                                                 \
    X(FULL, "a run that was too long to be logged")                                                                    \
    X(ALLOCATED, "mallinfo and its like, which show what all threads have allocated")                                  \
    X(ROUNDS, "a loop that waits for memory, not all of whose rounds were scheduling points")                          \
    X(CANCEL, "cancellation of threads, which takes --bound")                                                          \
    X(ASYNCHRONOUS, "asynchronous cancellation, which comes between scheduling points, too")                           \
    X(OWN, "a loop that waits for memory, and changes what other threads use, too, on its thread's stack")             \
    X(STACK, "a thread that writes on another one's stack, not all of whose accesses are seen")                        \
    X(FRAMES, "a thread that uses another one's local variable, whose function has returned")                          \
    X(FREED, "a block of memory that one thread frees while another one may still use it")                             \
    X(PEER, "sockets whose other end may be another process's")                                                        \
    X(ROOM, "memory that was refused, or is where it is, because of what other threads have")                          \
    X(ALIAS, "memory that is mapped at two addresses: what threads do at one of them is not seen at the other")        \
    X(STREAMS, "locks of streams that libc keeps unseen: flockfile by code loaded later, fopencookie, reads")

/* What the verdict takes for granted where a run has done this. X(identifier, text) */
#define PCT_ASSUMPTIONS(X)                                                                                             \
    X(CLOCK, "nothing else depends on what the clocks show, which stand between deadlines")                            \
    X(AWAIT, "loops that wait for memory to change do nothing else in code that tells nothing of its accesses")        \
    X(PIECES, ("threads come in between uses of what libc and the kernel keep for all (rand, the environment, files) " \
               "at scheduling points alone"))                                                                          \
    X(STACK, "no thread writes on its stack, which --memory does not patch, what others read at the same time")        \
    X(FRAMES, "no thread uses another one's local variable once its function has returned")                            \
    X(OUTSIDE, "each run finds files, process ids and whatever else is outside of it as the first one did")            \
    X(ADDRESSES, "nothing depends on the addresses, which are left to chance")

enum pct_doubt {
#define PCT_DOUBT_ENUM(id, text) PCT_DOUBT_##id,
    PCT_DOUBTS(PCT_DOUBT_ENUM)
#undef PCT_DOUBT_ENUM
        PCT_DOUBT_COUNT
};

enum pct_assumption {
#define PCT_ASSUMES_ENUM(id, text) PCT_ASSUMES_##id,
    PCT_ASSUMPTIONS(PCT_ASSUMES_ENUM)
#undef PCT_ASSUMES_ENUM
        PCT_ASSUMPTION_COUNT
};

/* How loops that wait for memory to change have ended the run (sched/await.h). */
enum pct_awaited {
    PCT_AWAITED_NOTHING,
    PCT_AWAITED_BLOCKED, /* it tells nothing that another one does not */
    PCT_AWAITED_FOR_EVER
};

/* The head of the file; behind it, plan_max places of the plan, then log_max entries of the log. */
struct pct_channel {
    char magic[8];
    uint32_t version;
    uint32_t plan_max, plan_count;
    uint32_t log_max, log_count;
    uint32_t doubts;  /* bit i: enum pct_doubt i */
    uint32_t began;   /* runs that have begun to write the log */
    uint32_t assumes; /* bit i: enum pct_assumption i */
    uint32_t awaited; /* enum pct_awaited: how it ended */
    uint32_t output;  /* 1: what the program prints is judged, so its order counts */
    uint32_t unused[4];
    uint32_t plan[];
};

static inline struct pct_log_entry *pct_channel_log(struct pct_channel *channel)
{
    return (struct pct_log_entry *)(void *)(channel->plan + channel->plan_max);
}

/* Before a run with this plan: it has written nothing yet. */
static inline void pct_channel_renew(struct pct_channel *channel)
{
    channel->log_count = channel->doubts = channel->assumes = channel->awaited = channel->began = 0;
}

/* Bytes of a channel. plan_max: even. */
static inline uint64_t pct_channel_size(uint32_t plan_max, uint32_t log_max)
{
    return sizeof(struct pct_channel) + plan_max * sizeof(uint32_t) + log_max * sizeof(struct pct_log_entry);
}

#endif
