/* A configuration that is mostly read, behind a reader-writer lock that lets no reader pass a waiting writer.
 *
 * Bug: who reads an option that stands for another one takes the lock for reading a second time; a writer that has
 *   come between waits for the first, and lets the second wait.
 * Shows as: a deadlock.
 * FIXED: the second look is made with the lock that is held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option {
    const char *name;
    char value[32];
};

static struct option options[] = {
    { "host", "localhost" }, { "port", "80" }, { "listen", "@port" }, { "admin", "@host" }
};
enum { OPTIONS = sizeof options / sizeof *options };

static pthread_rwlock_t lock;

static struct option *find(const char *name)
{
    for (int i = 0; i < OPTIONS; i++)
        if (!strcmp(options[i].name, name))
            return &options[i];
    abort();
}

static void get(const char *name, char *value, size_t size)
{
    pthread_rwlock_rdlock(&lock); /* culprit */
    struct option *o = find(name);
    if (o->value[0] == '@') {
#ifdef FIXED
        snprintf(value, size, "%s", find(o->value + 1)->value);
#else
        get(o->value + 1, value, size);
#endif
    } else
        snprintf(value, size, "%s", o->value);
    pthread_rwlock_unlock(&lock);
}

static void set(const char *name, const char *value)
{
    pthread_rwlock_wrlock(&lock); /* culprit */
    struct option *o = find(name);
    snprintf(o->value, sizeof o->value, "%s", value);
    pthread_rwlock_unlock(&lock);
}

static void *reader(void *arg)
{
    size_t *length = arg;
    char value[32];
    static const char *const wanted[] = { "host", "listen", "port", "admin" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        get(wanted[i], value, sizeof value);
        *length += strlen(value);
    }
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    set("port", "8080");
    set("host", "example.org");
    return NULL;
}

int main(void)
{
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &kind);
    pthread_t threads[3];
    size_t lengths[2] = { 0 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, &lengths[i]);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%zu %zu\n", lengths[0], lengths[1]);
    return 0;
}
