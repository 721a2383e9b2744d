/* A channel between threads that is deleted while a thread still uses it. For bench/experiments. Argument: items (24).
 *
 * Source: the PCT paper, tables 1 to 3: "Dryad: use after free failing an internal assertion"; the bug as Musuvathi,
 *   Qadeer, Ball, Basler, Nainar and Neamtiu describe it ("Finding and reproducing heisenbugs in concurrent programs",
 *   OSDI 2008): a channel reader hands its items to the threads of a work queue, each of which tells the application,
 *   and then enters the reader's critical section to count the item as done.
 * It computes: each item is a block of numbers whose sum is checked at the end.
 * Bug: main takes it that close() waits until the work queue has let go of the channel. It waits only until the
 *   application has seen all items; a thread that told it of one may not have come to the critical section.
 * Depth 2: (main deletes the channel) before (the thread enters its critical section), and that before (main exits).
 *   Under pct one is enough: main drops to the lowest priority when it exits ("final wait", section 4.2).
 * Shows as: a failed assertion: the channel's own, which looks for its mark whenever it is entered. A deleted channel
 *   has none; its memory is not given to anybody else.
 * FIXED: close() waits until the critical section has been left for each item. */
#include "point.h"

enum { WORKERS = 4, NUMBERS = 64, MAX_ITEMS = 1024, QUEUE = 4, ALIVE = 0x43484e4c, DELETED = 0x46524545 };

struct channel {
    sem_t point;     /* of mark */
    atomic_int mark; /* ALIVE or DELETED */
    pthread_mutex_t section;
    pthread_cond_t all_done;
    int done, items;
};

static struct channel reader;

/* What the work queue has for each of its threads: item numbers. The threads outlive the channel, and are never
 * joined. */
static struct inbox {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    int item[QUEUE], head, tail;
} inbox[WORKERS];

/* The application. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t all_seen;
    int seen;
    long sum;
} application = { .mutex = PTHREAD_MUTEX_INITIALIZER, .all_seen = PTHREAD_COND_INITIALIZER };

static int number_of(int item, int i)
{
    return item * 31 + i * i % 17;
}

static void enter_channel(struct channel *channel)
{
    memory_point(&channel->point);
    int mark = channel->mark;
    assert(mark == ALIVE);
    pthread_mutex_lock(&channel->section);
}

static void leave_channel(struct channel *channel)
{
    pthread_mutex_unlock(&channel->section);
}

static void open_channel(struct channel *channel, int items)
{
    setup_check(pthread_mutex_init(&channel->section, NULL), "cannot make a lock");
    setup_check(pthread_cond_init(&channel->all_done, NULL), "cannot make a condition");
    channel->items = items;
    channel->mark = ALIVE;
}

static void close_channel(struct channel *channel)
{
    pthread_mutex_lock(&application.mutex);
    while (application.seen < channel->items)
        pthread_cond_wait(&application.all_seen, &application.mutex);
    pthread_mutex_unlock(&application.mutex);
#ifdef FIXED
    enter_channel(channel);
    while (channel->done < channel->items)
        pthread_cond_wait(&channel->all_done, &channel->section);
    leave_channel(channel);
#endif
}

static void delete_channel(struct channel *channel)
{
    memory_point(&channel->point);
    channel->mark = DELETED;
}

/* A worker's: what the item adds up to. */
static void tell_application(int item)
{
    long sum = 0;
    for (int i = 0; i < NUMBERS; i++)
        sum += number_of(item, i);
    pthread_mutex_lock(&application.mutex);
    application.sum += sum;
    application.seen++;
    pthread_cond_signal(&application.all_seen);
    pthread_mutex_unlock(&application.mutex);
}

static void handle(struct channel *channel, int item)
{
    tell_application(item);
    enter_channel(channel);
    if (++channel->done == channel->items)
        pthread_cond_signal(&channel->all_done);
    leave_channel(channel);
}

static int get(struct inbox *from)
{
    pthread_mutex_lock(&from->mutex);
    while (from->tail == from->head)
        pthread_cond_wait(&from->not_empty, &from->mutex);
    int item = from->item[from->head++ % QUEUE];
    pthread_cond_signal(&from->not_full);
    pthread_mutex_unlock(&from->mutex);
    return item;
}

static void put(struct inbox *to, int item)
{
    pthread_mutex_lock(&to->mutex);
    while (to->tail - to->head == QUEUE)
        pthread_cond_wait(&to->not_full, &to->mutex);
    to->item[to->tail++ % QUEUE] = item;
    pthread_cond_signal(&to->not_empty);
    pthread_mutex_unlock(&to->mutex);
}

static void *worker(void *from)
{
    for (;;)
        handle(&reader, get(from));
    return NULL;
}

static void start_work_queue(void)
{
    for (int i = 0; i < WORKERS; i++) {
        setup_check(pthread_mutex_init(&inbox[i].mutex, NULL), "cannot make a lock");
        setup_check(pthread_cond_init(&inbox[i].not_full, NULL), "cannot make a condition");
        setup_check(pthread_cond_init(&inbox[i].not_empty, NULL), "cannot make a condition");
        thread_start(worker, &inbox[i]);
    }
}

int main(int argc, char **argv)
{
    int items = argument(argc, argv, 1, 24, 1, MAX_ITEMS);
    open_channel(&reader, items);
    start_work_queue();
    long right = 0;
    for (int item = 0; item < items; item++) {
        put(&inbox[item % WORKERS], item);
        for (int i = 0; i < NUMBERS; i++)
            right += number_of(item, i);
    }
    close_channel(&reader);
    delete_channel(&reader);
    if (application.sum != right) {
        fprintf(stderr, "%s: the sum is %ld, not %ld\n", argv[0], application.sum, right);
        return SETUP_FAILED;
    }
    return 0;
}
