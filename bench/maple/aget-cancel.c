/* A download whose signal thread is cancelled while it prints.
 *
 * Source: the Maple paper, table 2, bug 11 ("Aget #1", not known before), by its section 6.2.1: the thread that handles
 *   signals is cancelled asynchronously when it holds an i/o lock, in printf, and main hangs where it takes that lock.
 *   Written anew after that: a mutex and a place where threads are cancelled stand for printf, so that the schedule
 *   alone decides where that is.
 * Bug: the thread may also be cancelled where it holds the lock.
 * Idiom 1: (main tells that the download is over) right before (the signal thread, under the lock, looks whether it
 *   is): main has cancelled it then, and waits for the lock for ever.
 * Shows as: a deadlock.
 * FIXED: while it holds the lock, it cannot be cancelled. */
#include "../bugs-memory/shared.h"

enum { SIGNALS = 2 };

static pthread_mutex_t io = PTHREAD_MUTEX_INITIALIZER;
static int printed; /* under io */
static _Atomic bool over;

static void print(void)
{
    pthread_mutex_lock(&io); /* culprit */
    printed += !over;
    pthread_testcancel(); /* culprit */
    pthread_mutex_unlock(&io);
}

static void *handle_signals(void *unused)
{
#ifdef FIXED
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
#endif
    for (int i = 0; i < SIGNALS; i++) {
        pthread_testcancel(); /* as where it waits for signals */
        print();
    }
    return unused;
}

int main(void)
{
    pthread_t handler;
    if (pthread_create(&handler, NULL, handle_signals, NULL))
        exit(SETUP_FAILED);
    print();
    pthread_cancel(handler);
    over = true;
    pthread_join(handler, NULL);
    print();
    return 0;
}
