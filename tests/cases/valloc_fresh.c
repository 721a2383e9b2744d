/* What valloc() and pvalloc() gave was no new memory to the race detector: where one thread had freed it and another
 * got it, that was reported as a race. What pvalloc() gives are whole pages.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: for what in malloc valloc pvalloc; do MALLOC_ARENA_MAX=1 pct run -q -s 1 -n 20 --races=fail --state none --
 *     %p $what || exit; done
 */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 8000 /* more than a thread keeps for itself */, PAGES = 8192 };

static const char *what;

static void *use(void *unused)
{
    const int size = *what == 'p' ? PAGES : SIZE;
    char *block = *what == 'v' ? valloc(SIZE) : *what == 'p' ? pvalloc(SIZE) : malloc(SIZE);
    if (!block)
        abort();
    for (int i = 0; i < size; i++)
        block[i] = (char)i;
    free(block);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    what = argc > 1 ? argv[1] : "malloc";
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
