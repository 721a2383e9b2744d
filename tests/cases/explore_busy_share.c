/* Who finds a read-write lock busy need not have found it taken by one alone: another thread may take a share before
 * that as well. That was never tried, and whatever it was to lead to was left out: `pct explore` said "verified".
 *
 * RUN 1: pct explore -q -- %p
 * RUN: pct explore -q -- %p passes 2> %t/all; cat %t/all; grep 'all 8 classes' %t/all
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value, read_by_one;

static void *reads(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    read_by_one = value;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *changes(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, other;
    (void)argv;
    pthread_create(&one, NULL, reads, NULL);
    pthread_create(&other, NULL, changes, NULL);
    pthread_rwlock_rdlock(&lock);
    int read = value;
    if (!pthread_rwlock_trywrlock(&lock))
        abort();
    pthread_rwlock_unlock(&lock);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return argc == 1 && read == 1 && read_by_one == 0 ? 3 : 0;
}
