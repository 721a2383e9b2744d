// Two instructions of one line are one place in a report. It said of some interleavings that a later run had been the
// first to expose them: the first run of the instruction for which they had been predicted first.
//
// NEED: command -v jq
// RUN: pct coverage -S maple --seed 1 -n 60 --json -- %p > %t/seen.json &&
//     pct campaign -S maple --seed 1 -n 60 --db %t/it.db -- %p > %t/out 2>&1 &&
//     pct coverage report --json %t/it.db > %t/kept.json &&
//     for i in seen kept; do
//     jq '[.exposed[] | select(.idiom < 5) | [.idiom, .places, (.first_seed // .first_run | tonumber)]] | sort'
//     %t/$i.json > %t/$i; done && test "$(jq length %t/seen)" -gt 0 && diff %t/seen %t/kept
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static inline __attribute__((always_inline)) void pass(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *pass_often(void *unused)
{
    pass();
    pass();
    pass();
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, pass_often, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
