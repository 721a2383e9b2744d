/* __cxa_guard_*: function-local statics, raced, nested, and with initialisers that throw. */
/* tests: __cxa_guard_acquire __cxa_guard_release __cxa_guard_abort */
/* ops: GUARD_ACQUIRE GUARD_RELEASE */
#include "check.h"
#include <sched.h>
#include <stdexcept>

namespace
{
const int threads = 5;
int constructed, attempts, inner_constructed;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct inner {
    int value;
    inner() : value(6)
    {
        sched_yield();
        inner_constructed++;
    }
};

struct slow {
    int value;
    slow() : value(0)
    {
        CHECK_OK(pthread_mutex_lock(&lock)); /* may switch to others, which then wait for us */
        CHECK_OK(pthread_mutex_unlock(&lock));
        static inner nested;
        for (int i = 0; i < 3; i++)
            sched_yield();
        constructed++;
        value = nested.value + 1;
    }
};

slow &instance()
{
    static slow object;
    return object;
}

void *use(void *)
{
    slow &object = instance();
    CHECK_EQ(object.value, 7);
    CHECK_EQ(constructed, 1);
    CHECK(&object == &instance());
    return nullptr;
}

/* Throws the first two times: each time somebody tries again. */
struct failing {
    failing()
    {
        sched_yield();
        if (++attempts <= 2)
            throw std::runtime_error("not yet");
    }
};

void *use_failing(void *failures)
{
    for (;;) {
        try {
            static failing object;
            return nullptr;
        } catch (const std::runtime_error &) {
            __atomic_fetch_add(static_cast<int *>(failures), 1, __ATOMIC_RELAXED);
        }
    }
}
} // namespace

int main()
{
    pthread_t ids[threads];
    for (pthread_t &id : ids)
        id = check_spawn(use, nullptr);
    use(nullptr);
    for (pthread_t id : ids)
        check_join(id);
    CHECK_EQ(constructed, 1);
    CHECK_EQ(inner_constructed, 1);

    int failures = 0;
    for (pthread_t &id : ids)
        id = check_spawn(use_failing, &failures);
    for (pthread_t id : ids)
        check_join(id);
    CHECK_EQ(failures, 2);
    CHECK_EQ(attempts, 3);
    return 0;
}
