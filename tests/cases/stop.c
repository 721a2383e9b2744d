/* A server that dies of the signal by which it is stopped has ended as it should.
 * RUN: pct run -s 1 -n 2 --ready line:ready --drive true --stop TERM -- %p > %t/log 2>&1 && grep "no failure" %t/log &&
 *     ! grep "could not follow" %t/log
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *unused)
{
    pause();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    puts("ready");
    fflush(stdout);
    pthread_join(thread, NULL);
    return 0;
}
