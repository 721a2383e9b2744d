/* A value of two words under a sequence number.
 *
 * Source: the Linux kernel's seqlock.
 * Bug: the reader looks at the number before it reads, and not again afterwards.
 * Depth 2: (the first word's store) before (its load), and (the second's load) before (its store); or the other way
 *   round, with the reader first.
 * Shows as: an assertion: the words differ.
 * Race: none: all accesses are atomic.
 * FIXED: it looks again, and reads anew if the number has changed. */
#include "shared.h"

static _Atomic unsigned sequence;
static _Atomic int words[2];

static void *change(void *unused)
{
    (void)unused;
    sequence++;
    words[0] = 1;
    words[1] = 1;
    sequence++;
    return NULL;
}

static void *look(void *unused)
{
    (void)unused;
    unsigned before;
    int first, second;
    do {
        while ((before = sequence) & 1)
            ;
        first = words[0];  /* culprit */
        second = words[1]; /* culprit */
#ifdef FIXED
    } while (sequence != before);
#else
    } while (before & 1);
#endif
    assert(first == second);
    return NULL;
}

int main(void)
{
    run_both(change, look);
    return 0;
}
