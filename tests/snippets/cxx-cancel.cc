/* Cancellation and pthread_exit in C++: destructors run on the way out, and catch (...) must pass it on. */
/* tests: pthread_cancel pthread_exit pthread_testcancel */
/* ops: THREAD_CANCEL THREAD_EXIT */
#include "check.h"
#include <cxxabi.h>
#include <mutex>
#include <semaphore.h>

namespace
{
std::mutex lock;
sem_t ready, never;
int destroyed, passed_on;

struct counts_its_end {
    ~counts_its_end()
    {
        std::lock_guard<std::mutex> guard(lock);
        destroyed++;
    }
};

void *wait_for_ever(void *)
{
    counts_its_end object;
    CHECK_EQ(sem_post(&ready), 0);
    try {
        for (;;)
            sem_wait(&never);
    } catch (const abi::__forced_unwind &) {
        passed_on++;
        throw;
    }
}

void *leave(void *result)
{
    counts_its_end object;
    pthread_exit(result);
}

void *hold_and_leave(void *result)
{
    std::lock_guard<std::mutex> guard(lock); /* given up by the unwinding */
    pthread_exit(result);
}
} // namespace

int main()
{
    CHECK_EQ(sem_init(&ready, 0, 0), 0);
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    for (int i = 1; i <= 3; i++) {
        pthread_t thread = check_spawn(wait_for_ever, nullptr);
        CHECK_EQ(sem_wait(&ready), 0);
        CHECK_EQ(pthread_cancel(thread), 0);
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_EQ(destroyed, i);
        CHECK_EQ(passed_on, i);
    }
    CHECK(check_join(check_spawn(leave, &ready)) == &ready);
    CHECK_EQ(destroyed, 4);
    CHECK(check_join(check_spawn(hold_and_leave, &ready)) == &ready);
    CHECK(lock.try_lock());
    lock.unlock();
    return 0;
}
