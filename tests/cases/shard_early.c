// Deadlines that may come early make some runs differ from what was planned, so that classes may be missed: shards and
// their merged file say that as the whole exploration does. They forgot it, and the merged file was "verified".
//
// RUN 119: pct explore --seed 1 --epoch 1 -- %p
// RUN: for i in 1 2; do pct explore --seed 1 --epoch 1 --shard $i/2 --db %t/$i -- %p > %t/out 2>&1; done;
//     ! pct campaign merge %t/all %t/1 %t/2 2>&1 | grep -w verified: &&
//     pct campaign report %t/all | grep 'not verified, because of'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int one[2], other[2];

static void await_input(int file, int milliseconds)
{
    struct pollfd wait = { file, POLLIN, 0 };
    poll(&wait, 1, milliseconds);
}

static void *wait_short(void *unused)
{
    await_input(one[0], 1);
    return unused;
}

static void *wait_long(void *unused)
{
    await_input(other[0], 2);
    return unused;
}

static void *give(void *unused)
{
    return write(one[1], "x", 1) < 0 || write(other[1], "y", 1) < 0 ? NULL : unused;
}

int main(void)
{
    void *(*const does[])(void *) = { wait_short, wait_long, give };
    pthread_t thread[3];
    if (pipe(one) || pipe(other))
        return 2;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, does[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
