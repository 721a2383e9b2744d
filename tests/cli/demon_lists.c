/* An intrusive list: a queue and its jobs have a member in common, which leads from one to the next, and at the end
 * back to the queue. -DFIXED: looked at and used under the lock. -DLATEST: the job that is known, too. -DHEAD: the list
 * that the second is in. -DHEAP=1: the queue is no variable. -DBLOCKS: nor are the second job and the other list.
 * -DEMPTY: the queue is emptied first, and its length looked at. */
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

static struct job first = { .ready = 1 };
struct queue queue;
struct link *latest;
struct list {
    long length;
    struct link head;
};
#ifdef BLOCKS
#define second (*second_job)
#define others (*others_list)
static struct job *second_job;
static struct list *others_list;
#else
static struct job second = { .ready = 1 };
static struct list others = { 2, { &others.head, &others.head } };
#endif

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

__attribute__((noinline)) void run(struct job *j)
{
    assert(j->ready);
    j->runs++;
}

__attribute__((noinline)) void run_link(struct link *l)
{
    assert(job_of(l)->ready);
    job_of(l)->runs++;
}

__attribute__((noinline)) void check(struct queue *q)
{
    assert(q->length > 0);
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

__attribute__((noinline)) void use(struct queue *q)
{
#ifdef FIXED
    pthread_mutex_lock(&q->lock);
#endif
#ifdef EMPTY
    q->head = (struct link){ &q->head, &q->head };
    check(q);
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
#ifdef BLOCKS
    second_job = malloc(sizeof *second_job);
    others_list = malloc(sizeof *others_list);
    second = (struct job){ .ready = 1 };
    others = (struct list){ 2, { &others.head, &others.head } };
#endif
    add(&q->head, &first);
    add(HEAD, &second);
    q->bucket[2] = latest = &LATEST.link;
    use(q);
    return 0;
}
