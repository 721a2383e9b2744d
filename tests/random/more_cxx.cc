/* More of C++20: what a thread does at its end, atomics of other kinds, callbacks of stop tokens, exceptions. */
#include "random.h"
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace
{

using std::chrono::microseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
constexpr std::chrono::seconds far_away(FAR);

template <class T, class Owner> T &of(Owner *owner)
{
    return *static_cast<T *>(owner->more);
}

template <class T> void make(struct thing *t)
{
    t->more = new T;
}

template <class T> void drop(struct thing *t)
{
    delete static_cast<T *>(t->more);
}

/* --- Things ------------------------------------------------------------------------------------------------------ */

/* A plain number, used by an atomic_ref. */
struct plain {
    int value = 0;
};

bool wait_reference(struct thing *t, int64_t, unsigned)
{
    std::atomic_ref<int> it(of<plain>(t).value);
    for (int value = it.load();;)
        if (!value)
            it.wait(0), value = it.load();
        else if (it.compare_exchange_weak(value, value - 1))
            return true;
}

void wake_reference(struct thing *t, unsigned way)
{
    std::atomic_ref<int> it(of<plain>(t).value);
    it++;
    if (way & 1)
        it.notify_one();
    else
        it.notify_all();
}

/* A pointer that is shared. */
struct pointed {
    std::atomic<std::shared_ptr<int>> pointer;
};

bool wait_pointer(struct thing *t, int64_t, unsigned way)
{
    auto &it = of<pointed>(t).pointer;
    if (way & 1)
        it.wait(nullptr);
    else
        while (!it.load())
            std::this_thread::yield();
    CHECK_EQ(*it.load(), 42);
    return true;
}

void wake_pointer(struct thing *t, unsigned)
{
    auto &it = of<pointed>(t).pointer;
    it.store(std::make_shared<int>(42));
    it.notify_all();
}

/* Told when the thread has ended that tells. */
struct told_at_end {
    std::mutex mutex;
    std::condition_variable cond;
    int count = 0;
};

bool wait_told_at_end(struct thing *t, int64_t us, unsigned way)
{
    auto &it = of<told_at_end>(t);
    std::unique_lock lock(it.mutex);
    auto there = [&] { return it.count > 0; };
    if (us >= 0 ? !it.cond.wait_for(lock, microseconds(us), there) : (it.cond.wait(lock, there), false))
        return false;
    it.count--;
    (void)way;
    return true;
}

void wake_told_at_end(struct thing *t, unsigned)
{
    auto &it = of<told_at_end>(t);
    std::thread([&] {
        std::unique_lock lock(it.mutex);
        it.count++;
        std::notify_all_at_thread_exit(it.cond, std::move(lock));
    }).join();
}

using promise = std::promise<int>;

bool wait_promised(struct thing *t, int64_t, unsigned way)
{
    std::future<int> future = of<promise>(t).get_future();
    if (way & 1)
        while (future.wait_for(microseconds(50)) != std::future_status::ready)
            continue;
    if (way & 2)
        CHECK(future.wait_until(steady_clock::now() + far_away) == std::future_status::ready);
    try {
        CHECK_EQ(future.get(), 42);
    } catch (const std::runtime_error &error) {
        CHECK(!strcmp(error.what(), "promised"));
    }
    return true;
}

void wake_promised(struct thing *t, unsigned way)
{
    auto &it = of<promise>(t);
    std::thread([&] {
        if (way & 1)
            it.set_value_at_thread_exit(42);
        else
            it.set_exception_at_thread_exit(std::make_exception_ptr(std::runtime_error("promised")));
    }).join();
}

/* By a condition of any lock, which is shared. */
struct shared_condition {
    std::shared_timed_mutex mutex;
    std::condition_variable_any cond;
    std::stop_source stop;
    std::atomic<int> count = 0;
};

bool take_one(std::atomic<int> &count)
{
    for (int value = count; value;)
        if (count.compare_exchange_weak(value, value - 1))
            return true;
    return false;
}

bool wait_shared_condition(struct thing *t, int64_t us, unsigned way)
{
    auto &it = of<shared_condition>(t);
    std::shared_lock lock(it.mutex);
    auto taken = [&] { return take_one(it.count); };
    if (us >= 0)
        return way & 1 ? it.cond.wait_until(lock, steady_clock::now() + microseconds(us), taken)
                       : it.cond.wait_for(lock, it.stop.get_token(), microseconds(us), taken);
    if (way & 1)
        it.cond.wait(lock, taken);
    else
        CHECK(it.cond.wait_until(lock, it.stop.get_token(), system_clock::now() + far_away, taken));
    return true;
}

void wake_shared_condition(struct thing *t, unsigned way)
{
    auto &it = of<shared_condition>(t);
    std::unique_lock lock(it.mutex);
    it.count++;
    if (way & 1)
        lock.unlock();
    it.cond.notify_all();
}

/* --- Locks ------------------------------------------------------------------------------------------------------- */

struct binary {
    std::binary_semaphore free{ 1 };
};

template <class T> void make_lock(struct lock *lock)
{
    lock->more = new T;
}

template <class T> void drop_lock(struct lock *lock)
{
    delete static_cast<T *>(lock->more);
}

bool take_binary(struct lock *lock, bool, unsigned way)
{
    auto &it = of<binary>(lock).free;
    if (way == WAY_TRY)
        return it.try_acquire();
    if (way == WAY_SHORT)
        while (!it.try_acquire_for(microseconds(100)))
            continue;
    else if (way == WAY_FAR)
        CHECK(it.try_acquire_until(system_clock::now() + far_away));
    else
        it.acquire();
    return true;
}

void give_binary(struct lock *lock)
{
    of<binary>(lock).free.release();
}

struct flag {
    std::atomic_flag taken;
};

bool take_flag(struct lock *lock, bool, unsigned way)
{
    auto &it = of<flag>(lock).taken;
    while (it.test_and_set()) {
        if (way == WAY_TRY)
            return false;
        it.wait(true);
    }
    return true;
}

void give_flag(struct lock *lock)
{
    auto &it = of<flag>(lock).taken;
    it.clear();
    it.notify_one();
}

struct timed {
    std::shared_timed_mutex mutex;
    std::atomic<bool> alone = false;
};

bool take_timed(struct lock *lock, bool shared, unsigned way)
{
    auto &it = of<timed>(lock);
    if (way == WAY_TRY) {
        if (!(shared ? it.mutex.try_lock_shared() : it.mutex.try_lock()))
            return false;
    } else if (way == WAY_SHORT) {
        while (!(shared ? it.mutex.try_lock_shared_for(microseconds(100)) : it.mutex.try_lock_for(microseconds(100))))
            continue;
    } else {
        auto until = steady_clock::now() + far_away;
        CHECK(shared ? it.mutex.try_lock_shared_until(until) : it.mutex.try_lock_until(until));
    }
    it.alone = !shared;
    return true;
}

void give_timed(struct lock *lock)
{
    auto &it = of<timed>(lock);
    if (it.alone) {
        it.alone = false;
        it.mutex.unlock();
    } else {
        it.mutex.unlock_shared();
    }
}

/* --- Events ------------------------------------------------------------------------------------------------------ */

struct counter {
    int *phases;
    void operator()() noexcept
    {
        ++*phases;
    }
};

struct meeting {
    int phases = 0;
    std::barrier<counter> barrier;
    std::latch latch;
    std::stop_source stop;
    std::once_flag outer, inner;
    int made = 0;
    meeting(int parties) : barrier(parties, counter{ &phases }), latch(parties)
    {
    }
};

void prepare_meeting(struct event *event)
{
    event->more = new meeting((int)event->parties);
}

void end_meeting(struct event *event)
{
    delete &of<meeting>(event);
}

/* One after the other leaves. */
void run_dropping(struct event *event, unsigned role, uint64_t *place)
{
    meeting &m = of<meeting>(event);
    for (unsigned i = 0; i < role; i++) {
        doze(place);
        m.barrier.arrive_and_wait();
        CHECK(m.phases > (int)i);
    }
    m.barrier.arrive_and_drop();
}

void finish_dropping(struct event *event)
{
    CHECK_EQ(of<meeting>(event).phases, event->parties);
    end_meeting(event);
}

/* Callbacks come and go while one asks to stop; who takes a callback back waits until it is not running. */
void run_callbacks(struct event *event, unsigned role, uint64_t *place)
{
    meeting &m = of<meeting>(event);
    if (!role) {
        doze(place);
        CHECK(m.stop.request_stop());
    }
    for (unsigned i = 0; role && i < event->rounds; i++) {
        std::atomic<bool> inside = false;
        {
            std::stop_callback callback(m.stop.get_token(), [&] {
                inside = true;
                std::this_thread::sleep_for(microseconds(20));
                inside = false;
            });
            doze(place);
        }
        CHECK(!inside);
    }
    m.latch.count_down();
    m.latch.wait();
    CHECK(m.stop.stop_requested());
    CHECK(!m.stop.request_stop());
}

/* What is done once does something else once. */
void run_nested_once(struct event *event, unsigned role, uint64_t *place)
{
    meeting &m = of<meeting>(event);
    auto inner = [&] {
        std::this_thread::yield();
        m.made++;
    };
    doze(place);
    if (role % 2)
        std::call_once(m.inner, inner);
    std::call_once(m.outer, [&] {
        std::call_once(m.inner, inner);
        m.made++;
    });
    CHECK_EQ(m.made, 2);
}

int tries;
struct fragile {
    fragile()
    {
        std::this_thread::yield();
        if (tries++ < 2)
            throw std::runtime_error("not yet");
    }
};

/* A static of a function, whose making fails twice. */
void run_fragile(struct event *, unsigned, uint64_t *place)
{
    doze(place);
    for (;;)
        try {
            static fragile it;
            break;
        } catch (const std::runtime_error &) {
        }
    CHECK_EQ(tries, 3);
}

/* Destructors of a thread's variables wait. */
struct slow_end {
    struct event *event = nullptr;
    uint64_t place = 0;
    std::atomic<unsigned> *count = nullptr;
    ~slow_end()
    {
        if (!event)
            return;
        CHECK(wait_thing(event->thing[0], FOREVER, &place));
        ++*count;
    }
};

void run_slow_end(struct event *event, unsigned, uint64_t *place)
{
    std::atomic<unsigned> ended = 0;
    for (unsigned i = 0; i < event->rounds; i++) {
        std::thread thread([&, own = *place] {
            static thread_local slow_end first, second;
            for (slow_end *it : { &first, &second }) {
                it->event = event;
                it->place = own;
                it->count = &ended;
            }
        });
        for (unsigned j = 0; j < 2; j++) {
            doze(place);
            wake_thing(event->thing[0], place);
        }
        thread.join();
        CHECK_EQ(ended, 2 * (i + 1));
    }
}

/* Threads that nobody joins wake, and tell by a latch that they are gone. */
void run_detached(struct event *event, unsigned, uint64_t *place)
{
    auto gone = std::make_shared<std::latch>(event->rounds);
    for (unsigned i = 0; i < event->rounds; i++)
        std::thread([event, gone, own = *place + i]() mutable {
            doze(&own);
            wake_thing(event->thing[0], &own);
            gone->count_down();
        }).detach();
    for (unsigned i = 0; i < event->rounds; i++)
        CHECK(wait_thing(event->thing[0], FOREVER, place));
    gone->wait();
}

/* An exception of another thread. */
void run_exception(struct event *event, unsigned, uint64_t *place)
{
    for (unsigned i = 0; i < event->rounds; i++) {
        auto result =
            std::async(draw(place, 2) ? std::launch::async : std::launch::deferred, [i, own = *place]() mutable -> int {
                doze(&own);
                throw(int) i;
            });
        if (draw(place, 2))
            result.wait();
        try {
            result.get();
            CHECK(!"thrown");
        } catch (int number) {
            CHECK_EQ(number, i);
        }
    }
}

} // namespace

extern "C" {
const struct kind more_cxx_kinds[] = {
    { "atomic_ref", ORDERS, make<plain>, drop<plain>, wait_reference, wake_reference },
    { "atomic shared_ptr", ONCE | SINGLE | ORDERS, make<pointed>, drop<pointed>, wait_pointer, wake_pointer },
    { "notify_all_at_thread_exit", TIMED | ORDERS, make<told_at_end>, drop<told_at_end>, wait_told_at_end,
      wake_told_at_end },
    { "promise at the end of a thread", ONCE | SINGLE | ORDERS, make<promise>, drop<promise>, wait_promised,
      wake_promised },
    { "condition_variable_any that is shared", TIMED | ORDERS, make<shared_condition>, drop<shared_condition>,
      wait_shared_condition, wake_shared_condition },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

const struct lock_kind more_cxx_locks[] = {
    { "std::binary_semaphore", 0, make_lock<binary>, drop_lock<binary>, take_binary, give_binary },
    { "std::atomic_flag", 0, make_lock<flag>, drop_lock<flag>, take_flag, give_flag },
    { "std::shared_timed_mutex with limits", SHARES, make_lock<timed>, drop_lock<timed>, take_timed, give_timed },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

const struct pattern more_cxx_patterns[] = {
    { "std::barrier that is left", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_dropping, finish_dropping },
    { "std::stop_callback", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_callbacks, end_meeting },
    { "std::call_once within another", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_nested_once,
      end_meeting },
    { "static whose making fails", 1, MOST_THREADS, 0, 0, 0, 0, 0, ALONE, NULL, run_fragile, NULL },
    { "slow end of a thread", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_slow_end, NULL },
    { "detached std::thread", 1, 1, 1, 0, ONCE, 0, 0, 0, NULL, run_detached, NULL },
    { "exception of another thread", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_exception, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
}
