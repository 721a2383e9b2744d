/* A walk through a tree of folders by a crew of threads, which ends when no folder is pending.
 *
 * Bug: a worker takes its folder off the count before it has put those below it onto it: the count is zero for a
 * moment, and the others go home; who is left goes on alone, or the last ones are not looked at by the waiting main.
 * Shows as: an exit status of 1: files are missing in the sum that main prints when the count is zero.
 * FIXED: those below are counted first. */
#include <pthread.h>
#include <stdio.h>

enum { CREW = 2, DEPTH = 3, FOLDERS = (1 << DEPTH) - 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stack[FOLDERS], depth, pending = 1, files;

static void put(int level)
{
    pthread_mutex_lock(&lock); /* culprit */
    stack[depth++] = level;
    pending++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    files++;
    pending--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int take(int *level)
{
    pthread_mutex_lock(&lock); /* culprit */
    while (!depth && pending)
        pthread_cond_wait(&changed, &lock); /* culprit */
    int have = depth > 0;
    if (have)
        *level = stack[--depth];
    pthread_mutex_unlock(&lock);
    return have;
}

static void *walk(void *arg)
{
    int level;
    while (take(&level)) {
#ifndef FIXED
        finish(); /* culprit */
#endif
        if (level > 1) {
            put(level - 1); /* culprit */
            put(level - 1); /* culprit */
        }
#ifdef FIXED
        finish();
#endif
    }
    return arg;
}

int main(void)
{
    pthread_t crew[CREW];
    stack[depth++] = DEPTH;
    for (int i = 0; i < CREW; i++)
        pthread_create(&crew[i], NULL, walk, NULL);
    pthread_mutex_lock(&lock); /* culprit */
    while (pending)
        pthread_cond_wait(&changed, &lock); /* culprit */
    int sum = files;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < CREW; i++)
        pthread_join(crew[i], NULL);
    printf("%d of %d folders\n", sum, FOLDERS);
    return sum != FOLDERS;
}
