/* An event loop: others hand it functions and wake it through an eventfd.
 *
 * Bug: the loop takes what there is and then empties the eventfd: what was handed over between the two is not seen.
 * Shows as: a deadlock: the loop waits for ever, and all for it.
 * FIXED: it empties the eventfd first. */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct job {
    struct job *next;
    int add;
    bool last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *jobs;
static int wake;

static void loop_post(int add, bool last)
{
    struct job *job = malloc(sizeof *job);
    *job = (struct job){ .add = add, .last = last };
    pthread_mutex_lock(&lock); /* culprit */
    struct job **end = &jobs;
    while (*end)
        end = &(*end)->next;
    *end = job;
    pthread_mutex_unlock(&lock);
    uint64_t one = 1;
    if (write(wake, &one, sizeof one) != sizeof one) /* culprit */
        abort();
}

static struct job *take_all(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    struct job *all = jobs;
    jobs = NULL;
    pthread_mutex_unlock(&lock);
    return all;
}

static void empty(void)
{
    uint64_t count;
    if (read(wake, &count, sizeof count) != sizeof count) /* culprit */
        abort();
}

static bool run(struct job *job, int *sum)
{
    bool last = false;
    while (job) {
        struct job *next = job->next;
        *sum += job->add;
        last = last || job->last;
        free(job);
        job = next;
    }
    return last;
}

static void *loop(void *argument)
{
    for (bool last = false; !last;) {
        struct pollfd fd = { .fd = wake, .events = POLLIN };
        poll(&fd, 1, -1); /* culprit */
#ifdef FIXED
        empty();
        last = run(take_all(), argument);
#else
        struct job *all = take_all();
        empty();
        last = run(all, argument);
#endif
    }
    return NULL;
}

static void *poster(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        loop_post(1, false);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int sum = 0;
    wake = eventfd(0, 0);
    pthread_create(&threads[0], NULL, loop, &sum);
    pthread_create(&threads[1], NULL, poster, NULL);
    pthread_create(&threads[2], NULL, poster, NULL);
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    loop_post(0, true);
    pthread_join(threads[0], NULL);
    return sum != 4;
}
