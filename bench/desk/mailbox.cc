// A mailbox that two readers empty.
//
// Bug: a reader waits with `if`, and all are woken for each letter: the second one takes from an empty box.
// Shows as: a failed assertion.
// FIXED: the wait has its predicate.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

class Mailbox
{
  public:
    void put(std::string letter)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        letters_.push_back(std::move(letter));
        arrived_.notify_all();
    }

    std::string take()
    {
        std::unique_lock<std::mutex> lock(mutex_);
#ifdef FIXED
        arrived_.wait(lock, [this] { return !letters_.empty(); });
#else
        if (letters_.empty())
            arrived_.wait(lock); /* culprit */
#endif
        assert(!letters_.empty());
        std::string letter = letters_.front();
        letters_.pop_front();
        return letter;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> letters_;
};

static void read_all(Mailbox &box, int letters)
{
    std::size_t length = 0;
    for (int i = 0; i < letters; i++)
        length += box.take().size();
    std::printf("%zu\n", length);
}

int main()
{
    Mailbox box;
    std::thread first([&] { read_all(box, 2); });
    std::thread second([&] { read_all(box, 2); });
    for (int i = 0; i < 4; i++)
        box.put("letter " + std::to_string(i));
    first.join();
    second.join();
}
