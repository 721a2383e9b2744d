// Code that is unloaded before the end has no place that could be waited for. What it did was left out, so that what it
// had come in between was said to have been exposed, though no schedule could: the reader never sees 1.
//
// BUILD: pct-cc -DPLUGIN -g -shared -fPIC -o %p.so %s && pct-cc -g -pthread -o %p %s
// RUN: pct campaign -S maple --seed 1 -n 30 --db %t/it.db -- %p %p.so && pct coverage report %t/it.db > %t/list &&
//     grep -q 'load in look.* => store in write_both' %t/list &&
//     ! grep 'store in write_both.* => load in look.*first in run' %t/list
#ifdef PLUGIN

void set(int *at);
void set(int *at)
{
    *at = 2;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int value;
static void (*set)(int *at);

static void *write_both(void *unused)
{
    pthread_mutex_lock(&mutex);
    value = 1;
    set(&value);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *look(void *unused)
{
    pthread_mutex_lock(&mutex);
    if (value == 1)
        abort();
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t writer, reader;
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!plugin)
        return 2;
    *(void **)&set = dlsym(plugin, "set");
    pthread_create(&writer, NULL, write_both, NULL);
    pthread_create(&reader, NULL, look, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return dlclose(plugin);
}

#endif
