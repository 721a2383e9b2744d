/* A pair under a sequence lock: n-1 readers, one writer.
 *
 * Source: the sequence locks of the Linux kernel.
 * Bug: the reader looks at the sequence again before it has read the second half.
 * Depth 2: (the reader's second look) before (the writer's first step), and (its store of the second half) before
 *   (the reader's load).
 * Shows as: an assertion: a pair of an old and a new half. Each reader can show it.
 * FIXED: the second look comes behind both halves. */
#include "shared.h"

static _Atomic int sequence, left, right;

static void *read_pair(void *unused)
{
    (void)unused;
    int before = sequence;
    int l = left;
#ifndef FIXED
    int after = sequence; /* culprit */
#endif
    int r = right;
#ifdef FIXED
    int after = sequence;
#endif
    assert(before % 2 || after != before || l == r);
    return NULL;
}

static void *write_pair(void *unused)
{
    (void)unused;
    sequence++;
    left = 1;
    right = 1; /* culprit */
    sequence++;
    return NULL;
}

int main(int argc, char **argv)
{
    run_threads(thread_count(argc, argv), read_pair, write_pair);
    return 0;
}
