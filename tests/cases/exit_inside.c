/* libc ends the process by itself, with a status of its own (error(), err(), a usage message): the library says that
 * one, not 0.
 *
 * RUN 3: %p
 * RUN: LD_PRELOAD=$LIBPCT %p 2> %t/said; test $? = 3 && grep -q 'exit 3 after' %t/said
 * RUN: LD_PRELOAD=$LIBPCT %p again 2> %t/said; test $? = 4 && grep -q 'exit 4 after' %t/said
 */
#include <error.h>
#include <pthread.h>
#include <stdlib.h>

static void *nothing(void *unused)
{
    return unused;
}

/* exit() within exit(): the later status counts. */
static void end_otherwise(void)
{
    error(4, 0, "ends");
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 1)
        atexit(end_otherwise);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    error(3, 0, "ends");
}
