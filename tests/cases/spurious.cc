/* POSIX and C++ allow a wait for a condition variable to return though nobody has signalled. With --spurious some do: a
 * program with `if` where `while` belongs fails, one with `while` does not, and the token replays. Without the option
 * none do.
 *
 * RUN: ! pct run -q -n 100 -s 1 --state none --spurious -- %p posix-if 2> %t/log &&
 *     grep -q "assertion failed" %t/log && grep -q "cond wake .*(spurious)" %t/log && grep -q "spurious=on" %t/log
 * RUN: ! pct run -q -n 100 -s 1 --state none --spurious -- %p cxx-if 2> %t/log && grep -q "assertion failed" %t/log
 * RUN: token=$(pct run -n 100 -s 1 --state none --spurious -- %p posix-if 2>&1 | grep -o "pct1:[^']*" | tail -n 1 ||
 *     :) && for i in 1 2 3 4 5; do ! pct replay "$token" -- %p posix-if > %t/log 2>&1 &&
 *     grep -q "replayed identically" %t/log || exit 1; done
 * RUN: for how in posix-if cxx-if; do pct run -q -n 200 -s 1 --state none -- %p $how || exit 1; done
 * RUN: for how in posix-while cxx-while timed; do for s in mixture pct random-walk;
 *     do pct run -q -n 100 -s 1 --state none -S $s --spurious -- %p $how || exit 1; done; done
 * RUN: ! PCT_SPURIOUS=on pct campaign --db %t/db -n 50 -s 1 -- %p posix-if > %t/log && grep -q "spurious=on" %t/log
 */
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static std::mutex cxx_mutex;
static std::condition_variable cxx_cond;
static bool ready;

static void posix(bool again)
{
    pthread_mutex_lock(&mutex);
    do
        if (!ready)
            pthread_cond_wait(&cond, &mutex);
    while (again && !ready);
    assert(ready);
    pthread_mutex_unlock(&mutex);
}

/* A wait with a deadline that never comes ends by a signal, or by itself, never as timed out. */
static void timed()
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 1000;
    pthread_mutex_lock(&mutex);
    while (!ready)
        assert(!pthread_cond_timedwait(&cond, &mutex, &when));
    pthread_mutex_unlock(&mutex);
}

static void cxx(bool again)
{
    std::unique_lock<std::mutex> lock(cxx_mutex);
    do
        if (!ready)
            cxx_cond.wait(lock);
    while (again && !ready);
    assert(ready);
}

int main(int, char **argv)
{
    const char *how = argv[1];
    bool is_cxx = !strncmp(how, "cxx", 3);
    std::thread waiter([=] {
        if (!strcmp(how, "timed"))
            timed();
        else
            (is_cxx ? cxx : posix)(strstr(how, "while") != nullptr);
    });
    if (is_cxx) {
        std::lock_guard<std::mutex> lock(cxx_mutex);
        ready = true;
        cxx_cond.notify_one();
    } else {
        pthread_mutex_lock(&mutex);
        ready = true;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    waiter.join();
    return 0;
}
