/* select() of as many descriptors as there might be, where that is more than 1,024 (containers allow a million): the
 * kernel looks at those that there are. It returned 0 at once, as if its time were over.
 *
 * RUN: pct run -q -n 20 -s 1 --timeout 60 --state none -- %p
 */
#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

enum { MANY = 1 << 20 };
static int ends[2];

static void *tells(void *unused)
{
    assert(write(ends[1], "x", 1) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    fd_set set;
    FD_ZERO(&set);
    assert(!pipe(ends));
    FD_SET(ends[0], &set);
    pthread_create(&thread, NULL, tells, NULL);
    assert(select(MANY, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
    assert(pselect(MANY, &set, NULL, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set));
    pthread_join(thread, NULL);
    return 0;
}
