/* --memory=stacks sees more than --memory=all, and `pct explore` has it; but `pct explain` advised --memory=all for its
 * failures, and `pct script --all=dpor` wanted that.
 *
 * RUN: echo 'interleave(threads(2, "work"), ends)' > %t/ends.lua; for level in all stacks;
 *     do pct script --all=dpor --memory=$level %t/ends.lua -- %p > %t/out 2>&1; [ $? != 2 ] &&
 *     ! grep -q 'has to see all accesses' %t/out || { cat %t/out; exit 1; }; done
 */
#include <pthread.h>

static void *work(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
