// A thread that has computed for a while, beside one that can go on, becomes another program. The watchdog asked what
// it does while it was on its way there: the signal was pending behind the exec, its handler gone, and the new program
// was ended by signal 33. (Seen in rustc, which rustup starts; of 8 runs of 40 such execs none came to the end.)
//
// RUN: pct run -g -s 1 -n 3 -S pct --timeout 60 -- %p 30
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[100000]; // so that an exec takes some time

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int count, char **arguments)
{
    char left[16], *next[19] = { arguments[0], left };
    pthread_t worker;
    const int execs = count > 1 ? atoi(arguments[1]) : 0;
    if (!execs)
        return 0;
    memset(text, 'x', sizeof text - 1);
    for (int i = 2; i < 18; i++)
        next[i] = text;
    pthread_create(&worker, NULL, work, NULL);
    usleep(1000);
    snprintf(left, sizeof left, "%d", execs - 1);
    for (volatile int i = 0; i < 6000000; i++)
        continue;
    execv("/proc/self/exe", next);
    return 1;
}
