/* Events of processes that share objects, stop, and are signalled; of handlers within handlers; and of requests that
 * notify by signals. */
#include "random.h"
#include <aio.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void reap(pid_t child, int status)
{
    int got;
    CHECK_EQ(RESTARTED(waitpid(child, &got, 0)), child);
    CHECK(WIFEXITED(got));
    CHECK_EQ(WEXITSTATUS(got), status);
}

/* --- Objects of a family ----------------------------------------------------------------------------------------- */

struct common {
    pthread_barrier_t barrier;
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    sem_t sem;
    long guarded;
};

static void make_common(struct common *common, unsigned members, unsigned way)
{
    pthread_barrierattr_t barrier;
    pthread_mutexattr_t mutex;
    pthread_rwlockattr_t rwlock;
    CHECK_OK(pthread_barrierattr_init(&barrier));
    CHECK_OK(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_barrier_init(&common->barrier, &barrier, members));
    CHECK_OK(pthread_mutexattr_init(&mutex));
    CHECK_OK(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_mutexattr_setprotocol(&mutex, way & 1 ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE));
    CHECK_OK(pthread_mutexattr_setrobust(&mutex, way & 2 ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED));
    CHECK_OK(pthread_mutex_init(&common->mutex, &mutex));
    CHECK_OK(pthread_rwlockattr_init(&rwlock));
    CHECK_OK(pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED));
    CHECK_OK(pthread_rwlock_init(&common->rwlock, &rwlock));
    CHECK_OK(pthread_spin_init(&common->spin, PTHREAD_PROCESS_SHARED));
    CHECK_OK(sem_init(&common->sem, 1, 1));
}

static void lock_common(struct common *common, unsigned what)
{
    struct timespec until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
    if (what == 0)
        CHECK_OK(pthread_mutex_lock(&common->mutex));
    else if (what == 1)
        CHECK_OK(pthread_mutex_timedlock(&common->mutex, &until));
    else if (what == 2)
        CHECK_OK(pthread_rwlock_wrlock(&common->rwlock));
    else if (what == 3)
        CHECK_OK(pthread_spin_lock(&common->spin));
    else
        CHECK_OK(RESTARTED(sem_wait(&common->sem)));
}

static void unlock_common(struct common *common, unsigned what)
{
    if (what < 2)
        CHECK_OK(pthread_mutex_unlock(&common->mutex));
    else if (what == 2)
        CHECK_OK(pthread_rwlock_unlock(&common->rwlock));
    else if (what == 3)
        CHECK_OK(pthread_spin_unlock(&common->spin));
    else
        CHECK_OK(sem_post(&common->sem));
}

/* In each round all members guard by the same. */
static void work(struct event *event, struct common *common, uint64_t *place)
{
    uint64_t kinds = event->seed;
    for (unsigned i = 0; i < event->rounds; i++) {
        unsigned what = draw(&kinds, 5);
        lock_common(common, what);
        long before = common->guarded;
        doze(place);
        common->guarded = before + 1;
        unlock_common(common, what);
        pthread_barrier_wait(&common->barrier);
    }
}

static void run_common(struct event *event, unsigned role, uint64_t *place)
{
    struct common *common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned children = 1 + draw(place, 2);
    pid_t child[2];
    (void)role;
    CHECK(common != MAP_FAILED);
    make_common(common, children + 1, (unsigned)event->seed);
    for (unsigned i = 0; i < children; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (!child[i]) {
            *place += i;
            work(event, common, place);
            _exit(18);
        }
    }
    work(event, common, place);
    for (unsigned i = 0; i < children; i++)
        reap(child[i], 18);
    CHECK_EQ(common->guarded, event->rounds * (children + 1));
    CHECK_OK(munmap(common, sizeof *common));
}

/* --- Children ---------------------------------------------------------------------------------------------------- */

static void run_stopped(struct event *event, unsigned role, uint64_t *place)
{
    (void)event, (void)role;
    int status;
    bool itself = draw(place, 2);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        if (itself)
            CHECK_OK(raise(SIGSTOP));
        else
            for (unsigned i = 0; i < 3; i++)
                usleep(100);
        _exit(19);
    }
    doze(place);
    if (!itself)
        CHECK_OK(kill(child, SIGSTOP));
    CHECK_EQ(RESTARTED(waitpid(child, &status, WUNTRACED)), child);
    if (WIFSTOPPED(status)) {
        CHECK_EQ(WSTOPSIG(status), SIGSTOP);
        doze(place);
        CHECK_OK(kill(child, SIGCONT));
        reap(child, 19);
    } else { /* it was faster */
        CHECK(!itself && WIFEXITED(status) && WEXITSTATUS(status) == 19);
    }
}

/* A child takes signals that its parent sends. */
static void run_signalled(struct event *event, unsigned role, uint64_t *place)
{
    sigset_t set;
    siginfo_t info;
    (void)role;
    signal_of(event, &set);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        for (unsigned i = 0; i < event->rounds; i++) {
            CHECK_EQ(ANYHOW(sigwaitinfo(&set, &info)), event->signal);
            CHECK_EQ(info.si_value.sival_int, i);
            doze(place);
        }
        _exit(20);
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        doze(place);
        CHECK_OK(sigqueue(child, event->signal, (union sigval){ .sival_int = (int)i }));
    }
    reap(child, 20);
}

/* Another program copies what it is given. */
static void run_filter(struct event *event, unsigned role, uint64_t *place)
{
    static char *const arguments[] = { (char *)"cat", NULL };
    int to[2], from[2];
    posix_spawn_file_actions_t actions;
    pid_t child;
    char text[8];
    (void)role;
    CHECK_OK(pipe2(to, O_CLOEXEC));
    CHECK_OK(pipe2(from, O_CLOEXEC));
    CHECK_OK(posix_spawn_file_actions_init(&actions));
    CHECK_OK(posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO));
    CHECK_OK(posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO));
    CHECK_OK(posix_spawnp(&child, "cat", &actions, NULL, arguments, environ));
    CHECK_OK(posix_spawn_file_actions_destroy(&actions));
    CHECK_OK(close(to[0]));
    CHECK_OK(close(from[1]));
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_EQ(RESTARTED(write(to[1], "filter", 6)), 6);
        doze(place);
        for (ssize_t got = 0; got < 6;) {
            ssize_t size = RESTARTED(read(from[0], text + got, 6 - (size_t)got));
            CHECK(size > 0);
            got += size;
        }
        CHECK(!memcmp(text, "filter", 6));
    }
    CHECK_OK(close(to[1]));
    CHECK_OK(RESTARTED(read(from[0], text, 1)));
    reap(child, 0);
    CHECK_OK(close(from[0]));
}

/* The end of a child, told by a descriptor. */
static void run_pidfd(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        siginfo_t info;
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            doze(place);
            _exit(22);
        }
        int fd = (int)syscall(SYS_pidfd_open, child, 0);
        CHECK(fd >= 0);
        struct pollfd one = { .fd = fd, .events = POLLIN };
        CHECK_EQ(AGAIN(poll(&one, 1, draw(place, 2) ? -1 : FAR * 1000)), 1);
        CHECK_OK(RESTARTED(waitid((idtype_t)P_PIDFD, (id_t)fd, &info, WEXITED)));
        CHECK_EQ(info.si_pid, child);
        CHECK_EQ(info.si_status, 22);
        CHECK_OK(close(fd));
    }
}

/* The handler of a child's end tells. */
static struct event *childs_end;
static void handle_end(int number)
{
    int saved = errno;
    (void)number;
    CHECK_OK(sem_post(&childs_end->sem));
    errno = saved;
}

static void prepare_childs_end(struct event *event)
{
    struct sigaction action = { .sa_handler = handle_end, .sa_flags = event->abrupt ? 0 : SA_RESTART };
    sigfillset(&action.sa_mask); /* of two signals at once, the kernel begins with the later one, which may jump away */
    childs_end = event;
    CHECK_OK(sem_init(&event->sem, 0, 0));
    CHECK_OK(sigaction(SIGCHLD, &action, NULL));
}

static void run_childs_end(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        int status;
        pid_t child = fork(), got;
        CHECK(child >= 0);
        if (!child) {
            doze(place);
            _exit(23);
        }
        while (!(got = RESTARTED(waitpid(child, &status, WNOHANG))))
            CHECK_OK(RESTARTED(sem_wait(&event->sem)));
        CHECK_EQ(got, child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 23);
    }
}

static void finish_childs_end(struct event *event)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    (void)event; /* its semaphore may be posted still */
    CHECK_OK(sigaction(SIGCHLD, &action, NULL));
}

/* --- Handlers within handlers ------------------------------------------------------------------------------------ */

enum { STACK = 1 << 16, DEEPEST = 3 };

static void handle_deeper(int number, siginfo_t *info, void *context)
{
    struct event *event = event_of_signal(number);
    int saved = errno;
    (void)info, (void)context;
    if (atomic_fetch_add(&event->handled, 1) % DEEPEST < DEEPEST - 1)
        CHECK_OK(event->seed & 2 ? raise(number) : pthread_kill(pthread_self(), number));
    else
        event->thing[0]->kind->wake(event->thing[0], (unsigned)(event->seed % 64));
    errno = saved;
}

static void prepare_deeper(struct event *event)
{
    struct sigaction action = { .sa_sigaction = handle_deeper,
                                .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | (event->abrupt ? 0 : SA_RESTART) };
    CHECK_OK(sigaction(event->signal, &action, NULL));
}

static void run_deeper(struct event *event, unsigned role, uint64_t *place)
{
    if (role) {
        for (unsigned i = 0; i < event->rounds; i++)
            CHECK(wait_thing(event->thing[0], FOREVER, place));
        return;
    }
    stack_t stack = { .ss_size = STACK }, none = { .ss_flags = SS_DISABLE };
    stack.ss_sp = malloc(STACK);
    CHECK(stack.ss_sp);
    CHECK_OK(sigaltstack(&stack, NULL));
    for (unsigned i = 0; i < event->rounds; i++) {
        doze(place);
        CHECK_OK(raise(event->signal)); /* it is blocked */
        CHECK_EQ(atomic_load(&event->handled), DEEPEST * i);
        let_in(event, SIG_UNBLOCK);
        CHECK_EQ(atomic_load(&event->handled), DEEPEST * (i + 1));
        let_in(event, SIG_BLOCK);
    }
    CHECK_OK(sigaltstack(&none, NULL));
    free(stack.ss_sp);
}

/* A handler waits, in the middle of a wait of its thread. */
static void wait_in_handler(int number, siginfo_t *info, void *context)
{
    struct event *event = event_of_signal(number);
    struct pollfd one = { .fd = (int)event->slots[0], .events = POLLIN };
    struct timespec moment = { .tv_nsec = 20000 };
    int saved = errno;
    char byte;
    (void)info, (void)context;
    if (event->seed & 2)
        nanosleep(&moment, NULL);
    if (event->seed & 4)
        while (poll(&one, 1, -1) < 0)
            CHECK(again(false));
    CHECK_EQ(RESTARTED(read(one.fd, &byte, 1)), 1);
    atomic_fetch_add(&event->handled, 1);
    errno = saved;
}

static void prepare_waiting_handler(struct event *event)
{
    int fd[2];
    CHECK_OK(pipe(fd));
    event->slots[0] = (unsigned)fd[0];
    event->slots[1] = (unsigned)fd[1];
    CHECK_OK(pthread_barrier_init(&event->barrier, NULL, 2));
    install(event, wait_in_handler);
}

static void run_waiting_handler(struct event *event, unsigned role, uint64_t *place)
{
    event->thread[role] = pthread_self();
    if (role)
        let_in(event, SIG_UNBLOCK);
    pthread_barrier_wait(&event->barrier);
    if (role) {
        CHECK(wait_thing(event->thing[0], FOREVER, place));
        while (atomic_load(&event->handled) < event->rounds)
            sched_yield();
        let_in(event, SIG_BLOCK);
        return;
    }
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_OK(draw(place, 2) ? pthread_kill(event->thread[1], event->signal) : kill(getpid(), event->signal));
        doze(place);
        CHECK_EQ(RESTARTED(write((int)event->slots[1], "h", 1)), 1);
    }
    wake_thing(event->thing[0], place);
}

static void finish_waiting_handler(struct event *event)
{
    CHECK_OK(close((int)event->slots[0]));
    CHECK_OK(close((int)event->slots[1]));
    CHECK_OK(pthread_barrier_destroy(&event->barrier));
}

/* --- Requests that notify ---------------------------------------------------------------------------------------- */

static void wait_for_signal(const struct event *event, int code)
{
    sigset_t set;
    siginfo_t info;
    signal_of(event, &set);
    CHECK_EQ(ANYHOW(sigwaitinfo(&set, &info)), event->signal);
    CHECK_EQ(info.si_code, code);
    CHECK_EQ(info.si_value.sival_int, event->signal);
}

static void run_notified(struct event *event, unsigned role, uint64_t *place)
{
    const struct addrinfo digits = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = event->signal };
    int fd[2];
    char byte[2] = { 0 };
    (void)role;
    how.sigev_value.sival_int = event->signal;
    CHECK_OK(pipe(fd));
    for (unsigned i = 0; i < event->rounds; i++) {
        struct aiocb request = { .aio_fildes = fd[0], .aio_buf = byte, .aio_nbytes = 1 },
                     other = { .aio_fildes = fd[1], .aio_buf = (void *)"n", .aio_nbytes = 1 };
        struct aiocb *both[] = { &request, &other };
        struct gaicb name = { .ar_name = "127.0.0.1", .ar_request = &digits }, *names[] = { &name };
        request.aio_sigevent.sigev_notify = other.aio_sigevent.sigev_notify = SIGEV_NONE;
        request.aio_lio_opcode = LIO_READ;
        other.aio_lio_opcode = LIO_WRITE;
        switch (draw(place, 3)) {
        case 0:
            request.aio_sigevent = how;
            CHECK_OK(aio_read(&request));
            doze(place);
            CHECK_EQ(RESTARTED(write(fd[1], "n", 1)), 1);
            wait_for_signal(event, SI_ASYNCIO);
            break;
        case 1:
            CHECK_OK(lio_listio(LIO_NOWAIT, both, 2, &how));
            wait_for_signal(event, SI_ASYNCIO);
            CHECK_OK(aio_error(&other));
            CHECK_EQ(aio_return(&other), 1);
            break;
        case 2:
            CHECK_OK(getaddrinfo_a(GAI_NOWAIT, names, 1, &how));
            wait_for_signal(event, SI_ASYNCNL);
            CHECK_OK(gai_error(&name));
            freeaddrinfo(name.ar_result);
            continue;
        }
        CHECK_OK(aio_error(&request));
        CHECK_EQ(aio_return(&request), 1);
        CHECK_EQ(byte[0], 'n');
    }
    CHECK_OK(close(fd[0]));
    CHECK_OK(close(fd[1]));
}

const struct pattern family_patterns[] = {
    { "objects of a family", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_common, NULL },
    { "stopped child", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_stopped, NULL },
    { "signalled child", 1, 1, 0, 0, 0, 0, 0, FOREIGN | NEEDS_SIGNAL, NULL, run_signalled, NULL },
    { "filter", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_filter, NULL },
    { "descriptor of a child", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_pidfd, NULL },
    { "handler of a child's end", 1, 1, 0, 0, 0, 0, 0, ALONE | FOREIGN | NEEDS_HANDLER, prepare_childs_end,
      run_childs_end, finish_childs_end },
    { "handlers within handlers", 2, 2, 1, HANDLER, ONCE, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_deeper,
      run_deeper, NULL },
    { "handler that waits", 2, 2, 1, 0, ONCE, 0, 0, NEEDS_HANDLER | NEEDS_SIGNAL, prepare_waiting_handler,
      run_waiting_handler, finish_waiting_handler },
    { "notified", 1, 1, 0, 0, 0, 0, 0, NEEDS_SIGNAL | FOREIGN, NULL, run_notified, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
