// A library that was unloaded and loaded again stands where it stood before, and was taken for what was patched there:
// none of its accesses was a scheduling point any more, without a word.
//
// BUILD: gcc -O0 -g -fPIC -shared -DLIBRARY -o %p.so %s && gcc -O1 -g -pthread -o %p %s
// RUN: pct run -q -n 400 -s 1 --state none --memory=globals --memory-modules=reloaded -- %p %p.so; [ $? = 134 ]
// RUN: for i in 1 2 3; do %p %p.so || exit; done
#ifdef LIBRARY
static int count;

int add(void)
{
    count++;
    return count;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static int (*add)(void);

static void *use(void *unused)
{
    add();
    return unused;
}

int main(int argc, char **argv)
{
    for (int round = 0; round < 2; round++) {
        pthread_t threads[2];
        void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
        add = library ? (int (*)(void))dlsym(library, "add") : NULL;
        if (!add)
            return 2;
        for (int i = 0; i <= round; i++) /* the first time one alone */
            pthread_create(&threads[i], NULL, use, NULL);
        for (int i = 0; i <= round; i++)
            pthread_join(threads[i], NULL);
        if (add() != round + 2)
            abort();
        dlclose(library);
    }
    return 0;
}
#endif
