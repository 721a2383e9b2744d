/* Types of C11's mutexes that there are none of: libc says what becomes of them. 2.36 takes them for mtx_plain, and pct
 * refused them.
 *
 * RUN: [ "$(%p)" = "$(pct run -q -n 1 -s 1 -- %p)" ]
 */
#include <pthread.h>
#include <stdio.h>
#include <threads.h>

static mtx_t mutex;

static int nothing(void *unused)
{
    (void)unused;
    return 0;
}

int main(void)
{
    thrd_t thread;
    thrd_create(&thread, nothing, NULL);
    thrd_join(thread, NULL);
    for (int type = -1; type < 10; type++) {
        int made = mtx_init(&mutex, type), locked = made == thrd_success && mtx_lock(&mutex) == thrd_success;
        printf("%d: %d %d\n", type, made, locked ? mtx_trylock(&mutex) : -1);
    }
    return 0;
}
