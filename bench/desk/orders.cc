// An order waits for its payment, at most for a while.
//
// Bug: who waits takes the end of the wait for the payment: that wait_for() timed out is not looked at.
// Shows as: a failed assertion: an order is shipped that is not paid.
// FIXED: the wait's result decides.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

class Order
{
  public:
    void pay(int amount)
    {
        std::lock_guard<std::mutex> guard(mutex_); // culprit
        paid_ += amount;
        changed_.notify_all();
    }

    // Whether it has been shipped.
    bool ship(int price)
    {
        std::unique_lock<std::mutex> lock(mutex_);
#ifdef FIXED
        if (!changed_.wait_for(lock, 50ms, [&] { return paid_ >= price; }))
            return false;
#else
        if (paid_ < price)
            changed_.wait_for(lock, 50ms); // culprit
#endif
        assert(paid_ >= price); // culprit
        shipped_ = true;
        return true;
    }

    bool shipped()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return shipped_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int paid_ = 0;
    bool shipped_ = false;
};

int main()
{
    Order order;
    std::thread shop([&order] { order.ship(20); });
    std::thread bank([&order] {
        std::this_thread::sleep_for(10ms);
        order.pay(20);
    });
    shop.join();
    bank.join();
    std::printf("%s\n", order.shipped() ? "shipped" : "not paid in time");
}
