/* What a campaign has verified of a script is not verified once the program that runs it (#!) was rebuilt: the same
 * command said so, without a run.
 *
 * RUN: cp %p %t/program && echo "#!%t/program" > %t/script && chmod +x %t/script &&
 *     pct campaign -n 40 --db %t/db -- %t/script > %t/out 2>&1;
 *     gcc -g -pthread -DWANTED=3 -o %t/program %s;
 *     pct campaign -n 40 --db %t/db -- %t/script > %t/again 2>&1; status=$?;
 *     grep -w verified %t/out && [ $status = 2 ] && grep 'was rebuilt since all schedules were explored' %t/again
 */
#include <pthread.h>
#include <stdlib.h>

#ifndef WANTED
#define WANTED 2
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    if (count != WANTED)
        abort();
    return 0;
}
