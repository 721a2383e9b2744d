/* liburcu's queues (Debian's liburcu-dev), for `pct explore`: urcu STRUCTURE THREADS. Built by bench/structures/run,
 * with its atomic operations by the compiler in place of inline assembly, which pct-cc does not see into. */
#define _LGPL_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/lfstack.h>
#include <urcu/wfcqueue.h>

enum { MOST = 4 };
static int n, got[MOST];

static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static struct cds_wfcq_node nodes[MOST];
static void wfcqueue(int me)
{
    if (me) {
        _cds_wfcq_enqueue(cds_wfcq_head_cast(&head), &tail, &nodes[me]);
        return;
    }
    for (int i = 1; i < n; i++) {
        const struct cds_wfcq_node *node = ___cds_wfcq_dequeue_blocking(cds_wfcq_head_cast(&head), &tail);
        if (node)
            got[node - nodes]++;
    }
}

static struct cds_lfs_stack stack;
static struct cds_lfs_node pushed[MOST];
static void lfstack(int me)
{
    if (me) {
        _cds_lfs_push((cds_lfs_stack_ptr_t){ .s = &stack }, &pushed[me]);
        return;
    }
    for (int i = 1; i < n; i++) {
        const struct cds_lfs_node *node = ___cds_lfs_pop((cds_lfs_stack_ptr_t){ .s = &stack });
        if (node)
            got[node - pushed]++;
    }
}

static const char *what;
static void *run(void *me)
{
    (!strcmp(what, "wfcqueue") ? wfcqueue : lfstack)((int)(long)me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    what = argc > 1 ? argv[1] : "wfcqueue";
    n = argc > 2 ? atoi(argv[2]) : 2;
    if (n < 2 || n > MOST)
        return 2;
    _cds_wfcq_init(&head, &tail);
    _cds_lfs_init(&stack);
    for (int i = 0; i < MOST; i++)
        _cds_wfcq_node_init(&nodes[i]);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++)
        assert(got[i] <= 1);
    return 0;
}
