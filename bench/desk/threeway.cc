// Orders, stock and a journal, each with a lock.
//
// Bug: orders lock the stock, the stock locks the journal, and the journal, when it is full, asks the orders.
// Shows as: a deadlock of three threads.
// FIXED: the journal is asked without its lock.
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Orders;

class Journal
{
  public:
    void write(const std::string &line)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        lines_.push_back(line);
    }

    void compact(Orders &orders);

  private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

class Stock
{
  public:
    explicit Stock(Journal &journal) : journal_(journal)
    {
    }

    bool take(const std::string &what)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return count_[what]-- > 0;
    }

    void fill(const std::string &what, int by)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        count_[what] += by;
        journal_.write("filled " + what); /* culprit */
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> count_;
    Journal &journal_;
};

class Orders
{
  public:
    explicit Orders(Stock &stock) : stock_(stock)
    {
    }

    void place(const std::string &what)
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        if (stock_.take(what))                     /* culprit */
            open_++;
    }

    int open()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return open_;
    }

  private:
    std::mutex mutex_;
    int open_ = 0;
    Stock &stock_;
};

void Journal::compact(Orders &orders)
{
#ifdef FIXED
    int open = orders.open();
    std::lock_guard<std::mutex> guard(mutex_);
    lines_.resize(static_cast<size_t>(open));
#else
    std::lock_guard<std::mutex> guard(mutex_);         /* culprit */
    lines_.resize(static_cast<size_t>(orders.open())); /* culprit */
#endif
}

int main()
{
    Journal journal;
    Stock stock(journal);
    Orders orders(stock);
    stock.fill("nail", 5);
    std::thread seller([&] { orders.place("nail"); });
    std::thread supplier([&] { stock.fill("nail", 5); });
    std::thread keeper([&] { journal.compact(orders); });
    seller.join();
    supplier.join();
    keeper.join();
    return 0;
}
