/* A build tool: each worker starts a command and waits for it; what it ended with decides whether the target is made.
 *
 * Bug: a worker waits for any child, not for its own; it may get the status of another worker's.
 * Shows as: a target is said to be made whose command has failed.
 * FIXED: it waits for the child that it has started. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct target {
    const char *name;
    int status; /* what its command ends with */
    int made;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target targets[] = { { "parser.o", 0, -1 }, { "lexer.o", 1, -1 } };
static unsigned built, failed;

/* The command: a process that ends with the status. */
static pid_t start(const struct target *target)
{
    pid_t child = fork(); /* culprit */
    if (child == 0)
        _exit(target->status);
    return child;
}

static int wait_for(pid_t child)
{
    int status = 0;
#ifdef FIXED
    if (waitpid(child, &status, 0) != child)
        return -1;
#else
    (void)child;
    if (waitpid(-1, &status, 0) < 0) /* culprit */
        return -1;
#endif
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *build(void *argument)
{
    struct target *target = argument;
    pid_t child = start(target);
    if (child < 0)
        return NULL;
    int status = wait_for(child);
    pthread_mutex_lock(&lock);
    target->made = status == 0;
    if (target->made)
        built++;
    else
        failed++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    enum { TARGETS = sizeof targets / sizeof *targets };
    pthread_t workers[TARGETS];
    for (size_t i = 0; i < TARGETS; i++)
        if (pthread_create(&workers[i], NULL, build, &targets[i]))
            return 2;
    for (size_t i = 0; i < TARGETS; i++)
        pthread_join(workers[i], NULL);
    printf("%u built, %u failed\n", built, failed);
    for (size_t i = 0; i < TARGETS; i++)
        if (targets[i].made != (targets[i].status == 0)) {
            printf("%s: made %d, its command ended with %d\n", targets[i].name, targets[i].made, targets[i].status);
            return 1;
        }
    return 0;
}
