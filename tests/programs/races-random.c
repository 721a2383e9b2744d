/* Random programs that keep a discipline: each variable has a guard, and who touches it holds that. No race detector
 * may complain of one.
 *
 *     races-random SEED          the program of this seed
 *     races-random SEED plant    the same, but the second thread's first access to the first variable goes without its
 *                                guard
 *
 * The guards are locks of every kind, and whatever else can be one: a semaphore, a flag that atomic accesses set, a
 * byte in a pipe, a file's lock. Besides, threads hand blocks of memory to each other, meet at barriers and write what
 * another one wrote in the last round, and start and join others. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <threads.h>
#include <unistd.h>

enum { VARIABLES = 6, THREADS_MOST = 4, ROUNDS_MOST = 3, OPERATIONS_MOST = 12 };
enum kind { MUTEX, RECURSIVE, TRYLOCK, C11, SPIN, READ_WRITE, SEMAPHORE, MONITOR, FLAG, FENCED, PIPE, FLOCK, KINDS };

struct block {
    struct block *next;
    int value;
};

static struct guard {
    enum kind kind;
    pthread_mutex_t mutex;
    mtx_t mtx;
    pthread_spinlock_t spin;
    pthread_rwlock_t rwlock;
    sem_t sem;
    pthread_cond_t cond;
    bool taken;
    atomic_int flag;
    int ends[2];
    char path[32];
} guards[VARIABLES];
static int variables[VARIABLES], written[THREADS_MOST], rounds, threads, once_value;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
static struct block *queue;
static bool plants;

struct thread {
    int number;
    uint64_t random;
    int files[VARIABLES]; /* descriptors of its own, for FLOCK */
    bool planted;
};

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static void make(struct guard *guard, enum kind kind)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    guard->kind = kind;
    pthread_mutex_init(&guard->mutex, kind == RECURSIVE ? &recursive : NULL);
    mtx_init(&guard->mtx, mtx_plain);
    pthread_spin_init(&guard->spin, 0);
    pthread_rwlock_init(&guard->rwlock, NULL);
    sem_init(&guard->sem, 0, 1);
    pthread_cond_init(&guard->cond, NULL);
    if (kind == PIPE && (pipe(guard->ends) || write(guard->ends[1], "x", 1) != 1))
        exit(3);
    if (kind == FLOCK) {
        strcpy(guard->path, "/tmp/races-random-XXXXXX");
        close(mkstemp(guard->path));
    }
}

static void take(struct thread *self, int which, bool writes)
{
    struct guard *guard = &guards[which];
    char byte;
    switch (guard->kind) {
    case RECURSIVE:
        pthread_mutex_lock(&guard->mutex);
        __attribute__((fallthrough));
    case MUTEX:
        pthread_mutex_lock(&guard->mutex);
        break;
    case TRYLOCK:
        while (pthread_mutex_trylock(&guard->mutex))
            sched_yield();
        break;
    case C11:
        mtx_lock(&guard->mtx);
        break;
    case SPIN:
        pthread_spin_lock(&guard->spin);
        break;
    case READ_WRITE:
        if (writes)
            pthread_rwlock_wrlock(&guard->rwlock);
        else
            pthread_rwlock_rdlock(&guard->rwlock);
        break;
    case SEMAPHORE:
        sem_wait(&guard->sem);
        break;
    case MONITOR:
        pthread_mutex_lock(&guard->mutex);
        while (guard->taken)
            pthread_cond_wait(&guard->cond, &guard->mutex);
        guard->taken = true;
        pthread_mutex_unlock(&guard->mutex);
        break;
    case FLAG:
        while (atomic_exchange_explicit(&guard->flag, 1, memory_order_acquire))
            sched_yield();
        break;
    case FENCED:
        while (atomic_exchange_explicit(&guard->flag, 1, memory_order_relaxed))
            sched_yield();
        atomic_thread_fence(memory_order_acquire);
        break;
    case PIPE:
        if (read(guard->ends[0], &byte, 1) != 1)
            exit(3);
        break;
    case FLOCK:
        flock(self->files[which], LOCK_EX);
        break;
    case KINDS:
        break;
    }
}

static void give_back(struct thread *self, int which)
{
    struct guard *guard = &guards[which];
    switch (guard->kind) {
    case RECURSIVE:
        pthread_mutex_unlock(&guard->mutex);
        __attribute__((fallthrough));
    case MUTEX:
    case TRYLOCK:
        pthread_mutex_unlock(&guard->mutex);
        break;
    case C11:
        mtx_unlock(&guard->mtx);
        break;
    case SPIN:
        pthread_spin_unlock(&guard->spin);
        break;
    case READ_WRITE:
        pthread_rwlock_unlock(&guard->rwlock);
        break;
    case SEMAPHORE:
        sem_post(&guard->sem);
        break;
    case MONITOR:
        pthread_mutex_lock(&guard->mutex);
        guard->taken = false;
        pthread_mutex_unlock(&guard->mutex);
        pthread_cond_signal(&guard->cond);
        break;
    case FLAG:
        atomic_store_explicit(&guard->flag, 0, memory_order_release);
        break;
    case FENCED:
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&guard->flag, 0, memory_order_relaxed);
        break;
    case PIPE:
        if (write(guard->ends[1], "x", 1) != 1)
            exit(3);
        break;
    case FLOCK:
        flock(self->files[which], LOCK_UN);
        break;
    case KINDS:
        break;
    }
}

static void access_variable(struct thread *self, int which, bool writes)
{
    bool guarded = !(plants && self->number == 1 && !which && !self->planted);
    self->planted |= !which;
    if (guarded)
        take(self, which, writes);
    if (writes)
        variables[which]++;
    else if (variables[which] < 0)
        exit(3);
    /* Guards are taken in their order. */
    if (which + 1 < VARIABLES && !draw(&self->random, 4))
        access_variable(self, which + 1, draw(&self->random, 2));
    if (guarded)
        give_back(self, which);
}

static void hand_over(const struct thread *self)
{
    struct block *block = malloc(sizeof *block + (size_t)self->number * 8);
    block->value = self->number;
    pthread_mutex_lock(&queue_mutex);
    block->next = queue;
    queue = block;
    pthread_mutex_unlock(&queue_mutex);
    pthread_cond_signal(&queue_cond);
}

static void take_over(void)
{
    pthread_mutex_lock(&queue_mutex);
    struct block *block = queue;
    if (block)
        queue = block->next;
    pthread_mutex_unlock(&queue_mutex);
    if (block && block->value >= threads)
        exit(3);
    free(block);
}

static void begin(void)
{
    once_value = 42;
}

static void *look(void *value)
{
    ++*(int *)value;
    return NULL;
}

static void delegate(void)
{
    pthread_t helper;
    int value = 1;
    if (pthread_create(&helper, NULL, look, &value))
        exit(3);
    pthread_join(helper, NULL);
    if (value != 2)
        exit(3);
}

static void operate(struct thread *self)
{
    switch (draw(&self->random, 12)) {
    case 0:
        hand_over(self);
        break;
    case 1:
        take_over();
        break;
    case 2:
        pthread_once(&once, begin);
        if (once_value != 42)
            exit(3);
        break;
    case 3:
        delegate();
        break;
    default:
        access_variable(self, (int)draw(&self->random, VARIABLES), draw(&self->random, 3) > 0);
    }
}

static void *run(void *argument)
{
    struct thread *self = argument;
    for (int i = 0; i < VARIABLES; i++)
        if (guards[i].kind == FLOCK)
            self->files[i] = open(guards[i].path, O_RDWR);
    for (int round = 0; round < rounds; round++) {
        int operations = 1 + (int)draw(&self->random, OPERATIONS_MOST);
        access_variable(self, 0, true);
        for (int i = 0; i < operations; i++)
            operate(self);
        written[(self->number + round) % threads]++;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static struct thread all[THREADS_MOST];
    pthread_t handles[THREADS_MOST];
    uint64_t random = count > 1 ? strtoull(arguments[1], NULL, 10) : 0;
    plants = count > 2;
    for (int i = 0; i < 4; i++)
        draw(&random, 2);
    threads = 2 + (int)draw(&random, THREADS_MOST - 1);
    rounds = 1 + (int)draw(&random, ROUNDS_MOST);
    for (int i = 0; i < VARIABLES; i++)
        make(&guards[i], (enum kind)draw(&random, KINDS));
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        all[i] = (struct thread){ .number = i, .random = random + (uint64_t)i * 7919 };
        if (pthread_create(&handles[i], NULL, run, &all[i]))
            return 3;
    }
    int sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        sum += written[i];
    }
    for (int i = 0; i < VARIABLES; i++)
        if (guards[i].kind == FLOCK)
            unlink(guards[i].path);
    while (queue)
        take_over();
    return sum != threads * rounds || variables[0] < threads * rounds;
}
