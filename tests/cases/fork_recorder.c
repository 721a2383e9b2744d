/* A process forks while its other threads make calls that strategy none records: its child records its own, though one
 * of those threads may have had the lock of the recorder.
 *
 * RUN: pct run -q -s 1 -n 4 --timeout 60 -S none -- %p
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 60 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *use(void *unused)
{
    while (!stop)
        check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
    return unused;
}

static void *use_own(void *unused)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    check(!pthread_mutex_lock(&own) && !pthread_mutex_unlock(&own));
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS], one;
    int status;
    for (int i = 0; i < THREADS; i++)
        check(!pthread_create(&threads[i], NULL, use, NULL));
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (!child) {
            check(!pthread_create(&one, NULL, use_own, NULL) && !pthread_join(one, NULL));
            _exit(0);
        }
        check(waitpid(child, &status, 0) == child && !status);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        check(!pthread_join(threads[i], NULL));
    return 0;
}
