/* A clustering kernel that does not join the last of its threads.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "streamcluster": localSearch() of PARSEC's streamcluster; what
 *   was put into it stands in the sources that the paper refers to (bench/streamcluster).
 * Bug: localSearch() joins all threads but the last, which cleans up and stores the number of clusters. Between
 *   barriers all are held together; behind the last one nobody waits for it.
 * Shows as: a failed assertion: the number is not there.
 * FIXED: it joins all. */
#include "../bugs/shared.h"
#include <pct/script.h>

enum { THREADS = 3, ROUNDS = 3, CLUSTERS = 5 };

static pthread_barrier_t barrier;
static int k_final;

static void pkmedian(int pid)
{
    for (int i = 0; i < ROUNDS; i++) {
        pct_point("round");
        pthread_barrier_wait(&barrier);
    }
    if (pid == THREADS - 1) {
        pct_point("clean up");
        k_final = CLUSTERS;
    }
}

static void *local_search_sub(void *pid)
{
    pkmedian(*(int *)pid);
    return NULL;
}

static void local_search(void)
{
    static int pid[THREADS];
    pthread_t thread[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pid[i] = i;
        thread[i] = thread_start(local_search_sub, &pid[i]);
    }
#ifdef FIXED
    enum { JOINED = THREADS };
#else
    enum { JOINED = THREADS - 1 };
#endif
    for (int i = 0; i < JOINED; i++)
        thread_join(thread[i]);
    pct_point("found");
}

int main(void)
{
    local_search();
    assert(k_final == CLUSTERS);
    return 0;
}
