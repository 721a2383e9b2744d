/* A parallel decompressor that frees a mutex too early at its end. For bench/experiments. Argument: blocks (16).
 *
 * Source: the PCT paper, tables 1 to 3 and figure 2: pbzip2 0.9.4, "crash during decompression". The program here has
 *   its threads: main reads blocks into a queue, two consumers decompress them, a file writer writes them in their
 *   order.
 * It computes: blocks are run-length encoded, with a CRC-32 each, as in bzip2; what is written is compared with the
 * original.
 * Bug: the writer says that all is written while it still holds the output's mutex. Main frees the mutex, and exits.
 * Depth 2: (main frees the mutex) before (the writer unlocks it), and that before (main exits). Under pct one is
 *   enough: main drops to the lowest priority when it exits (the paper's "final wait", section 4.2).
 * Shows as: a failed assertion in the writer. What the original leaves to the allocator is made certain here: the
 *   memory of the mutex is filled with ones and never given to anybody else, so that the unlock says EINVAL.
 * FIXED: main joins the writer first. */
#include "point.h"
#include <semaphore.h>
#include <stdint.h>

enum { CONSUMERS = 2, MAX_BLOCKS = 256, QUEUE = 4, BLOCK = 400 /* bytes, decompressed */ };

struct block {
    int length; /* compressed */
    uint32_t crc;
    uint8_t bytes[2 * BLOCK];
};

static int blocks;
static struct block file[MAX_BLOCKS];
static uint8_t original[MAX_BLOCKS][BLOCK], written[MAX_BLOCKS][BLOCK];

/* Blocks that were read and not yet decompressed. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    int block[QUEUE], head, tail;
    bool all_read;
} fifo = { .mutex = PTHREAD_MUTEX_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER };

/* Blocks that were decompressed and not yet written. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    bool is_ready[MAX_BLOCKS];
    uint8_t bytes[MAX_BLOCKS][BLOCK];
} output = { .mutex = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER };

static sem_t all_written;

static uint32_t crc32(const uint8_t *bytes, int length)
{
    uint32_t crc = ~UINT32_C(0);
    for (int i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

/* Pairs of a length and a byte. */
static void compress(struct block *to, const uint8_t *bytes)
{
    to->length = 0;
    to->crc = crc32(bytes, BLOCK);
    for (int i = 0; i < BLOCK;) {
        int run = 1;
        while (run < 255 && i + run < BLOCK && bytes[i + run] == bytes[i])
            run++;
        to->bytes[to->length++] = (uint8_t)run;
        to->bytes[to->length++] = bytes[i];
        i += run;
    }
}

static void decompress(uint8_t *to, const struct block *from)
{
    int length = 0;
    for (int i = 0; i + 1 < from->length; i += 2)
        for (int run = from->bytes[i]; run > 0 && length < BLOCK; run--)
            to[length++] = from->bytes[i + 1];
    if (length != BLOCK || crc32(to, BLOCK) != from->crc) {
        fputs("decompress: a block is damaged\n", stderr);
        exit(SETUP_FAILED);
    }
}

static void make_file(void)
{
    for (int i = 0; i < blocks; i++) {
        for (int j = 0; j < BLOCK; j++)
            original[i][j] = (uint8_t)(j / (1 + (i * 7 + j / 50) % 9) * 31 + i);
        compress(&file[i], original[i]);
    }
}

/* Main's: read a block. */
static void put(int block)
{
    pthread_mutex_lock(&fifo.mutex);
    while (fifo.tail - fifo.head == QUEUE)
        pthread_cond_wait(&fifo.not_full, &fifo.mutex);
    fifo.block[fifo.tail++ % QUEUE] = block;
    pthread_cond_signal(&fifo.not_empty);
    pthread_mutex_unlock(&fifo.mutex);
}

/* A consumer's: the next block, or -1 if there will be no more. */
static int take(void)
{
    pthread_mutex_lock(&fifo.mutex);
    while (fifo.tail == fifo.head && !fifo.all_read)
        pthread_cond_wait(&fifo.not_empty, &fifo.mutex);
    int block = fifo.tail == fifo.head ? -1 : fifo.block[fifo.head++ % QUEUE];
    pthread_cond_signal(&fifo.not_full);
    pthread_mutex_unlock(&fifo.mutex);
    return block;
}

static void *consumer(void *unused)
{
    (void)unused;
    for (int block; (block = take()) >= 0;) {
        decompress(output.bytes[block], &file[block]);
        pthread_mutex_lock(&output.mutex);
        output.is_ready[block] = true;
        pthread_cond_signal(&output.ready);
        pthread_mutex_unlock(&output.mutex);
    }
    return NULL;
}

static void *file_writer(void *unused)
{
    (void)unused;
    for (int block = 0; block < blocks; block++) {
        pthread_mutex_lock(&output.mutex);
        while (!output.is_ready[block])
            pthread_cond_wait(&output.ready, &output.mutex);
        memcpy(written[block], output.bytes[block], BLOCK);
        if (block == blocks - 1)
            sem_post(&all_written);
        int error = pthread_mutex_unlock(&output.mutex);
        assert(error == 0);
    }
    return NULL;
}

/* The original ignores that destroy may say EBUSY. */
static void free_mutex(pthread_mutex_t *mutex)
{
    pthread_mutex_destroy(mutex);
    memset(mutex, 0xff, sizeof *mutex);
}

int main(int argc, char **argv)
{
    blocks = argument(argc, argv, 1, 16, 1, MAX_BLOCKS);
    pthread_t consumers[CONSUMERS];
    make_file();
    setup_check(sem_init(&all_written, 0, 0), "cannot make a semaphore");
    for (int i = 0; i < CONSUMERS; i++)
        consumers[i] = thread_start(consumer, NULL);
    pthread_t writer = thread_start(file_writer, NULL);
    for (int block = 0; block < blocks; block++)
        put(block);
    pthread_mutex_lock(&fifo.mutex);
    fifo.all_read = true;
    pthread_cond_broadcast(&fifo.not_empty);
    pthread_mutex_unlock(&fifo.mutex);
    for (int i = 0; i < CONSUMERS; i++)
        thread_join(consumers[i]);
    while (sem_wait(&all_written) != 0) {
    }
    if (memcmp(written, original, sizeof original[0] * (size_t)blocks) != 0) {
        fprintf(stderr, "%s: what was written is not the original\n", argv[0]);
        return SETUP_FAILED;
    }
#ifdef FIXED
    thread_join(writer);
#else
    (void)writer;
#endif
    free_mutex(&fifo.mutex);
    free_mutex(&output.mutex);
    return 0;
}
