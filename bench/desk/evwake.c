// An event loop that other threads post to: who posts the first event of a batch writes a byte into the loop's pipe.
//
// Bug: the loop takes the events first, and says that it may be woken again in a section behind that: an event that
//   comes between is queued without a byte.
// Shows as: a deadlock: the loop reads from its pipe, and the event stays.
// FIXED: both in one section.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct event {
    struct event *next;
    int value;
};

struct loop {
    pthread_mutex_t lock;
    struct event *first, *last;
    bool woken;
    int wake[2];
    int handled, sum;
};

static struct loop loop = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void loop_post(int value)
{
    struct event *event = calloc(1, sizeof *event);
    event->value = value;
    pthread_mutex_lock(&loop.lock); // culprit
    if (loop.last)
        loop.last->next = event;
    else
        loop.first = event;
    loop.last = event;
    bool wake = !loop.woken;
    loop.woken = true;
    pthread_mutex_unlock(&loop.lock);
    if (wake && write(loop.wake[1], "w", 1) != 1)
        abort();
}

static struct event *loop_take(void)
{
    pthread_mutex_lock(&loop.lock); // culprit
    struct event *all = loop.first;
    loop.first = loop.last = NULL;
#ifdef FIXED
    loop.woken = false;
#endif
    pthread_mutex_unlock(&loop.lock);
    return all;
}

static void loop_rest(void)
{
#ifndef FIXED
    pthread_mutex_lock(&loop.lock); // culprit
    loop.woken = false;
    pthread_mutex_unlock(&loop.lock);
#endif
}

static void *loop_run(void *argument)
{
    (void)argument;
    while (loop.handled < 4) {
        char byte;
        if (read(loop.wake[0], &byte, 1) != 1)
            abort();
        for (struct event *event = loop_take(), *next; event; event = next) {
            next = event->next;
            loop.sum += event->value;
            loop.handled++;
            free(event);
        }
        loop_rest();
    }
    return NULL;
}

static void *client(void *argument)
{
    int from = *(int *)argument;
    loop_post(from);
    loop_post(from + 1);
    return NULL;
}

int main(void)
{
    pthread_t thread[3];
    int from[2] = { 1, 10 };
    if (pipe(loop.wake))
        return 2;
    pthread_create(&thread[0], NULL, loop_run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i + 1], NULL, client, &from[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert(loop.sum == 24);
    return 0;
}
