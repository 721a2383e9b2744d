/* An intrusive list: a queue and its jobs have a member in common, which leads from one to the next, and at the end back
 * to the queue. -DFIXED: looked at and used under the lock. -DLATEST: the job that is known, too. -DHEAD: the list that
 * the second is in. -DHEAP=1: the queue is no variable. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct link {
    struct link *next, *previous;
};
struct job {
    int ready;
    struct link link;
    int runs;
};
struct queue {
    pthread_mutex_t lock;
    int length;
    struct link head;
    struct link *bucket[4];
};

static struct job first = { .ready = 1 }, second = { .ready = 1 };
struct queue queue;
struct link *latest;
static struct {
    long length;
    struct link head;
} others = { 2, { &others.head, &others.head } };

static struct job *job_of(struct link *l)
{
    return (struct job *)((char *)l - offsetof(struct job, link));
}

static void add(struct link *head, struct job *j)
{
    j->link.previous = head->previous;
    j->link.next = head;
    head->previous->next = &j->link;
    head->previous = &j->link;
}

__attribute__((noinline, noclone)) void run(struct job *j)
{
    assert(j->ready);
    j->runs++;
}

__attribute__((noinline, noclone)) void run_link(struct link *l)
{
    assert(job_of(l)->ready);
    job_of(l)->runs++;
}

/* Others. */
void cancel(struct job *j)
{
    pthread_mutex_lock(&queue.lock);
    j->ready = 0;
    pthread_mutex_unlock(&queue.lock);
}

void cancel_link(struct link *l)
{
    pthread_mutex_lock(&queue.lock);
    job_of(l)->ready = 0;
    pthread_mutex_unlock(&queue.lock);
}

__attribute__((noinline, noclone)) void use(struct queue *q)
{
#ifdef FIXED
    pthread_mutex_lock(&q->lock);
#endif
    for (struct link *l = q->head.next; l != &q->head; l = l->next)
        if (job_of(l)->ready)
            RUN;
#ifdef FIXED
    pthread_mutex_unlock(&q->lock);
#endif
}

int main(void)
{
    struct queue *q = HEAP ? malloc(sizeof *q) : &queue;
    *q = (struct queue){ .lock = PTHREAD_MUTEX_INITIALIZER, .length = 2, .head = { &q->head, &q->head } };
    add(&q->head, &first);
    add(HEAD, &second);
    q->bucket[2] = latest = &LATEST.link;
    use(q);
    return 0;
}
