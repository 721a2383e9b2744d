// What a campaign has verified with a library is not verified once the library was rebuilt: the same command said so,
// without a run.
//
// BUILD: gcc -g -fPIC -shared -pthread -DLIBRARY -DWANTED=2 -o %p.so %s && gcc -g -pthread -o %p %s %p.so
// RUN: cp %p.so %p.kept; pct campaign -n 40 --db %t/db -- %p > %t/out 2>&1;
//     gcc -g -fPIC -shared -pthread -DLIBRARY -DWANTED=3 -o %p.so %s;
//     pct campaign -n 40 --db %t/db -- %p > %t/again 2>&1; status=$?; cp %p.kept %p.so;
//     grep -w verified %t/out && [ $status = 2 ] && grep 'was rebuilt since all schedules were explored' %t/again
#include <pthread.h>
#include <stdlib.h>

void work(void);
void finish(void);

#ifdef LIBRARY
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

void work(void)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
}

void finish(void)
{
    if (count != WANTED)
        abort();
}
#else
static void *run(void *unused)
{
    work();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    work();
    pthread_join(thread, NULL);
    finish();
    return 0;
}
#endif
