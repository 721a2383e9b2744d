// Which guessed patterns a campaign of maple tries is drawn by its seed. The report of its file drew them anew, by the
// seed 0, and so listed some that no run had tried; likewise --memo knew iRoots that had hardly been tried.
//
// NEED: command -v jq
// RUN: for n in 30 45 60 75 90; do pct coverage -S maple --seed 1 -n $n --json -- %p > %t/seen.json || exit;
//     pct campaign -S maple --seed 1 -n $n --db %t/$n.db -- %p > %t/out 2>&1 || exit;
//     pct coverage report --json %t/$n.db > %t/kept.json || exit;
//     for i in seen kept; do jq '[.guessed[] | [.idiom, .exposed, .places]] | sort' %t/$i.json > %t/$i; done;
//     diff %t/seen %t/kept || exit; done; test "$(jq length %t/seen)" -gt 0
//
// And where the user has named the one iRoot that each run is to force, it told which others had been tried in vain.
//
// RUN: pct campaign -S maple,iroot=1-1.00000001-2.00000002 --sites --seed 1 -n 100 --db %t/one.db -- %p &&
//     pct coverage report --json %t/one.db | jq -e '.missed == [] and .guessed == []'
//
// And what is idiom 5 was predicted twice, with either dependency as the first: that was the one on the object of the
// lower number, and who comes first to a mutex decides its number. Both counted, and each was tried.
//
// RUN: pct campaign -S maple --seed 1 -n 60 --db %t/across.db -- %p > %t/out 2>&1 &&
//     pct campaign report --format json %t/across.db |
//         jq -e '.iroots | .predicted > 9 and .predicted - .predicted_not_exposed <= .exposed'
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *take_one(void *unused)
{
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    return unused;
}

static void *take_other(void *unused)
{
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    return unused;
}

static void *take_both(void *unused)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return unused;
}

int main(void)
{
    void *(*const does[])(void *) = { take_one, take_other, take_both };
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, does[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
