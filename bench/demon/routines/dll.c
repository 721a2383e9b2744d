/* A run queue: tasks are in two intrusive lists. */
#include "routine.h"
struct list {
    struct list *next, *prev;
};
struct task {
    struct list all, run;
    int running;
};
struct sched {
    struct list all, queue;
    pthread_mutex_t lock;
};
static struct task t1, t2;
struct sched sched = { .lock = PTHREAD_MUTEX_INITIALIZER };
static void add(struct list *h, struct list *l)
{
    l->next = h;
    l->prev = h->prev;
    h->prev->next = l;
    h->prev = l;
}
#define task_of(l, m) ((struct task *)((char *)(l)-offsetof(struct task, m)))
/*@demon require not_running: t.running = 0 */
NI void dispatch(struct task *t)
{
    assert(!t->running);
    t->running = 1;
}
/*@demon test object container_of(s.queue.next, struct task, run)
  rely locked: holds(s.lock) implies unchanged(s.queue.next)
      and unchanged(container_of(s.queue.next, task, run).running) */
NI int pick(struct sched *s)
{
    EARLY(&s->lock);
    struct list *l = s->queue.next;
    int ok = l != &s->queue && !task_of(l, run)->running;
    LATE(&s->lock);
    if (ok)
        dispatch(task_of(l, run));
    pthread_mutex_unlock(&s->lock);
    return ok;
}
/*@demon object container_of(t.all.next, task, all) require idle: t.running = 0 ensure running: t.running = 1 */
void run_now(struct task *t)
{
    pthread_mutex_lock(&sched.lock);
    t->running = 1;
    pthread_mutex_unlock(&sched.lock);
}
int main(void)
{
    sched.all.next = sched.all.prev = &sched.all;
    sched.queue.next = sched.queue.prev = &sched.queue;
    add(&sched.all, &t1.all);
    add(&sched.all, &t2.all);
    add(&sched.queue, &t2.run);
    return !pick(&sched);
}
