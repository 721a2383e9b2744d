/* Threads count words into a table of their own. When all are through, which a barrier tells, the first prints the sum.
 *
 * Bug: a thread adds its own table to the sum behind the barrier; the first may print before that.
 * Shows as: an exit status of 1: a sum that is too small.
 * FIXED: it does so before the barrier. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, LETTERS = 26 };

struct table {
    int count[LETTERS];
};

struct part {
    const char *text;
    int number;
};

static struct table sum;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t counted;
static int printed;

static void count_words(struct table *table, const char *text)
{
    for (const char *at = text; *at; at++)
        if (at == text || at[-1] == ' ')
            table->count[*at - 'a']++;
}

static void merge(const struct table *table)
{
    pthread_mutex_lock(&sum_lock); /* culprit */
    for (int i = 0; i < LETTERS; i++)
        sum.count[i] += table->count[i];
    pthread_mutex_unlock(&sum_lock);
}

static int print_sum(void)
{
    int all = 0;
    pthread_mutex_lock(&sum_lock); /* culprit */
    for (int i = 0; i < LETTERS; i++) {
        all += sum.count[i];
        if (sum.count[i])
            printf("%c: %d\n", 'a' + i, sum.count[i]);
    }
    pthread_mutex_unlock(&sum_lock);
    return all;
}

static void *count(void *arg)
{
    const struct part *part = arg;
    struct table own;
    memset(&own, 0, sizeof own);
    count_words(&own, part->text);
#ifdef FIXED
    merge(&own);
#endif
    pthread_barrier_wait(&counted); /* culprit */
#ifndef FIXED
    merge(&own); /* culprit */
#endif
    if (part->number == 0)
        printed = print_sum(); /* culprit */
    return NULL;
}

int main(void)
{
    static struct part parts[THREADS] = { { "alle meine entchen", 0 },
                                          { "schwimmen auf dem see", 1 },
                                          { "koepfchen in das wasser", 2 } };
    pthread_t threads[THREADS];
    pthread_barrier_init(&counted, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, &parts[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&counted);
    printf("%d words\n", printed);
    return printed == 11 ? 0 : 1;
}
