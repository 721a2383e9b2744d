/* loads LIBRARY: two threads use a lock in a library that the program loads: this file, built as one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

void count_up(void);
void count_up(void)
{
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *up)
{
    ((void (*)(void))up)();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *up = library ? dlsym(library, "count_up") : NULL;
    if (!up)
        return 3;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, work, up))
            return 3;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
