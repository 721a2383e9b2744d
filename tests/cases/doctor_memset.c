/* Threads that share memory by memset() alone, of which gcc makes a string instruction (`rep stos`) or a call: of such
 * a program `pct doctor` said that "it needs points at calls only: its own code accesses no memory that threads share".
 *
 *     BUILD: gcc -O2 -g -pthread -o %p %s
 *     RUN: pct doctor %p > %t/out && grep -q controllable %t/out && ! grep 'points at calls only' %t/out &&
 *         grep -q -e 'may need --memory=globals' -e 'may need to be built with pct-cc' %t/out
 *     RUN: gcc -O2 -g -pthread -fno-builtin -o %t/calls %s && pct doctor %t/calls > %t/out &&
 *         grep -q 'may need --memory=globals: it calls functions such as memcpy' %t/out
 */
#include <pthread.h>
#include <string.h>

enum { SIZE = 4096 };

char shared[SIZE];

static void *fill(void *unused)
{
    memset(shared, 'a', SIZE);
    return unused;
}

int main(void)
{
    pthread_t thread = 0;
    pthread_create(&thread, 0, fill, 0);
    memset(shared, 'b', SIZE);
    return pthread_join(thread, 0);
}
