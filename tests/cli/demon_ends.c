/* Lists of three jobs whose ends nothing says: null pointers at both; -DSENTINEL: with a head before the first, as
 * large as a job, that only the list knows; -DRING: the last leads to the first, and there is no head. -DALL: others
 * know an array of pointers to the jobs. -DFIXED: the job that WHICH names is looked at and used under the lock. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct link {
    struct link *next, *previous;
};
struct job {
    long ready;
    struct link link;
};
struct list {
    long length;
    struct link head;
};
struct context {
    pthread_mutex_t lock;
    struct link *first, *last;
#ifdef ALL
    struct job *all[3];
#endif
};

struct context context = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct list *list;

static struct job *job_of(struct link *l)
{
    return (struct job *)((char *)l - offsetof(struct job, link));
}

__attribute__((noinline, noclone)) void run(struct job *j)
{
    assert(j->ready && list->length == 3);
}

/* Others. */
void cancel(struct job *j)
{
    pthread_mutex_lock(&context.lock);
    j->ready = 0;
    pthread_mutex_unlock(&context.lock);
}

__attribute__((noinline, noclone)) void use(struct context *c)
{
#ifdef FIXED
    pthread_mutex_lock(&c->lock);
#endif
    struct job *j = job_of(WHICH);
    if (j->ready)
        run(j);
#ifdef FIXED
    pthread_mutex_unlock(&c->lock);
#endif
}

int main(void)
{
    struct link *before = NULL;
    list = calloc(1, sizeof *list);
#ifdef SENTINEL
    before = &list->head;
#endif
    for (; list->length < 3; list->length++) {
        struct job *j = calloc(1, sizeof *j);
        j->ready = 1;
        j->link.previous = before;
        if (before)
            before->next = &j->link;
        if (!context.first)
            context.first = &j->link;
#ifdef ALL
        context.all[list->length] = j;
#endif
        before = context.last = &j->link;
    }
#ifdef RING
    context.first->previous = context.last;
    context.last->next = context.first;
#endif
    use(&context);
    return 0;
}
