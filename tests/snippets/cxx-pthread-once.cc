/* pthread_once with a C++ routine that throws: it has not run, and the next caller runs it. */
/* tests: pthread_once */
/* ops: ONCE ONCE_DONE */
#include "check.h"
#include <sched.h>
#include <stdexcept>

namespace
{
const int threads = 4;
pthread_once_t control = PTHREAD_ONCE_INIT;
int attempts, thrown;

void routine()
{
    sched_yield();
    if (++attempts <= 2)
        throw std::runtime_error("not yet");
}

void *call(void *)
{
    bool done = false;
    while (!done) {
        try {
            CHECK_EQ(pthread_once(&control, routine), 0);
            done = true;
        } catch (const std::runtime_error &) {
            __atomic_fetch_add(&thrown, 1, __ATOMIC_RELAXED);
        }
    }
    CHECK_EQ(attempts, 3);
    return nullptr;
}
} // namespace

int main()
{
    pthread_t ids[threads];
    for (pthread_t &id : ids)
        id = check_spawn(call, nullptr);
    for (pthread_t id : ids)
        check_join(id);
    CHECK_EQ(thrown, 2);
    return 0;
}
