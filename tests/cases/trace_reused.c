/* The scratch file of a run that has ended by itself is used for the next one, as long as it is, and what stands in it
 * is cleared: of a run that is killed, which cannot say how many steps it made, no steps of an earlier one are shown.
 * The first 6 processes make hundreds of steps, the next one ends itself after a few.
 *
 * RUN: cd %t && ! pct run -n 9 -s 1 --state none -t killed -- %p && test $(pct trace killed |
 *     grep -c ' lock mutex') -eq 3
 */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    int file = open("runs", O_WRONLY | O_APPEND | O_CREAT, 0600), count = 300;
    struct stat status;
    pthread_t thread;
    assert(write(file, ".", 1) == 1 && !fstat(file, &status));
    if (status.st_size > 6)
        count = 3;
    assert(!pthread_create(&thread, NULL, lock, &count) && !pthread_join(thread, NULL));
    if (status.st_size > 6)
        kill(getpid(), SIGKILL);
    return 0;
}
