/* Random programs that are correct: what their parts share. README.md says how a program is made of them.
 *
 * A program is a list of events, in one order for all of its threads; each event has some of the threads as its
 * parties, and a thread goes through its own ones in that order. So whoever is in the first event that is not over
 * waits for nobody who is in another one: no program deadlocks. An event checks itself, and what it adds to the
 * result does not depend on the schedule.
 *
 * Three tables, each with a row for a primitive or a pattern: things to wait for (`struct kind`), locks (`struct
 * lock_kind`) and events (`struct pattern`). A new primitive is a new row. */
#ifndef PCT_TESTS_RANDOM_H
#define PCT_TESTS_RANDOM_H

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
#include <atomic>
using std::atomic_bool, std::atomic_int, std::atomic_uint;
extern "C" {
#else
#include <stdatomic.h>
#endif

enum { MOST_THREADS = 6, MOST_EVENTS = 24, MOST_ROUNDS = 4, MOST_SIGNALS = 24 };

/* --- Failure ----------------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) void failed(const char *file, int line, const char *what, long long value);
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            failed(__FILE__, __LINE__, #condition, errno);                                                             \
    } while (0)
#define CHECK_EQ(value, wanted) CHECK_IS(value, wanted, #value " is " #wanted)
#define CHECK_IS(value, wanted, text)                                                                                  \
    do {                                                                                                               \
        long long value_ = (long long)(value);                                                                         \
        if (value_ != (long long)(wanted))                                                                             \
            failed(__FILE__, __LINE__, text, value_);                                                                  \
    } while (0)
#define CHECK_OK(call) CHECK_EQ(call, 0)

/* A call that failed with EINTR is made again, which may only happen if the program has handlers for signals; and
 * of those calls that the kernel restarts, only if one of them is without SA_RESTART. */
bool again_at(const char *file, int line, bool restarts);
bool interruptions(void);
#define again(restarts) again_at(__FILE__, __LINE__, restarts)
#define AGAIN_IF(call, restarts)                                                                                       \
    ({                                                                                                                 \
        __typeof__(call) result_;                                                                                      \
        do                                                                                                             \
            result_ = (call);                                                                                          \
        while (result_ == -1 && again(restarts));                                                                      \
        result_;                                                                                                       \
    })
#define RESTARTED(call) AGAIN_IF(call, true)
#define AGAIN(call) AGAIN_IF(call, false)
/* sigwaitinfo() and those of System V are interrupted by signals that are ignored, too (the end of a child). */
#define ANYHOW(call)                                                                                                   \
    ({                                                                                                                 \
        __typeof__(call) result_;                                                                                      \
        do                                                                                                             \
            result_ = (call);                                                                                          \
        while (result_ == -1 && errno == EINTR);                                                                       \
        result_;                                                                                                       \
    })

/* --- Chance and time --------------------------------------------------------------------------------------------- */

/* Draws from 0 to below - 1; `place` moves on. */
uint32_t draw(uint64_t *place, uint32_t below);

enum { FOREVER = -1, FAR = 1000 };
/* This many microseconds, and that point of a clock. */
struct timespec interval_of(int64_t us);
struct timespec deadline_of(clockid_t clock, int64_t us);
int64_t now_us(void);
void doze(uint64_t *place); /* nothing, a yield, or a short sleep */

/* --- Things to wait for ------------------------------------------------------------------------------------------ */

enum {
    TIMED = 1,     /* wait() takes a limit */
    CANCEL = 2,    /* wait() is a cancellation point */
    HANDLER = 4,   /* wake() may be called by a handler of signals */
    PROCESS = 8,   /* also between a process and its child */
    ONCE = 16,     /* one wait and one wake */
    SINGLE = 32,   /* one thread waits */
    HANDLES = 64,  /* has a handler of signals */
    SIGNALS = 128, /* has a number of signal */
    OUTSIDE = 512, /* other processes could have it, too: left out of closed programs */
    ORDERS = 256,  /* what was written before wake() can be read after wait() without a race, in any thread */
};

struct kind;
struct thing {
    const struct kind *kind;
    int number; /* in the program */
    int fd[4];
    int signal;
    pid_t owner, child;
    sem_t sem;
    sem_t *named;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    clockid_t clock;
    mtx_t mtx;
    cnd_t cnd;
    mqd_t queue;
    int id;
    pthread_t thread;
    FILE *stream;
    atomic_uint word, waiters;
    unsigned count;
    char path[48];
    void *more; /* of C++ */
};

struct kind {
    const char *name;
    unsigned flags;
    /* Before and after all use. */
    void (*make)(struct thing *thing);
    void (*drop)(struct thing *thing);
    /* A wait takes one wake, which may have come before. `way` chooses among equivalent calls. False: the limit has
     * passed. */
    bool (*wait)(struct thing *thing, int64_t limit_us, unsigned way);
    void (*wake)(struct thing *thing, unsigned way);
};
extern const struct kind sync_kinds[], descriptor_kinds[], stream_kinds[], moving_kinds[], watched_kinds[],
    signal_kinds[], process_kinds[], cxx_kinds[], more_cxx_kinds[];

/* --- Locks ------------------------------------------------------------------------------------------------------- */

struct lock {
    const struct lock_kind *kind;
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    mtx_t mtx;
    sem_t sem;
    FILE *stream;
    int fd, id;
    atomic_uint word;
    void *more;
    long guarded, also; /* equal whenever the lock is free */
};
enum {
    SHARES = 1,    /* take() with `shared` lets others in that do the same */
    RECURSIVE = 2, /* the owner may take it again */
    CONDITION = 4, /* its `mutex` may be waited with */
    BEYOND = 8,    /* other processes could have it, too */
};
struct lock_kind {
    const char *name;
    unsigned flags;
    void (*make)(struct lock *lock);
    void (*drop)(struct lock *lock);
    /* Returns whether it was taken; false only with `way` TRY, when somebody has it. */
    bool (*take)(struct lock *lock, bool shared, unsigned way);
    void (*give)(struct lock *lock);
};
enum { WAY_TRY = 0, WAY_SHORT = 1, WAY_FAR = 2, WAY_CLOCK = 3, WAYS = 8 };
extern const struct lock_kind locks[], owner_locks[], cxx_locks[], more_cxx_locks[];

/* --- Events ------------------------------------------------------------------------------------------------------ */

struct event {
    const struct pattern *pattern;
    unsigned number, parties;
    int party[MOST_THREADS]; /* threads */
    unsigned rounds;
    uint64_t seed;
    bool abrupt; /* its handler is without SA_RESTART */
    int signal;
    struct thing *thing[2];
    struct lock *lock[3];
    /* While it runs. */
    pthread_t thread[MOST_THREADS];
    atomic_uint handled, left, right;
    atomic_bool ready[MOST_THREADS];
    pthread_barrier_t barrier;
    pthread_once_t once;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_key_t key;
    sem_t sem;
    timer_t timer;
    unsigned slots[4], head, tail;
    long data[MOST_THREADS];
    long result;
    void *more;
};
enum { NEEDS_HANDLER = 1 << 16, NEEDS_SIGNAL = 1 << 17, ALONE = 1 << 18, FOREIGN = 1 << 19 };
struct pattern {
    const char *name;
    unsigned least, most; /* parties */
    unsigned things;      /* of kinds that have all flags `need` and none of `avoid` */
    unsigned need, avoid;
    unsigned locks; /* ... that have the flags `lock_need` */
    unsigned lock_need;
    unsigned flags; /* NEEDS_HANDLER: installs a handler; NEEDS_SIGNAL: a number for it; ALONE: once in a program;
                           FOREIGN: needs other processes, or could hear of them */
    void (*prepare)(struct event *event);                             /* by main, before the threads are there */
    void (*run)(struct event *event, unsigned role, uint64_t *place); /* by each party */
    void (*finish)(struct event *event);                              /* by main, when the threads are gone */
};
extern const struct pattern wait_patterns[], lock_patterns[], thread_patterns[], call_patterns[], stream_patterns[],
    request_patterns[], signal_patterns[], old_signal_patterns[], process_patterns[], program_patterns[],
    owner_patterns[], leaving_patterns[], family_patterns[], cxx_patterns[], more_cxx_patterns[];

bool wait_thing(struct thing *thing, int64_t limit_us, uint64_t *place);
void wake_thing(struct thing *thing, uint64_t *place);
void install(struct event *event, void (*handler)(int, siginfo_t *, void *));
/* Its signal alone. */
void signal_of(const struct event *event, sigset_t *set);
/* how: SIG_UNBLOCK, SIG_BLOCK. */
void let_in(const struct event *event, int how);
/* Does nothing but the schedule decide: are there no other processes, and nothing that these could have, too? */
bool closed_program(void);
/* The event whose signal this is. */
struct event *event_of_signal(int number);
struct thing *thing_of_signal(int number);
pthread_t start_thread(void *(*routine)(void *), void *argument);
/* Makes a thing of the same kind, one in a process that was forked; and ends it. */
struct thing *another_thing(const struct thing *like);
void end_thing(struct thing *thing);

#ifdef __cplusplus
}
#endif
#endif
