/* Callbacks of dl_iterate_phdr() lock. The thread that goes through the list of modules holds a lock of the loader's,
 * so it keeps the baton; it lost it at the first point, and others slept where pct does not see it. Where it leaves the
 * list by a jump, it keeps it no longer.
 *
 * RUN: pct run -g --state none -s 1 -n 100 -- %p > %t/out 2>&1; grep 'libc held a lock, up to [1-9]' %t/out &&
 *     ! grep 'not controlled' %t/out
 * RUN 134: pct run -q --state none -s 1 -n 100 -- %p jump
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int phase;
static jmp_buf out;

static void set(int value)
{
    pthread_mutex_lock(&mutex);
    phase = value;
    pthread_mutex_unlock(&mutex);
}

static int look(struct dl_phdr_info *info, size_t size, void *jumps)
{
    (void)info, (void)size;
    set(1);
    if (jumps)
        longjmp(out, 1);
    return 1;
}

static void *work(void *jumps)
{
    if (!jumps) {
        dl_iterate_phdr(look, NULL);
    } else if (!setjmp(out)) {
        dl_iterate_phdr(look, jumps);
    } else {
        set(3);
        set(4);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t first, second;
    pthread_create(&first, NULL, work, argc > 1 ? &out : NULL);
    if (argc > 1) {
        pthread_mutex_lock(&mutex);
        if (phase == 3)
            abort();
        pthread_mutex_unlock(&mutex);
    } else {
        pthread_create(&second, NULL, work, NULL);
        pthread_join(second, NULL);
    }
    pthread_join(first, NULL);
    return 0;
}
