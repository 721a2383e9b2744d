/* Machine code does not say which loads and stores are atomic: with --memory on a plain program, only a race that
 * cannot be anything else is one. message, spin, lock, lazy: no race; counter: lost updates of a plain counter; single:
 * one thread counts by an atomic load and an atomic store, which clang makes the same instruction of as of counter's.
 * Once all but lock were called races, and failed.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s && { ! command -v clang > /dev/null || clang -O1 -g -pthread -o %p.clang %s; }
 * RUN: for p in message spin lock lazy; do pct run -q -s 1 -n 100 --memory=all --races=fail -- %p $p || exit; done
 * RUN: pct run -s 1 -n 40 -S pos --memory=all --races=report -- %p message 2>&1 | grep '^possible data race 1 of'
 * RUN: pct run -s 1 -n 40 -S pos --memory=all --races=report -- %p message 2>&1 | { ! grep '^data race'; }
 * RUN: pct run -s 1 -n 40 -S pos --memory=all --races=report -- %p lock 2>&1 | { ! grep 'data race'; }
 * RUN 118: pct run -s 1 -n 200 --memory=all --races=fail -- %p counter
 * RUN: [ ! -x %p.clang ] || for p in message spin lock lazy single;
 *     do pct run -q -s 1 -n 100 --memory=all --races=fail -- %p.clang $p || exit; done
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int flag, taken;
static int value, counter;
static _Atomic(int *) instance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *message_send(void *unused)
{
    value = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}

static void *message_receive(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_acquire) && value != 42)
        abort();
    return unused;
}

static void *spin_receive(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        sched_yield();
    if (value != 42)
        abort();
    return unused;
}

static void *lock(void *unused)
{
    for (int i = 0; i < 3; i++) {
        while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
            sched_yield();
        counter++;
        atomic_store_explicit(&taken, 0, memory_order_release);
    }
    return unused;
}

static void *lazy(void *unused)
{
    int *found = atomic_load_explicit(&instance, memory_order_acquire);
    if (!found) {
        pthread_mutex_lock(&mutex);
        found = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!found) {
            value = 42;
            found = &value;
            atomic_store_explicit(&instance, found, memory_order_release);
        }
        pthread_mutex_unlock(&mutex);
    }
    if (*found != 42)
        abort();
    return unused;
}

static void *count(void *unused)
{
    counter++;
    return unused;
}

static void *single_count(void *unused)
{
    for (int i = 0; i < 3; i++)
        atomic_store_explicit(&flag, atomic_load_explicit(&flag, memory_order_relaxed) + 1, memory_order_relaxed);
    return unused;
}

static void *single_look(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_relaxed) > 3)
        abort();
    return unused;
}

static const struct {
    const char *name;
    void *(*first)(void *);
    void *(*second)(void *);
} programs[] = { { "message", message_send, message_receive },
                 { "spin", message_send, spin_receive },
                 { "lock", lock, lock },
                 { "lazy", lazy, lazy },
                 { "counter", count, count },
                 { "single", single_count, single_look } };

int main(int argc, char **argv)
{
    pthread_t first, second;
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, argv[1])) {
            pthread_create(&first, NULL, programs[i].first, NULL);
            pthread_create(&second, NULL, programs[i].second, NULL);
            pthread_join(first, NULL);
            pthread_join(second, NULL);
        }
    return 0;
}
