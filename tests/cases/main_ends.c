/* The first thread ends by pthread_exit(). What the kernel has under /proc/self is that thread's, and empty then: the
 * report of a deadlock of the others has their stacks all the same, and locks on files can be waited for.
 * RUN 120: pct run -q -s 1 -t %t/trace -- %p && exit 1; pct report %t/trace > %t/log;
 *     grep -q "wait_for_ever.*main_ends.c" %t/log && grep -q "thread 2" %t/log && ! grep "no stacks" %t/log && exit 120
 * RUN: pct run -q -n 30 -s 1 -S random-walk -- %p %t/lock
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/file.h>
#include <unistd.h>

static sem_t never;
static const char *path;

static void *wait_for_ever(void *unused)
{
    sem_wait(&never);
    return unused;
}

static void *lock(void *unused)
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 10; i++)
        sched_yield();
    flock(file, LOCK_EX);
    sched_yield();
    close(file);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    path = argv[1];
    sem_init(&never, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, argc > 1 ? lock : wait_for_ever, NULL);
    pthread_exit(NULL);
}
