/* The work-stealing queue of Cilk (the THE protocol), lock-free on the victim's side, with a steal that tests before it
 * claims. For bench/experiments. Arguments: stealers, items, and a file to which to append the order of events (1, 4,
 * none).
 *
 * Source: the PCT paper, tables 1 to 3 and section 5.3; the queue is that of Frigo, Leiserson and Randall, "The
 *   implementation of the Cilk-5 multithreaded language" (1998), and the test program follows the one that the CHESS
 *   tool came with.
 * The queue: one victim (here main) pushes and pops at the tail, with nothing but atomic accesses to head and tail,
 *   unless it meets a stealer; stealers take from the head, under the lock. Each side must first claim an item (the
 *   victim lowers tail, a stealer raises head) and then look whether the other side has claimed the same.
 * Bug: the stealer looks at tail first, and raises head only if there is something to take. If the victim pops the last
 *   item in between, its look at head still sees the old value, and both take the item.
 * Depth 2, with S a stealer that finds an item: (S reads tail) before (the victim lowers tail to that item), and (the
 *   victim reads head) before (S raises head).
 * Shows as: a failed assertion: an item taken twice, or, at the end, not at all.
 * FIXED: the stealer raises head first and takes it back if it finds the queue empty, as published.
 *
 * Events, for the coverage of interleavings (section 5.3.3): the first fourteen accesses of the victim to head and tail
 * once there are stealers ('a' to 'n'), and three for each of the two steals of the first stealer: it has read head,
 * looked at tail, and is done with both ('o' to 't'). A line of letters for each run, in their order. */
#include "point.h"
#include <fcntl.h>

enum { MAX_STEALERS = 64, MAX_ITEMS = 1024, STEALS = 2, VICTIM_EVENTS = 14, EVENTS = VICTIM_EVENTS + 3 * STEALS };

/* Positions only grow by pushes and shrink by pops, and at most MAX_ITEMS are pushed: the queue needs no wrapping. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER; /* among stealers, and for the victim's slow path */
static struct word {
    sem_t point;
    atomic_int value;
} head, tail;                         /* the next positions to steal and to push to */
static atomic_int element[MAX_ITEMS]; /* ordered by tail */
static struct word taken[MAX_ITEMS];  /* by item: how often */

/* --- The order of events ------------------------------------------------------------------------------------------ */
static const char *events_file;
static char order[EVENTS + 1];
static atomic_int events;
static _Thread_local int victim_events = VICTIM_EVENTS; /* that this thread has had; only main begins with 0 */

static void event(int number)
{
    if (events_file)
        order[events++] = (char)('a' + number);
}

/* After an access of the victim. */
static void victim_event(void)
{
    if (victim_events < VICTIM_EVENTS)
        event(victim_events++);
}

static void write_events(void)
{
    if (!events_file)
        return;
    int file = open(events_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    char line[EVENTS + 1];
    int length = events;
    memcpy(line, order, (size_t)length);
    line[length++] = '\n';
    if (file < 0 || write(file, line, (size_t)length) != length) {
        perror(events_file);
        exit(SETUP_FAILED);
    }
    close(file);
}

/* --- The queue ---------------------------------------------------------------------------------------------------- */
static int read_word(struct word *word)
{
    memory_point(&word->point);
    int value = word->value;
    victim_event();
    return value;
}

static void write_word(struct word *word, int value)
{
    memory_point(&word->point);
    word->value = value;
    victim_event();
}

/* Every item is taken once. */
static void check_times(int times)
{
    if (times != 1)
        write_events();
    assert(times == 1);
}

static void take(int item)
{
    memory_point(&taken[item].point);
    check_times(++taken[item].value);
}

static void push(int item)
{
    int position = read_word(&tail);
    element[position] = item;
    write_word(&tail, position + 1);
}

/* Claims the last position and looks whether a stealer is there too. Returns its position, or -1. */
static int claim_last(void)
{
    int last = read_word(&tail) - 1;
    write_word(&tail, last);
    if (read_word(&head) <= last)
        return last;
    write_word(&tail, last + 1);
    return -1;
}

/* The victim takes the last item. Returns false if there is none. */
static bool pop(void)
{
    int last = claim_last();
    if (last < 0) {
        /* Empty, or a stealer claims the same item: it either gives it back or has it by the time that it unlocks. */
        pthread_mutex_lock(&queue_lock);
        last = claim_last();
        pthread_mutex_unlock(&queue_lock);
        if (last < 0)
            return false;
    }
    take(element[last]);
    return true;
}

/* A stealer takes the first item, if there is one. `number` is that of its first event, or -1. */
static void steal(int number)
{
    pthread_mutex_lock(&queue_lock);
    int first = read_word(&head);
    if (number >= 0)
        event(number);
#ifdef FIXED
    write_word(&head, first + 1);
    bool found = first < read_word(&tail);
    if (number >= 0)
        event(number + 1);
    if (!found)
        write_word(&head, first);
#else
    bool found = first < read_word(&tail);
    if (number >= 0)
        event(number + 1);
    if (found)
        write_word(&head, first + 1);
#endif
    if (number >= 0)
        event(number + 2);
    int item = found ? element[first] : 0;
    pthread_mutex_unlock(&queue_lock);
    if (found)
        take(item);
}

static void *stealer(void *first)
{
    for (int i = 0; i < STEALS; i++)
        steal(first ? VICTIM_EVENTS + 3 * i : -1);
    return NULL;
}

int main(int argc, char **argv)
{
    int stealers = argument(argc, argv, 1, 1, 1, MAX_STEALERS);
    int items = argument(argc, argv, 2, 4, 1, MAX_ITEMS);
    pthread_t thread[MAX_STEALERS];
    events_file = argc > 3 ? argv[3] : NULL;
    int first = (items + 1) / 2; /* this many are there when the stealers come */
    for (int item = 0; item < first; item++)
        push(item);
    for (int i = 0; i < stealers; i++)
        thread[i] = thread_start(stealer, i == 0 ? argv : NULL);
    victim_events = 0;
    /* Two pushes, one pop, as in the test program of CHESS; then pops to the end. */
    for (int item = first; item < items; item++) {
        push(item);
        if ((item - first) % 2 == 1)
            pop();
    }
    while (pop()) {
    }
    for (int i = 0; i < stealers; i++)
        thread_join(thread[i]);
    for (int item = 0; item < items; item++)
        check_times(taken[item].value);
    write_events();
    return 0;
}
