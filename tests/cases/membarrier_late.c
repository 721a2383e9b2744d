/* A thread that uses a barrier which another one registers: where runs were restored, the registration of an earlier
 * run was still there, and those that failed passed.
 *
 * RUN: for how in exec engine=restore; do
 *         pct campaign -q --$how -n 160 -s 1 -S random-walk -j 1 --epoch 1 --explore=0 --db %t/$how -- %p > %t/out;
 *         [ $? = 1 ] || exit 1;
 *         sqlite3 -batch -init /dev/null %t/$how 'SELECT seed, hash, code FROM runs ORDER BY seed' > %t/$how.rows;
 *     done; cmp %t/exec.rows %t/engine=restore.rows
 */
#include <assert.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void step(int times)
{
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void *use(void *failed)
{
    step(4);
    *(int *)failed = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int failed;
    assert(!pthread_create(&thread, NULL, use, &failed));
    step(1);
    assert(!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
    assert(!pthread_join(thread, NULL));
    return failed;
}
