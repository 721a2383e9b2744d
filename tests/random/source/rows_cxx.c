/* The rows of C++20; see emit.h. */
#include "emit.h"
#include <stddef.h>

const struct pattern_row pattern_rows_cxx[] = {
    { "std::jthread", CXX, 1, 4, "", NULL,
      "    std::vector<long> values(@K + 1, @C);\n    long sum = 0;\n"
      "    { std::jthread other([&] { for (long &value : values) value += @R; }); }\n    for (long value : values) sum "
      "+= value;\n    return sum;\n",
      NULL, NULL },
    { "std::promise", CXX, 2, 2, "static std::promise<std::vector<long>> $promise;", NULL,
      "    std::vector<long> values;\n    for (int i = 0; i < @K; i++) values.push_back(@C + i);\n    "
      "$promise.set_value(std::move(values));\n    return 0;\n",
      "    auto values = $promise.get_future().get();\n    return std::accumulate(values.begin(), values.end(), 0L);\n",
      NULL },
    { "std::shared_future", CXX, 2, 6,
      "static std::promise<long> $promise; static std::shared_future<long> $future($promise.get_future()); static long "
      "$data;",
      NULL, "    $data = @C;\n    $promise.set_value(1);\n    return 0;\n",
      "    auto mine = $future;\n    return mine.get() + $data;\n", NULL },
    { "std::async", CXX, 1, 4, "", NULL,
      "    long local = @C;\n    auto twice = std::async(std::launch::async, [&] { return local += @R, local * 2; });\n"
      "    long result = twice.get();\n    return result + local;\n",
      NULL, NULL },
    { "exception through std::async", CXX, 1, 3, "struct $error { long value; };", NULL,
      "    try {\n        std::async(std::launch::async, []() -> long { throw $error{ @C }; }).get();\n    } catch "
      "(const $error &e) {\n        return e.value;\n    }\n"
      "    return -1;\n",
      NULL, NULL },
    { "std::packaged_task", CXX, 2, 2, "static std::packaged_task<long(long)> $task([](long x) { return x * @C; });",
      NULL, "    $task(@K);\n    return 0;\n", "    return $task.get_future().get();\n", NULL },
    { "std::latch", CXX, 1, 6, "static std::latch $latch(@N); static long $slot[@N];", NULL,
      "    long sum = 0;\n    $slot[@R] = @C + @R;\n    $latch.arrive_and_wait();\n    for (long value : $slot) sum += "
      "value;\n    return sum;\n",
      NULL, NULL },
    { "std::barrier", CXX, 1, 6,
      "static long $slot[@N], $total;\nstruct $complete { void operator()() noexcept { for (long value : $slot) $total "
      "+= value; } };\n"
      "static std::barrier<$complete> $barrier(@N);",
      NULL,
      "    long sum = 0;\n    for (int i = 0; i < @K; i++) {\n        $slot[@R] = @C + i;\n        "
      "$barrier.arrive_and_wait();\n        sum += $total;\n        $barrier.arrive_and_wait();\n    }\n"
      "    return sum;\n",
      NULL, "$total" },
    { "std::counting_semaphore", CXX, 2, 6, "static std::counting_semaphore<8> $sem(0); static long $data;", NULL,
      "    $data = @C;\n    $sem.release(@N - 1);\n    return 0;\n",
      "    if (@C % 2) $sem.acquire(); else while (!$sem.try_acquire_for(std::chrono::microseconds(30)));\n    return "
      "$data;\n",
      NULL },
    { "std::condition_variable", CXX, 2, 6,
      "static std::mutex $mutex; static std::condition_variable $cond; static std::vector<long> $queue;", NULL,
      "    for (int i = 1; i < @N; i++) {\n        std::lock_guard guard($mutex);\n        $queue.push_back(@C);\n     "
      "   $cond.notify_one();\n    }\n    return 0;\n",
      "    std::unique_lock guard($mutex);\n    if (@C % 2) $cond.wait(guard, [] { return !$queue.empty(); });\n"
      "    else while (!$cond.wait_for(guard, std::chrono::microseconds(40), [] { return !$queue.empty(); }));\n"
      "    long value = $queue.back();\n    $queue.pop_back();\n    return value;\n",
      "(long)$queue.size()" },
    { "std::condition_variable_any", CXX, 2, 2,
      "static std::shared_mutex $mutex; static std::condition_variable_any $cond; static long $data;", NULL,
      "    { std::unique_lock guard($mutex); $data = @C; }\n    $cond.notify_all();\n    return 0;\n",
      "    std::shared_lock guard($mutex);\n    $cond.wait(guard, [] { return $data != 0; });\n    return $data;\n",
      NULL },
    { "atomic wait", CXX, 2, 6, "static std::atomic<int> $ready; static long $data;", NULL,
      "    $data = @C;\n    $ready.store(1, std::memory_order_release);\n    $ready.notify_all();\n    return 0;\n",
      "    $ready.wait(0, std::memory_order_acquire);\n    while (!$ready.load(std::memory_order_acquire));\n    "
      "return $data;\n",
      NULL },
    { "std::shared_ptr", CXX, 2, 6,
      "static std::mutex $mutex; static std::shared_ptr<const std::vector<long>> $shared = std::make_shared<const "
      "std::vector<long>>(4, @C);",
      NULL,
      "    std::shared_ptr<const std::vector<long>> old;\n    std::lock_guard guard($mutex);\n    old.swap($shared);\n"
      "    $shared = std::make_shared<const std::vector<long>>(4, @C);\n    return 0;\n",
      "    std::shared_ptr<const std::vector<long>> mine;\n    { std::lock_guard guard($mutex); mine = $shared; }\n"
      "    return std::accumulate(mine->begin(), mine->end(), 0L);\n",
      NULL },
    { "std::call_once", CXX, 1, 6, "static std::once_flag $once; static long $data;", NULL,
      "    std::call_once($once, [] { $data += @C; });\n    return $data;\n", NULL, NULL },
    { "static in a function", CXX, 1, 6,
      "static long $made;\nstruct $table { std::vector<long> of; $table() : of(5, @C) { $made++; } };\n"
      "static const $table &$the() { static const $table table; return table; }",
      NULL, "    const auto &of = $the().of;\n    return std::accumulate(of.begin(), of.end(), 0L);\n", NULL, "$made" },
    { "std::scoped_lock", CXX, 2, 6, "static std::mutex $left, $right; static long $a;", NULL,
      "    std::scoped_lock guard($left, $right);\n    $a += @C;\n    return 0;\n",
      "    std::scoped_lock guard($right, $left);\n    $a += @C + @R;\n    return 0;\n", "$a" },
    { "thread_local", CXX, 1, 4,
      "static std::atomic<long> $gone;\nstruct $own { long value = @C; ~$own() { $gone.fetch_add(value, "
      "std::memory_order_relaxed); } };\n"
      "static thread_local $own $mine;",
      NULL, "    std::thread([] { $mine.value += @R; }).join();\n    return 0;\n", NULL,
      "$gone.load(std::memory_order_relaxed)" },
    { "std::stop_token", CXX, 1, 3, "", NULL,
      "    long value = 0;\n    { std::jthread other([&](std::stop_token stop) { while (!stop.stop_requested()) "
      "std::this_thread::yield(); value = @C; }); }\n    return value;\n",
      NULL, NULL },
    { .name = NULL },
};
