// A file that a shell has opened for the program to read, not as its standard input: each of several runs reads it from
// where it stood, also those that are made at the same time. The second one read on behind the first, and failed.
//
// RUN: printf skipabcd > %t/file && { head -c 4 <&5 > %t/head; %p; } 5< %t/file
// RUN: printf skipabcd > %t/file; for n in '-n 40' '-n 40 -j 2' '-n 20 --exec'; do
//     { head -c 4 <&5 > %t/head; pct run -q -s 1 $n --state none -- %p; } 5< %t/file || exit 1; done
// RUN: printf skipabcd > %t/file && { head -c 4 <&5 > %t/head; pct explore -q -- %p; } 5< %t/file
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { INHERITED = 5 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *nothing(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char found[4];
    pthread_create(&thread, NULL, nothing, NULL);
    nothing(NULL);
    pthread_join(thread, NULL);
    return read(INHERITED, found, sizeof found) != sizeof found || memcmp(found, "abcd", sizeof found) != 0;
}
