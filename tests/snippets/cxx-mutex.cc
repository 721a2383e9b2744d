/* std::mutex, std::recursive_mutex, std::lock, std::scoped_lock: exclusion, and no deadlock however the order. */
/* tests: pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock */
/* ops: MUTEX_LOCK MUTEX_TRYLOCK MUTEX_UNLOCK */
#include "check.h"
#include <mutex>
#include <thread>
#include <vector>

namespace
{
std::mutex a, b, c;
std::recursive_mutex recursive;
int counter;

template <typename Function> void in_threads(int count, Function function)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(function, i);
    for (std::thread &thread : threads)
        thread.join();
}
} // namespace

int main()
{
    in_threads(4, [](int) {
        for (int i = 0; i < 15; i++) {
            std::lock_guard<std::mutex> guard(a);
            int seen = counter;
            if (i % 4 == 0)
                std::this_thread::yield();
            counter = seen + 1;
        }
    });
    CHECK_EQ(counter, 60);

    counter = 0;
    in_threads(3, [](int) {
        std::lock_guard<std::recursive_mutex> outer(recursive);
        std::unique_lock<std::recursive_mutex> inner(recursive, std::try_to_lock);
        CHECK(inner.owns_lock());
        counter++;
    });
    CHECK_EQ(counter, 3);

    /* One thread wants all three at once, the others one each. (Several that want them in different orders do not
     * deadlock, but may turn each other away for ever under a schedule that is regular enough.) */
    counter = 0;
    in_threads(4, [](int me) {
        for (int i = 0; i < 5; i++) {
            if (me == 0) {
                std::scoped_lock locks(c, a, b);
                counter++;
            } else {
                std::mutex &mine = me == 1 ? a : me == 2 ? b : c;
                std::lock_guard<std::mutex> guard(mine);
                std::this_thread::yield();
            }
        }
    });
    CHECK_EQ(counter, 5);
    std::lock(b, c, a);
    in_threads(3, [](int me) { CHECK(!(me == 0 ? a : me == 1 ? b : c).try_lock()); });
    a.unlock();
    b.unlock();
    c.unlock();

    a.lock();
    in_threads(2, [](int) { CHECK(!a.try_lock()); });
    CHECK_EQ(std::try_lock(b, c), -1);
    in_threads(1, [](int) { CHECK_EQ(std::try_lock(a, b), 0); });
    b.unlock();
    c.unlock();
    a.unlock();
    CHECK(a.try_lock());
    a.unlock();
    return 0;
}
