/* Reads a box that another thread may have freed. With an argument, ends with status 1 in exactly the schedules in
 * which that happened, without a look at the box. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *box;
static bool freed, late;

static void *reader(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    late = freed;
    printf("the box has %d\n", *(volatile int *)box);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    box = malloc(sizeof *box);
    *box = 1;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_mutex_lock(&mutex);
    freed = true;
    free(box);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return argc > 1 && late;
}
