/* The matrix: what orders two threads without the kernel. */
#include "matrix.h"
#include <barrier>
#include <future>
#include <latch>
#include <link.h>
#include <linux/futex.h>
#include <mutex>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>

namespace
{

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, robust, inheriting;
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
pthread_once_t once = PTHREAD_ONCE_INIT, other_once = PTHREAD_ONCE_INIT;
sem_t sem, full_sem;
bool flag;
mtx_t mtx;
cnd_t cnd;
once_flag c11_once = ONCE_FLAG_INIT;
std::mutex std_mutex;
std::shared_mutex std_shared;
std::once_flag std_once;
std::latch latch(1);
/* Not a constant: libstdc++ 16 makes the state of a constant one when a thread first arrives, and publishes it by
 * relaxed accesses, which is a race. */
volatile int two = 2;
std::barrier std_barrier(two);
std::counting_semaphore<4> std_sem(0);
std::atomic<int> word, other_word;
std::promise<int> promise;
std::future<int> future = promise.get_future();
std::promise<int> promise_at_end;
std::future<int> future_at_end = promise_at_end.get_future();
char *block;
struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    sem_t sem;
    bool flag;
} * shared;

void make_shared()
{
    pthread_mutexattr_t mutexes;
    pthread_condattr_t conds;
    pthread_barrierattr_t barriers;
    void *memory = mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = static_cast<struct shared *>(memory);
    pthread_mutexattr_init(&mutexes);
    pthread_mutexattr_setpshared(&mutexes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutexes);
    pthread_condattr_init(&conds);
    pthread_condattr_setpshared(&conds, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->cond, &conds);
    pthread_barrierattr_init(&barriers);
    pthread_barrierattr_setpshared(&barriers, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barriers, 2);
    sem_init(&shared->sem, 1, 0);
}

/* Of which only the kernel knows. */
int hidden;

long futex(int *at, int op, int value, const timespec *limit = nullptr)
{
    return syscall(SYS_futex, at, op, value, limit, nullptr, 0);
}

int made_once()
{
    static int made = WRITE;
    return made;
}

void locked(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock), WRITE, pthread_mutex_unlock(lock);
}

void look_locked(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock), READ, pthread_mutex_unlock(lock);
}

const char futexes[] = "libtsan does not know futexes";

const row thread_rows[] = {
    /* Mutexes */
    ordered(
        "mutex", [] { locked(&mutex); }, [] { look_locked(&mutex); }),
    unordered(
        "mutex-other", [] { locked(&mutex); }, [] { look_locked(&other); }),
    ordered(
        "mutex-recursive", [] { pthread_mutex_lock(&recursive), locked(&recursive), pthread_mutex_unlock(&recursive); },
        [] { look_locked(&recursive); }),
    ordered(
        "mutex-inheriting", [] { locked(&inheriting); }, [] { look_locked(&inheriting); }),
    ordered(
        "mutex-shared", [] { locked(&shared->mutex); }, [] { look_locked(&shared->mutex); }, make_shared),
    unknown(
        "mutex-robust", "libtsan does not know how a dead thread gives up a mutex",
        [] { pthread_mutex_lock(&robust), WRITE, advance(1); },
        [] {
            await(1);
            pthread_mutex_lock(&robust) == EOWNERDEAD &&pthread_mutex_consistent(&robust);
            READ, pthread_mutex_unlock(&robust);
        }),
    ordered(
        "mutex-trylock", [] { locked(&mutex); },
        [] {
            while (pthread_mutex_trylock(&mutex))
                pause_a_little();
            READ, pthread_mutex_unlock(&mutex);
        }),
    unordered(
        "mutex-trylock-busy",
        [] { pthread_mutex_lock(&mutex), WRITE, advance(1), await(2), pthread_mutex_unlock(&mutex); },
        [] {
            await(1);
            if (pthread_mutex_trylock(&mutex))
                READ;
            advance(2);
        }),
    ordered(
        "mutex-timedlock", [] { locked(&mutex); },
        [] {
            const timespec limit = in(LATE);
            if (!pthread_mutex_timedlock(&mutex, &limit))
                READ, pthread_mutex_unlock(&mutex);
        }),
    unordered(
        "mutex-timedlock-late",
        [] { pthread_mutex_lock(&mutex), WRITE, advance(1), await(2), pthread_mutex_unlock(&mutex); },
        [] {
            const timespec limit = in(SOON);
            await(1);
            if (pthread_mutex_timedlock(&mutex, &limit))
                READ;
            advance(2);
        }),
    unknown(
        "c11-mtx", "libtsan does not know the threads of C11", [] { mtx_lock(&mtx), WRITE, mtx_unlock(&mtx); },
        [] { mtx_lock(&mtx), READ, mtx_unlock(&mtx); }),
    ordered(
        "std-mutex",
        [] {
            std::lock_guard<std::mutex> lock(std_mutex);
            WRITE;
        },
        [] {
            std::lock_guard<std::mutex> lock(std_mutex);
            READ;
        }),

    /* Read-write locks */
    ordered(
        "rwlock-write-read", [] { pthread_rwlock_wrlock(&rwlock), WRITE, pthread_rwlock_unlock(&rwlock); },
        [] { pthread_rwlock_rdlock(&rwlock), READ, pthread_rwlock_unlock(&rwlock); }),
    ordered(
        "rwlock-read-write", [] { pthread_rwlock_rdlock(&rwlock), WRITE, pthread_rwlock_unlock(&rwlock); },
        [] { pthread_rwlock_wrlock(&rwlock), READ, pthread_rwlock_unlock(&rwlock); }),
    unordered(
        "rwlock-read-read", [] { pthread_rwlock_rdlock(&rwlock), WRITE, pthread_rwlock_unlock(&rwlock); },
        [] { pthread_rwlock_rdlock(&rwlock), READ, pthread_rwlock_unlock(&rwlock); }),
    unordered(
        "rwlock-try-busy",
        [] { pthread_rwlock_wrlock(&rwlock), WRITE, advance(1), await(2), pthread_rwlock_unlock(&rwlock); },
        [] {
            await(1);
            if (pthread_rwlock_tryrdlock(&rwlock))
                READ;
            advance(2);
        }),
    ordered(
        "std-shared-mutex", [] { std_shared.lock(), WRITE, std_shared.unlock(); },
        [] { std_shared.lock_shared(), READ, std_shared.unlock_shared(); }),

    /* Spinlocks */
    ordered(
        "spin", [] { pthread_spin_lock(&spin), WRITE, pthread_spin_unlock(&spin); },
        [] { pthread_spin_lock(&spin), READ, pthread_spin_unlock(&spin); }),
    unordered(
        "spin-trylock-busy", [] { pthread_spin_lock(&spin), WRITE, advance(1), await(2), pthread_spin_unlock(&spin); },
        [] {
            await(1);
            if (pthread_spin_trylock(&spin))
                READ;
            advance(2);
        }),

    /* Condition variables */
    ordered(
        "cond",
        [] {
            pthread_mutex_lock(&mutex), WRITE, flag = true, pthread_cond_signal(&cond), pthread_mutex_unlock(&mutex);
        },
        [] {
            pthread_mutex_lock(&mutex);
            while (!flag)
                pthread_cond_wait(&cond, &mutex);
            READ, pthread_mutex_unlock(&mutex);
        }),
    unordered(
        "cond-signal-alone", [] { WRITE, usleep(20000), pthread_cond_signal(&cond); },
        [] {
            const timespec limit = in(LATE);
            pthread_mutex_lock(&mutex);
            pthread_cond_timedwait(&cond, &mutex, &limit);
            READ, pthread_mutex_unlock(&mutex);
        }),
    ordered(
        "cond-shared",
        [] {
            pthread_mutex_lock(&shared->mutex);
            WRITE, shared->flag = true, pthread_cond_broadcast(&shared->cond);
            pthread_mutex_unlock(&shared->mutex);
        },
        [] {
            pthread_mutex_lock(&shared->mutex);
            while (!shared->flag)
                pthread_cond_wait(&shared->cond, &shared->mutex);
            READ, pthread_mutex_unlock(&shared->mutex);
        },
        make_shared),
    unknown(
        "c11-cnd", "libtsan does not know the threads of C11",
        [] { mtx_lock(&mtx), WRITE, flag = true, cnd_signal(&cnd), mtx_unlock(&mtx); },
        [] {
            mtx_lock(&mtx);
            while (!flag)
                cnd_wait(&cnd, &mtx);
            READ, mtx_unlock(&mtx);
        }),

    unknown(
        "cond-robust", "libtsan does not know how a dead thread gives up a mutex",
        [] { pthread_mutex_lock(&robust), WRITE, flag = true, pthread_cond_signal(&cond); },
        [] {
            pthread_mutex_lock(&robust) == EOWNERDEAD &&pthread_mutex_consistent(&robust);
            while (!flag)
                pthread_cond_wait(&cond, &robust) == EOWNERDEAD &&pthread_mutex_consistent(&robust);
            READ, pthread_mutex_unlock(&robust);
        }),

    /* Barriers */
    ordered(
        "barrier", [] { WRITE, pthread_barrier_wait(&barrier); }, [] { pthread_barrier_wait(&barrier), READ; }),
    ordered(
        "barrier-last", [] { WRITE, usleep(20000), pthread_barrier_wait(&barrier); },
        [] { pthread_barrier_wait(&barrier), READ; }),
    unordered(
        "barrier-behind", [] { pthread_barrier_wait(&barrier), WRITE; }, [] { pthread_barrier_wait(&barrier), READ; }),
    ordered(
        "barrier-shared", [] { WRITE, pthread_barrier_wait(&shared->barrier); },
        [] { pthread_barrier_wait(&shared->barrier), READ; }, make_shared),
    ordered(
        "std-barrier", [] { WRITE, std_barrier.arrive_and_wait(); }, [] { std_barrier.arrive_and_wait(), READ; }),
#if __GNUC__ >= 16
    unknown(
        "std-latch", "libtsan does not see libstdc++ 16 count down",
#else
    ordered(
        "std-latch",
#endif
        [] { WRITE, latch.count_down(); }, [] { latch.wait(), READ; }),

    /* Semaphores */
    ordered(
        "sem", [] { WRITE, sem_post(&sem); }, [] { sem_wait(&sem), READ; }),
    unordered(
        "sem-other", [] { WRITE, sem_post(&sem); }, [] { sem_wait(&full_sem), READ; }),
    ordered(
        "sem-trywait", [] { WRITE, sem_post(&sem); },
        [] {
            while (sem_trywait(&sem))
                pause_a_little();
            READ;
        }),
    unordered(
        "sem-trywait-busy", [] { WRITE; },
        [] {
            if (sem_trywait(&sem))
                READ;
        }),
    unordered(
        "sem-timedwait-late", [] { WRITE; },
        [] {
            const timespec limit = in(SOON);
            if (sem_timedwait(&sem, &limit))
                READ;
        }),
    ordered(
        "sem-getvalue", [] { WRITE, sem_post(&sem); },
        [] {
            int value = 0;
            while (sem_getvalue(&sem, &value), !value)
                pause_a_little();
            READ;
        }),
    ordered(
        "sem-shared", [] { WRITE, sem_post(&shared->sem); }, [] { sem_wait(&shared->sem), READ; }, make_shared),
    ordered(
        "std-semaphore", [] { WRITE, std_sem.release(); }, [] { std_sem.acquire(), READ; }),

    /* Threads */
    ordered(
        "join", [] { WRITE; }, [] { pthread_join(first_thread, nullptr), READ; }),
    ordered(
        "tryjoin", [] { WRITE; },
        [] {
            while (pthread_tryjoin_np(first_thread, nullptr))
                pause_a_little();
            READ;
        }),
    unordered(
        "detach", [] { WRITE; }, [] { pthread_detach(first_thread), READ; }),
    ordered(
        "create",
        [] {
            pthread_t thread;
            WRITE, pthread_create(
                       &thread, nullptr,
                       [](void *none) {
                           READ;
                           return none;
                       },
                       nullptr);
            pthread_join(thread, nullptr);
        },
        [] {}),
    unknown(
        "cancel", "libtsan does not know cancellation", [] { await(1), WRITE, pthread_cancel(second_thread); },
        [] {
            pthread_cleanup_push([](void *) { READ; }, nullptr);
            advance(1);
            for (;;)
                pause();
            pthread_cleanup_pop(0);
        }),
    ordered(
        "future", [] { WRITE, promise.set_value(1); }, [] { future.get(), READ; }),
    unknown(
        "future-at-end", "libtsan does not see what libstdc++ does at the end of a thread",
        [] { WRITE, promise_at_end.set_value_at_thread_exit(1); }, [] { future_at_end.get(), READ; }),

    /* Once */
    ordered(
        "once", [] { pthread_once(&once, [] { WRITE; }); }, [] { pthread_once(&once, [] { WRITE; }), READ; }),
    unordered(
        "once-other", [] { pthread_once(&once, [] { WRITE; }); }, [] { pthread_once(&other_once, [] { READ; }); }),
    unknown(
        "c11-once", "libtsan does not know the threads of C11", [] { call_once(&c11_once, [] { WRITE; }), advance(1); },
        [] { await(1), call_once(&c11_once, [] { WRITE; }), READ; }),
    ordered(
        "std-once", [] { std::call_once(std_once, [] { WRITE; }); },
        [] { std::call_once(std_once, [] { WRITE; }), READ; }),
    ordered(
        "static", [] { made_once(); }, [] { made_once(), READ; }),

    unknown(
        "loader", "libtsan does not know the loader's lock",
        [] { dl_iterate_phdr([](dl_phdr_info *, size_t, void *) { return WRITE; }, nullptr); },
        [] { dl_iterate_phdr([](dl_phdr_info *, size_t, void *) { return WRITE; }, nullptr); }),

    /* Atomic accesses */
    ordered(
        "atomic", [] { WRITE, word.store(1, std::memory_order_release); },
        [] {
            while (!word.load(std::memory_order_acquire))
                pause_a_little();
            READ;
        }),
    unordered(
        "atomic-relaxed", [] { WRITE, word.store(1, std::memory_order_relaxed); },
        [] {
            while (!word.load(std::memory_order_relaxed))
                pause_a_little();
            READ;
        }),
    unordered(
        "atomic-half", [] { WRITE, word.store(1, std::memory_order_release); },
        [] {
            while (!word.load(std::memory_order_relaxed))
                pause_a_little();
            READ;
        }),
    unordered(
        "atomic-other", [] { WRITE, word.store(1); }, [] { other_word.load(), READ; }),
    unknown(
        "atomic-fences", "libtsan does not know fences",
        [] {
            WRITE, std::atomic_thread_fence(std::memory_order_release);
            word.store(1, std::memory_order_relaxed);
        },
        [] {
            while (!word.load(std::memory_order_relaxed))
                pause_a_little();
            std::atomic_thread_fence(std::memory_order_acquire);
            READ;
        }),
    ordered(
        "atomic-update", [] { WRITE, word.fetch_add(1, std::memory_order_release); },
        [] {
            while (!word.fetch_add(0, std::memory_order_acquire))
                pause_a_little();
            READ;
        }),
    /* A release sequence, in C and until C++17. */
    ordered(
        "atomic-store-again",
        [] { WRITE, word.store(1, std::memory_order_release), word.store(2, std::memory_order_relaxed); },
        [] {
            while (word.load(std::memory_order_acquire) != 2)
                pause_a_little();
            READ;
        }),
    {
        "atomic-wait",
        ORDERED,
        _GLIBCXX_RELEASE < 16 ? ORDERED : CANNOT_RUN,
        "libstdc++ waits in the library since 16, where libtsan does not look",
        [] { WRITE, word.store(1, std::memory_order_release), word.notify_one(); },
        [] { word.wait(0, std::memory_order_acquire), READ; },
    },
    unknown(
        "atomic-compare-fails", "to libtsan, a compare-and-exchange that fails is a write", [] { READ; },
        [] {
            int expected = 7;
            __atomic_compare_exchange_n(&x, &expected, 8, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        }),

    /* Futexes, where nobody sees an atomic access */
    unknown(
        "futex", futexes,
        [] {
            WRITE;
            while (!futex(&hidden, FUTEX_WAKE_PRIVATE, 1))
                pause_a_little();
        },
        [] {
            if (!futex(&hidden, FUTEX_WAIT_PRIVATE, 0))
                READ;
        }),
    unordered(
        "futex-late", [] { WRITE, advance(1), await(2), futex(&hidden, FUTEX_WAKE_PRIVATE, 1); },
        [] {
            const timespec limit = { 0, SOON };
            await(1);
            if (futex(&hidden, FUTEX_WAIT_PRIVATE, 0, &limit))
                READ;
            advance(2);
        }),

    /* Memory that is given up */
    unordered(
        "free", [] { free(block); }, [] { look(block[50]); }),
    ordered(
        "free-joined", [] { look(block[50]); }, [] { pthread_join(first_thread, nullptr), free(block); }),
    ordered(
        "free-malloc",
        [] {
            char *mine = new char[500];
            mine[99] = 1;
            delete[] mine;
        },
        [] {
            char *mine = new char[500];
            mine[99] = 1;
            delete[] mine;
        }),
};

} // namespace

const table thread_table = { thread_rows, sizeof thread_rows / sizeof *thread_rows };

void make_objects()
{
    pthread_mutexattr_t mutexes;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, nullptr, 2);
    sem_init(&sem, 0, 0);
    sem_init(&full_sem, 0, 1);
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    pthread_mutexattr_init(&mutexes);
    pthread_mutexattr_setrobust(&mutexes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &mutexes);
    pthread_mutexattr_init(&mutexes);
    pthread_mutexattr_setprotocol(&mutexes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inheriting, &mutexes);
    block = static_cast<char *>(malloc(100));
}
