// libpct.so finds no memory for itself in a child process: that was the target's failure, whatever its parent made of
// the child's status. It is pct's own, 125, also where the parent aborts. A child that deadlocks where nothing can be
// mapped, or opened, any more left nothing of that, and its parent's status was all there was to say.
// A child had its parent's trace in its address space, a gigabyte, which no limit of its own left room for: no thread
// could be made in 100 MB, where natively it can.
//
// RUN: %p exec 20 && %p fork 20 && %p fork 100
// RUN: pct run -q -s 1 -- %p exec 20 2> %t/said; status=$?; cat %t/said; test $status = 125 &&
//     grep -q 'no failure of the program' %t/said && grep -q 'internal error of pct: out of memory' %t/said
// RUN 125: pct run -q -s 1 -- %p fork 20
// RUN 125: pct run -q -s 1 --children=none -- %p exec 20 abort
// RUN 125: pct campaign -q -n 5 --db=%t/file -- %p exec 20 abort
// RUN: pct run -q -s 1 -n 3 -- %p fork 100
// RUN: pct run -q -s 1 -n 3 --exec -- %p fork 100
// RUN: pct run -q -s 1 -n 3 --engine=restore -- %p fork 100
// RUN 120: pct run -q -s 1 -- %p fork 0
// RUN 120: pct run -q -s 1 -- %p full 0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused)
{
    return unused;
}

static int create(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL);
}

/* Waits for itself when it has taken all memory that there is, and all descriptors. */
static int hang(int full)
{
    const struct rlimit limit = { 1 << 20, 1 << 20 };
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    setrlimit(RLIMIT_AS, &limit);
    while (full && dup(2) >= 0)
        continue;
    pthread_mutex_lock(&mutex);
    return pthread_mutex_lock(&mutex);
}

/* How a child begins; the MB that it has, 0: it hangs; what is to be done if it fails. */
int main(int argc, char **argv)
{
    int status, mb = argc > 2 ? atoi(argv[2]) : 0;
    const struct rlimit limit = { (rlim_t)mb << 20, (rlim_t)mb << 20 };
    if (argc < 3)
        return create();
    pid_t child = fork();
    if (!child && !mb)
        _exit(hang(!strcmp(argv[1], "full")));
    if (!child) {
        setrlimit(RLIMIT_AS, &limit);
        if (!strcmp(argv[1], "exec"))
            execl(argv[0], argv[0], (char *)NULL);
        _exit(create());
    }
    waitpid(child, &status, 0);
    if (status && argc > 3)
        abort();
    return !mb || status ? 7 : 0;
}
