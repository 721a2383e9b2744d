/* A test of ZSTDMT_getBuffer() of libzstd's cache of buffers (lib/compress/zstdmt_compress.c), which is empty here. */
#define ZSTD_MULTITHREAD
#include <compress/zstdmt_compress.c>
#include <assert.h>

/* The cache's own allocator, which it gives itself to. `size` is what becomes the buffer. */
static void *allocate(void *pool, size_t size);

__attribute__((noinline)) static void *get_memory(ZSTDMT_bufferPool *pool, size_t size)
{
    assert(!pool || size >= pool->bufferSize);
    return malloc(size);
}

static void *allocate(void *pool, size_t size)
{
    return get_memory(pool, size);
}

static void release(void *pool, void *memory)
{
    (void)pool;
    free(memory);
}

/* Others: as ZSTDMT_setBufferSize() promises, all buffers are at least so large from now on. */
__attribute__((used)) static void set_size(ZSTDMT_bufferPool *pool, size_t size)
{
    ZSTDMT_setBufferSize(pool, size);
}

static void get_one(ZSTDMT_bufferPool *pool)
{
    buffer_t buffer = ZSTDMT_getBuffer(pool);
    release(pool, buffer.start);
}

int main(void)
{
    const ZSTD_customMem memory = { allocate, release, NULL };
    ZSTDMT_bufferPool *pool = ZSTDMT_createBufferPool(1, memory);
    pool->cMem.opaque = pool;
    get_one(pool);
    return 0;
}
