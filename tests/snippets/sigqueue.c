/* sigqueue, pthread_sigqueue, tgkill: the value arrives, signals of real time queue up in order, each thread gets its
 * own. */
/* tests: sigqueue pthread_sigqueue tgkill */
/* ops: SIGNAL_SEND SIGNAL_HANDLE */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>

enum { MANY = 5 };

/* As programs linked before glibc 2.34 refer to it. */
int old_sigqueue(pthread_t thread, int number, const union sigval value);
__asm__(".symver old_sigqueue, pthread_sigqueue@GLIBC_2.11");

static __thread volatile sig_atomic_t handled;
static __thread int last, code;
static sem_t ready, done;

static void handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQ(number, info->si_signo);
    CHECK_EQ(info->si_pid, getpid());
    CHECK_EQ(info->si_uid, getuid());
    last = info->si_value.sival_int;
    code = info->si_code;
    if (number == SIGRTMIN)
        CHECK_EQ(last, handled);
    handled = handled + 1;
}

static void *get_many(void *tid)
{
    *(pid_t *)tid = gettid();
    CHECK_EQ(sem_post(&ready), 0);
    while (handled < MANY)
        while (sem_wait(&done) != 0)
            CHECK_EQ(errno, EINTR);
    CHECK_EQ(handled, MANY);
    return NULL;
}

static void *get_one(void *tid)
{
    *(pid_t *)tid = gettid();
    CHECK_EQ(sem_post(&ready), 0);
    while (handled < 1)
        sched_yield();
    return NULL;
}

int main(void)
{
    union sigval value = { .sival_int = 0 };
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sem_init(&ready, 0, 0), 0);
    CHECK_EQ(sem_init(&done, 0, 0), 0);

    for (value.sival_int = 0; value.sival_int < 3; value.sival_int++) {
        CHECK_OK(sigqueue(getpid(), SIGRTMIN, value));
        CHECK_EQ(handled, value.sival_int + 1);
        CHECK_EQ(code, SI_QUEUE);
    }
    value.sival_int = 12;
    CHECK_OK(pthread_sigqueue(pthread_self(), SIGUSR1, value));
    CHECK_EQ(last, 12);
    CHECK_OK(tgkill(getpid(), gettid(), SIGUSR1));
    CHECK_EQ(code, SI_TKILL);
    CHECK_EQ(handled, 5);
    CHECK_FAILS(sigqueue(getpid(), 99, value), EINVAL);
    CHECK_FAILS(sigqueue(0x3fffffff, 0, value), ESRCH);
    CHECK_RESULT(pthread_sigqueue(pthread_self(), 99, value), EINVAL);
    CHECK_FAILS(tgkill(getpid(), gettid(), 99), EINVAL);
    CHECK_FAILS(tgkill(1, gettid(), 0), ESRCH);
    CHECK_OK(tgkill(getpid(), gettid(), 0));

    /* Blocked, they queue up; of one of the old signals there is but one. */
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    handled = 0;
    for (value.sival_int = 0; value.sival_int < 3; value.sival_int++)
        CHECK_OK(sigqueue(getpid(), SIGRTMIN, value));
    CHECK_EQ(handled, 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    CHECK_EQ(handled, 3);
    CHECK_EQ(last, 2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    CHECK_OK(sigqueue(getpid(), SIGUSR1, value));
    CHECK_OK(sigqueue(getpid(), SIGUSR1, value));
    CHECK_EQ(sigprocmask(SIG_SETMASK, &old, NULL), 0);
    CHECK_EQ(handled, 4);

    /* To another thread. */
    pid_t tid;
    pthread_t thread = check_spawn(get_many, &tid);
    CHECK_EQ(sem_wait(&ready), 0);
    for (value.sival_int = 0; value.sival_int < MANY; value.sival_int++)
        CHECK_OK((value.sival_int % 2 ? old_sigqueue : pthread_sigqueue)(thread, SIGRTMIN, value));
    CHECK_EQ(sem_post(&done), 0);
    check_join(thread);
    thread = check_spawn(get_one, &tid);
    CHECK_EQ(sem_wait(&ready), 0);
    CHECK_OK(tgkill(getpid(), tid, SIGUSR1));
    check_join(thread);
    return 0;
}
