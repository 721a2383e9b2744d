/* A print spooler: clients submit jobs and wait for them, one printer thread serves, main closes the spooler.
 *
 * Bug: a client that submits behind the last look of the printer waits for ever: the look at `closing` and the job are
 * two sections. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct job *next;
    int pages;
    bool done;
};

struct spooler {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t finished;
    struct job *head, **tail;
    bool closing;
    int printed;
};

static struct spooler sp;

static void spooler_open(struct spooler *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->finished, NULL);
    s->head = NULL;
    s->tail = &s->head;
    s->closing = false;
}

static bool accepts(struct spooler *s)
{
    pthread_mutex_lock(&s->lock); /* culprit */
    bool open = !s->closing;
    pthread_mutex_unlock(&s->lock);
    return open;
}

static struct job *new_job(int pages)
{
    struct job *j = calloc(1, sizeof *j);
    if (j == NULL)
        abort();
    j->pages = pages;
    return j;
}

static bool submit(struct spooler *s, int pages)
{
    if (!accepts(s))
        return false;
    struct job *j = new_job(pages);
    pthread_mutex_lock(&s->lock); /* culprit */
#ifdef FIXED
    if (s->closing) {
        pthread_mutex_unlock(&s->lock);
        free(j);
        return false;
    }
#endif
    *s->tail = j;
    s->tail = &j->next;
    pthread_cond_signal(&s->work); /* culprit */
    while (!j->done)
        pthread_cond_wait(&s->finished, &s->lock); /* culprit */
    pthread_mutex_unlock(&s->lock);
    free(j);
    return true;
}

static void *printer(void *arg)
{
    struct spooler *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->head == NULL && !s->closing)
            pthread_cond_wait(&s->work, &s->lock);
        struct job *j = s->head;
        if (j == NULL)
            break;
        s->head = j->next;
        if (s->head == NULL)
            s->tail = &s->head;
        pthread_mutex_unlock(&s->lock);
        int pages = j->pages; /* prints */
        pthread_mutex_lock(&s->lock);
        s->printed += pages;
        j->done = true;
        pthread_cond_broadcast(&s->finished);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void *client(void *arg)
{
    for (int i = 0; i < 2; i++)
        if (!submit(&sp, (int)(long)arg + i))
            break;
    return NULL;
}

int main(void)
{
    pthread_t p, c[2];
    spooler_open(&sp);
    pthread_create(&p, NULL, printer, &sp);
    for (long i = 0; i < 2; i++)
        pthread_create(&c[i], NULL, client, (void *)(i + 1));
    pthread_join(c[0], NULL);
    pthread_mutex_lock(&sp.lock);
    sp.closing = true;
    pthread_cond_broadcast(&sp.work);
    pthread_mutex_unlock(&sp.lock);
    pthread_join(c[1], NULL);
    pthread_join(p, NULL);
    printf("%d pages\n", sp.printed);
    return 0;
}
