/* What the shim takes of the stack of a signal handler, docs/SANDBOX.md: at most 320 bytes on the way into the handler,
 * and, with those, in each of the calls that handlers make at most 3 KB more than the same call takes natively, whether
 * other threads can go on or all wait. A fork() took 4.4 KB.
 * Without the watchdog: what it asks a handler that computes for a millisecond of CPU time takes a signal frame more.
 * BUILD: gcc -O1 -g -pthread -Wl,-z,now -o %p %s
 * RUN: %p > %t/native && for strategy in pct random-walk;
 *     do PCT_WATCHDOG=off pct run -q -s 1 -S $strategy -t %t/trace -- %p > %t/$strategy &&
 *     awk 'NR == FNR { native[$1] = $2; next } { more = $2 - native[$1]; n++ } more > ($1 ~ /^nothing/ ? 320 : 3072) {
 *     print $1, more; bad = 1 } END { exit bad || n < 220 }' %t/native %t/$strategy || exit 1; done
 * RUN: scripts/check-called tests/cases/handler_stack.without %p
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

enum { STACK = 40 << 10, PAINT = 0xa5, TIMES = 120, TIMES_DEAR = 5, RED_ZONE = 128 };

static unsigned char *stack;
static volatile size_t deepest;
static void (*volatile call)(void);
static volatile int ends, idle;

static int data[2], sockets[2], event, polled, queue, set, file, timer_fd;
static mqd_t messages;
static sem_t sem, empty, go;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static timer_t timer;
static uint32_t word;
static char byte[4096], own[64];
static struct timespec soon, moment = { .tv_nsec = 1000 };
static struct timeval small_moment = { .tv_usec = 1 };
static sigset_t none, one;

static void end_wait(int unused)
{
    (void)unused;
}

/* What sigsuspend() waits for. */
static void raise_blocked(void)
{
    signal(SIGUSR2, end_wait);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGUSR2);
}

#define CALLS(X)                                                                                                       \
    X(nothing, )                                                                                                       \
    X(write, write(data[1], byte, 1); read(data[0], byte, 1))                                                          \
    X(writev, writev(data[1], &(struct iovec){ byte, 1 }, 1); readv(data[0], &(struct iovec){ byte, 1 }, 1))           \
    X(large_write, write(data[1], byte, 4096); write(data[1], byte, 4096); read(data[0], byte, 4096);                  \
      read(data[0], byte, 4096))                                                                                       \
    X(send, send(sockets[0], byte, 1, 0); recv(sockets[1], byte, 1, 0))                                                \
    X(sendmsg, struct iovec part = { byte COMMA 1 };                                                                   \
      struct msghdr message = { .msg_iov = &part COMMA.msg_iovlen = 1 }; sendmsg(sockets[0], &message, 0);             \
      recvmsg(sockets[1], &message, 0))                                                                                \
    X(poll, poll(&(struct pollfd){ data[0], POLLIN, 0 }, 1, 1))                                                        \
    X(ppoll, ppoll(&(struct pollfd){ data[0], POLLIN, 0 }, 1, &moment, &none))                                         \
    X(select, fd_set reads; FD_ZERO(&reads); FD_SET(data[0], &reads); struct timeval limit = small_moment;             \
      select(data[0] + 1, &reads, NULL, NULL, &limit))                                                                 \
    X(pselect, fd_set reads; FD_ZERO(&reads); FD_SET(data[0], &reads);                                                 \
      pselect(data[0] + 1, &reads, NULL, NULL, &moment, &none))                                                        \
    X(epoll_wait, struct epoll_event found; epoll_wait(polled, &found, 1, 1))                                          \
    X(accept, accept(sockets[0], NULL, NULL))                                                                          \
    X(connect, connect(sockets[0], NULL, 0))                                                                           \
    X(shutdown, shutdown(data[0], SHUT_RD))                                                                            \
    X(dup, close(dup(data[0])))                                                                                        \
    X(dup2, dup2(data[0], 90); close(90))                                                                              \
    X(pipe, int ends_[2]; if (!pipe(ends_)) close(ends_[0]) COMMA close(ends_[1]))                                     \
    X(open, close(open("/dev/null", O_RDONLY)))                                                                        \
    X(fcntl, fcntl(file, F_SETLKW, &(struct flock){ .l_type = F_WRLCK }))                                              \
    X(flock, flock(file, LOCK_EX); flock(file, LOCK_UN))                                                               \
    X(lockf, lockf(file, F_LOCK, 1))                                                                                   \
    X(eventfd, eventfd_write(event, 1); eventfd_t value; eventfd_read(event, &value))                                  \
    X(timerfd, struct itimerspec at = { .it_value = moment }; timerfd_settime(timer_fd, 0, &at, NULL))                 \
    X(sendfile, sendfile(sockets[0], file, NULL, 1))                                                                   \
    X(splice, splice(data[0], NULL, sockets[0], NULL, 1, SPLICE_F_NONBLOCK))                                           \
    X(mq, mq_send(messages, byte, 1, 0); mq_receive(messages, byte, sizeof byte, NULL))                                \
    X(mq_timed, mq_timedreceive(messages, byte, sizeof byte, NULL, &soon))                                             \
    X(msg, long message[2] = { 1 }; msgsnd(queue, message, 8, 0); msgrcv(queue, message, 8, 0, 0))                     \
    X(sem_op, struct sembuf give = { 0 COMMA 1 COMMA 0 } COMMA take = { 0 COMMA - 1 COMMA 0 }; semop(set, &give, 1);   \
      semop(set, &take, 1))                                                                                            \
    X(semtimedop, struct sembuf take = { 0 COMMA - 1 COMMA 0 }; semtimedop(set, &take, 1, &moment))                    \
    X(waitpid, waitpid(-1, NULL, WNOHANG))                                                                             \
    X(waitid, siginfo_t info; waitid(P_ALL, 0, &info, WEXITED | WNOHANG))                                              \
    X(kill, kill(getpid(), SIGUSR2))                                                                                   \
    X(raise, raise(SIGUSR2))                                                                                           \
    X(pthread_kill, pthread_kill(pthread_self(), 0))                                                                   \
    X(sigqueue, sigqueue(getpid(), SIGUSR2, (union sigval){ 0 }))                                                      \
    X(sigaction, struct sigaction now; sigaction(SIGUSR2, NULL, &now); sigaction(SIGUSR2, &now, NULL))                 \
    X(signal, signal(SIGUSR2, SIG_IGN))                                                                                \
    X(sigprocmask, sigprocmask(SIG_BLOCK, &one, NULL); sigprocmask(SIG_UNBLOCK, &one, NULL))                           \
    X(sigtimedwait, sigtimedwait(&one, NULL, &moment))                                                                 \
    X(sem_post, sem_post(&sem))                                                                                        \
    X(sem_wait, sem_post(&sem); sem_wait(&sem))                                                                        \
    X(sem_trywait, sem_trywait(&empty))                                                                                \
    X(sem_timedwait, sem_timedwait(&empty, &soon))                                                                     \
    X(mutex, pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex))                                                 \
    X(trylock, pthread_mutex_trylock(&taken))                                                                          \
    X(timedlock, pthread_mutex_timedlock(&taken, &soon))                                                               \
    X(rwlock_read, pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock))                                     \
    X(rwlock_write, pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock))                                    \
    X(spin, pthread_spin_lock(&spin); pthread_spin_unlock(&spin))                                                      \
    X(cond_signal, pthread_cond_signal(&cond))                                                                         \
    X(cond_broadcast, pthread_cond_broadcast(&cond))                                                                   \
    X(cond_timedwait, pthread_mutex_lock(&mutex); pthread_cond_timedwait(&cond, &mutex, &soon);                        \
      pthread_mutex_unlock(&mutex))                                                                                    \
    X(barrier, pthread_barrier_t barrier; pthread_barrier_init(&barrier, NULL, 1); pthread_barrier_wait(&barrier);     \
      pthread_barrier_destroy(&barrier))                                                                               \
    X(futex_wake, syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0))                                     \
    X(futex_wait, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0))                                  \
    X(sched_yield, sched_yield())                                                                                      \
    X(nanosleep, nanosleep(&moment, NULL))                                                                             \
    X(usleep, usleep(1))                                                                                               \
    X(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL))                                             \
    X(clock_gettime, struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now))                                        \
    X(gettimeofday, struct timeval now; gettimeofday(&now, NULL))                                                      \
    X(time, time(NULL))                                                                                                \
    X(alarm, alarm(1000); alarm(0))                                                                                    \
    X(setitimer, struct itimerval at = { .it_value = { 1000 COMMA 0 } }; setitimer(ITIMER_REAL, &at, NULL))            \
    X(timer_settime, struct itimerspec at = { .it_value = { 1000 COMMA 0 } }; timer_settime(timer, 0, &at, NULL))      \
    X(timer_gettime, struct itimerspec at; timer_gettime(timer, &at))                                                  \
    X(sched_getaffinity, cpu_set_t cpus; sched_getaffinity(0, sizeof cpus, &cpus))                                     \
    X(access, (void)access("/dev/null", R_OK))                                                                         \
    X(stat, struct stat found; stat("/dev/null", &found))                                                              \
    X(fstat, struct stat found; fstat(file, &found))                                                                   \
    X(chdir, chdir("."))                                                                                               \
    X(mkdir, mkdir(own, 0700); rmdir(own))                                                                             \
    X(mkfifo, mkfifo(own, 0600); chmod(own, 0700); rename(own, own); unlink(own))                                      \
    X(link, symlink("/dev/null", own); char to[64]; readlink(own, to, sizeof to); unlink(own))                         \
    X(lseek, lseek(file, 0, SEEK_SET); ftruncate(file, 1); fsync(file))                                                \
    X(sendto, sendto(sockets[0], byte, 1, 0, NULL, 0); recvfrom(sockets[1], byte, 1, 0, NULL, NULL))                   \
    X(setsockopt, int on = 1; (void)setsockopt(sockets[0], SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on))                  \
    X(socketpair, int ends_[2];                                                                                        \
      if (!socketpair(AF_UNIX, SOCK_STREAM, 0, ends_)) close(ends_[0]) COMMA close(ends_[1]))                          \
    X(sleep, sleep(0))                                                                                                 \
    X(sigsuspend, raise_blocked(); sigsuspend(&none); signal(SIGUSR2, SIG_IGN))                                        \
    X(sigpending, sigset_t now; sigpending(&now))                                                                      \
    X(fork, pid_t child = fork(); if (!child) _exit(0); waitpid(child, NULL, 0))                                       \
    X(vfork, pid_t child = vfork(); if (!child) _exit(0); waitpid(child, NULL, 0))                                     \
    X(aio, struct aiocb request = { .aio_fildes = file COMMA.aio_buf = byte COMMA.aio_nbytes = 1 };                    \
      aio_error(&request))                                                                                             \
    X(times, struct tms now; (void)times(&now))                                                                        \
    X(timer_getoverrun, timer_getoverrun(timer))                                                                       \
    X(getrandom, getrandom(byte, 8, 0))                                                                                \
    X(longjmp, sigjmp_buf there; if (!sigsetjmp(there, 1)) siglongjmp(there, 1))                                       \
    X(wait, wait3(NULL, WNOHANG, NULL); wait4(-1, NULL, WNOHANG, NULL))                                                \
    X(exec, char *nothing[] = { NULL }; execv("/none", nothing); execve("/none", nothing, nothing);                    \
      execvp("/none", nothing))                                                                                        \
    X(execl, execl("/none", "none", NULL); execle("/none", "none", NULL, environ);                                     \
      fexecve(event, (char *[]){ NULL }, environ))                                                                     \
    X(openat, close(openat(AT_FDCWD, "/dev/null", O_RDONLY)); faccessat(AT_FDCWD, "/dev/null", R_OK, 0))               \
    X(fstatat, struct stat found; lstat("/dev/null", &found); fstatat(AT_FDCWD, "/dev/null", &found, 0))               \
    X(mkdirat, mkdirat(AT_FDCWD, own, 0700); fchmodat(AT_FDCWD, own, 0700, 0); utimensat(AT_FDCWD, own, NULL, 0);      \
      rmdir(own))                                                                                                      \
    X(mknodat, mkfifoat(AT_FDCWD, own, 0600); renameat(AT_FDCWD, own, AT_FDCWD, own); unlinkat(AT_FDCWD, own, 0))      \
    X(linkat, symlinkat("/dev/null", AT_FDCWD, own); chown(own, -1, -1); link(own, own); linkat(-1, own, -1, own, 0);  \
      unlink(own))                                                                                                     \
    X(utime, utime(own, NULL); utimes(own, NULL); truncate(own, 0); readlinkat(-1, own, byte, 1))                      \
    X(pread, pread(file, byte, 1, 0); preadv2(file, &(struct iovec){ byte, 1 }, 1, 0, 0))                              \
    X(socket, close(socket(AF_UNIX, SOCK_STREAM, 0)); accept4(sockets[0], NULL, NULL, 0))                              \
    X(dup3, int ends_[2]; dup3(data[0], 90, 0); close(90);                                                             \
      if (!pipe2(ends_, 0)) close(ends_[0]) COMMA close(ends_[1]))                                                     \
    X(recvmmsg, struct mmsghdr part = { 0 }; sendmmsg(sockets[0], &part, 0, 0);                                        \
      recvmmsg(sockets[1], &part, 1, MSG_DONTWAIT, NULL))                                                              \
    X(vmsplice, vmsplice(data[1], &(struct iovec){ byte, 1 }, 1, 0); read(data[0], byte, 1);                           \
      tee(data[0], data[1], 1, SPLICE_F_NONBLOCK))                                                                     \
    X(epoll_pwait, struct epoll_event found; epoll_pwait(polled, &found, 1, 1, &none))                                 \
    X(mq_timedsend, mq_timedsend(messages, byte, 1, 0, &soon); mq_receive(messages, byte, sizeof byte, NULL))          \
    X(sigmask, pthread_sigmask(SIG_BLOCK, &one, NULL); pthread_sigmask(SIG_UNBLOCK, &one, NULL))                       \
    X(tgkill, tgkill(getpid(), gettid(), SIGUSR2); pthread_sigqueue(pthread_self(), SIGUSR2, (union sigval){ 0 }))     \
    X(sigset, sigset(SIGUSR2, SIG_IGN); sighold(SIGUSR2); sigrelse(SIGUSR2); sigignore(SIGUSR2);                       \
      siginterrupt(SIGUSR2, 0))                                                                                        \
    X(sem_clockwait, int value; sem_clockwait(&empty, CLOCK_REALTIME, &soon); sem_getvalue(&empty, &value))            \
    X(rwlock_try, pthread_rwlock_tryrdlock(&rwlock); pthread_rwlock_trywrlock(&rwlock);                                \
      pthread_rwlock_unlock(&rwlock))                                                                                  \
    X(rwlock_timed, pthread_rwlock_timedwrlock(&rwlock, &soon); pthread_rwlock_timedrdlock(&rwlock, &soon);            \
      pthread_rwlock_unlock(&rwlock))                                                                                  \
    X(clocklock, pthread_mutex_clocklock(&taken, CLOCK_REALTIME, &soon); pthread_spin_trylock(&spin);                  \
      pthread_spin_unlock(&spin))                                                                                      \
    X(cond_clockwait, pthread_mutex_lock(&mutex); pthread_cond_clockwait(&cond, &mutex, CLOCK_REALTIME, &soon);        \
      pthread_mutex_unlock(&mutex))                                                                                    \
    X(clocks, struct rusage used; struct timespec now; getrusage(RUSAGE_SELF, &used); timespec_get(&now, TIME_UTC);    \
      clock())                                                                                                         \
    X(getitimer, struct itimerval at; struct itimerspec left; getitimer(ITIMER_REAL, &at);                             \
      timerfd_gettime(timer_fd, &left))                                                                                \
    X(aio_suspend, struct aiocb request = { 0 }; const struct aiocb *list[] = { &request };                            \
      aio_suspend(list, 1, &moment); aio_return(&request))                                                             \
    X(getentropy, getentropy(byte, 8); arc4random())                                                                   \
    X(limits, struct rlimit limit; prlimit(0, RLIMIT_CORE, NULL, &limit); setrlimit(RLIMIT_CORE, &limit);              \
      prctl(PR_GET_NAME, own + 48))                                                                                    \
    X(getcpu, sched_getcpu(); killpg(getpgrp(), 0); ualarm(0, 0))                                                      \
    X(testcancel, pthread_testcancel())

#define COMMA ,
#define FUNCTION(name, ...)                                                                                            \
    static void call_##name(void)                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
CALLS(FUNCTION)

/* How much of the stack below this frame the call takes, and what is taken above. */
static void handle(int signal)
{
    unsigned char *sp, *at = stack;
    (void)signal;
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
    for (unsigned char *clear = stack; clear < sp - RED_ZONE; clear++)
        *(volatile unsigned char *)clear = PAINT;
    call();
    while (at < sp && *(volatile unsigned char *)at == PAINT)
        at++;
    size_t taken_here = (size_t)(stack + STACK - at);
    deepest = taken_here > deepest ? taken_here : deepest;
}

static void *others(void *unused)
{
    while (!ends) {
        if (idle)
            sem_wait(&go);
        sched_yield();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *wait_for_signal(void *unused)
{
    sigset_t ends_it;
    int got;
    sigemptyset(&ends_it);
    sigaddset(&ends_it, SIGALRM);
    sigwait(&ends_it, &got);
    return unused;
}

static void measure(const char *name, void (*what)(void))
{
    deepest = 0;
    call = what;
    const int times = strstr(name, "fork") ? TIMES_DEAR : TIMES;
    for (int i = 0; i < times; i++)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
    printf("%s%s %zu\n", name, idle ? "_while_others_wait" : "", deepest);
}

int main(void)
{
    char name[64];
    pthread_t thread, waiter;
    struct mq_attr limits = { .mq_maxmsg = 4, .mq_msgsize = 64 };
    struct epoll_event wanted = { .events = EPOLLIN };
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    struct sigevent notify = { .sigev_notify = SIGEV_NONE };
    stack = malloc(STACK);
    stack_t alternate = { .ss_sp = stack, .ss_size = STACK };
    sigset_t alarms;
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaltstack(&alternate, NULL);
    signal(SIGUSR2, SIG_IGN);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    sigaction(SIGUSR1, &action, NULL);
    pipe(data);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    event = eventfd(0, 0);
    polled = epoll_create1(0);
    epoll_ctl(polled, EPOLL_CTL_ADD, data[0], &wanted);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    file = fileno(tmpfile());
    snprintf(name, sizeof name, "/pct-stack-%d", getpid());
    messages = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    mq_unlink(name);
    snprintf(own, sizeof own, "/tmp/pct-stack-%d", getpid());
    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&sem, 0, 0);
    sem_init(&empty, 0, 0);
    sem_init(&go, 0, 0);
    pthread_spin_init(&spin, 0);
    pthread_mutex_lock(&taken);
    timer_create(CLOCK_MONOTONIC, &notify, &timer);
    clock_gettime(CLOCK_REALTIME, &soon);
    pthread_create(&thread, NULL, others, NULL);
    pthread_create(&waiter, NULL, wait_for_signal, NULL);
#define MEASURE(name, ...) measure(#name, call_##name);
    CALLS(MEASURE)
    idle = 1;
    CALLS(MEASURE)
    ends = 1;
    sem_post(&go);
    pthread_kill(waiter, SIGALRM);
    pthread_join(thread, NULL);
    pthread_join(waiter, NULL);
    msgctl(queue, IPC_RMID, NULL);
    semctl(set, 0, IPC_RMID);
    return 0;
}
