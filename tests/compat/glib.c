/* A GLib program: a pool of threads, an asynchronous queue, a main loop in a thread of its own with timeouts and idle
 * sources, GTask's threads, conditions. What it prints does not depend on the order in which its threads run. */
#include <gio/gio.h>

static GMutex mutex;
static GCond cond;
static gint finished;

static void square(gpointer data, gpointer queue)
{
    g_async_queue_push(queue, GINT_TO_POINTER(GPOINTER_TO_INT(data) * GPOINTER_TO_INT(data)));
    g_mutex_lock(&mutex);
    finished++;
    g_cond_signal(&cond);
    g_mutex_unlock(&mutex);
}

static void pool(void)
{
    enum { ITEMS = 50 };
    GAsyncQueue *queue = g_async_queue_new();
    GThreadPool *threads = g_thread_pool_new(square, queue, 4, FALSE, NULL);
    gint64 sum = 0;
    for (int i = 1; i <= ITEMS; i++)
        g_thread_pool_push(threads, GINT_TO_POINTER(i), NULL);
    g_mutex_lock(&mutex);
    while (finished < ITEMS)
        g_cond_wait(&cond, &mutex);
    g_mutex_unlock(&mutex);
    for (int i = 1; i <= ITEMS; i++)
        sum += GPOINTER_TO_INT(g_async_queue_pop(queue));
    g_thread_pool_free(threads, FALSE, TRUE);
    g_print("pool %" G_GINT64_FORMAT ", left %d\n", sum, g_async_queue_length(queue));
    g_async_queue_unref(queue);
}

static int ticks;

static gboolean tick(gpointer loop)
{
    if (++ticks < 5)
        return G_SOURCE_CONTINUE;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static gpointer run_loop(gpointer loop)
{
    g_main_loop_run(loop);
    return NULL;
}

/* A loop in another thread; sources are added from here, which wakes its poll through an eventfd. */
static void main_loop(void)
{
    GMainContext *context = g_main_context_new();
    GMainLoop *loop = g_main_loop_new(context, FALSE);
    GThread *thread = g_thread_new("loop", run_loop, loop);
    GSource *source = g_timeout_source_new(10);
    g_source_set_callback(source, tick, loop, NULL);
    g_source_attach(source, context);
    g_thread_join(thread);
    g_print("loop %d\n", ticks);
    g_source_unref(source);
    g_main_loop_unref(loop);
    g_main_context_unref(context);
}

static void in_thread(GTask *task, gpointer object, gpointer data, GCancellable *cancellable)
{
    (void)object, (void)cancellable;
    g_task_return_int(task, GPOINTER_TO_INT(data) + 1);
}

static void done(GObject *object, GAsyncResult *result, gpointer data)
{
    (void)object;
    *(gssize *)data += g_task_propagate_int(G_TASK(result), NULL);
    if (*(gssize *)data == 1 + 2 + 3 + 4 + 5 + 6)
        g_main_context_wakeup(NULL);
}

static void tasks(void)
{
    gssize sum = 0;
    for (int i = 0; i < 6; i++) {
        GTask *task = g_task_new(NULL, NULL, done, &sum);
        g_task_set_task_data(task, GINT_TO_POINTER(i), NULL);
        g_task_run_in_thread(task, in_thread);
        g_object_unref(task);
    }
    while (sum < 21)
        g_main_context_iteration(NULL, TRUE);
    g_print("tasks %d\n", (int)sum);
}

int main(void)
{
    pool();
    main_loop();
    tasks();
    return 0;
}
