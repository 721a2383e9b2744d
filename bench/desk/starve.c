/* A reader-writer lock of the program's own.
 *
 * Bug: readers come in as long as others read, also while a writer waits: it may wait for ever.
 * Shows as: a failed assertion: a writer was passed over too often.
 * FIXED: readers let a writer that waits go first. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { READERS = 3, ROUNDS = 3, PATIENCE = 4 };

struct rw {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int readers, waiting, passed_over;
    bool writing;
};

static struct rw rw = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;
static int table = 1, sum;

static bool must_wait(const struct rw *l)
{
#ifdef FIXED
    return l->writing || l->waiting;
#else
    return l->writing;
#endif
}

static void read_begin(struct rw *l)
{
    pthread_mutex_lock(&l->lock); /* culprit */
    while (must_wait(l))
        pthread_cond_wait(&l->changed, &l->lock);
    l->readers++;
    l->passed_over += l->waiting;
    pthread_mutex_unlock(&l->lock);
}

static void read_end(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    if (!--l->readers)
        pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void write_begin(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    l->waiting++;
    l->passed_over = 0;
    while (l->readers || l->writing)
        pthread_cond_wait(&l->changed, &l->lock); /* culprit */
    assert(l->passed_over < PATIENCE);
    l->waiting--;
    l->writing = true;
    pthread_mutex_unlock(&l->lock);
}

static void write_end(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    l->writing = false;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        read_begin(&rw);
        pthread_mutex_lock(&sums);
        sum += table;
        pthread_mutex_unlock(&sums);
        read_end(&rw);
    }
    return NULL;
}

static void *writer(void *unused)
{
    (void)unused;
    write_begin(&rw);
    table++;
    write_end(&rw);
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS + 1];
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    pthread_create(&threads[READERS], NULL, writer, NULL);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    assert(sum >= READERS * ROUNDS);
    return 0;
}
