/* A bug between two atomic accesses, in a program that nobody has rebuilt and without any option: both threads look at
 * the other's flag before they raise their own. Nothing is unordered to a race detector; but threads meet on atomic
 * variables, so from the 17th run on one run in four is patched. Where only the start of a thread or a lock stands
 * between two accesses (`started`, `locked`), none is.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN 134: pct run -q -s 1 -n 400 --state none -- %p
 * RUN: pct run -s 301 -n 400 --explore=0 --state none -- %p > %t/out 2>&1;
 *     [ $(grep -c 'threads meet on 2 atomic variables' %t/out) = 1 ] && grep 'pct replay .*,memory=globals' %t/out
 * RUN: pct run -s 1 -n 200 --state none -- %p started > %t/out 2>&1;
 *     ! grep -e 'threads meet' -e 'other scheduling points' %t/out
 * RUN: pct run -s 1 -n 200 --state none -- %p locked > %t/out 2>&1;
 *     ! grep -e 'threads meet' -e 'other scheduling points' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked;
static _Atomic int flag[2], inside;

static void *enter(void *other)
{
    int self = !other;
    if (locked)
        pthread_mutex_lock(&lock);
    int free = !flag[!self];
    flag[self] = 1;
    if (free) {
        int others = inside++;
        assert(!others);
        inside--;
    }
    flag[self] = 0;
    if (locked)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    locked = argc > 1 && !strcmp(argv[1], "locked");
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, enter, i ? &lock : NULL);
        if (argc > 1 && !locked)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 2 && (argc == 1 || locked); i++)
        pthread_join(threads[i], NULL);
    return 0;
}
