/* A constructor that shares memory without a descriptor: runs that were forked had one memory for all, and found in it
 * what earlier ones had left. They were called failures, which no replay showed.
 *
 * RUN: pct run -n 8 -s 1 --explore=0 -- %p > %t/out 2>&1; status=$?; cat %t/out; [ $status = 0 ] &&
 *     grep 'started by exec: the target shares memory before main' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *count;

__attribute__((constructor)) static void share(void)
{
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(count != MAP_FAILED);
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        ++*count;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    assert(*count == 2 * ROUNDS);
    return 0;
}
