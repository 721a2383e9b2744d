/* A signal comes from outside while a thread is in one of these calls, where pct blocks it until the call is over: it
 * was blocked for good behind sigtimedwait(), and in threads that pthread_create() made.
 *
 * RUN: pct run -q -s 1 -n 2 -S random-walk --timeout 60 --state none -- %p create
 * RUN: pct run -q -s 1 -n 2 -S random-walk --timeout 60 --state none -- %p sigtimedwait
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static void note(int signal)
{
    (void)signal;
}

/* The timer of the kernel, in real time: a call of libc's would make a virtual one. */
static void start_timer(long microseconds)
{
    const struct itimerval often = { { 0, microseconds }, { 0, microseconds } };
    long result = SYS_setitimer;
    __asm__ volatile("syscall" : "+a"(result) : "D"((long)ITIMER_REAL), "S"(&often), "d"(0L) : "rcx", "r11", "memory");
    assert(!result);
}

static void *check(void *unused)
{
    sigset_t now;
    assert(!pthread_sigmask(SIG_BLOCK, NULL, &now) && !sigismember(&now, SIGALRM));
    return unused;
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = note };
    const struct timespec moment = { .tv_nsec = 1 };
    sigset_t other;
    assert(argc == 2 && !sigaction(SIGALRM, &action, NULL));
    sigemptyset(&other);
    sigaddset(&other, SIGUSR2);
    start_timer(50);
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        if (!strcmp(argv[1], "create"))
            assert(!pthread_create(&thread, NULL, check, NULL) && !pthread_join(thread, NULL));
        else
            sigtimedwait(&other, NULL, &moment);
        check(NULL);
    }
    start_timer(0);
    return 0;
}
