/* A print spooler: clients put jobs into a queue and wait until they are printed; the spooler takes all that are there.
 *
 * Bug: it makes one post for a batch, however many wait.
 * Shows as: a deadlock.
 * FIXED: one for each. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct job *next;
    int pages;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *queue;
static int total, left = 3;
static sem_t submitted, printed;

static void submit(struct job *job)
{
    pthread_mutex_lock(&lock);
    job->next = queue;
    queue = job;
    pthread_mutex_unlock(&lock);
    sem_post(&submitted);
    sem_wait(&printed);
}

static void *client(void *argument)
{
    struct job *job = malloc(sizeof *job);
    *job = (struct job){ NULL, (int)(long)argument };
    submit(job);
    return NULL;
}

static void *spooler(void *argument)
{
    (void)argument;
    while (left > 0) {
        sem_wait(&submitted);      /* culprit */
        pthread_mutex_lock(&lock); /* culprit */
        struct job *batch = queue;
        queue = NULL;
        pthread_mutex_unlock(&lock);
        int n = 0;
        for (struct job *j = batch; j != NULL; j = j->next) {
            total += j->pages;
            n++;
        }
        left -= n;
#ifdef FIXED
        for (int i = 0; i < n; i++)
            sem_post(&printed);
#else
        if (n > 0)
            sem_post(&printed); /* culprit */
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t s, c[3];
    sem_init(&submitted, 0, 0);
    sem_init(&printed, 0, 0);
    pthread_create(&s, NULL, spooler, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&c[i], NULL, client, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(c[i], NULL);
    pthread_join(s, NULL);
    printf("%d pages\n", total);
    return 0;
}
