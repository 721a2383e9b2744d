/* A log that one thread writes to while another one sweeps it away.
 *
 * Source: the Maple paper, table 2, "LogProcSweep" (a synthetic bug of idiom 1). The paper names the program and the
 *   idiom but does not print the code; this is written after its description in the tool's examples.
 * Bug: the writer tests the pointer to the log, and then loads it again.
 * Idiom 1: (the sweep stores NULL) right before (the writer loads the pointer for the second time).
 * Shows as: an assertion: there is no log to write to.
 * FIXED: the pointer is loaded once, and a log that was swept away stays until the end. */
#include "../bugs-memory/shared.h"

enum { MOST = 4 };

struct log {
    pthread_mutex_t lock;
    const char *entry[MOST];
    int entries; /* under the lock */
};

static struct log first = { .lock = PTHREAD_MUTEX_INITIALIZER }, second = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic(struct log *) current = &first;

static void add(struct log *log, const char *entry)
{
    assert(log);
    pthread_mutex_lock(&log->lock);
    log->entry[log->entries++] = entry;
    pthread_mutex_unlock(&log->lock);
}

static void *process(void *unused)
{
    (void)unused;
    struct log *log = current;
    if (!log)
        return NULL;
#ifndef FIXED
    log = current; /* culprit */
#endif
    add(log, "processed");
    return NULL;
}

static void *sweep(void *unused)
{
    (void)unused;
    current = NULL; /* culprit */
    current = &second;
    return NULL;
}

int main(void)
{
    run_both(process, sweep);
    return 0;
}
