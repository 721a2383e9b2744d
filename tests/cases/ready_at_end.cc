/* libstdc++ makes a result ready inside its library, at the end of the thread that has set it, where nobody tells of
 * accesses: what others did behind that was called a race, and so was the end of the state that they share.
 *
 * BUILD: pct-c++ -O1 -g -pthread -o %p %s
 * RUN: for what in promise shared task dropped error; do
 *     pct run -q -s 1 -n 40 --races=fail --state none -- %p $what || exit 1; done
 * RUN 118: pct run -q -s 1 -n 60 --races=fail --state none -- %p early
 */
#include <cstring>
#include <future>
#include <stdexcept>
#include <thread>

static int value;

static void promise()
{
    std::promise<int> result;
    auto future = result.get_future();
    std::thread thread(
        [](std::promise<int> own) {
            value = 1;
            own.set_value_at_thread_exit(5);
            value = 2;
        },
        std::move(result));
    future.get();
    value++;
    thread.join();
}

static void shared()
{
    std::promise<int> result;
    auto future = result.get_future().share();
    auto see = [future] {
        future.get();
        return value;
    };
    std::thread first(see), second(see);
    std::thread thread([&] {
        result.set_value_at_thread_exit(5);
        value = 2;
    });
    first.join(), second.join(), thread.join();
}

static void task()
{
    std::packaged_task<int(int)> work([](int given) { return value = given; });
    auto future = work.get_future();
    std::thread thread([&] {
        work.make_ready_at_thread_exit(5);
        value = 7;
    });
    future.get();
    value++;
    thread.join();
}

/* Nobody waits: the thread or this one is the last to have the state. */
static void dropped()
{
    std::promise<int> result;
    auto future = result.get_future();
    std::thread thread([own = std::move(result)]() mutable { own.set_value_at_thread_exit(5); });
    future.wait_for(std::chrono::microseconds(1));
    future = {};
    thread.join();
}

static void error()
{
    std::promise<int> result;
    auto future = result.get_future();
    std::thread thread([&] {
        result.set_exception_at_thread_exit(std::make_exception_ptr(std::logic_error("an error")));
        value = 1;
    });
    try {
        future.get();
    } catch (std::logic_error &) {
        value = 2;
    }
    thread.join();
}

/* The result is there before the thread ends. */
static void early()
{
    std::promise<int> result;
    auto future = result.get_future();
    std::thread thread([&] {
        result.set_value(5);
        value = 1;
    });
    future.get();
    value = 2;
    thread.join();
}

int main(int, char **argv)
{
    const struct {
        const char *name;
        void (*run)();
    } all[] = { { "promise", promise }, { "shared", shared }, { "task", task },
                { "dropped", dropped }, { "error", error },   { "early", early } };
    for (auto &one : all)
        if (!strcmp(argv[1], one.name))
            one.run();
    return 0;
}
