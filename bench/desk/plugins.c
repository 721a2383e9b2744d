/* Plugins that are loaded while requests are handled.
 *
 * Bug: a plugin is entered into the list of all before it is set up.
 * Shows as: a call through a null pointer.
 * FIXED: it is set up first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct plugin {
    const char *name;
    int (*handle)(int);
    struct plugin *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct plugin *list;
static pthread_mutex_t symbols_lock = PTHREAD_MUTEX_INITIALIZER;

static int twice(int value)
{
    return value * 2;
}

static int next(int value)
{
    return value + 1;
}

static void resolve(struct plugin *plugin, int (*handle)(int))
{
    pthread_mutex_lock(&symbols_lock); /* culprit */
    plugin->handle = handle;
    pthread_mutex_unlock(&symbols_lock);
}

static void enter(struct plugin *plugin)
{
    pthread_mutex_lock(&list_lock); /* culprit */
    plugin->next = list;
    list = plugin;
    pthread_mutex_unlock(&list_lock);
}

static void load(const char *name, int (*handle)(int))
{
    struct plugin *plugin = calloc(1, sizeof(*plugin));
    plugin->name = name;
#ifdef FIXED
    resolve(plugin, handle);
    enter(plugin);
#else
    enter(plugin);
    resolve(plugin, handle);
#endif
}

static int handle(int value)
{
    pthread_mutex_lock(&list_lock); /* culprit */
    for (struct plugin *plugin = list; plugin; plugin = plugin->next)
        value = plugin->handle(value);
    pthread_mutex_unlock(&list_lock);
    return value;
}

static void *loader(void *unused)
{
    (void)unused;
    load("next", next);
    return NULL;
}

static void *server(void *argument)
{
    int *count = argument;
    for (int i = 0; i < 2; i++)
        *count += handle(i);
    return NULL;
}

int main(void)
{
    load("twice", twice);
    pthread_t threads[3];
    int sums[2] = { 0 };
    pthread_create(&threads[0], NULL, server, &sums[0]);
    pthread_create(&threads[1], NULL, server, &sums[1]);
    pthread_create(&threads[2], NULL, loader, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sums[0] + sums[1]);
    return 0;
}
