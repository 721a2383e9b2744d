/* free() is a write of all that it gives up: a use in another thread that nothing orders with it is a race, as for
 * libtsan. Memory that changes hands by free() and malloc() is none.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN 118: pct run -n 20 -s 1 --races=fail -- %p free
 * RUN: ! pct run -n 20 -s 1 --races=fail -- %p free > %t/out 2>&1; grep -q 'frees the memory at' %t/out
 * RUN 118: pct run -n 20 -s 1 --races=fail -- %p realloc
 * RUN: ! pct run -n 20 -s 1 -g --races=fail -- %p munmap > %t/out 2>&1; grep -q 'data race' %t/out
 * RUN: pct run -n $((FULL ? 200 : 60)) -s 1 --races=fail -- %p locked
 * RUN: pct run -n $((FULL ? 200 : 60)) -s 1 --races=fail -- %p counted
 * RUN: pct run -n $((FULL ? 100 : 30)) -s 1 --races=fail -- %p handed
 * RUN: pct run -n $((FULL ? 100 : 30)) -s 1 --races=fail -- %p mapped
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAP_SIZE = 8192 };

static struct item {
    atomic_int users;
    int value;
    char rest[100];
} * item;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *how;
static pthread_t first;

static int is(const char *name)
{
    return !strcmp(how, name);
}

/* Of three allocations, one after the other, the second is often where the first was. */
static void hand_on(void)
{
    for (int i = 0; i < 3; i++) {
        struct item *mine = malloc(sizeof *mine);
        mine->value = i;
        mine->rest[sizeof mine->rest - 1] = 1;
        free(mine);
    }
}

static void map_again(void)
{
    for (int i = 0; i < 3; i++) {
        int *mine = mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *mine = i;
        munmap(mine, MAP_SIZE);
    }
}

static void leave(struct item *shared, int who)
{
    shared->rest[who] = 1;
    if (atomic_fetch_sub_explicit(&shared->users, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        free(shared);
    }
}

static void use_locked(void)
{
    pthread_mutex_lock(&mutex);
    if (item)
        item->value++;
    pthread_mutex_unlock(&mutex);
}

static void free_locked(void)
{
    pthread_mutex_lock(&mutex);
    struct item *mine = item;
    item = NULL;
    pthread_mutex_unlock(&mutex);
    free(mine);
}

static void *use(void *shared)
{
    if (is("locked"))
        use_locked();
    else if (is("counted"))
        leave(shared, pthread_equal(pthread_self(), first));
    else if (is("handed"))
        hand_on();
    else if (is("mapped"))
        map_again();
    else
        ((struct item *)shared)->value = 1;
    return NULL;
}

int main(int argc, char **arguments)
{
    pthread_t thread;
    first = pthread_self();
    how = argc > 1 ? arguments[1] : "free";
    item = is("munmap") ? mmap(NULL, MAP_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                        : malloc(sizeof *item);
    item->users = 2;
    item->value = 0;
    pthread_create(&thread, NULL, use, item);
    if (is("free"))
        free(item);
    else if (is("realloc"))
        item = realloc(item, 10000);
    else if (is("munmap"))
        munmap(item, MAP_SIZE);
    else if (is("locked"))
        free_locked();
    else
        use(item);
    pthread_join(thread, NULL);
    return 0;
}
