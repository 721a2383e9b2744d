/* Two threads that post one semaphore, eight times each. One of the 12,870 orders of these calls is the bug: it has two
 * preemptions, so the systematic runs of a campaign come to it, and chance hardly ever does. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { POSTS = 8 };

static sem_t semaphore;
static char made[2 * POSTS + 1];
static int count;

static void post_all(char name)
{
    for (int i = 0; i < POSTS; i++) {
        sem_post(&semaphore);
        made[count++] = name;
    }
}

static void *body(void *unused)
{
    post_all('b');
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    post_all('a');
    pthread_join(thread, NULL);
    assert(strcmp(made, "aaaaabbbbbbaaabb"));
    return 0;
}
