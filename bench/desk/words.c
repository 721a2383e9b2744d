/* Words of several texts counted by several threads, into one table.
 *
 * Bug: strtok keeps its place in one variable for all threads.
 * Shows as: a failed assertion: words are missing.
 * FIXED: strtok_r. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { TEXTS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counts[26];

static char texts[TEXTS][64] = { "alpha beta gamma delta", "apple banana cherry" };

static void count(const char *word)
{
    pthread_mutex_lock(&lock); /* culprit */
    counts[word[0] - 'a']++;
    pthread_mutex_unlock(&lock);
}

static void *counter(void *argument)
{
    char *text = argument;
#ifdef FIXED
    char *place;
    for (char *word = strtok_r(text, " ", &place); word; word = strtok_r(NULL, " ", &place))
#else
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
#endif
        count(word);
    return NULL;
}

int main(void)
{
    pthread_t threads[TEXTS];
    for (int i = 0; i < TEXTS; i++)
        pthread_create(&threads[i], NULL, counter, texts[i]);
    for (int i = 0; i < TEXTS; i++)
        pthread_join(threads[i], NULL);
    int sum = 0;
    for (int i = 0; i < 26; i++)
        sum += counts[i];
    assert(sum == 7);
    return 0;
}
