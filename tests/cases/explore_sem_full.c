// Of two posts of a semaphore that counts one less than SEM_VALUE_MAX, the second fails. `pct explore` took them to
// commute: that the first thread's fails was in no run, and it said "verified".
//
// RUN 1: pct explore -q -- %p first
// RUN 1: pct explore -q -- %p third
// RUN: pct explore -q -- %p
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static sem_t semaphore;
static int first, third;

static void *posts(void *unused)
{
    first = sem_post(&semaphore);
    return unused;
}

static void *waits(void *unused)
{
    sem_trywait(&semaphore);
    return unused;
}

static void *posts_and_waits(void *unused)
{
    third = sem_post(&semaphore);
    sem_wait(&semaphore);
    return unused;
}

int main(int argc, char **argv)
{
    static void *(*const starts[])(void *) = { posts, waits, posts_and_waits };
    pthread_t thread[3];
    sem_init(&semaphore, 0, SEM_VALUE_MAX - 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, starts[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    if (argc < 2)
        return first && third; /* not both */
    return (strcmp(argv[1], "first") ? third : first) != 0;
}
