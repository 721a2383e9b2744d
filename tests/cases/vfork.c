// A child of vfork runs in its parent's memory: what it stores, the parent finds. One that waits for another thread of
// its parent must not keep that from running; the signal of its end is handled by the parent.
//
// RUN: for s in 1 2 3 4 5; do pct run -q -s $s -- %p || exit; done
// RUN: for s in 1 2 3; do pct run -q -s $s --timeout 20 -- %p waits || exit; done
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static volatile sig_atomic_t ended;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void note_end(int signal)
{
    ended += signal == SIGCHLD;
}

static void *feed(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (write(ends[1], "x", 1) != 1)
        abort();
    return unused;
}

int main(int count, char **unused)
{
    (void)unused;
    volatile int stored = 0;
    pthread_t thread;
    char byte = 0;
    int status;
    signal(SIGCHLD, note_end);
    if (pipe(ends))
        return 1;
    if (count > 1)
        pthread_create(&thread, NULL, feed, NULL);
    pid_t child = vfork();
    if (!child) {
        if (count > 1 && read(ends[0], &byte, 1) != 1)
            _exit(2);
        stored = 42;
        _exit(0);
    }
    while (waitpid(child, &status, 0) != child)
        continue;
    if (count > 1)
        pthread_join(thread, NULL);
    return stored != 42 || status || ended != 1 || (count > 1 && byte != 'x');
}
