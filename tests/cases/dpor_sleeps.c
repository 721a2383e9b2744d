// pct script --all=dpor left schedules out that differ in more than what commutes: where a thread that slept, as runs
// before had begun with it, could have come before a turn only behind others, nobody was tried there. With "chain" one
// of eight orders; with "held" one in which a thread waits for a lock, and another changes what it is to read then.
//
// BUILD: pct-cc -g -pthread -o %p %s
// RUN 1: echo 'interleave({ thread "b", thread "p", thread "e", thread "x" }, ends)' > %t/s.lua;
//     pct script -q --all=dpor %t/s.lua -- %p chain
// RUN 1: echo 'local a, b, c = thread "twice", thread "holds", thread "writes" run(a, locks)
//     interleave({ a, b, c }, locks + ends)' > %t/s.lua; pct script -q --all=dpor %t/s.lua -- %p held
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static long u, v, w, b_first, p_first, e_first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static long value, turns, seen, between;

static void *b(void *unused)
{
    u = 2;
    p_first = v == 3;
    v = 2;
    return unused;
}

static void *p(void *unused)
{
    v = 3;
    e_first = w == 4;
    w = 3;
    return unused;
}

static void *e(void *unused)
{
    w = 4;
    return unused;
}

static void *x(void *unused)
{
    b_first = u == 2;
    u = 1;
    return unused;
}

static void *twice(void *unused)
{
    pthread_mutex_lock(&mutex);
    seen = value;
    value = 1;
    turns++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *holds(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&inner);
    between = turns;
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *writes(void *unused)
{
    value = 2;
    return unused;
}

int main(int argc, char **argv)
{
    void *(*const chain[])(void *) = { b, p, e, x }, *(*const held[])(void *) = { twice, holds, writes };
    int count = argv[argc - 1][0] == 'c' ? 4 : 3;
    pthread_t thread[4];
    for (int i = 0; i < count; i++)
        assert(!pthread_create(&thread[i], NULL, count == 4 ? chain[i] : held[i], NULL));
    for (int i = 0; i < count; i++)
        assert(!pthread_join(thread[i], NULL));
    assert(!(b_first && p_first && e_first));
    assert(!(seen == 2 && between == 1));
    return 0;
}
