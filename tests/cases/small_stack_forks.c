// A thread with the smallest stack forks: the child's run begins on that. The state of a strategy stood there while its
// size was asked for: with two strategies, the child crashed.
//
// RUN: for s in mixture pct pos random-walk random-delay surw pctcp tapct preemption-bound; do
//     pct run -q -s 1 -S $s --state none -- %p || exit 1; done
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *make_child(void *status)
{
    pid_t child = fork();
    if (!child)
        _exit(0);
    waitpid(child, status, 0);
    return status;
}

int main(void)
{
    int status = 1;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    pthread_create(&thread, &attributes, make_child, &status);
    pthread_join(thread, NULL);
    return status != 0;
}
