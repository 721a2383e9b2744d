/* A program that writes a log and starts a helper by fork(), which logs before it does its work.
 *
 * Bug: if another thread holds the log's lock at the fork, the child has a locked lock and nobody who unlocks it.
 * Shows as: a deadlock of the child.
 * FIXED: the lock is held across the fork, by pthread_atfork(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 16 };

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[KEPT][48];
static int count;

static void log_line(const char *text)
{
    pthread_mutex_lock(&log_lock); /* culprit */
    snprintf(kept[count % KEPT], sizeof kept[0], "%d %s", count, text);
    pthread_mutex_lock(&out_lock);
    count++;
    pthread_mutex_unlock(&out_lock);
    pthread_mutex_unlock(&log_lock);
}

static void *server(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        log_line("request");
    return NULL;
}

static int helper(void)
{
    log_line("helper starts"); /* culprit */
    return count > 0 ? 0 : 1;
}

#ifdef FIXED
static void before(void)
{
    pthread_mutex_lock(&log_lock);
}

static void after(void)
{
    pthread_mutex_unlock(&log_lock);
}
#endif

int main(void)
{
    pthread_t thread;
#ifdef FIXED
    pthread_atfork(before, after, after);
#endif
    if (pthread_create(&thread, NULL, server, NULL))
        return 3;
    log_line("main runs");
    pid_t child = fork(); /* culprit */
    if (child == 0)
        _exit(helper());
    int status = 0;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    printf("%d lines\n", count);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
