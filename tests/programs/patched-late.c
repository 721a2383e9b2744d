/* A lost update in a library that is loaded when there are threads already (tests/programs/patched): argv[1] is the
 * library. Its status is that of the assertion, or 0. */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    if (pthread_create(&threads[2], NULL, nothing, NULL))
        return 3;
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
    void *(*count)(void *) = library ? (void *(*)(void *))dlsym(library, "count") : NULL;
    int (*counted)(void) = library ? (int (*)(void))dlsym(library, "counted") : NULL;
    if (!count || !counted) {
        puts(dlerror());
        return 2;
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, NULL))
            return 3;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counted() == 2);
    return 0;
}
