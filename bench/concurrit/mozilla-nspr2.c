/* An interrupt that finds nobody who waits.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "mozilla-nspr2": RADBench's bug 5, PR_WaitCondVar() and
 *   PR_Interrupt() of NSPR (ptsynch.c, ptthread.c). Debian's libnspr4 is mended.
 * Bug: who waits looks first whether it is interrupted, and notes then on what it waits. An interrupt between the two
 *   sets the flag, sees no wait, and wakes nobody.
 * Shows as: a deadlock: the thread waits for ever.
 * FIXED: it looks behind the note, and the interrupt takes the lock. */
#include "../bugs/shared.h"
#include <pct/script.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t variable = PTHREAD_COND_INITIALIZER;
static pthread_cond_t *volatile waiting;
static volatile int aborted;

static void wait_cond_var(void)
{
#ifdef FIXED
    waiting = &variable;
    if (!aborted)
        pthread_cond_wait(&variable, &lock);
#else
    if (aborted)
        return;
    pct_point("before the note");
    waiting = &variable;
    pthread_cond_wait(&variable, &lock);
#endif
    waiting = NULL;
}

static void interrupt(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    aborted = 1;
    pthread_cond_t *on = waiting;
    if (on)
        pthread_cond_broadcast(on);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    wait_cond_var();
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *interrupter(void *unused)
{
    interrupt();
    return unused;
}

int main(void)
{
    pthread_t a = thread_start(waiter, NULL), b = thread_start(interrupter, NULL);
    thread_join(a);
    thread_join(b);
    return 0;
}
