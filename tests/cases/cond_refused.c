/* A wait for a condition variable with a mutex that is not the caller's is refused (EPERM), and gives nothing up. The
 * schedule took it for a wait that gives up what the thread had locked last: who waited for that was called preempted.
 *
 * RUN: pct run -q -n 1 -s 1 -t %t/trace -- %p &&
 *     pct trace -f jsonl %t/trace | grep '"op":"start".*"reason":"blocked"'
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&held);
    if (pthread_cond_wait(&cond, &other) != EPERM)
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    usleep(1000);
    pthread_mutex_unlock(&held);
    pthread_join(thread, NULL);
    return 0;
}
