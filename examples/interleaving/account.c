/* A unit test of an interleaving: two withdrawals, of which one is made between the other's look at the balance and its
 * payment. account.lua says so. Build it with any compiler; natively it is an ordinary program. -DFIXED: the mended
 * one.
 *
 *     cc -g -pthread -I../../include -o account account.c
 *     pct script account.lua -- ./account */
#include <pct/script.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, paid;

static int look(void)
{
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *withdraw(void *amount)
{
    int wanted = *(int *)amount;
#ifndef FIXED
    if (look() < wanted)
        return NULL;
    pct_point("checked");
#endif
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (balance < wanted) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    pct_point("checked");
#endif
    balance -= wanted;
    paid += wanted;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    int amount = 60;
    pthread_t a, b;
    pthread_create(&a, NULL, withdraw, &amount);
    pthread_create(&b, NULL, withdraw, &amount);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("paid %d, left %d\n", paid, look());
    pct_assert(look() >= 0);
    return 0;
}
