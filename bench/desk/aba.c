/* A stack of free blocks without a lock.
 *
 * Bug: pop() compares the head alone: between its look at the next block and its exchange the head may have been taken,
 *   others too, and given back.
 * Shows as: a failed assertion: a block that is in use is given out again.
 * FIXED: the head has a number that each change raises. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { BLOCKS = 3, NONE = 0xff };

static _Atomic uint32_t head;
static _Atomic uint8_t next_of[BLOCKS];
static atomic_int users[BLOCKS];

static uint32_t with_number(uint32_t old, unsigned block)
{
#ifdef FIXED
    return (((old >> 8) + 1) << 8) | block;
#else
    (void)old;
    return block;
#endif
}

static unsigned pop(void)
{
    uint32_t old = atomic_load(&head); /* culprit */
    while ((old & 0xff) != NONE) {
        uint8_t next = atomic_load(&next_of[old & 0xff]);                        /* culprit */
        if (atomic_compare_exchange_strong(&head, &old, with_number(old, next))) /* culprit */
            return old & 0xff;
    }
    return NONE;
}

static void push(unsigned block)
{
    uint32_t old = atomic_load(&head);
    do
        atomic_store(&next_of[block], (uint8_t)old);
    while (!atomic_compare_exchange_strong(&head, &old, with_number(old, block))); /* culprit */
}

static unsigned get(void)
{
    unsigned block = pop();
    if (block != NONE)
        assert(atomic_fetch_add(&users[block], 1) == 0);
    return block;
}

static void put(unsigned block)
{
    if (block == NONE)
        return;
    atomic_fetch_sub(&users[block], 1);
    push(block);
}

static void *one(void *unused)
{
    (void)unused;
    put(get());
    unsigned last = get();
    put(last);
    return NULL;
}

static void *two(void *unused)
{
    (void)unused;
    unsigned first = get(), second = get();
    put(first);
    unsigned third = get();
    put(second);
    put(third);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (unsigned i = 0; i < BLOCKS; i++)
        next_of[i] = (uint8_t)(i + 1 < BLOCKS ? i + 1 : NONE);
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
