/* A promise and its futures; several threads may wait for one.
 *
 * Bug: the value is set behind the lock, but whether anybody waits is looked at before it is taken.
 * Shows as: a deadlock: who began to wait between is not woken.
 * FIXED: it looks behind the lock. */
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

template <class T> class Shared
{
  public:
    void set(T value)
    {
#ifndef FIXED
        bool waited = waited_for(); // culprit
#endif
        std::unique_lock<std::mutex> lock(mutex_);
        value_ = std::move(value);
#ifdef FIXED
        bool waited = waiters_ > 0;
#endif
        lock.unlock();
        if (waited)
            ready_.notify_all();
    }

    const T &get()
    {
        std::unique_lock<std::mutex> lock(mutex_); // culprit
        waiters_++;
        while (!value_)
            ready_.wait(lock); // culprit
        waiters_--;
        return *value_;
    }

  private:
    bool waited_for()
    {
        std::lock_guard<std::mutex> lock(mutex_); // culprit
        return waiters_ > 0;
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::optional<T> value_;
    int waiters_ = 0;
};

static std::string resolve(const std::string &name)
{
    return name + ".example.org";
}

int main()
{
    std::vector<std::shared_ptr<Shared<std::string>>> answers;
    for (int i = 0; i < 2; i++)
        answers.push_back(std::make_shared<Shared<std::string>>());
    std::thread resolver([answers] {
        for (size_t i = 0; i < answers.size(); i++)
            answers[i]->set(resolve("host" + std::to_string(i)));
    });
    std::vector<std::thread> clients;
    for (int i = 0; i < 2; i++)
        clients.emplace_back([answers, i] {
            for (const auto &answer : answers)
                printf("client %d: %s\n", i, answer->get().c_str());
        });
    for (auto &client : clients)
        client.join();
    resolver.join();
}
