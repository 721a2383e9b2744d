// An exploration whose search began again, because threads use memory between their points otherwise than at first:
// the same command goes on from its file, and counts the classes that fail as before.
//
// RUN: pct explore --db %t/db -- %p > %t/one 2>&1; pct explore --db %t/db -- %p > %t/two 2>&1;
//     grep -o 'found: [0-9]* of all [0-9]* classes' %t/one > %t/first && grep -F -f %t/first %t/two
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int bad, tried;

static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    bad = tried;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *try_lock(void *unused)
{
    if (!pthread_mutex_trylock(&mutex)) {
        tried = 1;
        pthread_mutex_unlock(&mutex);
    }
    usleep(1000);
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, lock, NULL);
    pthread_create(&thread[1], NULL, try_lock, NULL);
    usleep(1000);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return bad;
}
