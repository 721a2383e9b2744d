/* Boost.Lockfree (Debian's libboost-dev), for `pct explore`: boost STRUCTURE THREADS. Thread 0 gets what the others put
 * in; of spsc, with 3 threads, two put in, which it does not allow. Built by bench/structures/run. */
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

static int n, got[8];
static boost::lockfree::queue<int, boost::lockfree::capacity<4>> queue;
static boost::lockfree::stack<int, boost::lockfree::capacity<4>> stack;
static boost::lockfree::spsc_queue<int, boost::lockfree::capacity<4>> spsc;

/* Each other thread puts in `each` values, which are its own. */
template <typename Container> static void use(Container &container, int me, int each)
{
    int value = 0;
    for (int i = 0; me && i < each; i++)
        assert(container.push(me * each + i));
    for (int i = each; !me && i < n * each; i++)
        if (container.pop(value))
            got[value]++;
}

/* At the end, none is lost and none has come twice. */
template <typename Container> static void check(Container &container, int each)
{
    int value = 0;
    while (container.pop(value))
        got[value]++;
    for (int i = each; i < n * each; i++)
        assert(got[i] == 1);
}

static const char *what;
static void *run(void *argument)
{
    int me = static_cast<int>(reinterpret_cast<long>(argument));
    if (!std::strcmp(what, "queue"))
        use(queue, me, 1);
    else if (!std::strcmp(what, "stack"))
        use(stack, me, 1);
    else
        use(spsc, me, 2);
    return nullptr;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    what = argc > 1 ? argv[1] : "queue";
    n = argc > 2 ? std::atoi(argv[2]) : 2;
    if (n < 2 || n > 3)
        return 2;
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], nullptr, run, reinterpret_cast<void *>(i));
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], nullptr);
    if (!std::strcmp(what, "queue"))
        check(queue, 1);
    else if (!std::strcmp(what, "stack"))
        check(stack, 1);
    else
        check(spsc, 2);
    return 0;
}
