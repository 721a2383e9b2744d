// A pool of database connections: at most LIMIT; a connection is made without the lock, as that takes long.
//
// Bug: a connection is counted when it has been made, and the look at the count is long ago.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Server
{
  public:
    static constexpr int LIMIT = 2;
    void accept()
    {
        std::lock_guard<std::mutex> g(mutex_);
        open_++;
        assert(open_ <= LIMIT);
    }
    void drop()
    {
        std::lock_guard<std::mutex> g(mutex_);
        open_--;
    }

  private:
    std::mutex mutex_;
    int open_ = 0;
};

struct Connection {
    explicit Connection(Server &s) : server(s)
    {
        server.accept();
    }
    ~Connection()
    {
        server.drop();
    }
    Server &server;
    int queries = 0;
};

class Pool
{
  public:
    explicit Pool(Server &s) : server_(s)
    {
    }
    ~Pool()
    {
        for (auto *c : idle_)
            delete c;
    }
    Connection *get()
    {
        std::unique_lock<std::mutex> l(mutex_); // culprit
        while (idle_.empty()) {
            if (total_ < Server::LIMIT) {
#ifdef FIXED
                total_++;
#endif
                l.unlock();
                auto *c = new Connection(server_);
                l.lock(); // culprit
#ifndef FIXED
                total_++;
#endif
                return c;
            }
            returned_.wait(l);
        }
        auto *c = idle_.back();
        idle_.pop_back();
        return c;
    }
    void put(Connection *c)
    {
        std::lock_guard<std::mutex> g(mutex_);
        idle_.push_back(c);
        returned_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<Connection *> idle_;
    int total_ = 0;
    Server &server_;
};

int main()
{
    Server server;
    {
        Pool pool(server);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; i++)
            threads.emplace_back([&pool] {
                for (int n = 0; n < 2; n++) {
                    Connection *c = pool.get();
                    c->queries++;
                    pool.put(c);
                }
            });
        for (auto &t : threads)
            t.join();
    }
    std::puts("done");
}
