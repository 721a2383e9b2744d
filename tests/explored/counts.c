/* counts NAME N: programs whose classes of schedules are known from publications, written after their behaviour.
 * tests/explored/counts has the numbers and where they are from. Built with pct-cc: accesses to the volatile variables
 * are scheduling points.
 *
 * Called by tests/explored/counts, under `pct explore`. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };
static long n;
static volatile long x, y; /* pct tells accesses apart by eight aligned bytes */
static atomic_long a, b;
static volatile long array[MOST + 1];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

typedef void *routine(void *);

static int number(void *argument)
{
    return (int)(intptr_t)argument;
}

static void start(int count, routine *routine, pthread_t *threads)
{
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, routine, (void *)(intptr_t)i))
            exit(3);
}

static void join(int count, const pthread_t *threads)
{
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* --- Reads and writes --- */

static void *write_or_read(void *self)
{
    if (number(self))
        return (void *)(intptr_t)x;
    x = 42;
    return NULL;
}

static void *read_or_write(void *self)
{
    if (number(self) == n)
        return (void *)(intptr_t)x;
    x = number(self);
    return NULL;
}

static void *write_and_read(void *self)
{
    for (int i = 0; i < n; i++)
        x = number(self);
    return (void *)(intptr_t)x;
}

static void *write_twice_or_read(void *self)
{
    long sum = 0;
    for (int i = 0; i < (number(self) == 2 ? 2 : n); i++)
        if (number(self) < 2)
            x = number(self) + 1;
        else
            sum += x;
    return (void *)(intptr_t)sum;
}

static void *last_zero(void *self)
{
    int i = number(self);
    if (i) {
        array[i] = array[i - 1] + 1;
        return NULL;
    }
    for (i = (int)n; array[i];)
        i--;
    return NULL;
}

static void *fibonacci(void *self)
{
    for (int k = 0; k < n; k++) {
        long one = x, other = y;
        if (number(self))
            y = one + other;
        else
            x = one + other;
    }
    return NULL;
}

static void *last_message(void *self)
{
    for (int i = 0; i < n; i++) {
        atomic_store(&a, number(self));
        atomic_store(&b, number(self));
        if (atomic_load(&a) == number(self))
            return (void *)(intptr_t)atomic_load(&b);
    }
    return NULL;
}

static void *exchange(void *self)
{
    long expected = number(self);
    atomic_compare_exchange_strong(&a, &expected, expected + 1);
    return NULL;
}

/* The index of a hash table: each thread inserts four words. */
static void *index_words(void *self)
{
    enum { SIZE = 128, WORDS = 4 };
    static atomic_long table[SIZE];
    for (int m = 1; m <= WORDS; m++) {
        long word = m * 11 + number(self), slot = word * 7 % SIZE, none = 0;
        while (!atomic_compare_exchange_strong(&table[slot], &none, word)) {
            slot = (slot + 1) % SIZE;
            none = 0;
        }
    }
    return NULL;
}

/* --- Locks --- */

static void *lock_only(void *unused)
{
    pthread_mutex_lock(&mutex);
    x++;
    return unused;
}

static void *lock_and_unlock(void *unused)
{
    pthread_mutex_lock(&mutex);
    x++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *unlock_if_in_turn(void *self)
{
    pthread_mutex_lock(&mutex);
    if (atomic_fetch_add(&a, 1) == number(self))
        pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *try_and_unlock(void *unused)
{
    if (pthread_mutex_trylock(&mutex))
        return unused;
    x++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* A file system: each thread gives its inode a block. */
static void *give_block(void *self)
{
    enum { BLOCKS = 26, INODES = 32 };
    static pthread_mutex_t inode_lock[INODES], block_lock[BLOCKS]; /* zero: unlocked */
    static volatile long inode[INODES], busy[BLOCKS];
    int i = number(self) % INODES;
    pthread_mutex_lock(&inode_lock[i]);
    for (int block = i * 2 % BLOCKS; !inode[i]; block = (block + 1) % BLOCKS) {
        pthread_mutex_lock(&block_lock[block]);
        if (!busy[block]) {
            busy[block] = 1;
            inode[i] = block + 1;
        }
        pthread_mutex_unlock(&block_lock[block]);
    }
    pthread_mutex_unlock(&inode_lock[i]);
    return NULL;
}

/* Each gives up a block of its own: many locations at once, none of them another thread's. */
static void *give_up(void *unused)
{
    char *block = malloc(64);
    (void)unused;
    *(volatile char *)block = 1;
    free(block);
    return NULL;
}

static void *give_up_large(void *unused)
{
    char *block = malloc(1000);
    (void)unused;
    *(volatile char *)block = 1;
    free(block);
    return NULL;
}

static const struct program {
    const char *name;
    routine *routine;
    int threads; /* and n times `more` */
    int more;
    int joins;
    void *(*then)(void *);
} programs[] = {
    { "readers", write_or_read, 1, 1, 1, NULL },
    { "writers-reader", read_or_write, 1, 1, 1, NULL },
    { "writes-read", write_and_read, 2, 0, 1, NULL },
    { "redundant-co", write_twice_or_read, 3, 0, 1, NULL },
    { "lastzero", last_zero, 1, 1, 0, NULL },
    { "fib", fibonacci, 2, 0, 0, NULL },
    { "opt-lock", last_message, 2, 0, 0, NULL },
    { "cmpxchg", exchange, 0, 1, 1, NULL },
    { "indexer", index_words, 0, 1, 1, NULL },
    { "mutex-deadlock", lock_only, 0, 1, 0, NULL },
    { "mutex-order", lock_and_unlock, 0, 1, 0, NULL },
    { "mutex-hard", unlock_if_in_turn, 0, 1, 1, NULL },
    { "trylock-unlock", try_and_unlock, 0, 1, 0, NULL },
    { "vs-trylock", try_and_unlock, 0, 1, 0, lock_and_unlock },
    { "filesystem", give_block, 0, 1, 1, NULL },
    { "give-up", give_up, 0, 1, 1, NULL },
    { "give-up-large", give_up_large, 0, 1, 1, NULL },
};

int main(int argc, char **argv)
{
    pthread_t threads[MOST + 1];
    if (argc != 3)
        return 2;
    n = atoi(argv[2]);
    if (!strcmp(argv[1], "fib"))
        x = y = 1;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        if (strcmp(p->name, argv[1]) != 0)
            continue;
        int count = p->threads + p->more * (int)n;
        start(count, p->routine, threads);
        if (p->then)
            p->then(NULL);
        if (p->joins)
            join(count, threads);
        /* As main looks at both. */
        return !strcmp(p->name, "fib") ? (x > 144 || y > 144) : 0;
    }
    return 2;
}
