/* Signals from another process, at any instruction: each is handled once, in whatever a thread does; a handler may post
 * a semaphore, write to a pipe, or jump; nothing that the interrupted thread did is lost. */
/* tests: sigaction */
/* ops: SIGNAL_HANDLE */
/* outside: another process sends the signals when it likes */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>

enum { SIGNALS = 100 };

static volatile int *sent; /* shared with the child */
static volatile sig_atomic_t handled, in_order;
static volatile int stop;
static int ends[2];
static sem_t posted, gate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void handle(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    int error = errno;
    if (__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED) != info->si_value.sival_int)
        in_order = 0;
    CHECK_EQ(write(ends[1], "x", 1), 1);
    CHECK_EQ(sem_post(&posted), 0);
    errno = error;
}

/* Queued signals, one after the other, as fast as they are taken. */
static void send_all(void *unused)
{
    (void)unused;
    union sigval value;
    for (int i = 0; i < SIGNALS; i++) {
        value.sival_int = i;
        while (sigqueue(getppid(), SIGRTMIN, value) != 0)
            sched_yield();
        *sent = i + 1;
        if (i % 8 == 0)
            usleep(200);
    }
    _exit(0);
}

/* Uncontended and contended locks, sleeps, semaphores. */
static void *work(void *unused)
{
    while (!stop) {
        for (int i = 0; i < 50; i++) {
            CHECK_EQ(pthread_mutex_lock(&lock), 0);
            long seen = counter;
            if (i % 10 == 0)
                sched_yield();
            counter = seen + 1;
            CHECK_EQ(pthread_mutex_unlock(&lock), 0);
            __atomic_fetch_add((long *)unused, 1, __ATOMIC_RELAXED);
        }
        usleep(100);
        if (sem_trywait(&gate) != 0)
            CHECK_EQ(errno, EAGAIN);
    }
    return NULL;
}

static sigjmp_buf back;
static volatile sig_atomic_t jumps;
static void jump(int number)
{
    jumps = jumps + 1;
    siglongjmp(back, number);
}

static void send_for_ever(void *unused)
{
    (void)unused;
    for (;;) {
        usleep(300);
        CHECK_EQ(kill(getppid(), SIGUSR1), 0);
    }
}

int main(void)
{
    long locked = 0;
    char buffer[SIGNALS];
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };
    sent = child_shared(sizeof *sent);
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(sem_init(&posted, 0, 0), 0);
    CHECK_EQ(sem_init(&gate, 0, 1), 0);
    CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);

    pid_t child = child_start(send_all, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = check_spawn(work, &locked);
    for (int i = 0; i < SIGNALS; i++)
        while (sem_wait(&posted) != 0)
            CHECK_EQ(errno, EINTR);
    CHECK_EQ(handled, SIGNALS);
    CHECK_EQ(read(ends[0], buffer, SIGNALS), SIGNALS);
    stop = 1;
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, locked);
    CHECK_EXITED(child_wait(child), 0);

    /* A thread that makes no call, or only the shortest ones, is interrupted all the same. */
    for (int round = 0; round < 2; round++) {
        handled = 0;
        in_order = 1;
        child = child_start(send_all, NULL);
        while (handled < SIGNALS) {
            if (round) {
                pthread_mutex_lock(&lock);
                pthread_mutex_unlock(&lock);
            }
        }
        CHECK_EXITED(child_wait(child), 0);
        CHECK(in_order); /* as there is one thread */
    }

    /* Out of whatever it is in. */
    CHECK(signal(SIGUSR1, jump) != SIG_ERR);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    child = child_start(send_for_ever, NULL);
    sem_t never;
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    for (volatile int i = 0; jumps < 5; i++) {
        if (sigsetjmp(back, 1) == 0) {
            CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
            if (i % 2)
                sem_wait(&never);
            else
                for (;;)
                    usleep(10);
        }
    }
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK_SIGNALED(child_wait(child), SIGKILL);
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    return 0;
}
