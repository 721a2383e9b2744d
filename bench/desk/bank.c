/* Transfers between accounts with a lock each, and an audit.
 *
 * Bug: a transfer takes the money from one account and puts it into the other in two sections. An audit that holds all
 *   locks between the two misses the money.
 * Shows as: a failed assertion in the audit.
 * FIXED: both locks, the lower account's first, for the whole transfer. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ACCOUNTS = 3, TELLERS = 2, OPENING = 100 };

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[ACCOUNTS];

#ifdef FIXED
static void transfer(int from, int to, long amount)
{
    int low = from < to ? from : to, high = from < to ? to : from;
    pthread_mutex_lock(&accounts[low].lock);
    pthread_mutex_lock(&accounts[high].lock);
    if (accounts[from].balance >= amount) {
        accounts[from].balance -= amount;
        accounts[to].balance += amount;
    }
    pthread_mutex_unlock(&accounts[high].lock);
    pthread_mutex_unlock(&accounts[low].lock);
}
#else
static int withdraw(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock); /* culprit */
    int enough = a->balance >= amount;
    if (enough)
        a->balance -= amount;
    pthread_mutex_unlock(&a->lock);
    return enough;
}

static void deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock); /* culprit */
    a->balance += amount;
    pthread_mutex_unlock(&a->lock);
}

static void transfer(int from, int to, long amount)
{
    if (withdraw(&accounts[from], amount)) /* culprit */
        deposit(&accounts[to], amount);    /* culprit */
}
#endif

static void audit(void)
{
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_lock(&accounts[i].lock);
        sum += accounts[i].balance;
    }
    for (int i = ACCOUNTS - 1; i >= 0; i--)
        pthread_mutex_unlock(&accounts[i].lock);
    assert(sum == (long)ACCOUNTS * OPENING);
}

static void *teller(void *argument)
{
    int number = *(int *)argument;
    transfer(number, (number + 1) % ACCOUNTS, 10);
    transfer((number + 2) % ACCOUNTS, number, 20);
    return NULL;
}

static void *auditor(void *unused)
{
    (void)unused;
    audit();
    return NULL;
}

int main(void)
{
    pthread_t tellers[TELLERS], auditing;
    int number[TELLERS];
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = OPENING;
    }
    for (int i = 0; i < TELLERS; i++) {
        number[i] = i;
        if (pthread_create(&tellers[i], NULL, teller, &number[i]))
            return 3;
    }
    if (pthread_create(&auditing, NULL, auditor, NULL))
        return 3;
    for (int i = 0; i < TELLERS; i++)
        pthread_join(tellers[i], NULL);
    pthread_join(auditing, NULL);
    audit();
    printf("balanced\n");
    return 0;
}
