// Accounts share a few locks: account n is under lock n % 3. A transfer takes both locks in the order of the accounts.
//
// Bug: the order of the accounts is not the order of their locks: 2 -> 3 takes lock 2 before lock 0, 0 -> 2 takes lock
//   0 before lock 2.
// Shows as: deadlock.
// FIXED: std::scoped_lock.
#include <array>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

class Ledger
{
  public:
    Ledger()
    {
        balance_.fill(100);
    }

    void transfer(unsigned from, unsigned to, int amount)
    {
        std::mutex &first = lock_of(std::min(from, to));
        std::mutex &second = lock_of(std::max(from, to));
        if (&first == &second) {
            std::lock_guard<std::mutex> guard(first);
            move(from, to, amount);
            return;
        }
#ifdef FIXED
        std::scoped_lock guard(first, second);
#else
        std::lock_guard<std::mutex> one(first);  // culprit
        std::lock_guard<std::mutex> two(second); // culprit
#endif
        move(from, to, amount);
    }

    int sum() const
    {
        int sum = 0;
        for (int balance : balance_)
            sum += balance;
        return sum;
    }

  private:
    std::mutex &lock_of(unsigned account)
    {
        return locks_[account % locks_.size()];
    }

    void move(unsigned from, unsigned to, int amount)
    {
        balance_[from] -= amount;
        balance_[to] += amount;
    }

    std::array<std::mutex, 3> locks_;
    std::array<int, 6> balance_;
};

int main()
{
    Ledger ledger;
    std::vector<std::pair<unsigned, unsigned>> jobs{ { 0, 1 }, { 2, 3 }, { 0, 2 }, { 4, 5 } };
    std::vector<std::thread> threads;
    for (auto job : jobs)
        threads.emplace_back([&ledger, job] { ledger.transfer(job.first, job.second, 10); });
    for (auto &thread : threads)
        thread.join();
    assert(ledger.sum() == 600);
    std::puts("done");
}
