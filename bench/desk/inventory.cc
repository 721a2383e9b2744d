// A shop with a stock and a ledger, each with a lock of its own.
//
// Bug: a sale takes from the stock and writes the ledger in two sections; an inventory that comes between finds that
//   something is missing.
// Shows as: a failed assertion in the inventory.
// FIXED: a sale holds the shop's lock.
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Stock
{
  public:
    bool take(const std::string &item)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        auto found = items_.find(item);
        if (found == items_.end() || found->second == 0)
            return false;
        found->second--;
        return true;
    }

    int count()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        int sum = 0;
        for (auto &item : items_)
            sum += item.second;
        return sum;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> items_{ { "tea", 2 }, { "salt", 1 } };
};

class Ledger
{
  public:
    void write(const std::string &item)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        sold_.push_back(item);
    }

    int count()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return static_cast<int>(sold_.size());
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> sold_;
};

class Shop
{
  public:
    void sell(const std::string &item)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        if (stock_.take(item))
            ledger_.write(item);
    }

    void take_inventory()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        int there = stock_.count(), sold = ledger_.count();
#ifdef FIXED
        assert(there + sold == 3);
#else
        assert(there + sold >= 3); /* a sale between the two counts is in the ledger */
#endif
    }

  private:
    std::mutex mutex_;
    Stock stock_;
    Ledger ledger_;
};

int main()
{
    Shop shop;
    std::thread tea([&] { shop.sell("tea"); });
    std::thread salt([&] { shop.sell("salt"); });
    std::thread clerk([&] { shop.take_inventory(); });
    tea.join();
    salt.join();
    clerk.join();
    std::puts("counted");
}
