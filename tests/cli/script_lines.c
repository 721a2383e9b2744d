/* Lines at which threads of scripts stand (script_lines.bats): no call that pct knows is on them. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static volatile int counter, rounds;

static inline __attribute__((always_inline)) void add(int amount)
{
    counter = counter + amount; /* copied */
}

static __attribute__((noinline)) void turn(int round)
{
    rounds = round; /* in turn */
}

static void *lose(void *unused)
{
    int seen = counter;
    rounds = seen;      /* seen */
    counter = seen + 1; /* write */
    return unused;
}

static void *copies(void *unused)
{
    add(1);
    rounds = 1;
    add(2);
    return unused;
}

static void *loop(void *unused)
{
    for (int i = 0; i < 3; i++)
        turn(i); /* body */
    rounds = 3;  /* behind */
    return unused;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *unused)
{
    pthread_mutex_lock(&lock); /* lock */
    counter = counter + 1;     /* locked */
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int count, char **arguments)
{
    void *(*const starts[])(void *) = { lose, copies, loop, locks };
    const char *const names[] = { "lose", "copies", "loop", "locks" };
    pthread_t threads[2];
    int which = 0;
    while (which < 3 && strcmp(arguments[count - 1], names[which]) != 0)
        which++;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, starts[which], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(which != 0 || counter == 2);
    return 0;
}
