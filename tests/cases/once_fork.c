/* GLIBC: a routine of pthread_once() that another thread was in when the process was forked is run anew in the child,
 * where nobody is in it. The child was said to be in a deadlock.
 *
 * RUN: pct run -q -n 10 -s 1 -- %p
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t inside, on;
static int parent, times;

static void routine(void)
{
    times++;
    if (getpid() != parent)
        return;
    sem_post(&inside);
    sem_wait(&on);
}

static void *first(void *unused)
{
    pthread_once(&once, routine);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int status;
    parent = getpid();
    sem_init(&inside, 0, 0);
    sem_init(&on, 0, 0);
    pthread_create(&thread, NULL, first, NULL);
    sem_wait(&inside);
    pid_t child = fork();
    if (!child) {
        pthread_once(&once, routine);
        pthread_once(&once, routine);
        _exit(times == 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    sem_post(&on);
    pthread_join(thread, NULL);
    return status || times != 1;
}
