/* The schedule as people read it: see schedule.h.
 *
 * A trace holds what was done, not why a thread stopped. The reason of a switch is worked out: the thread's next operation
 * could not have completed at that moment (its mutex was held, the thread that it joins had not finished), so it was
 * blocked; or it could, so it was preempted. For that, locks are followed from the first step on. A semaphore's count is not
 * in the trace, so of a thread before `sem wait` only that is said. Where only the last steps were recorded, locks taken
 * before them are not known, and a thread that was blocked on one counts as preempted. */
#include "schedule.h"
#include "cli.h"
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, CELL_MAX = 30, TEXT_MAX = 96, LINE_MAX = 160 };

/* Who holds an object, as far as the trace tells: thread + 1, 0 for nobody. */
struct lock {
    uint16_t writer;
    uint16_t readers;
    uint32_t depth; /* of a recursive mutex */
};

struct follower {
    struct lock *locks; /* by object, NULL if there is no memory: then no reasons are given */
    uint32_t objects;
    struct {
        uint32_t last;  /* the mutex that it locked last: the one that a condition wait gives up */
        uint32_t given; /* the mutex that its condition wait gave up */
        bool finished;
    } threads[PCT_MAX_THREADS + 1];
};

const char *pct_schedule_format(char *buffer, size_t size, unsigned op, unsigned argument, uint32_t object)
{
    static const char *const words[PCT_CLASS_COUNT] = {
        [PCT_CLASS_THREAD] = "thread", [PCT_CLASS_MUTEX] = "mutex",     [PCT_CLASS_COND] = "cond",
        [PCT_CLASS_RWLOCK] = "rwlock", [PCT_CLASS_BARRIER] = "barrier", [PCT_CLASS_SPIN] = "spin",
        [PCT_CLASS_SEM] = "sem",       [PCT_CLASS_ONCE] = "once",       [PCT_CLASS_GUARD] = "guard",
        [PCT_CLASS_FUTEX] = "futex",   [PCT_CLASS_FD] = "fd",           [PCT_CLASS_MEMORY] = "memory",
    };
    _Static_assert(PCT_CLASS_COUNT == PCT_CLASS_MEMORY + 1, "each class has a word");
    const char *name = pct_name_op(op);
    unsigned class_ = pct_name_op_class(op);
    const char *word = class_ && !strstr(name, words[class_]) ? words[class_] : "";
    char number[16] = "", note[32] = "";
    /* A thread's start and end are its own. */
    if (class_ && op != PCT_OP_THREAD_START && op != PCT_OP_THREAD_FINISH && op != PCT_OP_THREAD_EXIT)
        snprintf(number, sizeof number, " %u", object);
    else
        word = "";
    if (op == PCT_OP_OUTSIDE)
        snprintf(note, sizeof note, " (%.3f ms)", (double)((uint64_t)argument << 25 | object) / 1000);
    else if (op == PCT_OP_COND_SIGNAL || op == PCT_OP_FUTEX_WAKE) {
        if (argument == PCT_ARG_NOBODY)
            snprintf(note, sizeof note, " (nobody waits)");
        else if (argument)
            snprintf(note, sizeof note, " (waiter %u)", argument + 1);
    } else if (argument == PCT_ARG_TIMEOUT)
        snprintf(note, sizeof note, " (timed out)");
    else if (argument == PCT_ARG_BUSY)
        snprintf(note, sizeof note, " (busy)");
    else if (argument == PCT_ARG_CANCELLED)
        snprintf(note, sizeof note, " (cancelled)");
    else if (argument == PCT_ARG_RUN)
        snprintf(note, sizeof note, " (runs it)");
    else if (argument == PCT_ARG_ERROR)
        snprintf(note, sizeof note, " (error)");
    snprintf(buffer, size, "%s%s%s%s%s", name, *word ? " " : "", word, number, note);
    return buffer;
}

static struct lock *lock_of(struct follower *f, uint32_t object)
{
    return f->locks && object <= f->objects ? &f->locks[object] : NULL;
}

static void take(struct follower *f, uint32_t thread, uint32_t object)
{
    struct lock *lock = lock_of(f, object);
    if (!lock)
        return;
    lock->depth = lock->writer == thread + 1 ? lock->depth + 1 : 1;
    lock->writer = (uint16_t)(thread + 1);
}

static void give(struct follower *f, uint32_t object)
{
    struct lock *lock = lock_of(f, object);
    if (lock && lock->writer && (!lock->depth || !--lock->depth))
        lock->writer = 0;
    else if (lock && !lock->writer && lock->readers)
        lock->readers--;
}

/* The effect of a step on who holds what. */
static void follow(struct follower *f, uint64_t record)
{
    uint32_t thread = PCT_RECORD_THREAD(record), object = PCT_RECORD_OBJECT(record);
    unsigned argument = PCT_RECORD_ARG(record);
    bool failed = argument == PCT_ARG_BUSY || argument == PCT_ARG_TIMEOUT || argument == PCT_ARG_ERROR ||
                  argument == PCT_ARG_CANCELLED;
    struct lock *lock;
    switch (PCT_RECORD_OP(record)) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
        if (failed)
            break;
        f->threads[thread].last = object;
        take(f, thread, object);
        break;
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        if (!failed)
            take(f, thread, object);
        break;
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        lock = failed ? NULL : lock_of(f, object);
        if (lock)
            lock->readers++;
        break;
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
        if (!failed)
            give(f, object);
        break;
    case PCT_OP_COND_WAIT:
        f->threads[thread].given = f->threads[thread].last;
        give(f, f->threads[thread].last);
        break;
    case PCT_OP_COND_WAKE:
        f->threads[thread].last = f->threads[thread].given;
        take(f, thread, f->threads[thread].given);
        break;
    case PCT_OP_THREAD_FINISH:
        f->threads[thread].finished = true;
        break;
    }
}

/* Why this thread does not run on, given its next operation. */
static const char *reason(struct follower *f, uint32_t thread, unsigned op, uint32_t object)
{
    struct lock *lock = lock_of(f, object);
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_RDLOCK:
        return lock && lock->writer && lock->writer != thread + 1 ? "blocked" : "preempted";
    case PCT_OP_RWLOCK_WRLOCK:
        return lock && ((lock->writer && lock->writer != thread + 1) || lock->readers) ? "blocked" : "preempted";
    case PCT_OP_THREAD_JOIN:
        return object <= PCT_MAX_THREADS && !f->threads[object].finished ? "blocked" : "preempted";
    case PCT_OP_COND_WAKE:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
    case PCT_OP_SIGNAL_WAIT:
        return "waits";
    case PCT_OP_AWAKE:
        return "sleeps";
    case PCT_OP_OUTSIDE:
        return "outside";
    case PCT_OP_EXIT:
        return "waits to exit";
    case PCT_OP_SEM_WAIT:
        return "before sem wait";
    case PCT_OP_READ:
    case PCT_OP_WRITE:
    case PCT_OP_POLL:
    case PCT_OP_ACCEPT:
    case PCT_OP_CONNECT:
    case PCT_OP_FILE_LOCK:
    case PCT_OP_MESSAGE:
    case PCT_OP_CHILD_WAIT:
        return "before I/O";
    }
    return "preempted";
}

struct window {
    const struct pct_trace *trace;
    const struct pct_snapshot *snapshot;
    struct follower *follower;
    uint64_t from, to;
    uint64_t *next; /* by step from `from`: the next record of that step's thread, 0 if there is none; or NULL */
    uint32_t columns[COLUMNS];
    unsigned column_count; /* COLUMNS + 1: too many threads for columns */
    unsigned width;
};

static const char *switch_reason(const struct window *w, uint64_t i)
{
    uint32_t thread = PCT_RECORD_THREAD(w->trace->records[i]);
    switch (PCT_RECORD_OP(w->trace->records[i])) {
    case PCT_OP_THREAD_FINISH:
        return "finished";
    case PCT_OP_COND_WAIT:
    case PCT_OP_FUTEX_WAIT:
        return "waits";
    case PCT_OP_SLEEP:
        return "sleeps";
    case PCT_OP_YIELD:
        return "yields";
    case PCT_OP_STUCK:
        switch (PCT_RECORD_ARG(w->trace->records[i])) {
        case PCT_ARG_SPINS:
            return "spins";
        case PCT_ARG_SLEEPS:
            return "sleeps in a call";
        default:
            return "runs too long";
        }
    }
    if (!w->next || !w->follower->locks)
        return NULL;
    uint64_t next = w->next[i - w->from];
    if (next)
        return reason(w->follower, thread, PCT_RECORD_OP(next), PCT_RECORD_OBJECT(next));
    const struct pct_snap_thread *end = pct_snapshot_thread(w->snapshot, thread);
    if (!end)
        return NULL;
    if (end->state == PCT_SNAP_OUTSIDE)
        return "outside";
    return reason(w->follower, thread, end->op, end->object);
}

static unsigned column_of(const struct window *w, uint32_t thread)
{
    unsigned i = 0;
    while (i < w->column_count && w->columns[i] != thread)
        i++;
    return i;
}

static void choose_columns(struct window *w)
{
    w->width = sizeof "switch (preempted)";
    for (uint64_t i = w->from; i < w->to; i++) {
        uint64_t r = w->trace->records[i];
        uint32_t thread = PCT_RECORD_THREAD(r);
        unsigned at = column_of(w, thread);
        if (at == w->column_count && at == COLUMNS) {
            w->column_count = COLUMNS + 1;
            return;
        }
        if (at == w->column_count) {
            /* In the order of their ids. */
            while (at && w->columns[at - 1] > thread) {
                w->columns[at] = w->columns[at - 1];
                at--;
            }
            w->columns[at] = thread;
            w->column_count++;
        }
        char text[TEXT_MAX];
        size_t length =
            strlen(pct_schedule_format(text, sizeof text, PCT_RECORD_OP(r), PCT_RECORD_ARG(r), PCT_RECORD_OBJECT(r)));
        if (length + 1 > w->width)
            w->width = length < CELL_MAX ? (unsigned)length + 1 : CELL_MAX + 1;
    }
    if (w->column_count * w->width > LINE_MAX)
        w->column_count = COLUMNS + 1;
}

static void find_next(struct window *w)
{
    uint64_t *by_thread = calloc(PCT_MAX_THREADS + 1, sizeof *by_thread);
    w->next = malloc((w->to - w->from + 1) * sizeof *w->next);
    for (uint64_t i = w->to; by_thread && w->next && i-- > w->from;) {
        uint64_t r = w->trace->records[i];
        w->next[i - w->from] = by_thread[PCT_RECORD_THREAD(r)];
        by_thread[PCT_RECORD_THREAD(r)] = r;
    }
    if (!by_thread) {
        free(w->next);
        w->next = NULL;
    }
    free(by_thread);
}

static void print_cell(FILE *out, const struct window *w, unsigned column, const char *text)
{
    fprintf(out, "%*s%.*s\n", (int)(column * w->width), "", CELL_MAX, text);
}

static void print_step(FILE *out, const struct window *w, uint64_t i)
{
    uint64_t r = w->trace->records[i];
    uint32_t thread = PCT_RECORD_THREAD(r);
    bool columns = w->column_count <= COLUMNS;
    char text[TEXT_MAX], mark[64];
    pct_schedule_format(text, sizeof text, PCT_RECORD_OP(r), PCT_RECORD_ARG(r), PCT_RECORD_OBJECT(r));
    fprintf(out, "%10llu  ", (unsigned long long)(w->trace->first + i + 1));
    if (columns)
        print_cell(out, w, column_of(w, thread), text);
    else
        fprintf(out, "thread %-5u  %s\n", thread, text);
    if (i + 1 < w->to && PCT_RECORD_THREAD(w->trace->records[i + 1]) != thread) {
        const char *why = switch_reason(w, i);
        snprintf(mark, sizeof mark, "switch%s%s%s", why ? " (" : "", why ? why : "", why ? ")" : "");
        fprintf(out, "%10s  ", "");
        if (columns)
            print_cell(out, w, column_of(w, thread), mark);
        else
            fprintf(out, "thread %-5u  %s\n", thread, mark);
    }
}

static struct follower *make_follower(const struct pct_trace *trace)
{
    struct follower *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    for (uint64_t i = 0; i < trace->count; i++)
        if (PCT_RECORD_OBJECT(trace->records[i]) > f->objects)
            f->objects = PCT_RECORD_OBJECT(trace->records[i]);
    f->locks = calloc((size_t)f->objects + 1, sizeof *f->locks);
    return f;
}

void pct_schedule_fill_holders(struct pct_snapshot *snapshot, const struct pct_trace *trace)
{
    struct follower *f = trace->first ? NULL : make_follower(trace);
    if (!f)
        return;
    for (uint64_t i = 0; i < trace->count; i++)
        follow(f, trace->records[i]);
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        struct pct_snap_thread *thread = &snapshot->threads[i];
        unsigned class_ = pct_snapshot_wait_class(snapshot, thread);
        const struct lock *lock = class_ == PCT_CLASS_MUTEX || class_ == PCT_CLASS_SPIN || class_ == PCT_CLASS_RWLOCK
                                      ? lock_of(f, thread->object)
                                      : NULL;
        if (thread->holder == PCT_NO_THREAD && lock && lock->writer)
            thread->holder = lock->writer - 1u;
    }
    free(f->locks);
    free(f);
}

void pct_schedule_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot, uint64_t last)
{
    struct window w = { .trace = trace, .snapshot = snapshot, .to = trace->count };
    w.from = last && last < trace->count ? trace->count - last : 0;
    w.follower = make_follower(trace);
    if (!w.follower)
        return;
    choose_columns(&w);
    find_next(&w);
    for (uint64_t i = 0; i < w.from; i++)
        follow(w.follower, trace->records[i]);
    if (w.column_count <= COLUMNS) {
        fprintf(out, "%10s  ", "step");
        for (unsigned i = 0; i + 1 < w.column_count; i++)
            fprintf(out, "thread %-*u", (int)w.width - 7, w.columns[i]);
        if (w.column_count)
            fprintf(out, "thread %u\n", w.columns[w.column_count - 1]);
    }
    for (uint64_t i = w.from; i < w.to; i++) {
        follow(w.follower, trace->records[i]);
        print_step(out, &w, i);
    }
    free(w.next);
    free(w.follower->locks);
    free(w.follower);
}
