/* The core of the run that crashed stays, whatever crashes alike when the cause is looked for: those runs leave none,
 * also where a fork server makes them, or where they are looked for with their accesses to memory.
 *
 * NEED: cd %t && ulimit -c unlimited; sh -c 'kill -ABRT $$'; [ -s core ]
 * RUN: cd %t; ulimit -c unlimited; ! pct run -n 200 -s 1 --strategy pct --save kept -- %p > out 2>&1;
 *     grep -q 'cause: ' out && [ -s kept/seed-*.core ] && [ ! -e core ]
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static int get(void)
{
    pthread_mutex_lock(&mutex);
    int got = count;
    pthread_mutex_unlock(&mutex);
    return got;
}

static void *add(void *unused)
{
    int got = get();
    pthread_mutex_lock(&mutex);
    count = got + 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    if (get() < 2)
        abort();
    return 0;
}
