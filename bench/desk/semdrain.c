/* Workers take letters from a mailbox, whose semaphore counts them. When the mail is recalled, the postmaster takes out
 * all that are left.
 *
 * Bug: the recall takes the letters and leaves the count of the semaphore; a worker that gets past it then finds the
 * mailbox empty, and takes what is not there.
 * Shows as: a crash.
 * FIXED: the recall takes a letter only with its count. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { LETTERS = 4, WORKERS = 2 };

struct letter {
    struct letter *next;
    int number; /* -1: the last one, go home */
};

static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t in_box;
static struct letter *box;

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int delivered, recalled;

static void post(int number)
{
    struct letter *letter = calloc(1, sizeof *letter);
    letter->number = number;
    pthread_mutex_lock(&box_lock);
    struct letter **end = &box;
    while (*end)
        end = &(*end)->next;
    *end = letter;
    pthread_mutex_unlock(&box_lock);
    sem_post(&in_box);
}

static struct letter *take_first(void)
{
    pthread_mutex_lock(&box_lock); /* culprit */
    struct letter *letter = box;
    box = letter->next;
    pthread_mutex_unlock(&box_lock);
    return letter;
}

static void *work(void *arg)
{
    for (;;) {
        sem_wait(&in_box);                    /* culprit */
        struct letter *letter = take_first(); /* culprit */
        int number = letter->number;
        free(letter);
        if (number < 0)
            return arg;
        pthread_mutex_lock(&count_lock);
        delivered++;
        pthread_mutex_unlock(&count_lock);
    }
}

static void recall(void)
{
    int count = 0;
#ifdef FIXED
    while (sem_trywait(&in_box) == 0) {
        free(take_first());
        count++;
    }
#else
    pthread_mutex_lock(&box_lock); /* culprit */
    struct letter *all = box;
    box = NULL;
    pthread_mutex_unlock(&box_lock);
    while (all) {
        struct letter *next = all->next;
        free(all);
        all = next;
        count++;
    }
#endif
    pthread_mutex_lock(&count_lock);
    recalled += count;
    pthread_mutex_unlock(&count_lock);
}

int main(void)
{
    pthread_t workers[WORKERS];
    sem_init(&in_box, 0, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < LETTERS; i++)
        post(i);
    recall();
    for (int i = 0; i < WORKERS; i++)
        post(-1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d delivered, %d recalled\n", delivered, recalled);
    return delivered + recalled == LETTERS ? 0 : 1;
}
