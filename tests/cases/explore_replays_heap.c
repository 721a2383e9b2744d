/* What `pct explore` finds is repeated before it is told, and the token has the hash of that run. It had the allocator
 * of explored runs, which nobody told of new blocks then, and `pct replay` has another one: "did NOT replay".
 *
 * BUILD: pct-cc -g -pthread -o %p %s
 * RUN: pct explore -q -- %p 2> %t/found; pct replay "$(grep -o 'pct1:[^'"'"']*' %t/found)" -- %p 2> %t/replay;
 *     grep 'replayed identically' %t/replay
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long *volatile block;

static void use(void)
{
    block = malloc(sizeof *block);
    *block = 1;
    free(block);
}

static void *hang(void *unused)
{
    use();
    use();
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, hang, NULL);
    pthread_join(thread, NULL);
    return 0;
}
