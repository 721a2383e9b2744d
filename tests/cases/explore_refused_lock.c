/* A lock that is refused at once, as its thread has it already (EDEADLK), waits for nobody, and does not commute with
 * others' tries: `pct explore` took it for a wait that could not end, tried one of the two orders, and said "verified"
 * of 40 of 44 classes, as --bound shows.
 *
 * RUN: pct explore -q -- %p 2> %t/all; cat %t/all; grep 'all 44 classes' %t/all
 * RUN: pct explore -q --bound 9 -- %p 2> %t/all; cat %t/all; grep 'all 44 classes' %t/all
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void is_refused(void)
{
    pthread_rwlock_wrlock(&lock);
    if (pthread_rwlock_rdlock(&lock) != EDEADLK)
        abort();
    pthread_rwlock_unlock(&lock);
}

static void *tries_to_write(void *unused)
{
    if (!pthread_rwlock_trywrlock(&lock))
        pthread_rwlock_unlock(&lock);
    return unused;
}

static void *tries_to_read(void *unused)
{
    is_refused();
    if (!pthread_rwlock_tryrdlock(&lock))
        pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, tries_to_write, NULL);
    pthread_create(&other, NULL, tries_to_read, NULL);
    is_refused();
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
