/* One thread makes or destroys a mutex, a barrier, a condition variable, ... while nothing orders that with another's
 * use: a race, as for libtsan; only the destruction of mutexes was. Not where an atomic orders the two, and not where
 * code that tells of no access does this: a reference count there, say, orders what nobody sees, and was no order for
 * the destruction of a mutex.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: for o in mutex rwlock spin barrier cond wait; do for how in init destroy first; do
 *     pct run -q -n 1 -s 1 --state none --races=fail -- %p $o $how > %t/log 2>&1;
 *     test $? = 118 || { echo $o $how; exit 1; }; grep -q 'use  *at' %t/log && grep -q 'whole  *at' %t/log || exit 1;
 *     done; done
 * RUN: for o in mutex rwlock spin barrier cond wait; do for how in init destroy first; do
 *     pct run -q -n 3 -s 1 --state none --races=fail -- %p $o $how ordered || { echo $o $how; exit 1; }; done; done
 * RUN: pct run -q -n 60 -s 1 --state none --races=fail -- %p again
 * RUN: pct run -q -n 60 -s 1 --state none --races=fail -- %p done
 * RUN: gcc -O1 -g -shared -fPIC -DLIBRARY -o %t/libcounted.so %s && pct-cc -O1 -g -pthread -DCOUNTED -o %t/p %s
 *     -L%t -lcounted -Wl,-rpath,%t && pct run -q -n 60 -s 1 --state none --races=fail -- %t/p
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct counted {
    pthread_mutex_t mutex;
    atomic_int users;
};

void counted_use(struct counted *counted);
void counted_leave(struct counted *counted);

#ifdef LIBRARY

void counted_use(struct counted *counted)
{
    pthread_mutex_lock(&counted->mutex);
    pthread_mutex_unlock(&counted->mutex);
}

void counted_leave(struct counted *counted)
{
    if (atomic_fetch_sub(&counted->users, 1) == 1)
        pthread_mutex_destroy(&counted->mutex);
}

#else

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier, both;
static atomic_int one_did;
static int told;
static const char *object;
static int ordered, destroys, whole_first;

static void use(void)
{
    const struct timespec past = { 1, 0 };
    if (!strcmp(object, "mutex")) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(object, "rwlock")) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    } else if (!strcmp(object, "spin")) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    } else if (!strcmp(object, "barrier")) {
        pthread_barrier_wait(&barrier);
    } else if (!strcmp(object, "cond")) {
        pthread_cond_signal(&cond);
    } else {
        pthread_mutex_lock(&own);
        pthread_cond_timedwait(&cond, &own, &past);
        pthread_mutex_unlock(&own);
    }
}

static void whole(void)
{
    if (!strcmp(object, "mutex"))
        destroys ? pthread_mutex_destroy(&mutex) : pthread_mutex_init(&mutex, NULL);
    else if (!strcmp(object, "rwlock"))
        destroys ? pthread_rwlock_destroy(&rwlock) : pthread_rwlock_init(&rwlock, NULL);
    else if (!strcmp(object, "spin"))
        destroys ? pthread_spin_destroy(&spin) : pthread_spin_init(&spin, 0);
    else if (!strcmp(object, "barrier"))
        destroys ? pthread_barrier_destroy(&barrier) : pthread_barrier_init(&barrier, NULL, 1);
    else
        destroys ? pthread_cond_destroy(&cond) : pthread_cond_init(&cond, NULL);
}

static void *be_first(void *unused)
{
    told = 1;
    whole_first ? whole() : use();
    atomic_store_explicit(&one_did, 1, ordered ? memory_order_release : memory_order_relaxed);
    return unused;
}

static void *be_second(void *unused)
{
    while (!atomic_load_explicit(&one_did, ordered ? memory_order_acquire : memory_order_relaxed))
        sched_yield();
    whole_first ? use() : whole();
    return unused;
}

/* A mutex on the stack, made and destroyed again and again; what stands there is another's later. */
static void *make_again(void *unused)
{
    told++;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_t made;
        pthread_mutex_init(&made, NULL);
        pthread_mutex_lock(&made);
        pthread_mutex_unlock(&made);
        pthread_mutex_destroy(&made);
    }
    return unused;
}

/* Who is told that all have come destroys what they came to. */
static void *be_done(void *unused)
{
    pthread_mutex_lock(&mutex);
    told++;
    pthread_cond_broadcast(&cond);
    while (told < 2)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    if (pthread_barrier_wait(&both)) {
        pthread_barrier_destroy(&both);
        pthread_cond_destroy(&cond);
        pthread_mutex_destroy(&mutex);
    }
    return unused;
}

static void *count(void *counted)
{
    static _Thread_local int mine;
    mine++;
    counted_use(counted);
    sched_yield();
    counted_leave(counted);
    return NULL;
}

#ifndef COUNTED
void counted_use(struct counted *counted)
{
    (void)counted;
}

void counted_leave(struct counted *counted)
{
    (void)counted;
}
#endif

static void run(void *(*one)(void *), void *(*other)(void *), void *argument)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, argument);
    pthread_create(&threads[1], NULL, other, argument);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    static struct counted counted = { PTHREAD_MUTEX_INITIALIZER, 2 };
    object = argc > 1 ? argv[1] : "";
    destroys = argc > 2 && !strcmp(argv[2], "destroy");
    whole_first = argc > 2 && !strcmp(argv[2], "first");
    ordered = argc > 3;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 1);
    pthread_barrier_init(&both, NULL, 2);
    if (!strcmp(object, "again"))
        for (int i = 0; i < 2; i++) {
            pthread_t thread;
            pthread_create(&thread, NULL, make_again, NULL);
            pthread_join(thread, NULL);
        }
    else if (!strcmp(object, "done"))
        run(be_done, be_done, NULL);
    else if (argc > 1)
        run(be_first, be_second, NULL);
    else
        run(count, count, &counted);
    return 0;
}

#endif
