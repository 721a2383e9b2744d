/* A program that forks after its code was patched (tests/programs/patched runs this with --memory=globals): in the
 * child, which begins anew, nothing is known of the memory, and a lost update shows as in the parent. Status 3: an
 * update was lost in the child. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *increment(void *unused)
{
    counter++;
    return unused;
}

/* What both threads have made of the counter. */
static int count(void)
{
    pthread_t threads[2];
    counter = 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, increment, NULL))
            return 0;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter;
}

int main(void)
{
    int status = 0;
    if (!count())
        return 1;
    pid_t child = fork();
    if (!child)
        _exit(count() == 2 ? 0 : 3);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}
