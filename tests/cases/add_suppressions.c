/* `pct add` keeps --suppressions: the token passes over as many suppressed races as the run that failed, but the
 * repaired program goes on and makes more of them, and `pct check` must not take these for a failure.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: echo 'race:^chat$' > %t/known;
 *     pct run -q -n 20 -s 1 --races=fail --suppressions=%t/known -- %p broken > %t/said 2>&1; [ $? = 118 ] &&
 *     pct add -f %t/kept --suppressions=%t/known "$(grep -o "pct1:[^']*" %t/said | tail -n 1)" -- %p broken &&
 *     sed -i '/^Command/s/broken/repaired/' %t/kept && pct check %t/kept
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static volatile int noise, sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool broken;

static __attribute__((noinline)) void chat(void)
{
    noise++;
}

static void *add(void *unused)
{
    chat();
    if (!broken)
        pthread_mutex_lock(&mutex);
    sum++;
    if (!broken)
        pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 5; i++)
        chat();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    broken = argc > 1 && !strcmp(argv[1], "broken");
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    return pthread_join(thread, NULL);
}
