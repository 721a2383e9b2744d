/* A process in which a thread has spun, so that it has a watchdog, forks: in the child threads spin, too, and it needs
 * one of its own.
 *
 * RUN: for s in {1..5}; do pct run -q -s $s --timeout 20 -- %p || exit 1; done
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int flag;

static void *spin(void *unused)
{
    while (!flag)
        ;
    return unused;
}

static void let_spin(void)
{
    pthread_t thread;
    flag = 0;
    pthread_create(&thread, NULL, spin, NULL);
    usleep(1000);
    flag = 1;
    pthread_join(thread, NULL);
}

int main(void)
{
    int status;
    let_spin();
    pid_t child = fork();
    let_spin();
    if (!child)
        _exit(0);
    return waitpid(child, &status, 0) != child || status;
}
