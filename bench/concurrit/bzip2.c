/* A parallel compressor whose threads take a block and its place in the output without the lock that makes one of it.
 *
 * Source: the Concurrit paper, table 1, "bzip2": bzip2smp 1.0 of the Inspect benchmarks; what was put into it stands
 *   in the sources that the paper refers to (bench/bzip2).
 * Bug: the lock around "take a block, take a place" is missing. A thread looks whether there is a block, and takes
 *   one later; meanwhile another has taken the last.
 * Shows as: a failed assertion (bzip2smp reads before the array, and crashes).
 * FIXED: the lock is there. */
#include "../bugs/shared.h"
#include <pct/script.h>

enum { THREADS = 2, BLOCKS = 2, EMPTY = -1 };

static pthread_mutex_t in_lock = PTHREAD_MUTEX_INITIALIZER, out_lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static pthread_mutex_t allocation = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_cond_t in_available = PTHREAD_COND_INITIALIZER, out_flush = PTHREAD_COND_INITIALIZER;
static int in_blocks[BLOCKS], in_head, in_tail = EMPTY, done;
static int out_blocks[BLOCKS], out_head;

static void lock_allocation(void)
{
#ifdef FIXED
    pthread_mutex_lock(&allocation);
#endif
}

static void unlock_allocation(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&allocation);
#endif
}

/* The next block, or 0 at the end. */
static __attribute__((noinline)) int take_block(void)
{
    int block = 0;
    pthread_mutex_lock(&in_lock);
    if (in_tail == EMPTY && !done) {
        pct_point("starved");
        pthread_cond_wait(&in_available, &in_lock);
    }
    if (!done) {
        pthread_mutex_unlock(&in_lock);
        pct_point("looked");
        pthread_mutex_lock(&in_lock);
        assert(in_tail != EMPTY);
        block = in_blocks[in_tail++];
        if (in_tail == in_head)
            in_tail = EMPTY;
    }
    pthread_mutex_unlock(&in_lock);
    return block;
}

static void *compressor(void *unused)
{
    for (;;) {
        lock_allocation();
        int block = take_block();
        if (!block) {
            unlock_allocation();
            return unused;
        }
        pct_point("taken");
        pthread_mutex_lock(&out_lock);
        int place = out_head++;
        pthread_mutex_unlock(&out_lock);
        unlock_allocation();
        pthread_mutex_lock(&out_lock);
        out_blocks[place] = block;
        pthread_cond_signal(&out_flush);
        pthread_mutex_unlock(&out_lock);
    }
}

static void *writer(void *unused)
{
    pthread_mutex_lock(&out_lock);
    for (int i = 0; i < BLOCKS; i++)
        while (!out_blocks[i]) {
            pct_point("nothing to write");
            pthread_cond_wait(&out_flush, &out_lock);
        }
    pthread_mutex_unlock(&out_lock);
    return unused;
}

static __attribute__((noinline)) void put_block(int block)
{
    pthread_mutex_lock(&in_lock);
    in_blocks[in_head] = block;
    if (in_tail == EMPTY) {
        in_tail = in_head;
        pthread_cond_signal(&in_available);
    }
    in_head++;
    pthread_mutex_unlock(&in_lock);
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        thread[i] = thread_start(compressor, NULL);
    pthread_t output = thread_start(writer, NULL);
    for (int i = 0; i < BLOCKS; i++)
        put_block(i + 1);
    thread_join(output);
    pthread_mutex_lock(&in_lock);
    done = 1;
    pthread_cond_broadcast(&in_available);
    pthread_mutex_unlock(&in_lock);
    for (int i = 0; i < THREADS; i++)
        thread_join(thread[i]);
    return 0;
}
