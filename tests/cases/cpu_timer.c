// A timer of processor time goes off when the thread has computed for so long, at whatever instruction that is: no
// schedule says when, and no replay repeats it. So there is no guarantee, and the report says why; the handler may
// jump, and the others still run.
//
// RUN: pct run -n 3 -s 1 --state none -- %p > %t/log 2>&1 && grep -q 'signals* that came from outside' %t/log &&
//     grep -q 'no guarantee' %t/log
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static sigjmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int others;

static void jump(int unused)
{
    (void)unused;
    siglongjmp(back, 1);
}

static void *work(void *unused)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGVTALRM);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&lock);
        others++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    signal(SIGVTALRM, jump);
    pthread_create(&thread, NULL, work, NULL);
    if (!sigsetjmp(back, 1)) {
        struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
        setitimer(ITIMER_VIRTUAL, &soon, NULL);
        for (;;)
            __asm__ volatile("");
    }
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return others == 3000 ? 0 : 1;
}
