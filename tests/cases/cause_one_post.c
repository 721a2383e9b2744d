/* A spooler prints all jobs that are there, and makes one post for them, however many clients wait. That two clients
 * post one behind the other was said to be an atomicity violation.
 *
 * RUN: pct run -n 100 -s 1 --state none -- %p > %t/said 2>&1; status=$?; cat %t/said;
 *     grep '^cause: a missing post' %t/said && test $status = 120
 */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t submitted, printed;
static int waiting;

static void *client(void *unused)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_mutex_unlock(&lock);
    sem_post(&submitted);
    sem_wait(&printed);
    return unused;
}

static void *spooler(void *unused)
{
    for (int left = 3, batch; left; left -= batch) {
        sem_wait(&submitted);
        pthread_mutex_lock(&lock);
        batch = waiting;
        waiting = 0;
        pthread_mutex_unlock(&lock);
        if (batch)
            sem_post(&printed);
    }
    return unused;
}

int main(void)
{
    pthread_t thread[4];
    sem_init(&submitted, 0, 0);
    sem_init(&printed, 0, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, i ? client : spooler, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
