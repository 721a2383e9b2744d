/* A test of POOL_tryAdd() of libzstd's queue of jobs (lib/common/pool.c), which has no threads of its own here: a queue
 * with room for two jobs, one of which is there. */
#define ZSTD_MULTITHREAD
#include <common/pool.c>
#include <assert.h>

static POOL_job jobs[3];
static POOL_ctx queue = { .queue = jobs, .queueSize = 3, .queueEmpty = 1, .threadLimit = 1 };
static int others_added;

static void job(void *unused)
{
    (void)unused;
}

/* Others: one more thread adds. */
__attribute__((used)) static void add_another(POOL_ctx *ctx)
{
    others_added += POOL_tryAdd(ctx, job, NULL);
}

int main(void)
{
    ZSTD_pthread_mutex_init(&queue.queueMutex, NULL);
    ZSTD_pthread_cond_init(&queue.queuePushCond, NULL);
    ZSTD_pthread_cond_init(&queue.queuePopCond, NULL);
    POOL_add_internal(&queue, job, NULL);
    int added = 1 + POOL_tryAdd(&queue, job, NULL) + others_added;
    assert((int)((queue.queueTail + queue.queueSize - queue.queueHead) % queue.queueSize) == added);
    return 0;
}
