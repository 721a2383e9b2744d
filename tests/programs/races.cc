/* What orders two threads, and what does not: the matrix of the race detectors (tests/programs/races runs it).
 *
 *     races --list     a line for each row: its name, what is true of it (ordered, unordered), what libtsan says, and why it says
 *                      something else
 *     races NAME       one row
 *
 * In each row, a thread writes x and then does something; another one does something and then reads x. Where the second half was not what the row is about (a lock was free that should have
 * been taken), it does not look at x. The exit status is 0, or the detector's. */
#include <atomic>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <latch>
#include <link.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <string>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

namespace
{

int x; // what they race for
pthread_t first_thread, second_thread;

void look(int value)
{
    asm volatile("" : : "r"(value));
}

#define WRITE (x = 1)
#define READ (look(x))

#define MUST(call)                                                                                                     \
    do                                                                                                                 \
        if ((call) < 0) {                                                                                              \
            perror(#call);                                                                                             \
            _exit(3);                                                                                                  \
        }                                                                                                              \
    while (0)

timespec in(long nanoseconds)
{
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += nanoseconds;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

constexpr long SOON = 1000000, LATE = 900000000;

void pause_a_little()
{
    usleep(1000);
}

/* An order in time that no detector sees. */
int stage;

void advance(int to)
{
    asm volatile("movl %1, %0" : "=m"(stage) : "r"(to) : "memory");
}

void await(int wanted)
{
    for (int now = 0; now < wanted; pause_a_little())
        asm volatile("movl %1, %0" : "=r"(now) : "m"(stage) : "memory");
}

/* --- What the rows need ----------------------------------------------------------------------------------------------- */

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, robust, inheriting;
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;
pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
pthread_once_t once = PTHREAD_ONCE_INIT, other_once = PTHREAD_ONCE_INIT;
sem_t sem, full_sem, both;
bool flag;
mtx_t mtx;
cnd_t cnd;
once_flag c11_once = ONCE_FLAG_INIT;
std::mutex std_mutex;
std::shared_mutex std_shared;
std::once_flag std_once;
std::latch latch(1);
std::barrier std_barrier(2);
std::counting_semaphore<4> std_sem(0);
std::atomic<int> word, other_word;
std::promise<int> promise;
std::future<int> future = promise.get_future();
char *block;
struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_barrier_t barrier;
    sem_t sem;
    bool flag;
} * shared;

void make_objects()
{
    pthread_mutexattr_t mutexes;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, nullptr, 2);
    sem_init(&sem, 0, 0);
    sem_init(&full_sem, 0, 1);
    sem_init(&both, 0, 0);
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

int ends[2], sockets[2], event, files[2], listener, timer, sysv_queue, sysv_sem;
mqd_t queue;

void write_byte(int fd)
{
    MUST(write(fd, "x", 1));
}

void read_byte(int fd)
{
    char byte;
    MUST(read(fd, &byte, 1));
}

void make_descriptors()
{
    MUST(pipe(ends));
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    MUST(event = eventfd(0, 0));
    MUST(timer = timerfd_create(CLOCK_MONOTONIC, 0));
    MUST(listener = socket(AF_INET, SOCK_STREAM, 0));
    MUST(listen(listener, 1));
}

void make_files()
{
    char path[] = "/tmp/pct-races-XXXXXX";
    MUST(files[0] = mkstemp(path));
    MUST(files[1] = open(path, O_RDWR));
    unlink(path);
}

void make_queue()
{
    const std::string name = "/pct-races-" + std::to_string(getpid());
    mq_attr limits = {};
    limits.mq_maxmsg = 1;
    limits.mq_msgsize = 16;
    MUST(queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &limits));
    mq_unlink(name.c_str());
}

void fill(int fd)
{
    char page[4096] = {};
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, page, sizeof page) > 0)
        continue;
    fcntl(fd, F_SETFL, 0);
}

void connect_to_listener()
{
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
    int fd;
    MUST(fd = socket(AF_INET, SOCK_STREAM, 0));
    MUST(connect(fd, reinterpret_cast<sockaddr *>(&address), length));
}

void lock_record(int fd, short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_len = 1;
    MUST(fcntl(fd, F_OFD_SETLKW, &lock));
}

struct message {
    long type;
    char text;
};

void operate(short change)
{
    sembuf operation = { 0, change, 0 };
    MUST(semop(sysv_sem, &operation, 1));
}

/* With the handler that reads x. */
void listen_to(int signal)
{
    struct sigaction action = {};
    action.sa_handler = [](int) { READ, advance(1); };
    sigaction(signal, &action, nullptr);
}

sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

void block_signal(int signal)
{
    const sigset_t set = only(signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int made_once()
{
    static int made = WRITE;
    return made;
}

/* --- The rows --------------------------------------------------------------------------------------------------------- */

enum what { ORDERED, UNORDERED };

struct row {
    const char *name;
    what is, libtsan;
    const char *why; // libtsan says something else
    void (*first)(), (*second)();
    void (*prepare)() = nullptr;
};

/* What libtsan agrees on. */
constexpr row agreed(const char *name, what is, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return { name, is, is, "", first, second, prepare };
}

constexpr row ordered(const char *name, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return agreed(name, ORDERED, first, second, prepare);
}

constexpr row unordered(const char *name, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return agreed(name, UNORDERED, first, second, prepare);
}

/* libtsan reports a race though there is none. */
constexpr row unknown(const char *name, const char *why, void (*first)(), void (*second)(), void (*prepare)() = nullptr)
{
    return { name, ORDERED, UNORDERED, why, first, second, prepare };
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
const char file_locks[] = "libtsan does not know locks of files";
const char queues[] = "libtsan does not know these queues and semaphores";
const char signals[] = "libtsan does not order a signal with what comes of it";

const row rows[] = {
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
    ordered(
        "std-latch", [] { WRITE, latch.count_down(); }, [] { latch.wait(), READ; }),

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
    ordered(
        "cancel", [] { WRITE, pthread_cancel(second_thread); },
        [] {
            pthread_cleanup_push([](void *) { READ; }, nullptr);
            for (;;)
                pause();
            pthread_cleanup_pop(0);
        }),
    ordered(
        "future", [] { WRITE, promise.set_value(1); }, [] { future.get(), READ; }),

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
    ordered(
        "atomic-wait", [] { WRITE, word.store(1, std::memory_order_release), word.notify_one(); },
        [] { word.wait(0, std::memory_order_acquire), READ; }),
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

    /* Descriptors */
    ordered(
        "pipe", [] { WRITE, write_byte(ends[1]); }, [] { read_byte(ends[0]), READ; }),
    unknown(
        "pipe-close", "to libtsan, close releases nothing", [] { WRITE, close(ends[1]); },
        [] { read_byte(ends[0]), READ; }),
    unknown(
        "pipe-poll", "to libtsan, poll acquires nothing", [] { WRITE, write_byte(ends[1]); },
        [] {
            pollfd fd = { ends[0], POLLIN, 0 };
            poll(&fd, 1, -1), READ;
        }),
    unordered(
        "pipe-poll-late", [] { WRITE; },
        [] {
            pollfd fd = { ends[0], POLLIN, 0 };
            poll(&fd, 1, 1), READ;
        }),
    unordered(
        "pipe-empty", [] { WRITE; },
        [] {
            char byte;
            fcntl(ends[0], F_SETFL, O_NONBLOCK);
            if (read(ends[0], &byte, 1) < 0)
                READ;
        }),
    unknown(
        "pipe-full", "libtsan does not know that a pipe may be full",
        [] {
            static char all[1 << 20];
            WRITE;
            MUST(read(ends[0], all, sizeof all));
        },
        [] { write_byte(ends[1]), READ; }, [] { fill(ends[1]); }),
    unordered(
        "pipe-other", [] { WRITE, write_byte(ends[1]); }, [] { read_byte(sockets[0]), READ; },
        [] { write_byte(sockets[1]); }),
    unordered(
        "write-write", [] { WRITE, write_byte(ends[1]); }, [] { write_byte(sockets[1]), READ; }),
    ordered(
        "socketpair",
        [] {
            WRITE;
            MUST(send(sockets[1], "xy", 2, 0));
        },
        [] {
            char bytes[2];
            MUST(recv(sockets[0], bytes, 2, MSG_WAITALL));
            READ;
        }),
    ordered(
        "connect", [] { WRITE, connect_to_listener(); },
        [] {
            MUST(accept(listener, nullptr, nullptr));
            READ;
        }),
    ordered(
        "eventfd", [] { WRITE, eventfd_write(event, 1); },
        [] {
            eventfd_t value;
            eventfd_read(event, &value), READ;
        }),
    unknown(
        "timerfd", "libtsan does not order setting a timer with its expiry",
        [] {
            itimerspec soon = {};
            soon.it_value.tv_nsec = SOON;
            WRITE;
            MUST(timerfd_settime(timer, 0, &soon, nullptr));
        },
        [] {
            uint64_t count;
            MUST(read(timer, &count, sizeof count));
            READ;
        }),
    unknown(
        "flock", file_locks, [] { flock(files[0], LOCK_EX), WRITE, flock(files[0], LOCK_UN); },
        [] { flock(files[1], LOCK_EX), READ, flock(files[1], LOCK_UN); }, make_files),
    unordered(
        "flock-busy", [] { flock(files[0], LOCK_EX), WRITE, advance(1), await(2); },
        [] {
            await(1);
            if (flock(files[1], LOCK_EX | LOCK_NB))
                READ;
            advance(2);
        },
        make_files),
    unknown(
        "record-lock", file_locks, [] { lock_record(files[0], F_WRLCK), WRITE, lock_record(files[0], F_UNLCK); },
        [] { lock_record(files[1], F_WRLCK), READ, lock_record(files[1], F_UNLCK); }, make_files),

    /* Queues */
    unknown(
        "mq", queues,
        [] {
            WRITE;
            MUST(mq_send(queue, "x", 1, 0));
        },
        [] {
            char text[16];
            MUST(mq_receive(queue, text, sizeof text, nullptr));
            READ;
        },
        make_queue),
    unknown(
        "msgsnd", queues,
        [] {
            const message sent = { 1, 'x' };
            WRITE;
            MUST(msgsnd(sysv_queue, &sent, 1, 0));
        },
        [] {
            message got;
            MUST(msgrcv(sysv_queue, &got, 1, 0, 0));
            READ, msgctl(sysv_queue, IPC_RMID, nullptr);
        },
        [] { MUST(sysv_queue = msgget(IPC_PRIVATE, 0600)); }),
    unknown(
        "semop", queues, [] { WRITE, operate(1); }, [] { operate(-1), READ, semctl(sysv_sem, 0, IPC_RMID); },
        [] { MUST(sysv_sem = semget(IPC_PRIVATE, 1, 0600)); }),

    /* Signals */
    unknown(
        "kill", signals, [] { WRITE, kill(getpid(), SIGUSR1); },
        [] {
            const sigset_t set = only(SIGUSR1);
            int got;
            sigwait(&set, &got), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "sigqueue", signals, [] { WRITE, sigqueue(getpid(), SIGUSR1, {}); },
        [] {
            const sigset_t set = only(SIGUSR1);
            sigwaitinfo(&set, nullptr), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unordered(
        "sigtimedwait-late", [] { WRITE; },
        [] {
            const timespec limit = { 0, SOON };
            const sigset_t set = only(SIGUSR1);
            sigtimedwait(&set, nullptr, &limit), READ;
        },
        [] { block_signal(SIGUSR1); }),
    unknown(
        "pthread-kill", signals, [] { WRITE, pthread_kill(second_thread, SIGUSR2); }, [] { await(1); },
        [] { listen_to(SIGUSR2); }),

    /* Processes */
    unknown(
        "child", "libtsan does not order a fork with the child's end",
        [] {
            WRITE;
            if (!fork())
                _exit(0);
        },
        [] {
            while (waitpid(-1, nullptr, 0) < 0)
                pause_a_little();
            READ;
        }),

    /* What orders nothing */
    unordered(
        "nothing", [] { WRITE; }, [] { READ; }),
    unordered(
        "yield", [] { WRITE, sched_yield(); }, [] { sched_yield(), READ; }),
    unordered(
        "sleep", [] { WRITE; }, [] { usleep(20000), READ; }),
    unordered(
        "clock", [] { WRITE, in(0); }, [] { in(0), READ; }),
};

void *be_first(void *row)
{
    static_cast<const struct row *>(row)->first();
    return nullptr;
}

void *be_second(void *row)
{
    sem_wait(&both);
    static_cast<const struct row *>(row)->second();
    return nullptr;
}

bool joins_first(const row &row)
{
    return strstr(row.name, "join") || !strcmp(row.name, "detach");
}

int run(const row &row)
{
    void *argument = const_cast<struct row *>(&row);
    make_objects();
    make_descriptors();
    if (row.prepare)
        row.prepare();
    pthread_create(&second_thread, nullptr, be_second, argument);
    pthread_create(&first_thread, nullptr, be_first, argument);
    sem_post(&both); /* are known now */
    pthread_join(second_thread, nullptr);
    if (!joins_first(row))
        pthread_join(first_thread, nullptr);
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    static const char *const words[] = { "ordered", "unordered" };
    if (count == 2 && !strcmp(arguments[1], "--list")) {
        for (const row &row : rows)
            printf("%s\t%s\t%s\t%s\n", row.name, words[row.is], words[row.libtsan], row.why);
        return 0;
    }
    for (const row &row : rows)
        if (count == 2 && !strcmp(arguments[1], row.name))
            return run(row);
    fprintf(stderr, "usage: races --list | NAME\n");
    return 2;
}
