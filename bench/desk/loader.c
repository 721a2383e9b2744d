/* Settings that a thread of its own loads.
 *
 * Bug: main() sleeps for a while and takes them for loaded.
 * Shows as: a failed assertion: a worker finds nothing.
 * FIXED: it waits for the thread. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SETTINGS = 2, WORKERS = 2 };

struct setting {
    char name[16];
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct setting settings[SETTINGS];
static int count;
static pthread_mutex_t totals = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add(const char *name, int value)
{
    pthread_mutex_lock(&lock); /* culprit */
    snprintf(settings[count].name, sizeof settings[count].name, "%s", name);
    settings[count++].value = value;
    pthread_mutex_unlock(&lock);
}

static int get(const char *name)
{
    int value = -1;
    pthread_mutex_lock(&lock); /* culprit */
    for (int i = 0; i < count; i++)
        if (!strcmp(settings[i].name, name))
            value = settings[i].value;
    pthread_mutex_unlock(&lock);
    return value;
}

static void *load(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    add("size", 3);
    add("depth", 2);
    return NULL;
}

static void *work(void *argument)
{
    int value = get(argument); /* culprit */
    assert(value > 0);
    pthread_mutex_lock(&totals);
    total += value;
    pthread_mutex_unlock(&totals);
    return NULL;
}

int main(void)
{
    static char names[WORKERS][8] = { "size", "depth" };
    pthread_t loader, workers[WORKERS];
    pthread_create(&loader, NULL, load, NULL);
#ifdef FIXED
    pthread_join(loader, NULL);
#else
    nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL); /* culprit */
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, names[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
#ifndef FIXED
    pthread_join(loader, NULL);
#endif
    assert(total == 5);
    return 0;
}
