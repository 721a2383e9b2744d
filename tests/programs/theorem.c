/* A program with one planted bug of known depth, for tests/programs/theorem.
 *     theorem DEPTH THREADS PADS SEED
 * Threads 0 (main) and 1 make DEPTH + 1 events, in turn; the bug shows if each event finds
 * exactly those before it: event 2 comes after event 1, event 3 after event 2, ... These are DEPTH ordering
 * constraints, and they suffice. An event is at a scheduling point (sem_post); up to PADS further points, drawn
 * from SEED, stand before each. Other threads only have such points. Nobody waits for anybody but to join. Ends
 * with status 1 if the bug shows. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 8 };

static unsigned depth, threads, pads, seed;
static volatile unsigned reached;
static sem_t own[MOST]; /* GLIBC: zeros, as sem_init() leaves it, which would be one more point */

static unsigned drawn(unsigned *place)
{
    *place = *place * 1103515245 + 12345;
    return pads ? (*place >> 16) % (pads + 1) : 0;
}

static void events_of(unsigned thread)
{
    unsigned place = seed * 100 + thread;
    sem_t *mine = &own[thread];
    /* Constraint i is: event i before event i+1, which another thread makes. */
    for (unsigned event = 0; event <= depth; event++) {
        if (thread > 1 ? event > 1 : event % 2 != thread)
            continue;
        for (unsigned i = drawn(&place); i; i--)
            sem_post(mine);
        sem_post(mine);
        if (thread <= 1 && reached == event)
            reached = event + 1;
    }
}

static void *run(void *number)
{
    events_of((unsigned)(unsigned long)number);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST];
    if (argc != 5)
        return 2;
    depth = (unsigned)atoi(argv[1]);
    threads = (unsigned)atoi(argv[2]);
    pads = (unsigned)atoi(argv[3]);
    seed = (unsigned)atoi(argv[4]);
    if (threads < 2 || threads > MOST)
        return 2;
    for (unsigned long i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, run, (void *)i);
    events_of(0);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    _exit(reached == depth + 1);
}
