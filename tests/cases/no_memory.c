// libpct.so finds no memory for itself: that is its own failure, 125, and not one of the program.
//
// RUN 125: ulimit -v 25000; pct run -q -s 1 --state none -- %p
// RUN 125: ulimit -v 20000; LD_PRELOAD=$LIBPCT %p
#include <pthread.h>

static void *nothing(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    return 0;
}
