// What conformance suites of POSIX ask of signals, clocks, queues, semaphores, asynchronous reads and policies: above
// all a parent and a child that agree by sleeping much longer than the other takes. As natively, by every strategy. (It
// is not run natively here: a sleep is no order on a machine with much to do.)
//
// RUN: pct run -q -s 1 -n 10 --timeout 60 -- %p
// RUN: for s in random-walk pos round-robin portfolio random-delay; do pct run -q -s 1 -n 3 -S $s --timeout 60 -- %p ||
//     exit; done
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 100 }; // milliseconds; what a thread may be late by is a fifth of it

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s, line %d: %s: %s\n", current, __LINE__, #condition, strerror(errno));                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static const char *current;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

static struct timespec ms(long count)
{
    return (struct timespec){ count / 1000, count % 1000 * 1000000 };
}

static struct timespec from_now(clockid_t clock, long count)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += count % 1000 * 1000000;
    t.tv_sec += count / 1000 + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static long passed(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

static void nap(long count)
{
    struct timespec t = ms(count);
    nanosleep(&t, NULL);
}

static void catch (int signal, int flags)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = flags };
    handled = 0;
    CHECK(!sigaction(signal, &action, NULL));
}

static sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

// The child does this, is sent SIGUSR1 after a while, and must end with status 0.
static void signalled(void (*child)(void))
{
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        child();
        _exit(0);
    }
    nap(SHORT);
    CHECK(!kill(pid, SIGUSR1));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void in_pause(void)
{
    catch (SIGUSR1, 0);
    CHECK(pause() == -1 && errno == EINTR && handled == SIGUSR1);
}

static void in_sigsuspend(void)
{
    sigset_t none;
    sigemptyset(&none);
    catch (SIGUSR1, 0);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && handled == SIGUSR1);
}

static void in_sleep(void)
{
    catch (SIGUSR1, 0);
    unsigned left = sleep(10);
    CHECK(left >= 9 && left <= 10 && handled == SIGUSR1);
}

static void in_nanosleep(void)
{
    struct timespec ten = ms(10000), left;
    catch (SIGUSR1, SA_RESTART);
    CHECK(nanosleep(&ten, &left) == -1 && errno == EINTR);
    CHECK(left.tv_sec == 9 && handled == SIGUSR1);
}

static void in_clock_nanosleep(void)
{
    struct timespec ten = ms(10000), left;
    catch (SIGUSR1, 0);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &ten, &left) == EINTR);
    CHECK(left.tv_sec == 9);
}

static void in_select(void)
{
    struct timeval ten = { .tv_sec = 10 };
    catch (SIGUSR1, SA_RESTART);
    CHECK(select(0, NULL, NULL, NULL, &ten) == -1 && errno == EINTR);
}

static void in_sigwait(void)
{
    sigset_t set = only(SIGUSR1);
    int number;
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    CHECK(!sigwait(&set, &number) && number == SIGUSR1);
}

static void in_sigtimedwait(void)
{
    sigset_t set = only(SIGUSR1);
    siginfo_t info;
    struct timespec ten = ms(10000);
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    CHECK(sigtimedwait(&set, &info, &ten) == SIGUSR1 && info.si_code == SI_USER && info.si_pid == getppid());
}

static void in_mq_receive(void)
{
    char name[64], text[8];
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    struct timespec until = from_now(CLOCK_REALTIME, 10000);
    catch (SIGUSR1, 0);
    snprintf(name, sizeof name, "/pct-case-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    CHECK(queue >= 0 && !mq_unlink(name));
    CHECK(mq_timedreceive(queue, text, 8, NULL, &until) == -1 && errno == EINTR);
}

static void in_mq_send(void)
{
    char name[64];
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    catch (SIGUSR1, 0);
    snprintf(name, sizeof name, "/pct-case-%d", (int)getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    CHECK(queue >= 0 && !mq_unlink(name));
    CHECK(!mq_send(queue, "full", 4, 0));
    CHECK(mq_send(queue, "more", 4, 0) == -1 && errno == EINTR);
}

static void in_sem_wait(void)
{
    sem_t sem;
    struct timespec until = from_now(CLOCK_REALTIME, 10000);
    catch (SIGUSR1, 0);
    CHECK(!sem_init(&sem, 0, 0));
    CHECK(sem_timedwait(&sem, &until) == -1 && errno == EINTR);
}

static void in_handler_of_parent(void)
{
    sigset_t set = only(SIGUSR1);
    int number;
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    nap(SHORT / 2); // the signal comes later
    sigset_t pending;
    CHECK(!sigpending(&pending) && !sigismember(&pending, SIGUSR1));
    CHECK(!sigwait(&set, &number));
}

static void by_default(void)
{
    int status;
    pid_t pid = fork();
    if (!pid)
        for (;;)
            sleep(1);
    nap(SHORT);
    CHECK(!waitpid(pid, &status, WNOHANG));
    CHECK(!kill(pid, SIGTERM) && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void stopped(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        nap(3 * SHORT);
        _exit(3);
    }
    CHECK(!kill(pid, SIGSTOP) && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    CHECK(!kill(pid, SIGCONT) && waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void to_group(void)
{
    int status;
    pid_t pid = fork();
    if (!pid) {
        catch (SIGUSR2, 0);
        sleep(10);
        _exit(handled == SIGUSR2 ? 4 : 5);
    }
    CHECK(!setpgid(pid, pid));
    nap(SHORT);
    CHECK(!killpg(pid, SIGUSR2) && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

static void queued(void)
{
    sigset_t set = only(SIGRTMIN);
    siginfo_t info;
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    for (int i = 0; i < 5; i++)
        CHECK(!sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = i }));
    for (int i = 0; i < 5; i++)
        CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == i && info.si_code == SI_QUEUE);
    struct timespec none = ms(0), some = ms(SHORT), begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(sigtimedwait(&set, &info, &none) == -1 && errno == EAGAIN);
    CHECK(sigtimedwait(&set, &info, &some) == -1 && errno == EAGAIN && passed(&begin) >= SHORT);
}

static void overruns(void)
{
    sigset_t set = only(SIGRTMIN + 1);
    struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
    struct itimerspec often = { .it_value = ms(SHORT), .it_interval = ms(SHORT) }, now;
    siginfo_t info;
    timer_t timer;
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    CHECK(!timer_create(CLOCK_REALTIME, &how, &timer) && !timer_settime(timer, 0, &often, NULL));
    nap(3 * SHORT + SHORT / 2);
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 1 && timer_getoverrun(timer) == 2);
    CHECK(!timer_gettime(timer, &now) && now.it_interval.tv_nsec == SHORT * 1000000);
    CHECK(!timer_delete(timer));
    /* The kernel takes a signal that is ignored by default, when it is no longer blocked. */
    how.sigev_signo = SIGCONT;
    set = only(SIGCONT);
    CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
    CHECK(!timer_create(CLOCK_REALTIME, &how, &timer) && !timer_settime(timer, 0, &often, NULL));
    nap(3 * SHORT + SHORT / 2);
    CHECK(!sigprocmask(SIG_UNBLOCK, &set, NULL) && timer_getoverrun(timer) == 2);
    CHECK(!timer_delete(timer));
}

static void timed_locks(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    struct timespec until = from_now(CLOCK_REALTIME, SHORT), begin;
    sem_t sem;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(!pthread_mutex_lock(&mutex) && pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
    CHECK(passed(&begin) >= SHORT - 1);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &until) == ETIMEDOUT);
    CHECK(!pthread_rwlock_rdlock(&rwlock) && pthread_rwlock_timedwrlock(&rwlock, &until) == ETIMEDOUT);
    CHECK(!pthread_rwlock_timedrdlock(&rwlock, &until));
    CHECK(!sem_init(&sem, 0, 0) && sem_timedwait(&sem, &until) == -1 && errno == ETIMEDOUT);
    until.tv_nsec = 1000000000;
    CHECK(sem_timedwait(&sem, &until) == -1 && errno == EINVAL);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &until) == EINVAL);
}

static void asynchronous(void)
{
    int ends[2];
    char in[4] = "", out[4] = "aio";
    struct aiocb get = { 0 }, put = { 0 };
    const struct aiocb *list[] = { &get };
    CHECK(!pipe(ends));
    get.aio_fildes = ends[0], get.aio_buf = in, get.aio_nbytes = 3, get.aio_lio_opcode = LIO_READ;
    put.aio_fildes = ends[1], put.aio_buf = out, put.aio_nbytes = 3, put.aio_lio_opcode = LIO_WRITE;
    CHECK(!aio_read(&get));
    struct timespec some = ms(SHORT);
    CHECK(aio_suspend(list, 1, &some) == -1 && errno == EAGAIN && aio_error(&get) == EINPROGRESS);
    CHECK(!aio_write(&put));
    CHECK(!aio_suspend(list, 1, NULL) && !aio_error(&get) && aio_return(&get) == 3 && !strcmp(in, "aio"));
    while (aio_error(&put) == EINPROGRESS)
        sched_yield();
    CHECK(aio_return(&put) == 3);
    struct aiocb *both[] = { &put, &get };
    memset(in, 0, sizeof in);
    CHECK(!lio_listio(LIO_WAIT, both, 2, NULL) && !strcmp(in, "aio"));
}

static void policies(void)
{
    struct sched_param param = { 0 };
    struct timespec interval;
    CHECK(sched_get_priority_min(SCHED_FIFO) == 1 && sched_get_priority_max(SCHED_FIFO) == 99);
    CHECK(sched_getscheduler(0) == SCHED_OTHER && !sched_getparam(0, &param) && !param.sched_priority);
    CHECK(!sched_rr_get_interval(0, &interval));
    CHECK(sched_setscheduler(0, SCHED_FIFO, &param) == -1 && errno == EINVAL);
    CHECK(sched_setparam(-1, &param) == -1 && errno == EINVAL);
    CHECK(!sched_yield());
}

static void shared_memory(void)
{
    char name[64];
    int status;
    snprintf(name, sizeof name, "/pct-case-%d", (int)getpid());
    int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    CHECK(fd >= 0 && !shm_unlink(name) && !ftruncate(fd, 4096));
    sem_t *sem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(sem != MAP_FAILED && !sem_init(sem, 1, 0));
    pid_t pid = fork();
    if (!pid) {
        nap(SHORT);
        _exit(sem_post(sem));
    }
    struct timespec until = from_now(CLOCK_REALTIME, 10000);
    CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
    CHECK(!sem_timedwait(sem, &until) && waitpid(pid, &status, 0) == pid && !status);
    CHECK(!munmap(sem, 4096));
}

static void absolute(void)
{
    struct timespec until = from_now(CLOCK_MONOTONIC, SHORT), past = ms(1), begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) && passed(&begin) >= SHORT - 1);
    CHECK(!clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL));
    until.tv_nsec = -1;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &until, NULL) == EINVAL);
}

static const struct {
    const char *name;
    void (*run)(void);
    bool child; // sent a signal
} table[] = {
    { "pause", in_pause, true },
    { "sigsuspend", in_sigsuspend, true },
    { "sleep", in_sleep, true },
    { "nanosleep", in_nanosleep, true },
    { "clock_nanosleep", in_clock_nanosleep, true },
    { "select", in_select, true },
    { "sigwait", in_sigwait, true },
    { "sigtimedwait", in_sigtimedwait, true },
    { "mq_timedreceive", in_mq_receive, true },
    { "mq_send", in_mq_send, true },
    { "sem_timedwait", in_sem_wait, true },
    { "sigpending", in_handler_of_parent, true },
    { "default action", by_default, false },
    { "stop and continue", stopped, false },
    { "killpg", to_group, false },
    { "sigqueue", queued, false },
    { "overruns", overruns, false },
    { "timed locks", timed_locks, false },
    { "aio", asynchronous, false },
    { "policies", policies, false },
    { "shared memory", shared_memory, false },
    { "absolute sleeps", absolute, false },
};

// Arguments: names of the classes; default: all.
int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        bool wanted = argc == 1;
        for (int j = 1; j < argc; j++)
            wanted |= !strcmp(argv[j], table[i].name);
        current = table[i].name;
        if (wanted && table[i].child)
            signalled(table[i].run);
        else if (wanted)
            table[i].run();
    }
    return 0;
}
