/* A codec that the first user sets up.
 *
 * Bug: codec_use() takes "somebody has begun to set it up" for "it is set up".
 * Shows as: a failed assertion: a table is used half-filled.
 * FIXED: it waits until that has ended. */
#include <assert.h>
#include <pthread.h>

enum { ENTRIES = 3 };
enum state { NONE, STARTED, READY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum state state;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int table[ENTRIES], filled;

static void add_entry(int i)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    table[i] = i + 1;
    filled++;
    pthread_mutex_unlock(&table_lock);
}

static void fill(void)
{
    for (int i = 0; i < ENTRIES; i++)
        add_entry(i);
    pthread_mutex_lock(&lock); /* culprit */
    state = READY;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void codec_open(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    enum state seen = state;
    if (seen == NONE)
        state = STARTED;
#ifdef FIXED
    while (seen != NONE && state != READY)
        pthread_cond_wait(&changed, &lock);
#endif
    pthread_mutex_unlock(&lock);
    if (seen == NONE)
        fill();
}

static int codec_encode(int value)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    assert(filled == ENTRIES);
    int coded = table[value % ENTRIES];
    pthread_mutex_unlock(&table_lock);
    return coded;
}

static void *user(void *argument)
{
    int *value = argument;
    codec_open();
    *value = codec_encode(*value);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int values[3] = { 0, 1, 2 };
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, user, &values[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(values[0] == 1 && values[1] == 2 && values[2] == 3);
    return 0;
}
