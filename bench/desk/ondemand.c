/* A background worker that is started lazily, goes away when idle, and is started again on demand.
 *
 * Bug: a worker that has found no task says later that it has gone: one that is added in between is never done. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct task {
    struct task *next;
    int number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;
static struct task *tasks;
static bool running;
static int done;
static pthread_t workers[16];
static int worker_count;

static struct task *take(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    struct task *t = tasks;
    if (t != NULL)
        tasks = t->next;
#ifdef FIXED
    else
        running = false;
#endif
    pthread_mutex_unlock(&lock);
    return t;
}

static void perform(struct task *t)
{
    pthread_mutex_lock(&lock);
    done++;
    pthread_cond_broadcast(&done_changed);
    pthread_mutex_unlock(&lock);
    free(t);
}

#ifndef FIXED
static void set_running(bool value)
{
    pthread_mutex_lock(&lock); /* culprit */
    running = value;
    pthread_mutex_unlock(&lock);
}
#endif

static void *work(void *arg)
{
    struct task *t;
    (void)arg;
    while ((t = take()) != NULL)
        perform(t);
#ifndef FIXED
    set_running(false);
#endif
    return NULL;
}

static void add(int number)
{
    struct task *t = malloc(sizeof *t);
    if (t == NULL)
        abort();
    t->number = number;
    pthread_mutex_lock(&lock); /* culprit */
    t->next = tasks;
    tasks = t;
    bool start = !running;
    if (start) {
        running = true;
        pthread_create(&workers[worker_count++], NULL, work, NULL);
    }
    pthread_mutex_unlock(&lock);
}

static void wait_for(int count)
{
    pthread_mutex_lock(&lock);
    while (done < count)
        pthread_cond_wait(&done_changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *producer(void *arg)
{
    int first = (int)(long)arg;
    add(first);
    add(first + 1);
    return NULL;
}

int main(void)
{
    pthread_t p[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&p[i], NULL, producer, (void *)(10 * i));
    pthread_join(p[0], NULL);
    pthread_join(p[1], NULL);
    wait_for(4);
    for (int i = 0; i < worker_count; i++)
        pthread_join(workers[i], NULL);
    printf("%d\n", done);
    return 0;
}
