/* A message whose flag is set before it is there.
 *
 * Source: classic (message passing).
 * Bug: the sender stores the flag and then the message; a receiver that comes in between sees the flag and no message.
 * Depth 2: (the flag's store) before (its load), and (the message's load) before (its store).
 * Shows as: an assertion: the message is not the one that was sent.
 * Race: on the message.
 * FIXED: the message first, the flag with release, read with acquire. */
#include "shared.h"

static int message;
static _Atomic int flag;

static void *send(void *unused)
{
    (void)unused;
#ifdef FIXED
    message = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
#else
    atomic_store_explicit(&flag, 1, memory_order_release); /* culprit */
    message = 42;                                          /* culprit */
#endif
    return NULL;
}

static void *receive(void *unused)
{
    (void)unused;
    if (atomic_load_explicit(&flag, memory_order_acquire)) {
        int received = message;
        assert(received == 42);
    }
    return NULL;
}

int main(void)
{
    run_both(send, receive);
    return 0;
}
