/* Dining philosophers who try for the second fork, and put down what they have if they do not get it.
 *
 * Bug: who does not get the second fork goes to the common end, which puts down both: it unlocks a fork that another
 *   philosopher holds, who then does not eat alone.
 * Shows as: a failed assertion: a fork is in two hands.
 * FIXED: only the first fork is put down. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { PHILOSOPHERS = 3, MEALS = 1 };

struct fork {
    pthread_mutex_t lock;
    int hands;
};

static struct fork forks[PHILOSOPHERS];
static int eaten[PHILOSOPHERS];

/* One attempt. Returns whether the meal was eaten. */
static int try_to_eat(int me)
{
    struct fork *left = &forks[me], *right = &forks[(me + 1) % PHILOSOPHERS];
    int ate = 0;
    pthread_mutex_lock(&left->lock);
    if (pthread_mutex_trylock(&right->lock) != 0) {
#ifdef FIXED
        pthread_mutex_unlock(&left->lock);
        return 0;
#else
        goto end;
#endif
    }
    left->hands++;
    right->hands++;
    sched_yield(); /* eats */
    assert(left->hands == 1 && right->hands == 1);
    left->hands--;
    right->hands--;
    ate = 1;
#ifndef FIXED
end:
#endif
    pthread_mutex_unlock(&right->lock); /* culprit */
    pthread_mutex_unlock(&left->lock);
    return ate;
}

static void *dine(void *argument)
{
    int me = *(int *)argument;
    while (eaten[me] < MEALS) {
        if (try_to_eat(me))
            eaten[me]++;
        else
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[PHILOSOPHERS];
    int number[PHILOSOPHERS];
    for (int i = 0; i < PHILOSOPHERS; i++) {
        number[i] = i;
        pthread_mutex_init(&forks[i].lock, NULL);
    }
    for (int i = 0; i < PHILOSOPHERS; i++)
        if (pthread_create(&threads[i], NULL, dine, &number[i]))
            return 3;
    for (int i = 0; i < PHILOSOPHERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PHILOSOPHERS; i++)
        printf("%d ate %d\n", i, eaten[i]);
    return 0;
}
