/* Hooks in a linked list: run_hooks() goes through them without the lock held while a hook runs.
 *
 * Bug: the next hook is kept while the lock is given up, and is removed meanwhile. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LIVE 0x11fe
#define GONE 0xdead

struct hook {
    int magic;
    int runs;
    void (*call)(struct hook *);
    struct hook *next;
};

static struct hook *hooks;
static struct hook *graveyard; /* freed hooks, so that reads of them can be seen */
static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static int output;

static void count(struct hook *h)
{
    pthread_mutex_lock(&output_lock);
    h->runs++;
    output++;
    pthread_mutex_unlock(&output_lock);
}

static struct hook *hook_add(void (*call)(struct hook *))
{
    struct hook *h = calloc(1, sizeof *h);
    if (h == NULL)
        abort();
    h->magic = LIVE;
    h->call = call;
    pthread_mutex_lock(&hooks_lock);
    h->next = hooks;
    hooks = h;
    pthread_mutex_unlock(&hooks_lock);
    return h;
}

static void hook_remove(struct hook *h)
{
    pthread_mutex_lock(&hooks_lock); /* culprit */
    for (struct hook **p = &hooks; *p != NULL; p = &(*p)->next)
        if (*p == h) {
            *p = h->next;
            break;
        }
    h->magic = GONE;
    h->next = graveyard;
    graveyard = h;
    pthread_mutex_unlock(&hooks_lock);
}

static void run_hooks(void)
{
    pthread_mutex_lock(&hooks_lock); /* culprit */
    struct hook *h = hooks;
    while (h != NULL) {
        struct hook *next = h->next;
        assert(h->magic == LIVE);
#ifdef FIXED
        h->call(h);
#else
        pthread_mutex_unlock(&hooks_lock);
        h->call(h);
        pthread_mutex_lock(&hooks_lock); /* culprit */
#endif
        h = next;
    }
    pthread_mutex_unlock(&hooks_lock);
}

static void *events(void *arg)
{
    (void)arg;
    run_hooks();
    run_hooks();
    return NULL;
}

static void *module(void *arg)
{
    hook_remove(arg);
    return NULL;
}

int main(void)
{
    pthread_t e, m;
    struct hook *first = hook_add(count);
    hook_add(count);
    pthread_create(&e, NULL, events, NULL);
    pthread_create(&m, NULL, module, first);
    pthread_join(e, NULL);
    pthread_join(m, NULL);
    printf("%d\n", output);
    return 0;
}
