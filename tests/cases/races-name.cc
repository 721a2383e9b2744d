/* A report of a race names the variable, as libtsan's do: by its symbol, its size, where it is declared, and which part
 * of it.
 *
 * BUILD: pct-c++ -O1 -g -pthread -o %p %s
 * RUN: pct run -s 1 --races=report -- %p > %t/out 2>&1;
 *     grep -q 'is `shop::stock.2..at.1..y` in the global `shop::stock` of 160 bytes at .*races-name.cc:[0-9]*
 *     (races-name+0x' %t/out
 * RUN: pct run -s 1 --races=report -- %p 2>&1 |
 *     grep -c 'is the global `shop::till::sum` of 8 bytes at .*races-name.cc:[0-9]* (races-name+0x' > %t/n;
 *     [ $(cat %t/n) -ge 1 ]
 * RUN: pct run -s 1 --races=report -- %p > %t/out 2>&1;
 *     grep -q 'is the global `work(void\*)::calls` of 2 bytes' %t/out && grep -q 'memory is on the heap' %t/out
 * RUN: pct run -s 1 --races=report -- %p > %t/out 2>&1; grep -q 'memory is on the stack of thread 0' %t/out
 */
#include <cstdlib>
#include <pthread.h>

namespace shop
{
struct point {
    int x, y;
};
struct item {
    long id;
    point at[3];
    const char *name;
};
item stock[4];
struct till {
    static long sum;
};
long till::sum;
} // namespace shop

static int *heap;

static void *work(void *local)
{
    static short calls;
    shop::stock[2].at[1].y++;
    shop::till::sum++;
    calls++;
    heap[3]++;
    ++*static_cast<int *>(local);
    return nullptr;
}

int main()
{
    pthread_t threads[2];
    int local = 0;
    heap = static_cast<int *>(calloc(4, sizeof *heap));
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, work, &local);
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    free(heap);
    return 0;
}
