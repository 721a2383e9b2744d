/* Every kind of lock and of message, between a thread of the schedule and one that pct did not see start (made by
 * libc's own pthread_create, found by its address): each waits for the other, while that one computes, sleeps or comes
 * at once. No hang, no false verdict. What foreign_objects.c has (mutex, condition variable, barrier, once, futex,
 * pipe, join ...) is not repeated here.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 2 --timeout 60 -- %p
 * RUN: pct run -q -s 1 -n 2 --timeout 60 --strategy=random-walk -- %p
 * RUN: pct run -q -s 1 -n 2 --timeout 60 --strategy=pct -- %p
 * Together they make all operations that pct models, but those by which no thread waits for another one or wakes it (of
 * a thread that ends, and of its handle: foreign_ended.c, foreign_handle.c):
 * RUN: gcc -g -pthread -o %t/objects tests/cases/foreign_objects.c && for program in %p %t/objects; do
 *     pct run -q -s 1 -S pct -t %t/trace -- $program && pct trace -f jsonl %t/trace || exit; done > %t/steps;
 *     sed -n '/define PCT_OPS/,/^enum/s/^ *X([A-Z_]*, "\([^"]*\)".*$/\1/p' include/pct/trace.h > %t/ops;
 *     [ $(grep -c . %t/ops) -ge 90 ] && while read -r op; do
 *     grep -qF "\"op\":\"$op\"" %t/steps || echo "$op"; done < %t/ops |
 *     awk '!/^(none|load|store|atomic .*|deadline|.* destroy|choice|point|enter|return|exit now|testcancel)$/ &&
 *     !/^(thread exit|detach|tryjoin)$/ { print "no step:", $0; bad = 1 } END { exit bad }'
 */
#include <aio.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mqueue.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

namespace
{

std::string now_testing;

void failed(const char *condition)
{
    fprintf(stderr, "%s: %s is false: %s\n", now_testing.c_str(), condition, strerror(errno));
    abort();
}

#define CHECK(condition) ((condition) ? static_cast<void>(0) : failed(#condition))

enum { AT_ONCE, COMPUTE, SLEEP } before;

void delay()
{
    timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    if (before == SLEEP)
        usleep(10000);
    while (before == COMPUTE) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        if ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec > 5000000)
            break;
    }
}

/* --- Locks: one thread holds it, the other one comes for it. ------------------------------------------------------ */

pthread_mutex_t mutex;
pthread_rwlock_t rwlock;
pthread_spinlock_t spin;
mtx_t c11;
std::timed_mutex timed;
int files[2], shut[2], set_of_semaphores;
FILE *locked;
std::atomic<int> keeper;
std::atomic<int> held;
int inside;

void make_mutex(int type, int robust, int protocol, int shared)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    pthread_mutexattr_setrobust(&attr, robust);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setpshared(&attr, shared);
    CHECK(!pthread_mutex_init(&mutex, &attr));
}

void lock_mutex(int)
{
    CHECK(!pthread_mutex_lock(&mutex));
}

void lock_mutex_timed(int)
{
    timespec late;
    clock_gettime(CLOCK_REALTIME, &late);
    late.tv_sec += 100;
    CHECK(!pthread_mutex_timedlock(&mutex, &late));
}

void unlock_mutex(int)
{
    CHECK(!pthread_mutex_unlock(&mutex));
}

void lock_record(int side, short type)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_len = 1;
    CHECK(!fcntl(files[side], F_OFD_SETLKW, &lock));
}

void operate(short change)
{
    sembuf operation = { 0, change, 0 };
    CHECK(!semop(set_of_semaphores, &operation, 1));
}

/* side: 0 the thread of the schedule, 1 the other one. */
const struct {
    const char *name;
    void (*make)();
    void (*lock)(int side), (*unlock)(int side);
} locks[] = {
    { "normal mutex", [] { make_mutex(PTHREAD_MUTEX_NORMAL, 0, 0, 0); }, lock_mutex, unlock_mutex },
    { "mutex with a deadline", [] { make_mutex(PTHREAD_MUTEX_NORMAL, 0, 0, 0); }, lock_mutex_timed, unlock_mutex },
    { "recursive mutex", [] { make_mutex(PTHREAD_MUTEX_RECURSIVE, 0, 0, 0); }, lock_mutex, unlock_mutex },
    { "error-checking mutex", [] { make_mutex(PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0); }, lock_mutex, unlock_mutex },
    { "adaptive mutex", [] { make_mutex(PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0); }, lock_mutex, unlock_mutex },
    { "robust mutex", [] { make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0); }, lock_mutex, unlock_mutex },
    { "mutex that inherits", [] { make_mutex(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT, 0); }, lock_mutex,
      unlock_mutex },
    { "shared mutex", [] { make_mutex(PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PROCESS_SHARED); }, lock_mutex,
      unlock_mutex },
    { "rwlock, to write", [] { pthread_rwlock_init(&rwlock, nullptr); },
      [](int) { CHECK(!pthread_rwlock_wrlock(&rwlock)); }, [](int) { CHECK(!pthread_rwlock_unlock(&rwlock)); } },
    { "rwlock, against a reader", [] { pthread_rwlock_init(&rwlock, nullptr); },
      [](int side) {
          CHECK(
              !(side == held.load(std::memory_order_relaxed) ? pthread_rwlock_wrlock : pthread_rwlock_rdlock)(&rwlock));
      },
      [](int) { CHECK(!pthread_rwlock_unlock(&rwlock)); } },
    { "spin lock", [] { pthread_spin_init(&spin, 0); }, [](int) { CHECK(!pthread_spin_lock(&spin)); },
      [](int) { CHECK(!pthread_spin_unlock(&spin)); } },
    { "C11 mutex", [] { CHECK(mtx_init(&c11, mtx_timed) == thrd_success); },
      [](int) { CHECK(mtx_lock(&c11) == thrd_success); }, [](int) { CHECK(mtx_unlock(&c11) == thrd_success); } },
    { "C++ mutex", nullptr, [](int) { timed.lock(); }, [](int) { timed.unlock(); } },
    { "flock", nullptr, [](int side) { CHECK(!flock(files[side], LOCK_EX)); },
      [](int side) { CHECK(!flock(files[side], LOCK_UN)); } },
    { "record lock", nullptr, [](int side) { lock_record(side, F_WRLCK); },
      [](int side) { lock_record(side, F_UNLCK); } },
    { "lock of a stream", nullptr, [](int) { flockfile(locked); }, [](int) { funlockfile(locked); } },
    { "lock of a stream, against one who uses it", nullptr,
      [](int side) {
          if (side == held.load(std::memory_order_relaxed))
              flockfile(locked), keeper = side;
          else
              CHECK(!feof(locked));
      },
      [](int side) {
          if (side == keeper)
              funlockfile(locked);
      } },
    { "System V semaphore as a lock", [] { semctl(set_of_semaphores, 0, SETVAL, 1); }, [](int) { operate(-1); },
      [](int) { operate(1); } },
};

template <size_t I, int Side> void hold()
{
    locks[I].lock(Side);
    held = 2;
    delay();
    inside = 1;
    locks[I].unlock(Side);
}

template <size_t I, int Side> void come_for()
{
    while (held != 2)
        sched_yield();
    locks[I].lock(Side);
    CHECK(inside == 1);
    locks[I].unlock(Side);
}

/* --- Messages: one thread waits, the other one brings about what it waits for. ------------------------------------ */

int sockets[2], fifo, queue_of_messages;
mqd_t queue;
sem_t sem;
mtx_t condition_lock;
cnd_t condition;
once_flag c11_once;
std::once_flag cxx_once;
int ready;

struct message {
    long type;
    char text;
};

void wait_condition()
{
    mtx_lock(&condition_lock);
    while (!ready)
        cnd_wait(&condition, &condition_lock);
    mtx_unlock(&condition_lock);
}

void bring_condition()
{
    delay();
    mtx_lock(&condition_lock);
    ready = 1;
    cnd_broadcast(&condition);
    mtx_unlock(&condition_lock);
}

/* The one that brings has begun; the other one comes behind that. */
std::atomic<int> begun;
std::atomic<pthread_t> waiter;

void await_begin()
{
    while (!begun)
        usleep(100);
}

void begin_slowly()
{
    begun = 1;
    delay();
}

void routine()
{
    begin_slowly();
    ready++;
}

int make_late()
{
    begin_slowly();
    return ++ready;
}

template <int> int static_value()
{
    static const int value = make_late();
    return value;
}

/* One for each test. */
int (*const statics[])() = { static_value<0>, static_value<1>, static_value<2>,  static_value<3>,
                             static_value<4>, static_value<5>, static_value<6>,  static_value<7>,
                             static_value<8>, static_value<9>, static_value<10>, static_value<11> };
int next_static;

std::atomic<int> word;

/* What else can be waited for. */
int watcher, timer, listener, ends[2];
FILE *stream;
sem_t *named;
sockaddr_un address;
std::string path;
pid_t child;

void take_from_socket()
{
    char byte;
    CHECK(recv(sockets[0], &byte, 1, 0) == 1);
}

void send_to_socket()
{
    delay(), CHECK(send(sockets[1], "x", 1, 0) == 1);
}

void open_and_close(int flags)
{
    const int fd = open(path.c_str(), flags);
    CHECK(fd >= 0 && !close(fd));
}

void connect_to_it()
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && !connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) && !close(fd));
}

void request_byte()
{
    char byte = 0;
    aiocb request = {};
    const aiocb *list[] = { &request };
    request.aio_fildes = sockets[0];
    request.aio_buf = &byte;
    request.aio_nbytes = 1;
    request.aio_sigevent.sigev_notify = SIGEV_NONE;
    CHECK(!aio_read(&request));
    while (aio_error(&request) == EINPROGRESS)
        aio_suspend(list, 1, nullptr);
    CHECK(aio_return(&request) == 1 && byte == 'x');
}

void set_timer()
{
    itimerspec soon = {};
    soon.it_value.tv_nsec = 1000000;
    delay(), CHECK(!timerfd_settime(timer, 0, &soon, nullptr));
}

void make_child()
{
    char byte;
    CHECK((child = fork()) >= 0);
    if (!child)
        _exit(read(ends[0], &byte, 1) == 1 ? 7 : 8);
}

int look_slowly(dl_phdr_info *, size_t, void *)
{
    begin_slowly();
    return 1;
}

const struct {
    const char *name;
    void (*wait)(), (*bring)();
} messages[] = {
    { "socket",
      [] {
          char byte;
          CHECK(recv(sockets[0], &byte, 1, 0) == 1);
      },
      [] { delay(), CHECK(send(sockets[1], "x", 1, 0) == 1); } },
    { "fifo",
      [] {
          char byte;
          CHECK(read(fifo, &byte, 1) == 1);
      },
      [] { delay(), CHECK(write(fifo, "x", 1) == 1); } },
    { "POSIX queue",
      [] {
          char text[16];
          CHECK(mq_receive(queue, text, sizeof text, nullptr) == 1);
      },
      [] { delay(), CHECK(!mq_send(queue, "x", 1, 0)); } },
    { "System V queue",
      [] {
          message m;
          CHECK(msgrcv(queue_of_messages, &m, 1, 0, 0) == 1);
      },
      [] {
          message m = { 1, 'x' };
          delay(), CHECK(!msgsnd(queue_of_messages, &m, 1, 0));
      } },
    { "System V semaphore", [] { operate(-1); }, [] { delay(), operate(1); } },
    { "semaphore with a deadline",
      [] {
          timespec late;
          clock_gettime(CLOCK_REALTIME, &late);
          late.tv_sec += 100;
          CHECK(!sem_timedwait(&sem, &late));
      },
      [] { delay(), CHECK(!sem_post(&sem)); } },
    { "signal",
      [] {
          sigset_t set;
          int number;
          sigemptyset(&set), sigaddset(&set, SIGUSR1);
          CHECK(!sigwait(&set, &number) && number == SIGUSR1);
      },
      [] { delay(), CHECK(!kill(getpid(), SIGUSR1)); } },
    { "poll",
      [] {
          pollfd one = { sockets[0], POLLIN, 0 };
          CHECK(poll(&one, 1, -1) == 1), take_from_socket();
      },
      send_to_socket },
    { "epoll",
      [] {
          epoll_event one;
          CHECK(epoll_wait(watcher, &one, 1, -1) == 1), take_from_socket();
      },
      send_to_socket },
    { "request", request_byte, send_to_socket },
    { "timer descriptor",
      [] {
          uint64_t count;
          CHECK(read(timer, &count, sizeof count) == sizeof count);
      },
      set_timer },
    { "stream", [] { CHECK(fgetc(stream) == 'x'); }, [] { delay(), CHECK(write(ends[1], "x", 1) == 1); } },
    { "named pipe, opened", [] { open_and_close(O_RDONLY); }, [] { delay(), open_and_close(O_WRONLY); } },
    { "connection",
      [] {
          const int fd = accept(listener, nullptr, nullptr);
          CHECK(fd >= 0 && !close(fd));
      },
      [] { delay(), connect_to_it(); } },
    { "named semaphore", [] { CHECK(!sem_wait(named)); }, [] { delay(), CHECK(!sem_post(named)); } },
    { "end of a child",
      [] {
          int status;
          CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
      },
      [] { delay(), CHECK(write(ends[1], "x", 1) == 1); } },
    { "C11 condition", wait_condition, bring_condition },
    { "C11 once", [] { call_once(&c11_once, routine), CHECK(ready == 1); },
      [] { call_once(&c11_once, routine), CHECK(ready == 1); } },
    { "C++ once", [] { std::call_once(cxx_once, routine), CHECK(ready == 1); },
      [] { std::call_once(cxx_once, routine), CHECK(ready == 1); } },
    { "C++ static", [] { CHECK(statics[next_static]() == 1); }, [] { CHECK(statics[next_static]() == 1); } },
    { "C++ once, begun", [] { await_begin(), std::call_once(cxx_once, [] { abort(); }), CHECK(ready == 1); },
      [] { std::call_once(cxx_once, routine); } },
    { "C++ static, begun", [] { await_begin(), CHECK(statics[next_static]() == 1); },
      [] { CHECK(statics[next_static]() == 1); } },
    { "mutex, tried",
      [] {
          for (await_begin(); pthread_mutex_trylock(&mutex) == EBUSY;)
              sched_yield();
          unlock_mutex(0);
      },
      [] { lock_mutex(0), begin_slowly(), unlock_mutex(0); } },
    { "end of an owner",
      [] {
          await_begin();
          CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD && !pthread_mutex_consistent(&mutex));
          unlock_mutex(0);
      },
      [] { lock_mutex(0), begin_slowly(); } },
    { "rwlock, tried",
      [] {
          for (await_begin(); pthread_rwlock_tryrdlock(&rwlock) == EBUSY;)
              sched_yield();
          while (pthread_rwlock_trywrlock(&rwlock) == EBUSY)
              CHECK(!pthread_rwlock_unlock(&rwlock));
          CHECK(!pthread_rwlock_unlock(&rwlock));
      },
      [] { CHECK(!pthread_rwlock_wrlock(&rwlock)), begin_slowly(), CHECK(!pthread_rwlock_unlock(&rwlock)); } },
    { "spin lock, tried",
      [] {
          for (await_begin(); pthread_spin_trylock(&spin) == EBUSY;)
              sched_yield();
          CHECK(!pthread_spin_unlock(&spin));
      },
      [] { CHECK(!pthread_spin_lock(&spin)), begin_slowly(), CHECK(!pthread_spin_unlock(&spin)); } },
    { "semaphore, tried",
      [] {
          while (sem_trywait(&sem))
              sched_yield();
      },
      [] { delay(), CHECK(!sem_post(&sem)); } },
    { "end of a connection",
      [] {
          char byte;
          CHECK(recv(shut[0], &byte, 1, 0) == 0);
      },
      [] { delay(), CHECK(!shutdown(shut[1], SHUT_WR)); } },
    { "cancellation",
      [] {
          waiter = pthread_self();
          begun = 1;
          for (;;)
              pause();
      },
      [] { await_begin(), delay(), CHECK(!pthread_cancel(waiter)); } },
    { "loader", [] { await_begin(), dlclose(dlopen("libm.so.6", RTLD_NOW)); },
      [] { dl_iterate_phdr(look_slowly, nullptr); } },
    { "handler of a signal",
      [] {
          signal(SIGUSR2, [](int) { ready = 1; });
          waiter = pthread_self();
          begun = 1;
          while (!ready)
              usleep(100);
      },
      [] { await_begin(), delay(), CHECK(!pthread_kill(waiter, SIGUSR2)); } },
    { "atomic wait", [] { word.wait(0); }, [] { delay(), word = 1, word.notify_all(); } },
};

/* --- The table ---------------------------------------------------------------------------------------------------- */

int (*create_foreign)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

void *run(void *function)
{
    reinterpret_cast<void (*)()>(function)();
    return nullptr;
}

void both(void (*here)(), void (*there)())
{
    pthread_t known, foreign;
    CHECK(!create_foreign(&foreign, nullptr, run, reinterpret_cast<void *>(there)));
    CHECK(!pthread_create(&known, nullptr, run, reinterpret_cast<void *>(here)));
    CHECK(!pthread_join(known, nullptr));
    CHECK(!pthread_join(foreign, nullptr));
}

template <size_t I> void test_lock()
{
    for (int holder = 0; holder < 2; holder++) {
        now_testing = std::string(locks[I].name) + (holder ? ", held by the foreign thread" : ", wanted by it");
        if (locks[I].make)
            locks[I].make();
        held = holder;
        inside = 0;
        both(holder ? come_for<I, 0> : hold<I, 0>, holder ? hold<I, 1> : come_for<I, 1>);
    }
}

template <size_t... I> void test_locks(std::index_sequence<I...>)
{
    (test_lock<I>(), ...);
}

void test_messages(const char *only)
{
    for (const auto &message : messages)
        for (int brings = 0; brings < 2; brings++) {
            now_testing = std::string(message.name) + (brings ? ", brought by the foreign thread" : ", awaited by it");
            if (only && !strstr(now_testing.c_str(), only))
                continue;
            ready = word = begun = 0;
            make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, 0, 0);
            CHECK(!pthread_rwlock_init(&rwlock, nullptr) && !pthread_spin_init(&spin, 0));
            CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, shut));
            c11_once = ONCE_FLAG_INIT;
            new (&cxx_once) std::once_flag;
            semctl(set_of_semaphores, 0, SETVAL, 0);
            if (!strcmp(message.name, "end of a child"))
                make_child();
            both(brings ? message.wait : message.bring, brings ? message.bring : message.wait);
            next_static += !strncmp(message.name, "C++ static", 10);
            close(shut[0]), close(shut[1]);
        }
}

void make_all()
{
    char path[] = "/tmp/pct-foreign-XXXXXX";
    const std::string name = "/pct-foreign-" + std::to_string(getpid());
    mq_attr limits = {};
    limits.mq_maxmsg = 1;
    limits.mq_msgsize = 16;
    CHECK((files[0] = mkstemp(path)) >= 0);
    CHECK((files[1] = open(path, O_RDWR)) >= 0);
    unlink(path);
    CHECK(!mkfifo(path, 0600) && (fifo = open(path, O_RDWR)) >= 0);
    unlink(path);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    CHECK((queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &limits)) >= 0);
    mq_unlink(name.c_str());
    CHECK((queue_of_messages = msgget(IPC_PRIVATE, 0600)) >= 0);
    CHECK((set_of_semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    epoll_event readable = {};
    readable.events = EPOLLIN;
    CHECK((watcher = epoll_create1(0)) >= 0 && !epoll_ctl(watcher, EPOLL_CTL_ADD, sockets[0], &readable));
    CHECK((timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
    CHECK(!pipe(ends) && (stream = fdopen(ends[0], "r")) && !setvbuf(stream, nullptr, _IONBF, 0));
    CHECK((locked = fopen("/dev/null", "r")));
    CHECK((named = sem_open(name.c_str(), O_CREAT, 0600, 0)) != SEM_FAILED && !sem_unlink(name.c_str()));
    CHECK(!mkfifo((::path = "/tmp" + name).c_str(), 0600));
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name.c_str());
    CHECK((listener = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
    CHECK(!bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) && !listen(listener, 4));
    sem_init(&sem, 0, 0);
    mtx_init(&condition_lock, mtx_plain);
    cnd_init(&condition);
    sigset_t set;
    sigemptyset(&set), sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

} // namespace

int main(int count, char **arguments)
{
    create_foreign = reinterpret_cast<decltype(create_foreign)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create"));
    make_all();
    for (int how = AT_ONCE; how <= SLEEP; how++) {
        before = static_cast<decltype(before)>(how);
        if (count < 2)
            test_locks(std::make_index_sequence<sizeof locks / sizeof *locks>());
        test_messages(count < 2 ? nullptr : arguments[1]);
    }
    msgctl(queue_of_messages, IPC_RMID, nullptr);
    semctl(set_of_semaphores, 0, IPC_RMID);
    unlink(path.c_str());
    return 0;
}
