/* Data races beyond 32,767 threads over a run's life, when ids are used again: threads that are joined one after the
 * other make none; two that live at once, behind all of them, make one; and what the ids hide is said. The clocks of
 * threads that were joined are given up, or these would take gigabytes.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN 118: pct run -q -s 1 --races=fail --state none -- %p 100 race
 * RUN: (ulimit -v 8000000; pct run -s 1 -n 2 --races=fail --state none -- %p 33500) > %t/out 2>&1 &&
 *     grep -q 'no failure' %t/out && grep 'no guarantee .*earlier thread of the same id are missed' %t/out
 * RUN 118: pct run -q -s 1 --races=fail --state none -- %p 33500 race
 */
#include <pthread.h>
#include <stdlib.h>

static int in_turn, at_once;

static void *count_in_turn(void *unused)
{
    in_turn++;
    return unused;
}

static void *count_at_once(void *unused)
{
    at_once++;
    return unused;
}

int main(int count, char **arguments)
{
    int most = count > 1 ? atoi(arguments[1]) : 33500;
    pthread_t first, second;
    for (int i = 0; i < most; i++)
        if (pthread_create(&first, NULL, count_in_turn, NULL) || pthread_join(first, NULL))
            return 1;
    if (count < 3)
        return in_turn != most;
    if (pthread_create(&first, NULL, count_at_once, NULL) || pthread_create(&second, NULL, count_at_once, NULL))
        return 1;
    return pthread_join(first, NULL) || pthread_join(second, NULL);
}
