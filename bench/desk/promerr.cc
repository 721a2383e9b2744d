// A future and a promise of the program's own, and an executor.
//
// Bug: who sets an error wakes nobody.
// Shows as: a deadlock: who waits for the value by then waits for ever.
// FIXED: it wakes all.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

template <class T> struct State {
    std::mutex mu;
    std::condition_variable ready_cv;
    bool ready = false;
    T value{};
    std::exception_ptr error;
};

template <class T> class Future
{
  public:
    explicit Future(std::shared_ptr<State<T>> s) : s_(std::move(s))
    {
    }
    T get()
    {
        std::unique_lock<std::mutex> lk(s_->mu);
        s_->ready_cv.wait(lk, [&] { return s_->ready; }); // culprit
        if (s_->error)
            std::rethrow_exception(s_->error);
        return s_->value;
    }

  private:
    std::shared_ptr<State<T>> s_;
};

template <class T> class Promise
{
  public:
    Promise() : s_(std::make_shared<State<T>>())
    {
    }
    Future<T> future()
    {
        return Future<T>(s_);
    }
    void set_value(T v)
    {
        std::lock_guard<std::mutex> lk(s_->mu);
        s_->value = std::move(v);
        s_->ready = true;
        s_->ready_cv.notify_all();
    }
    void set_error(std::exception_ptr e)
    {
        std::lock_guard<std::mutex> lk(s_->mu); // culprit
        s_->error = std::move(e);
        s_->ready = true;
#ifdef FIXED
        s_->ready_cv.notify_all();
#endif
    }

  private:
    std::shared_ptr<State<T>> s_;
};

class Executor
{
  public:
    explicit Executor(int n)
    {
        for (int i = 0; i < n; i++)
            threads_.emplace_back([this] { run(); });
    }
    ~Executor()
    {
        {
            std::lock_guard<std::mutex> lk(mu_);
            closed_ = true;
        }
        cv_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    template <class F> auto submit(F f) -> Future<decltype(f())>
    {
        using T = decltype(f());
        auto p = std::make_shared<Promise<T>>();
        auto fut = p->future();
        post([p, f] {
            try {
                p->set_value(f());
            } catch (...) {
                p->set_error(std::current_exception());
            }
        });
        return fut;
    }

  private:
    void post(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> lk(mu_);
            jobs_.push_back(std::move(job));
        }
        cv_.notify_one();
    }
    void run()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lk(mu_);
                cv_.wait(lk, [this] { return closed_ || !jobs_.empty(); });
                if (jobs_.empty())
                    return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
        }
    }
    std::mutex mu_;
    std::condition_variable cv_;
    std::deque<std::function<void()>> jobs_;
    bool closed_ = false;
    std::vector<std::thread> threads_;
};

static int parse(int n)
{
    if (n == 3)
        throw std::invalid_argument("three");
    return n * 10;
}

int main()
{
    Executor ex(2);
    int sum = 0, errors = 0;
    std::vector<Future<int>> fs;
    for (int i = 1; i <= 4; i++)
        fs.push_back(ex.submit([i] { return parse(i); }));
    for (auto &f : fs) {
        try {
            sum += f.get();
        } catch (const std::invalid_argument &) {
            errors++;
        }
    }
    std::printf("sum %d, %d errors\n", sum, errors);
    return sum == 70 && errors == 1 ? 0 : 1;
}
