/* A runtime that is set up by one thread while another, which has come too late, collects its garbage.
 *
 * Source: the Concurrit paper, section 2, figures 1 and 2, and table 1, "spidermonkey2": Mozilla's bug 478336, in
 *   SpiderMonkey 1.8RC1. The five functions of the report, with what they do to the runtime.
 * Bug: JS_DestroyContext() of a context that is not the last takes itself out of the list and asks then for a
 *   collection. Before that has its lock, another thread may have taken down the last context; a third makes the
 *   first one anew, and sets up atoms, for which it takes no lock, since nobody else can be there.
 * Shows as: a failed assertion: the collection meets atoms that are being made.
 * FIXED: the collection looks at the state under its lock. */
#include "../bugs/shared.h"

enum { DOWN, LAUNCHING, UP, LANDING };

static pthread_mutex_t gc_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gc_done = PTHREAD_COND_INITIALIZER, state_changed = PTHREAD_COND_INITIALIZER;
static volatile int state, contexts, atoms, collecting;

static void init_atoms(void)
{
    atoms = 1; /* under way */
    atoms = 2;
}

static void js_gc(int last)
{
#ifndef FIXED
    if (state != UP && !last) /* without the lock */
        return;
#endif
    pthread_mutex_lock(&gc_lock);
#ifdef FIXED
    if (state != UP && !last) {
        pthread_mutex_unlock(&gc_lock);
        return;
    }
#endif
    while (collecting)
        pthread_cond_wait(&gc_done, &gc_lock);
    collecting = 1;
    pthread_mutex_unlock(&gc_lock);
    assert(atoms != 1);
    pthread_mutex_lock(&gc_lock);
    collecting = 0;
    pthread_cond_broadcast(&gc_done);
    pthread_mutex_unlock(&gc_lock);
}

static void new_context(void)
{
    pthread_mutex_lock(&gc_lock);
    while (state == LAUNCHING || state == LANDING)
        pthread_cond_wait(&state_changed, &gc_lock);
    contexts++;
    int first = state == DOWN;
    if (first)
        state = LAUNCHING;
    pthread_mutex_unlock(&gc_lock);
    if (!first)
        return;
    init_atoms();
    pthread_mutex_lock(&gc_lock);
    state = UP;
    pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&gc_lock);
}

static void destroy_context(void)
{
    pthread_mutex_lock(&gc_lock);
    int last = !--contexts;
    if (last)
        state = LANDING;
    pthread_mutex_unlock(&gc_lock);
    js_gc(last);
    if (!last)
        return;
    pthread_mutex_lock(&gc_lock);
    atoms = 0;
    state = DOWN;
    pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&gc_lock);
}

static void *testfunc(void *unused)
{
    new_context();
    destroy_context();
    return unused;
}

int main(void)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        thread[i] = thread_start(testfunc, NULL);
    for (int i = 0; i < 3; i++)
        thread_join(thread[i]);
    return 0;
}
