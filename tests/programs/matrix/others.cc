/* The matrix: the calls that wait or wake like one of threads.cc, and are others. */
#include "matrix.h"
#include <fcntl.h>
#include <semaphore.h>
#include <string>
#include <sched.h>
#include <threads.h>

namespace
{

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
pthread_key_t key;
sem_t sem, *named;
mtx_t mtx;
cnd_t cnd;
bool flag;

const char c11[] = "libtsan does not know the threads of C11", streams[] = "libtsan does not know the locks of streams",
           clocks[] = "not every version of libtsan knows the calls that take a clock",
           cancelling[] = "libtsan does not know cancellation";

void make_mtx()
{
    mtx_init(&mtx, mtx_timed);
    cnd_init(&cnd);
}

void make_sem()
{
    sem_init(&sem, 0, 0);
}

void make_named()
{
    const std::string name = "/pct-races-" + std::to_string(getpid());
    named = sem_open(name.c_str(), O_CREAT, 0600, 0);
    sem_unlink(name.c_str());
}

void set_flag()
{
    pthread_mutex_lock(&mutex), WRITE, flag = true, pthread_cond_broadcast(&cond), pthread_mutex_unlock(&mutex);
}

void lock_and_write()
{
    pthread_mutex_lock(&mutex), WRITE, pthread_mutex_unlock(&mutex);
}

/* Holds it until the other has looked. */
void keep_lock()
{
    pthread_mutex_lock(&mutex), WRITE, advance(1), await(2), pthread_mutex_unlock(&mutex);
}

void lock_to_write()
{
    pthread_rwlock_wrlock(&rwlock), WRITE, pthread_rwlock_unlock(&rwlock);
}

void keep_to_write()
{
    pthread_rwlock_wrlock(&rwlock), WRITE, advance(1), await(2), pthread_rwlock_unlock(&rwlock);
}

void keep_to_read()
{
    pthread_rwlock_rdlock(&rwlock), WRITE, advance(1), await(2), pthread_rwlock_unlock(&rwlock);
}

void look_if(bool got)
{
    if (got)
        READ, pthread_rwlock_unlock(&rwlock);
}

/* Looks though it has not got the lock. */
template <typename call> void look_late(call get)
{
    await(1);
    if (get())
        READ;
    advance(2);
}

template <clockid_t clock> timespec limit(long nanoseconds)
{
    timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

#define REAL(nanoseconds) limit<CLOCK_REALTIME>(nanoseconds)
#define MONOTONIC(nanoseconds) limit<CLOCK_MONOTONIC>(nanoseconds)

int made_or_thrown(bool throws)
{
    static int made = [throws] {
        if (!throws)
            return 2;
        WRITE;
        throw 1;
    }();
    return made;
}

const row rows[] = {
    /* Locks with deadlines, and tries */
    alone("mutex-clocklock", ORDERED, clocks, lock_and_write,
          [] {
              const timespec until = MONOTONIC(LATE);
              if (!pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until))
                  READ, pthread_mutex_unlock(&mutex);
          }),
    unordered("mutex-clocklock-late", keep_lock,
              [] {
                  look_late([] {
                      const timespec until = MONOTONIC(SOON);
                      return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
                  });
              }),
    ordered("rwlock-timedrdlock", lock_to_write,
            [] {
                const timespec until = REAL(LATE);
                look_if(!pthread_rwlock_timedrdlock(&rwlock, &until));
            }),
    unordered("rwlock-timedrdlock-late", keep_to_write,
              [] {
                  look_late([] {
                      const timespec until = REAL(SOON);
                      return pthread_rwlock_timedrdlock(&rwlock, &until);
                  });
              }),
    ordered("rwlock-timedwrlock", lock_to_write,
            [] {
                const timespec until = REAL(LATE);
                look_if(!pthread_rwlock_timedwrlock(&rwlock, &until));
            }),
    unordered("rwlock-timedwrlock-late", keep_to_read,
              [] {
                  look_late([] {
                      const timespec until = REAL(SOON);
                      return pthread_rwlock_timedwrlock(&rwlock, &until);
                  });
              }),
    alone("rwlock-clockrdlock", ORDERED, clocks, lock_to_write,
          [] {
              const timespec until = MONOTONIC(LATE);
              look_if(!pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until));
          }),
    unordered("rwlock-clockrdlock-late", keep_to_write,
              [] {
                  look_late([] {
                      const timespec until = MONOTONIC(SOON);
                      return pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until);
                  });
              }),
    alone("rwlock-clockwrlock", ORDERED, clocks, lock_to_write,
          [] {
              const timespec until = MONOTONIC(LATE);
              look_if(!pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until));
          }),
    unordered("rwlock-clockwrlock-late", keep_to_read,
              [] {
                  look_late([] {
                      const timespec until = MONOTONIC(SOON);
                      return pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until);
                  });
              }),
    ordered("rwlock-trywrlock", lock_to_write,
            [] {
                while (pthread_rwlock_trywrlock(&rwlock))
                    pause_a_little();
                READ, pthread_rwlock_unlock(&rwlock);
            }),
    unordered("rwlock-trywrlock-busy", keep_to_read,
              [] { look_late([] { return pthread_rwlock_trywrlock(&rwlock); }); }),
    unknown(
        "c11-trylock", c11, [] { mtx_lock(&mtx), WRITE, mtx_unlock(&mtx); },
        [] {
            while (mtx_trylock(&mtx) != thrd_success)
                pause_a_little();
            READ, mtx_unlock(&mtx);
        },
        make_mtx),
    unordered(
        "c11-trylock-busy", [] { mtx_lock(&mtx), WRITE, advance(1), await(2), mtx_unlock(&mtx); },
        [] { look_late([] { return mtx_trylock(&mtx) != thrd_success; }); }, make_mtx),
    unknown(
        "c11-timedlock", c11, [] { mtx_lock(&mtx), WRITE, mtx_unlock(&mtx); },
        [] {
            const timespec until = REAL(LATE);
            if (mtx_timedlock(&mtx, &until) == thrd_success)
                READ, mtx_unlock(&mtx);
        },
        make_mtx),
    unordered(
        "c11-timedlock-late", [] { mtx_lock(&mtx), WRITE, advance(1), await(2), mtx_unlock(&mtx); },
        [] {
            look_late([] {
                const timespec until = REAL(SOON);
                return mtx_timedlock(&mtx, &until) != thrd_success;
            });
        },
        make_mtx),
    unknown(
        "flockfile", streams, [] { flockfile(stdin), WRITE, funlockfile(stdin); },
        [] { flockfile(stdin), READ, funlockfile(stdin); }),
    unknown(
        "ftrylockfile", streams, [] { flockfile(stdin), WRITE, funlockfile(stdin); },
        [] {
            while (ftrylockfile(stdin))
                pause_a_little();
            READ, funlockfile(stdin);
        }),
    unordered(
        "ftrylockfile-busy", [] { flockfile(stdin), WRITE, advance(1), await(2), funlockfile(stdin); },
        [] { look_late([] { return ftrylockfile(stdin); }); }),

    /* Condition variables */
    ordered("cond-broadcast", set_flag,
            [] {
                pthread_mutex_lock(&mutex);
                while (!flag)
                    pthread_cond_wait(&cond, &mutex);
                READ, pthread_mutex_unlock(&mutex);
            }),
    ordered("cond-clockwait", set_flag,
            [] {
                const timespec until = MONOTONIC(LATE);
                pthread_mutex_lock(&mutex);
                while (!flag && !pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until))
                    continue;
                if (flag)
                    READ;
                pthread_mutex_unlock(&mutex);
            }),
    unordered(
        "cond-clockwait-late", [] { WRITE; },
        [] {
            const timespec until = MONOTONIC(SOON);
            pthread_mutex_lock(&mutex), pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until);
            READ, pthread_mutex_unlock(&mutex);
        }),
    unknown(
        "c11-broadcast", c11, [] { mtx_lock(&mtx), WRITE, flag = true, cnd_broadcast(&cnd), mtx_unlock(&mtx); },
        [] {
            const timespec until = REAL(LATE);
            mtx_lock(&mtx);
            while (!flag && cnd_timedwait(&cnd, &mtx, &until) == thrd_success)
                continue;
            if (flag)
                READ;
            mtx_unlock(&mtx);
        },
        make_mtx),
    unordered(
        "c11-timedwait-late", [] { WRITE; },
        [] {
            const timespec until = REAL(SOON);
            mtx_lock(&mtx), cnd_timedwait(&cnd, &mtx, &until), READ, mtx_unlock(&mtx);
        },
        make_mtx),

    /* Semaphores */
    alone(
        "sem-clockwait", ORDERED, clocks, [] { WRITE, sem_post(&sem); },
        [] {
            const timespec until = MONOTONIC(LATE);
            if (!sem_clockwait(&sem, CLOCK_MONOTONIC, &until))
                READ;
        },
        make_sem),
    unordered(
        "sem-clockwait-late", [] { WRITE; },
        [] {
            const timespec until = MONOTONIC(SOON);
            if (sem_clockwait(&sem, CLOCK_MONOTONIC, &until))
                READ;
        },
        make_sem),
    ordered(
        "sem-timedwait", [] { WRITE, sem_post(&sem); },
        [] {
            const timespec until = REAL(LATE);
            if (!sem_timedwait(&sem, &until))
                READ;
        },
        make_sem),
    ordered(
        "sem-named", [] { WRITE, sem_post(named); }, [] { sem_wait(named), READ; }, make_named),

    /* Threads */
    ordered(
        "timedjoin", [] { WRITE; },
        [] {
            const timespec until = REAL(LATE);
            if (!pthread_timedjoin_np(first_thread, nullptr, &until))
                READ;
        }),
    alone(
        "clockjoin", ORDERED, clocks, [] { WRITE; },
        [] {
            const timespec until = MONOTONIC(LATE);
            if (!pthread_clockjoin_np(first_thread, nullptr, CLOCK_MONOTONIC, &until))
                READ;
        }),
    unordered(
        "timedjoin-late", [] { WRITE, await(1); },
        [] {
            const timespec until = REAL(SOON);
            if (pthread_timedjoin_np(first_thread, nullptr, &until))
                READ;
            advance(1), pthread_join(first_thread, nullptr);
        }),
    unordered(
        "tryjoin-busy", [] { WRITE, await(1); },
        [] {
            if (pthread_tryjoin_np(first_thread, nullptr))
                READ;
            advance(1), pthread_join(first_thread, nullptr);
        }),
    ordered(
        "exit-join", [] { WRITE, pthread_exit(nullptr); }, [] { pthread_join(first_thread, nullptr), READ; }),
    ordered(
        "destructor-join", [] { pthread_setspecific(key, &key); }, [] { pthread_join(first_thread, nullptr), READ; },
        [] { pthread_key_create(&key, [](void *) { WRITE; }); }),
    unknown(
        "c11-join", c11,
        [] {
            thrd_t thread;
            thrd_create(
                &thread, [](void *) { return WRITE; }, nullptr);
            thrd_join(thread, nullptr), READ;
        },
        [] {}),
    unordered(
        "c11-detach",
        [] {
            thrd_t thread;
            thrd_create(
                &thread, [](void *) { return WRITE, advance(1), 0; }, nullptr);
            thrd_detach(thread), await(1), READ;
        },
        [] {}),
    unknown(
        "testcancel", cancelling, [] { await(1), WRITE, pthread_cancel(second_thread); },
        [] {
            pthread_cleanup_push([](void *) { READ; }, nullptr);
            for (advance(1);; sched_yield())
                pthread_testcancel();
            pthread_cleanup_pop(0);
        }),
    unordered(
        "cancel-disabled", [] { await(1), WRITE, pthread_cancel(second_thread), advance(2); },
        [] {
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
            advance(1), await(2), pthread_testcancel(), READ;
        }),
    /* What has thrown is run again. */
    alone(
        "static-thrown", ORDERED, "not every version of libtsan orders what has thrown",
        [] {
            try {
                made_or_thrown(true);
            } catch (int) {
                advance(1);
            }
        },
        [] { await(1), made_or_thrown(false), READ; }),
};

} // namespace

const table other_table = { rows, sizeof rows / sizeof *rows };
