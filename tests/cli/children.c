/* A parent that ends well whatever its child does, for the tests of child processes: deadlock, held (by a
 * thread that the child has not), crash or exit. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *manner = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (!strcmp(manner, "held") && (pthread_create(&thread, NULL, take, NULL) || pthread_join(thread, NULL)))
        return 1;
    pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&mutex);
        if (!strcmp(manner, "deadlock"))
            pthread_mutex_lock(&mutex);
        if (!strcmp(manner, "crash"))
            *(volatile int *)16 = 1;
        _exit(3);
    }
    return waitpid(child, NULL, 0) != child;
}
