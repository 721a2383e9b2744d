// A recorded run that its token alone does not make again, as of a script: `pct explain` crashed where a rule fits it.
// With --json, it would have named the token as what replays it; and where none fits, it wrote text.
//
// RUN: printf 'local a, b = thread "take_one", thread "take_other"\nrun(a, locks "other")\nrun(b, locks "one")\n'
//         > %t/wait.lua; pct script -t %t/trace %t/wait.lua -- %p > %t/out 2>&1; test $? -eq 120 &&
//     pct explain %t/trace -- %p > %t/text && grep -q 'wait cycle' %t/text && grep -q 'replay %t/trace -- ' %t/text &&
//     pct explain --json %t/trace -- %p > %t/json &&
//     jq -e '.diagnoses[0].rule == "wait cycle" and (.token | test("^pct1:")) and
//         (.replay | contains("replay %t/trace -- "))' %t/json &&
//     pct explain --json --seconds 0 %t/trace -- %p | jq -e '.verdict == "deadlock"'
// NEED: command -v jq
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *take_one(void *unused)
{
    take(&one, &other);
    return unused;
}

static void *take_other(void *unused)
{
    take(&other, &one);
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, take_one, NULL);
    pthread_create(&thread[1], NULL, take_other, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return 0;
}
