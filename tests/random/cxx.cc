/* C++20: things to wait for, locks and events. What is of C++ stands behind `more`. */
#include "random.h"
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace
{

using std::chrono::microseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
constexpr std::chrono::seconds far_away(FAR);

/* --- Things ------------------------------------------------------------------------------------------------------ */

template <class T> T &of(struct thing *t)
{
    return *static_cast<T *>(t->more);
}

template <class T> void drop(struct thing *t)
{
    delete static_cast<T *>(t->more);
}

using semaphore = std::counting_semaphore<1000>;

void make_semaphore(struct thing *t)
{
    t->more = new semaphore(0);
}

bool wait_semaphore(struct thing *t, int64_t us, unsigned way)
{
    semaphore &it = of<semaphore>(t);
    if (us >= 0)
        return way & 1 ? it.try_acquire_for(microseconds(us))
                       : it.try_acquire_until(steady_clock::now() + microseconds(us));
    if (way % 8 == 0)
        while (!it.try_acquire())
            std::this_thread::yield();
    else if (way & 1)
        CHECK(it.try_acquire_for(far_away));
    else
        it.acquire();
    return true;
}

void wake_semaphore(struct thing *t, unsigned)
{
    of<semaphore>(t).release();
}

struct condition {
    std::mutex mutex;
    std::condition_variable cond;
    int count = 0;
};

void make_condition(struct thing *t)
{
    t->more = new condition;
}

bool wait_condition(struct thing *t, int64_t us, unsigned way)
{
    condition &it = of<condition>(t);
    std::unique_lock lock(it.mutex);
    auto there = [&] { return it.count > 0; };
    if (us >= 0 && !(way & 1 ? it.cond.wait_for(lock, microseconds(us), there)
                             : it.cond.wait_until(lock, system_clock::now() + microseconds(us), there)))
        return false;
    if (way & 1)
        it.cond.wait(lock, there);
    else
        CHECK(it.cond.wait_for(lock, far_away, there));
    it.count--;
    return true;
}

void wake_condition(struct thing *t, unsigned way)
{
    condition &it = of<condition>(t);
    std::unique_lock lock(it.mutex);
    it.count++;
    if (way & 1)
        it.cond.notify_one();
    else
        it.cond.notify_all();
}

struct any_condition {
    std::shared_mutex mutex;
    std::condition_variable_any cond;
    std::stop_source stop;
    std::atomic<int> count = 0;
};

void make_any_condition(struct thing *t)
{
    t->more = new any_condition;
}

bool wait_any_condition(struct thing *t, int64_t us, unsigned way)
{
    any_condition &it = of<any_condition>(t);
    std::unique_lock lock(it.mutex);
    auto there = [&] { return it.count > 0; };
    if (us >= 0) {
        if (!it.cond.wait_for(lock, microseconds(us), there))
            return false;
    } else if (way & 1) {
        it.cond.wait(lock, there);
    } else {
        CHECK(it.cond.wait(lock, it.stop.get_token(), there));
    }
    it.count--;
    return true;
}

void wake_any_condition(struct thing *t, unsigned way)
{
    any_condition &it = of<any_condition>(t);
    std::unique_lock lock(it.mutex);
    it.count++;
    lock.unlock();
    it.cond.notify_all();
    (void)way;
}

void make_promise(struct thing *t)
{
    t->more = new std::promise<int>;
}

bool wait_promise(struct thing *t, int64_t us, unsigned way)
{
    static_assert(sizeof(std::future<int>) <= sizeof(struct thing));
    std::promise<int> &it = of<std::promise<int>>(t);
    if (!t->count++)
        new (&t->mutex) std::future<int>(it.get_future());
    auto &future = *reinterpret_cast<std::future<int> *>(&t->mutex);
    if (us >= 0 && future.wait_for(microseconds(us)) != std::future_status::ready)
        return false;
    if (way & 1)
        CHECK(future.wait_until(system_clock::now() + far_away) == std::future_status::ready);
    CHECK_EQ(future.get(), 42);
    std::destroy_at(&future);
    return true;
}

void wake_promise(struct thing *t, unsigned)
{
    of<std::promise<int>>(t).set_value(42);
}

void make_latch(struct thing *t)
{
    t->more = new std::latch(1);
}

bool wait_latch(struct thing *t, int64_t, unsigned way)
{
    if (way & 1)
        while (!of<std::latch>(t).try_wait())
            std::this_thread::sleep_for(microseconds(10));
    else
        of<std::latch>(t).wait();
    return true;
}

void wake_latch(struct thing *t, unsigned)
{
    of<std::latch>(t).count_down();
}

using number = std::atomic<int>;

void make_atomic(struct thing *t)
{
    t->more = new number(0);
}

bool wait_atomic(struct thing *t, int64_t, unsigned)
{
    number &it = of<number>(t);
    for (int value = it;;)
        if (!value)
            it.wait(0), value = it;
        else if (it.compare_exchange_weak(value, value - 1))
            return true;
}

void wake_atomic(struct thing *t, unsigned way)
{
    of<number>(t)++;
    if (way & 1)
        of<number>(t).notify_one();
    else
        of<number>(t).notify_all();
}

struct flag {
    std::atomic_flag up;
    std::atomic<int> count = 0;
};

void make_flag(struct thing *t)
{
    t->more = new flag;
}

bool wait_flag(struct thing *t, int64_t, unsigned)
{
    of<flag>(t).up.wait(false);
    return true;
}

void wake_flag(struct thing *t, unsigned)
{
    of<flag>(t).up.test_and_set();
    of<flag>(t).up.notify_all();
}

void make_cxx_thread(struct thing *t)
{
    CHECK_OK(sem_init(&t->sem, 0, 0));
    t->more = new std::thread([t] { RESTARTED(sem_wait(&t->sem)); });
}

void drop_cxx_thread(struct thing *t)
{
    if (of<std::thread>(t).joinable()) {
        CHECK_OK(sem_post(&t->sem));
        of<std::thread>(t).join();
    }
    drop<std::thread>(t);
}

bool wait_cxx_thread(struct thing *t, int64_t, unsigned)
{
    of<std::thread>(t).join();
    return true;
}

void wake_cxx_thread(struct thing *t, unsigned)
{
    CHECK_OK(sem_post(&t->sem));
}

/* --- Locks ------------------------------------------------------------------------------------------------------- */

template <class T> T &of(struct lock *lock)
{
    return *static_cast<T *>(lock->more);
}

template <class T> void make(struct lock *lock)
{
    lock->more = new T;
}

template <class T> void drop(struct lock *lock)
{
    delete static_cast<T *>(lock->more);
}

template <class T> bool take(struct lock *lock, bool, unsigned way)
{
    if (way == WAY_TRY)
        return of<T>(lock).try_lock();
    if constexpr (requires(T & it) { it.try_lock_for(far_away); }) {
        if (way == WAY_SHORT) {
            while (!of<T>(lock).try_lock_for(microseconds(100)))
                continue;
            return true;
        }
        if (way == WAY_FAR) {
            CHECK(of<T>(lock).try_lock_until(system_clock::now() + far_away));
            return true;
        }
    }
    of<T>(lock).lock();
    return true;
}

template <class T> void give(struct lock *lock)
{
    of<T>(lock).unlock();
}

/* Who has it shared is known by who has it alone. */
template <class T> struct both {
    T mutex;
    std::atomic<bool> alone = false;
};

template <class T> bool take_both(struct lock *lock, bool shared, unsigned way)
{
    both<T> &it = of<both<T>>(lock);
    if (way == WAY_TRY && !(shared ? it.mutex.try_lock_shared() : it.mutex.try_lock()))
        return false;
    if (way != WAY_TRY && shared)
        it.mutex.lock_shared();
    if (way != WAY_TRY && !shared)
        it.mutex.lock();
    it.alone = !shared;
    return true;
}

template <class T> void give_both(struct lock *lock)
{
    both<T> &it = of<both<T>>(lock);
    if (it.alone) {
        it.alone = false;
        it.mutex.unlock();
    } else {
        it.mutex.unlock_shared();
    }
}

/* --- Events ------------------------------------------------------------------------------------------------------ */

struct meeting {
    std::barrier<std::function<void()>> barrier;
    std::once_flag once;
    std::latch latch;
    int phases = 0, inits = 0;
    std::mutex mutex[3];
    int guarded = 0;
    meeting(int parties) : barrier(parties, [this]() noexcept { phases++; }), latch(parties)
    {
    }
};

void prepare_meeting(struct event *event)
{
    event->more = new meeting((int)event->parties);
}

meeting &meeting_of(struct event *event)
{
    return *static_cast<meeting *>(event->more);
}

void end_meeting(struct event *event)
{
    delete &meeting_of(event);
}

void run_barrier(struct event *event, unsigned, uint64_t *place)
{
    meeting &m = meeting_of(event);
    for (unsigned i = 0; i < event->rounds; i++) {
        CHECK_EQ(m.phases, 2 * i);
        doze(place);
        if (draw(place, 2))
            m.barrier.wait(m.barrier.arrive());
        else
            m.barrier.arrive_and_wait();
        CHECK_EQ(m.phases, 2 * i + 1);
        m.barrier.arrive_and_wait();
    }
}

void run_latch(struct event *event, unsigned role, uint64_t *place)
{
    event->data[role] = 1;
    doze(place);
    meeting_of(event).latch.arrive_and_wait();
    for (unsigned i = 0; i < event->parties; i++)
        CHECK_EQ(event->data[i], 1);
}

/* The first attempt throws. */
void run_call_once(struct event *event, unsigned, uint64_t *place)
{
    meeting &m = meeting_of(event);
    bool throws = event->seed & 1;
    for (bool done = false; !done;)
        try {
            std::call_once(m.once, [&] {
                doze(place);
                if (m.inits++ == 0 && throws)
                    throw 1;
            });
            done = true;
        } catch (int) {
        }
    CHECK_EQ(m.inits, 1 + throws);
}

/* A static of a function, made by the first. */
int made;
struct slow {
    slow()
    {
        made++;
        std::this_thread::sleep_for(microseconds(20));
        made++;
    }
};

void run_static(struct event *, unsigned, uint64_t *place)
{
    doze(place);
    static slow it;
    CHECK_EQ(made, 2);
}

void run_scoped(struct event *event, unsigned role, uint64_t *place)
{
    meeting &m = meeting_of(event);
    for (unsigned i = 0; i < event->rounds; i++) {
        doze(place);
        switch ((role + i) % 3) {
        case 0: {
            std::scoped_lock lock(m.mutex[0], m.mutex[1]);
            m.guarded++;
            break;
        }
        case 1: {
            std::scoped_lock lock(m.mutex[2], m.mutex[1], m.mutex[0]);
            m.guarded++;
            break;
        }
        case 2: {
            std::unique_lock first(m.mutex[1], std::defer_lock), second(m.mutex[0], std::defer_lock);
            std::lock(first, second);
            m.guarded++;
            break;
        }
        }
    }
}

void finish_scoped(struct event *event)
{
    CHECK_EQ(meeting_of(event).guarded, event->rounds * event->parties);
    event->result = meeting_of(event).guarded;
    end_meeting(event);
}

/* Threads that are asked to stop, and stop. */
void run_stopped(struct event *event, unsigned, uint64_t *place)
{
    std::mutex mutex;
    std::condition_variable_any cond;
    std::atomic<unsigned> stopped = 0;
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < event->rounds; i++)
            threads.emplace_back([&](std::stop_token token) {
                std::stop_callback callback(token, [&] { stopped++; });
                std::unique_lock lock(mutex);
                CHECK(!cond.wait(lock, token, [] { return false; }));
                while (!token.stop_requested())
                    std::this_thread::yield();
            });
        doze(place);
    }
    CHECK(stopped <= event->rounds); /* a callback that went before its turn is not called */
}

void run_async(struct event *event, unsigned, uint64_t *place)
{
    std::vector<std::future<int>> results;
    for (unsigned i = 0; i < event->rounds; i++) {
        uint64_t own = *place + i;
        results.push_back(std::async(draw(place, 3) ? std::launch::async : std::launch::deferred, [own, i]() mutable {
            doze(&own);
            return (int)i;
        }));
    }
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    auto last = task.get_future();
    std::thread thread(std::move(task), 7);
    std::shared_future<int> shared = last.share();
    CHECK_EQ(shared.get(), 8);
    thread.join();
    for (unsigned i = 0; i < event->rounds; i++)
        CHECK_EQ(results[i].get(), i);
}

/* Its destructor runs when its thread ends. */
struct counted {
    std::atomic<unsigned> *count = nullptr;
    ~counted()
    {
        if (count)
            ++*count;
    }
};

void run_thread_local(struct event *event, unsigned, uint64_t *place)
{
    std::atomic<unsigned> ended = 0;
    for (unsigned i = 0; i < event->rounds; i++) {
        std::thread thread([&] {
            static thread_local counted own;
            std::random_device device;
            own.count = &ended;
            doze(place);
            device();
        });
        thread.join();
        CHECK_EQ(ended, i + 1);
    }
}

} // namespace

extern "C" {
const struct kind cxx_kinds[] = {
    { "counting_semaphore", TIMED | ORDERS, make_semaphore, drop<semaphore>, wait_semaphore, wake_semaphore },
    { "condition_variable", TIMED | ORDERS, make_condition, drop<condition>, wait_condition, wake_condition },
    { "condition_variable_any", TIMED | ORDERS, make_any_condition, drop<any_condition>, wait_any_condition,
      wake_any_condition },
    { "promise", TIMED | ONCE | SINGLE | ORDERS, make_promise, drop<std::promise<int>>, wait_promise, wake_promise },
    { "latch", ONCE | SINGLE | ORDERS, make_latch, drop<std::latch>, wait_latch, wake_latch },
    { "atomic wait", ORDERS, make_atomic, drop<number>, wait_atomic, wake_atomic },
    { "atomic_flag", ONCE | SINGLE | ORDERS, make_flag, drop<flag>, wait_flag, wake_flag },
    { "std::thread", ONCE | SINGLE | ORDERS, make_cxx_thread, drop_cxx_thread, wait_cxx_thread, wake_cxx_thread },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

const struct lock_kind cxx_locks[] = {
    { "std::mutex", 0, make<std::mutex>, drop<std::mutex>, take<std::mutex>, give<std::mutex> },
    { "std::timed_mutex", 0, make<std::timed_mutex>, drop<std::timed_mutex>, take<std::timed_mutex>,
      give<std::timed_mutex> },
    { "std::recursive_mutex", RECURSIVE, make<std::recursive_mutex>, drop<std::recursive_mutex>,
      take<std::recursive_mutex>, give<std::recursive_mutex> },
    { "std::recursive_timed_mutex", RECURSIVE, make<std::recursive_timed_mutex>, drop<std::recursive_timed_mutex>,
      take<std::recursive_timed_mutex>, give<std::recursive_timed_mutex> },
    { "std::shared_mutex", SHARES, make<both<std::shared_mutex>>, drop<both<std::shared_mutex>>,
      take_both<std::shared_mutex>, give_both<std::shared_mutex> },
    { "std::shared_timed_mutex", SHARES, make<both<std::shared_timed_mutex>>, drop<both<std::shared_timed_mutex>>,
      take_both<std::shared_timed_mutex>, give_both<std::shared_timed_mutex> },
    { NULL, 0, NULL, NULL, NULL, NULL },
};

const struct pattern cxx_patterns[] = {
    { "std::barrier", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_barrier, end_meeting },
    { "std::latch", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_latch, end_meeting },
    { "std::call_once", 1, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_call_once, end_meeting },
    { "static of a function", 2, MOST_THREADS, 0, 0, 0, 0, 0, ALONE, NULL, run_static, NULL },
    { "std::scoped_lock", 2, MOST_THREADS, 0, 0, 0, 0, 0, 0, prepare_meeting, run_scoped, finish_scoped },
    { "std::jthread", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_stopped, NULL },
    { "thread_local", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_thread_local, NULL },
    { "std::async", 1, 1, 0, 0, 0, 0, 0, 0, NULL, run_async, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
}
