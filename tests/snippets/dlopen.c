/* The functions that take the loader's lock: they do what they do, and threads take turns. */
/* tests: dlmopen dlclose dlsym dlvsym dladdr __cxa_thread_atexit_impl */
/* ops: LOADER */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <stdlib.h>

int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
extern char __dso_handle[] __attribute__((visibility("hidden")));

static _Atomic int destroyed;

static void destroy(void *unused)
{
    (void)unused;
    destroyed++;
}

static void *load(void *unused)
{
    for (int i = 0; i < 3; i++) {
        void *library = i == 1 ? dlmopen(LM_ID_BASE, "libm.so.6", RTLD_NOW) : dlopen("libm.so.6", RTLD_NOW);
        CHECK(library);
        double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
        CHECK(root && root(9) == 3);
        CHECK(!dlsym(library, "no such function"));
        CHECK(dlerror());
        CHECK(dlvsym(library, "sqrt", "GLIBC_2.2.5") == (void *)root);
        Dl_info info;
        CHECK(dladdr((void *)root, &info));
        CHECK(strstr(info.dli_fname, "libm.so"));
        CHECK_EQ(dlclose(library), 0);
    }
    CHECK(dlsym(RTLD_DEFAULT, "abort") && dlsym(RTLD_NEXT, "abort"));
    CHECK(!dlopen("libm.so.no", RTLD_NOW));
    CHECK_EQ(__cxa_thread_atexit_impl(destroy, NULL, __dso_handle), 0);
    return unused;
}

int main(void)
{
    load(NULL); /* with one thread */
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(load, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    CHECK_EQ(destroyed, 3);
    return 0;
}
