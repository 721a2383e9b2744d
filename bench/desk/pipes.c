/* Workers that tell their master by a pipe that they are done; a worker that is replaced has its pipe closed.
 *
 * Bug: a worker takes the number of its pipe, and writes behind the unlock; the number may be another pipe's by then.
 * Shows as: a failed assertion: a message of another worker.
 * FIXED: it writes under the lock, if the pipe is still its own. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    int ends[2];
    bool open;
} worker = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void say(char what)
{
    pthread_mutex_lock(&worker.lock); /* culprit */
    int fd = worker.open ? worker.ends[1] : -1;
#ifdef FIXED
    if (fd >= 0)
        (void)!write(fd, &what, 1);
#endif
    pthread_mutex_unlock(&worker.lock);
#ifndef FIXED
    if (fd >= 0)
        (void)!write(fd, &what, 1); /* culprit */
#endif
}

static void *work(void *unused)
{
    (void)unused;
    for (char what = 'a'; what < 'c'; what++)
        say(what);
    return NULL;
}

static void replace(void)
{
    pthread_mutex_lock(&worker.lock); /* culprit */
    worker.open = false;
    close(worker.ends[0]); /* culprit */
    close(worker.ends[1]); /* culprit */
    pthread_mutex_unlock(&worker.lock);
}

static void *master(void *unused)
{
    int other[2];
    char got = 0;
    (void)unused;
    replace();
    if (pipe(other))
        return NULL;
    (void)!write(other[1], "z", 1);
    (void)!read(other[0], &got, 1);
    assert(got == 'z');
    (void)!write(other[1], "y", 1);
    (void)!read(other[0], &got, 1);
    assert(got == 'y');
    close(other[0]);
    close(other[1]);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    if (pipe(worker.ends))
        return 1;
    worker.open = true;
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, master, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
