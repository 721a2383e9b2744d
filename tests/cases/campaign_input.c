// A campaign that goes on repeats the run that it began with: where a file, or a library, has changed since, that takes
// other steps, and there is no guarantee for the runs before and after together. Only the program's own file was looked
// at. Likewise merged shards that had different input.
//
// RUN: echo 3 > %t/rounds; for n in 20 30; do pct campaign -q -s 1 -n $n -S pct --db %t/db -- %p %t/rounds; done;
//     pct campaign report %t/db | grep 'missed with probability'
// RUN: echo 3 > %t/rounds; pct campaign -q -s 1 -n 20 -S pct --db %t/db -- %p %t/rounds; echo 2 > %t/rounds;
//     pct campaign -n 30 -S pct --db %t/db -- %p %t/rounds > %t/out 2>&1;
//     grep 'first run, repeated, took other steps than' %t/out &&
//     grep 'no guarantee .* first run, repeated, took other steps: ' %t/out
// RUN: for shard in 2 3; do echo $shard > %t/rounds;
//     pct campaign -q -s 1 -n 40 -S pct --epoch 1000000000 --shard $((shard - 1))/2 --db %t/$shard -- %p %t/rounds;
//     done; pct campaign merge %t/both %t/2 %t/3 && pct campaign report %t/both |
//     grep 'no guarantee .* first run, repeated, took other steps: '
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *work(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!in || fscanf(in, "%d", &rounds) != 1)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
