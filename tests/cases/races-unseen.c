/* A configuration object that is published before it is filled. Not built by pct-cc, it tells of no access, so --races
 * has nothing to look at: that is said, and no guarantee is made. It was once "no failure", and a guarantee.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s && pct-cc -O1 -g -pthread -o %p.told %s
 * RUN: pct run -n 20 -s 1 --races=fail -- %p > %t/out 2>&1; grep -q '20 runs in which races were not looked for' %t/out
 * RUN: pct run -n 20 -s 1 --races=fail -- %p > %t/out 2>&1; grep -q 'no guarantee.*no memory access was seen' %t/out
 * RUN: pct run -s 1 --races=report -- %p 2>&1 | grep 'races were not looked for'
 * RUN: pct run -n 20 -s 1 -- %p 2>&1 | { ! grep 'races were not looked for'; }
 * RUN: pct campaign -n 20 -s 1 --races=fail --db %t/db -- %p > /dev/null 2>&1; pct campaign report %t/db |
 *     grep -q '20 runs in which races were not'
 * RUN: pct campaign -n 20 -s 1 --races=fail --db %t/db -- %p > /dev/null 2>&1;
 *     pct campaign report --format json %t/db | grep -q 'races were not looked for'
 * RUN: pct doctor %p | grep -q -e '--races needs a program that is built with pct-cc'
 * RUN: pct doctor %p.told | { ! grep -e '--races'; }
 * RUN 118: pct run -n 200 -s 1 --races=fail -- %p.told
 * RUN: pct run -n 5 -s 1 --races=fail -- %p.told single 2>&1 | { ! grep 'races were not looked for'; }
 */
#include <pthread.h>
#include <stdlib.h>

static struct config {
    int workers;
    const char *name;
    int *table;
} * instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void)
{
    if (instance)
        return instance;
    pthread_mutex_lock(&mutex);
    if (!instance) {
        instance = calloc(1, sizeof *instance); /* the bug: others see it before it is complete */
        instance->workers = 4;
        instance->name = "default";
        instance->table = calloc(16, sizeof *instance->table);
    }
    pthread_mutex_unlock(&mutex);
    return instance;
}

static void *work(void *argument)
{
    struct config *config = get();
    for (int i = 0; config->table && i < config->workers; i++)
        config->table[(long)argument * 4 + i] = i;
    return NULL;
}

int main(int argc, char **arguments)
{
    (void)arguments;
    const long count = argc > 1 ? 0 : 3;
    pthread_t threads[3];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return get()->table[0] != 0;
}
