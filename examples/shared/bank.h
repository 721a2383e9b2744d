/* A bank with a bug that tests practically never show: transfers lock both accounts, in the order of the transfer.
 * FIXED is the repaired one. For the examples in the directories beside this one. */
#ifndef BANK_H
#define BANK_H

#include <pthread.h>

struct account {
    pthread_mutex_t mutex;
    long balance;
};

static inline void bank_transfer(struct account *from, struct account *to, long amount)
{
    struct account *first = from, *second = to;
#ifdef FIXED
    if (first > second) {
        first = to;
        second = from;
    }
#endif
    pthread_mutex_lock(&first->mutex);
    pthread_mutex_lock(&second->mutex); /* culprit */
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->mutex);
    pthread_mutex_unlock(&first->mutex);
}

struct transfers {
    struct account *from, *to;
};

static inline void *bank_transfer_thread(void *argument)
{
    struct transfers *t = (struct transfers *)argument;
    bank_transfer(t->from, t->to, 10);
    return 0;
}

/* Two threads transfer in opposite directions. Returns the sum of both accounts: 200. */
static inline long bank_test(void)
{
    struct account a = { PTHREAD_MUTEX_INITIALIZER, 100 }, b = { PTHREAD_MUTEX_INITIALIZER, 100 };
    struct transfers there = { &a, &b }, back = { &b, &a };
    pthread_t one, two;
    pthread_create(&one, 0, bank_transfer_thread, &there);
    pthread_create(&two, 0, bank_transfer_thread, &back);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return a.balance + b.balance;
}

#endif
