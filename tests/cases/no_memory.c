// libpct.so finds no memory for itself, or leaves the program none for a thread that it would have natively: that is
// its own failure, 125, and not one of the program. Where address space is limited it takes less: at 60,000 KB there
// was no room for the thread.
//
// RUN: ulimit -v 60000; %p && pct run -q -n 20 -s 1 --state none -- %p && LD_PRELOAD=$LIBPCT %p
// RUN: ulimit -v 2000000; pct run -q -s 1 --state none -- %p 3000
//
// From where the command itself starts and reads its options: that takes more or less, by the system's libraries.
// RUN: v=10000; until (ulimit -v $v; pct --version) > /dev/null 2>&1; do v=$((v + 1000)); done; v=$((v + 2000));
//     for v in $(seq $v 2000 $((v + 20000))); do (ulimit -v $v; pct run -q -s 1 --state none -- %p); s=$?;
//     [ $s = 125 ] || [ $s = 0 ] || exit 1; done
// RUN 125: v=10000; until (ulimit -v $v; pct --version) > /dev/null 2>&1; do v=$((v + 1000)); done;
//     ulimit -v $((v + 2000)); pct run -q -s 1 --state none -- %p
// RUN 125: ulimit -v 20000; LD_PRELOAD=$LIBPCT PCT_STRATEGY=pct %p
#include <pthread.h>
#include <stdlib.h>

static void *nothing(void *unused)
{
    return unused;
}

/* This many threads, one after the other. */
int main(int argc, char **argv)
{
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL))
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
