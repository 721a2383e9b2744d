/* A collector that looks at the threads of contexts while one gives its own up.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "spidermonkey1": RADBench's bug 2, js_GC() and
 *   JS_ClearContextThread() of SpiderMonkey 1.8.
 * Bug: the collector tests that a context has a thread, and uses it then; JS_ClearContextThread() takes it away without
 *   the collector's lock.
 * Shows as: a null pointer (SIGSEGV).
 * FIXED: it takes the lock. */
#include "../bugs/shared.h"

enum { CONTEXTS = 2 };

struct context {
    struct js_thread {
        int allocated;
    } *volatile thread;
};

static pthread_mutex_t gc_lock = PTHREAD_MUTEX_INITIALIZER;
static struct js_thread js_threads[CONTEXTS];
static struct context contexts[CONTEXTS] = { { &js_threads[0] }, { &js_threads[1] } };
static volatile int collections;

static void js_gc(void)
{
    pthread_mutex_lock(&gc_lock);
    collections++;
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].thread)
            contexts[i].thread->allocated = 0;
    pthread_mutex_unlock(&gc_lock);
}

static void clear_context_thread(struct context *context)
{
#ifdef FIXED
    pthread_mutex_lock(&gc_lock);
#endif
    context->thread = NULL;
#ifdef FIXED
    pthread_mutex_unlock(&gc_lock);
#endif
}

static void *collector(void *unused)
{
    js_gc();
    return unused;
}

static void *owner(void *unused)
{
    clear_context_thread(&contexts[1]);
    return unused;
}

int main(void)
{
    pthread_t a = thread_start(collector, NULL), b = thread_start(owner, NULL);
    thread_join(a);
    thread_join(b);
    return 0;
}
