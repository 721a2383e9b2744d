// Accounts in a table, and payments that are refused where an account is closed.
//
// Bug: the lock is taken and let go by hand, and an exception goes past the letting go.
// Shows as: a deadlock, where an account is closed before the payment.
// FIXED: a guard lets go.
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

class Ledger
{
  public:
    void open(int number, int amount)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        accounts_[number] = amount;
    }

    void close(int number)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        accounts_.erase(number);
    }

    void pay(int from, int to, int amount)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex_);
        move(from, to, amount);
#else
        mutex_.lock(); /* culprit */
        move(from, to, amount);
        mutex_.unlock();
#endif
    }

    int total()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        int sum = 0;
        for (const auto &account : accounts_)
            sum += account.second;
        return sum;
    }

  private:
    void move(int from, int to, int amount)
    {
        int &source = accounts_.at(from);
        int &target = accounts_.at(to);
        source -= amount;
        target += amount;
    }

    std::mutex mutex_;
    std::map<int, int> accounts_;
};

void payer(Ledger &ledger, int from, int to)
{
    try {
        ledger.pay(from, to, 5);
    } catch (const std::out_of_range &) {
        return; // refused
    }
}

} // namespace

int main()
{
    Ledger ledger;
    for (int i = 0; i < 3; i++)
        ledger.open(i, 100);
    std::vector<std::thread> threads;
    threads.emplace_back([&ledger] { payer(ledger, 0, 1); });
    threads.emplace_back([&ledger] { payer(ledger, 1, 2); });
    threads.emplace_back([&ledger] {
        ledger.total();
        ledger.close(2);
    });
    for (auto &thread : threads)
        thread.join();
    return ledger.total() > 300;
}
