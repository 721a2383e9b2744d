// Two pairs of accesses to the same two objects, one the other way round: what a lock keeps out from between those of
// the first pair may be made before and behind these. That was not predicted where the first object had the lower
// number, so that nothing tried it. Each iRoot that is exposed here can be predicted.
//
// NEED: command -v jq
// BUILD: pct-cc -O0 -g -pthread -o %p %s
// RUN: pct campaign -S maple --seed 1 -n 60 --db %t/it.db -- %p > %t/out 2>&1 &&
//     pct campaign report --format json %t/it.db |
//         jq -e '.iroots | .exposed > 9 and .predicted - .predicted_not_exposed == .exposed'
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int value[2], seen[2];

static void *make_both(void *unused)
{
    pthread_mutex_lock(&mutex);
    value[0] = 1;
    seen[0] = value[1];
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *make_one_by_one(void *unused)
{
    pthread_mutex_lock(&mutex);
    value[1] = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    seen[1] = value[0];
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, make_both, NULL);
    pthread_create(&thread[1], NULL, make_one_by_one, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return 0;
}
