// Destructors of data of threads, of keys behind the 32nd: in the last round they ran behind the thread's last step,
// where pct does not control them, and there was no guarantee. The key's destructor sets it again in each of the four
// rounds.
//
// RUN: %p
// RUN: pct run -n 100 -s 1 --state none -- %p > %t/log 2>&1 && ! grep 'not controlled' %t/log &&
//     grep -q 'missed with probability' %t/log
// RUN: for s in pos random-walk round-robin delay-bound; do pct run -q -n 50 -s 1 -S $s --state none -- %p || exit 1;
//     done
// RUN: pct run -s 3 --state none --trace %t/trace -- %p && pct replay %t/trace -- %p
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum { KEYS = 60, THREADS = 3, ROUNDS = 4 };

static pthread_key_t keys[KEYS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, once;

/* For more rounds than there are: the value that the last one sets is left behind, and so is that of the key before. */
static void destroy(void *value)
{
    pthread_mutex_lock(&lock);
    int before = count;
    sched_yield();
    count = before + 1;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(keys[KEYS - 1], (void *)((intptr_t)value + 1));
    if ((intptr_t)value == ROUNDS)
        pthread_setspecific(keys[KEYS - 2], value);
}

static void destroy_once(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    once++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_setspecific(keys[KEYS - 1], (void *)1);
    pthread_setspecific(keys[40], unused);
    pthread_setspecific(keys[50], unused);
    return unused;
}

int main(void)
{
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&keys[i], i == KEYS - 1 ? destroy : i == KEYS - 2 || i == 40 ? destroy_once : NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &count);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return count == THREADS * ROUNDS && once == THREADS ? 0 : 1;
}
