/* A vehicle's position, which one thread writes and others read without a lock: a number is odd while it is written.
 *
 * Bug: a reader looks at the number before it reads, and not again behind that.
 * Shows as: a failed assertion: half of the old position and half of the new one.
 * FIXED: it looks again, and starts anew if the number has changed. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MOVES = 2, LOOKS = 2 };

static struct position {
    atomic_uint number;
    atomic_int x, y; /* always the same in this test */
} position;

static pthread_mutex_t out = PTHREAD_MUTEX_INITIALIZER;
static int printed;

static void position_set(struct position *p, int x, int y)
{
    atomic_fetch_add(&p->number, 1);
    atomic_store(&p->x, x); /* culprit */
    atomic_store(&p->y, y); /* culprit */
    atomic_fetch_add(&p->number, 1);
}

static void position_get(struct position *p, int *x, int *y)
{
    unsigned number;
    do {
        number = atomic_load(&p->number);
        while (number & 1) {
            sched_yield();
            number = atomic_load(&p->number);
        }
        *x = atomic_load(&p->x); /* culprit */
        *y = atomic_load(&p->y); /* culprit */
#ifdef FIXED
    } while (atomic_load(&p->number) != number);
#else
    } while (0);
#endif
}

static void *driver(void *unused)
{
    (void)unused;
    for (int i = 1; i <= MOVES; i++)
        position_set(&position, i, i);
    return NULL;
}

static void *display(void *unused)
{
    (void)unused;
    for (int i = 0; i < LOOKS; i++) {
        int x, y;
        position_get(&position, &x, &y);
        assert(x == y);
        pthread_mutex_lock(&out);
        printed++;
        pthread_mutex_unlock(&out);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, driver, NULL);
    pthread_create(&threads[1], NULL, display, NULL);
    pthread_create(&threads[2], NULL, display, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", printed);
    return 0;
}
