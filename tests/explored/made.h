/* Objects of the random programs of machine.c that the first who needs them initialises, with a mutex held, and those
 * that threads make for themselves. */
#ifndef PCT_TESTS_EXPLORED_MADE_H
#define PCT_TESTS_EXPLORED_MADE_H

static struct {
    bool is[6];
    unsigned under;
    pthread_mutex_t lock, mutex;
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    sem_t sem;
} made = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void make(unsigned what)
{
    switch (what) {
    case 0:
        pthread_mutex_init(&made.mutex, NULL);
        break;
    case 1:
        pthread_cond_init(&made.cond, NULL);
        break;
    case 2:
        pthread_rwlock_init(&made.rwlock, NULL);
        break;
    case 3:
        pthread_barrier_init(&made.barrier, NULL, 2);
        break;
    case 4:
        pthread_spin_init(&made.spin, PTHREAD_PROCESS_PRIVATE);
        break;
    default:
        sem_init(&made.sem, 0, me % 2);
    }
}

/* One of its own, from the beginning to the end. */
static void own(unsigned thing)
{
    sem_t *count = malloc(sizeof *count);
    sem_init(count, 0, 1);
    sem_wait(count);
    use(thing);
    tell((unsigned)sem_trywait(count));
    sem_destroy(count);
    free(count);
}

static void makes(const struct action *a)
{
    const unsigned what = a->what % 6;
    if (a->more % 4 == 0) {
        pthread_mutex_lock(&mutex[a->thing]);
        own(a->thing);
        pthread_mutex_unlock(&mutex[a->thing]);
        return;
    }
    pthread_mutex_lock(&made.lock);
    tell(made.is[what]);
    if (!made.is[what])
        make(what);
    made.is[what] = true;
    if (what == 1 && a->inner)
        pthread_cond_wait(&made.cond, &made.lock);
    else if (what == 1)
        pthread_cond_signal(&made.cond);
    pthread_mutex_unlock(&made.lock);
    if (what == 0) {
        pthread_mutex_lock(&made.mutex);
        use_of(&made.under);
        pthread_mutex_unlock(&made.mutex);
    } else if (what == 2) {
        tell((unsigned)(a->inner ? pthread_rwlock_rdlock(&made.rwlock) : pthread_rwlock_wrlock(&made.rwlock)));
        pthread_rwlock_unlock(&made.rwlock);
    } else if (what == 3) {
        tell(pthread_barrier_wait(&made.barrier) != 0);
    } else if (what == 4) {
        tell((unsigned)pthread_spin_trylock(&made.spin) || (unsigned)pthread_spin_unlock(&made.spin));
    } else if (what == 5) {
        tell((unsigned)(a->inner ? sem_trywait(&made.sem) : sem_post(&made.sem)));
    }
}

#endif
