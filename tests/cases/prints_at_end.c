// A thread that nobody waits for prints, or does not: natively it mostly does not. Explored runs end behind all that
// threads can do, so where output is judged, what is verified is so only if the process does not end before that.
//
// RUN: echo b > %t/expected; pct explore --expect=%t/expected -- %p 2>&1 |
//     grep 'if .*the process does not end while another thread is still about to print'
// RUN: ! pct explore -- %p 2>&1 | grep 'about to print'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *print(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return write(1, "b\n", 2) < 0 ? NULL : unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, print, NULL);
    return 0;
}
