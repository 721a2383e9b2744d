/* A logger with rotation: who writes counts the line; who rotates the file writes into the new one how many lines the
 * old one has.
 *
 * Bug: a writer takes the lock of the counts and then that of the file, the rotation the other way round.
 * Shows as: a deadlock.
 * FIXED: the rotation gives the file back first. */
#include <pthread.h>
#include <stdio.h>

enum { WRITERS = 2, LINES = 2 };

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
static int lines, files = 1, all;

static void count_line(void)
{
    all++;
}

static void write_line(void)
{
    pthread_mutex_lock(&count_lock); /* culprit */
    count_line();
    pthread_mutex_lock(&file_lock); /* culprit */
    lines++;
    pthread_mutex_unlock(&file_lock);
    pthread_mutex_unlock(&count_lock);
}

static int total(void)
{
    pthread_mutex_lock(&count_lock); /* culprit */
    int sum = all;
    pthread_mutex_unlock(&count_lock);
    return sum;
}

static void rotate(void)
{
    pthread_mutex_lock(&file_lock); /* culprit */
    lines = 0;
    files++;
#ifdef FIXED
    pthread_mutex_unlock(&file_lock);
    printf("%d lines so far\n", total());
#else
    printf("%d lines so far\n", total()); /* culprit */
    pthread_mutex_unlock(&file_lock);
#endif
}

static void *writer(void *arg)
{
    for (int i = 0; i < LINES; i++)
        write_line();
    return arg;
}

int main(void)
{
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    rotate();
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    return files != 2;
}
