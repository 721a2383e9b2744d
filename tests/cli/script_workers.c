/* Processes with threads, for scripts: a worker counts wrongly where its threads come in between each other, and its
 * parent fails. By the first argument: one (of a single worker), both (where each of two does), exec (of one that is
 * another program), right (with a lock around it all). */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, whole = PTHREAD_MUTEX_INITIALIZER;
static int count;
static bool right;

static void *handle(void *unused)
{
    if (right)
        pthread_mutex_lock(&whole);
    pthread_mutex_lock(&lock);
    int now = count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    count = now + 1;
    pthread_mutex_unlock(&lock);
    if (right)
        pthread_mutex_unlock(&whole);
    return unused;
}

static int work(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, handle, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return count == 2 ? 0 : 3;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "work";
    int count_of_workers = strcmp(mode, "both") ? 1 : 2, status, failed = 0;
    right = !strcmp(mode, "right");
    if (!strcmp(mode, "work"))
        return work();
    for (int i = 0; i < count_of_workers; i++) {
        if (fork())
            continue;
        if (!strcmp(mode, "exec"))
            execl("./worker", "worker", (char *)NULL);
        exit(work());
    }
    for (int i = 0; i < count_of_workers; i++)
        failed += wait(&status) > 0 && status;
    return failed == count_of_workers ? 4 : 0;
}
