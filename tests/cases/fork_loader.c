/* Who took the loader's lock last in a process orders nothing in its child, whose threads have the same numbers: a data
 * race there between a thread and one that loads a library is reported.
 *
 * RUN 118: pct-cc -O1 -g -pthread -o %t/p %s && pct run -q -s 1 --slack=0 --races=fail -- %t/p
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *load(void *unused)
{
    check(dlopen("libm.so.6", RTLD_NOW) != NULL);
    return unused;
}

static void *change(void *unused)
{
    shared++;
    usleep(100000); /* still there */
    return unused;
}

static void race(void)
{
    pthread_t thread;
    check(!pthread_create(&thread, NULL, change, NULL));
    usleep(1000); /* behind it, but not ordered */
    load(NULL);
    shared++;
    check(!pthread_join(thread, NULL));
}

int main(void)
{
    pthread_t thread;
    int status;
    check(!pthread_create(&thread, NULL, load, NULL));
    check(!pthread_join(thread, NULL));
    pid_t child = fork();
    if (!child) {
        race();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}
