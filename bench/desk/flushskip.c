/* Producers put entries into a buffer and flush it. Who finds another one flushing leaves it to that one.
 *
 * Bug: the one that is flushing may have looked at the buffer already, and found nothing, when another puts an entry
 * and leaves it: nobody flushes that one.
 * Shows as: an exit status of 1: an entry is left in the buffer.
 * FIXED: who has flushed looks again when it has given the lock of flushing back. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PRODUCERS = 2, ENTRIES = 3, ROOM = PRODUCERS * ENTRIES };

static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER, flush_lock = PTHREAD_MUTEX_INITIALIZER;
static int buffer[ROOM], buffered;
static int file[ROOM], in_file;

static void put(int entry)
{
    pthread_mutex_lock(&buffer_lock); /* culprit */
    buffer[buffered++] = entry;
    pthread_mutex_unlock(&buffer_lock);
}

/* Takes out what is there. */
static int take(int *entries)
{
    pthread_mutex_lock(&buffer_lock); /* culprit */
    int count = buffered;
    for (int i = 0; i < count; i++)
        entries[i] = buffer[i];
    buffered = 0;
    pthread_mutex_unlock(&buffer_lock);
    return count;
}

static bool is_empty(void)
{
    pthread_mutex_lock(&buffer_lock);
    bool empty = buffered == 0;
    pthread_mutex_unlock(&buffer_lock);
    return empty;
}

static void write_out(const int *entries, int count)
{
    for (int i = 0; i < count; i++)
        file[in_file++] = entries[i];
}

static void flush(void)
{
    int entries[ROOM], count;
    do {
        if (pthread_mutex_trylock(&flush_lock) != 0) /* culprit */
            return;
        while ((count = take(entries)) > 0) /* culprit */
            write_out(entries, count);
        pthread_mutex_unlock(&flush_lock); /* culprit */
#ifdef FIXED
    } while (!is_empty());
#else
    } while (false);
#endif
}

static void *produce(void *arg)
{
    int first = *(int *)arg;
    for (int i = 0; i < ENTRIES; i++) {
        put(first + i); /* culprit */
        flush();        /* culprit */
    }
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS];
    int firsts[PRODUCERS];
    for (int i = 0; i < PRODUCERS; i++) {
        firsts[i] = 100 * (i + 1);
        pthread_create(&producers[i], NULL, produce, &firsts[i]);
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    printf("%d of %d entries in the file%s\n", in_file, ROOM, is_empty() ? "" : ", some in the buffer");
    return in_file == ROOM ? 0 : 1;
}
