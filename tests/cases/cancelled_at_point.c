/* A thread that is cancelled where it stands at the point of a sleep, of a wait for a semaphore, a condition or data:
 * what it does next is what cleans up, which looks at plain memory. That it went on there was no step, so a replay by
 * the trace let another thread come first, and differed.
 *
 * RUN: for s in $(seq 12); do pct run -q -S random-walk -s $s --memory=off --state none -t %t/trace -- %p &&
 *     pct replay -q %t/trace -- %p || exit 1; done
 * RUN: for s in 1 2 3 4; do pct run -q -S maple -s $s --memory=off --state none -t %t/trace -- %p &&
 *     pct replay -q %t/trace -- %p || exit 1; done
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAYS = 4 };

static sem_t never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int pipes[2];
static atomic_int told;

static void clean_up(void *way)
{
    if (*(int *)way == 2)
        pthread_mutex_unlock(&mutex);
    while (!told)
        usleep(10);
    told--;
}

static void *wait_for_ever(void *way)
{
    char byte;
    pthread_cleanup_push(clean_up, way);
    switch (*(int *)way) {
    case 0:
        sleep(1000);
        break;
    case 1:
        sem_wait(&never);
        break;
    case 2:
        pthread_mutex_lock(&mutex);
        for (;;)
            pthread_cond_wait(&cond, &mutex);
    default:
        if (read(pipes[0], &byte, 1) < 1)
            abort();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    if (pipe(pipes) || sem_init(&never, 0, 0))
        abort();
    for (int i = 0; i < 2 * WAYS; i++) {
        pthread_t thread;
        void *result;
        int way = i % WAYS;
        pthread_create(&thread, NULL, wait_for_ever, &way);
        sched_yield();
        pthread_cancel(thread);
        sched_yield();
        told++;
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED || told)
            abort();
    }
    return 0;
}
