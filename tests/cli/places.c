/* Appends to the file `places` where its memory is: what it maps before it has a second thread, what it maps behind
 * that, a thread's stack. Its threads count in plain memory. */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

static volatile int counter;
static void *stack;

static void *count(void *unused)
{
    int own = 0;
    stack = &own;
    for (own = 0; own < 3; own++)
        counter++;
    return unused;
}

static void *some(void)
{
    return mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    void *before = some();
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    counter++;
    void *after = some();
    pthread_join(thread, NULL);
    FILE *file = fopen("places", "a");
    if (!file)
        return 1;
    fprintf(file, "%p %p %p\n", before, after, stack);
    return fclose(file) != 0;
}
