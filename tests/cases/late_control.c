/* A launcher that pct cannot control takes its time until it executes a program that pct can: the first run by which a
 * campaign measures k was cut before that, and the campaign said that the program was not controlled.
 *
 * NEED: gcc -static -x c -o %t/a - <<< 'int main(void) { return 0; }'
 * BUILD: gcc -O1 -g -pthread -o %p.run %s && gcc -O1 -static -DLAUNCHES -o %p %s
 * RUN: pct campaign -n 2 -s 1 -j 2 --explore=0 --db %t/db -- %p %p.run
 */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

enum { LATE = 6 /* seconds; a campaign's first runs are cut after 5 */ };

#ifdef LAUNCHES
int main(int argc, char **argv)
{
    assert(argc > 1);
    sleep(LATE);
    execv(argv[1], argv + 1);
    return 1;
}
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    return 0;
}
#endif
