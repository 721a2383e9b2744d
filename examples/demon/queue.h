/* A queue between threads; its contracts stand in queue.c. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>

enum { QUEUE_ROOM = 8 };

struct queue {
    unsigned size;
    int item[QUEUE_ROOM];
    pthread_mutex_t mutex;
    pthread_cond_t some;
};

/* Wait for an item, and take it. */
int queue_get(struct queue *queue);

/* Another item, if there is room. */
void queue_put(struct queue *queue, int item);

/* Without the items. */
void queue_clear(struct queue *queue);

#endif
