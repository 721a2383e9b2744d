// The address of a server that may move: its host and its port.
//
// Bug: the writer sets the host and the port in two sections; a client that reads between the two gets the new host
//   with the old port.
// Shows as: a failed assertion.
// FIXED: one section sets both.
#include <cassert>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>

class Endpoint
{
  public:
    void set_host(const std::string &host)
    {
        std::unique_lock<std::shared_mutex> guard(mutex_); /* culprit */
        host_ = host;
    }

    void set_port(int port)
    {
        std::unique_lock<std::shared_mutex> guard(mutex_); /* culprit */
        port_ = port;
    }

    void move_to(const std::string &host, int port)
    {
#ifdef FIXED
        std::unique_lock<std::shared_mutex> guard(mutex_);
        host_ = host;
        port_ = port;
#else
        set_host(host); /* culprit */
        set_port(port); /* culprit */
#endif
    }

    std::pair<std::string, int> get() const
    {
        std::shared_lock<std::shared_mutex> guard(mutex_); /* culprit */
        return { host_, port_ };
    }

  private:
    mutable std::shared_mutex mutex_;
    std::string host_ = "old";
    int port_ = 1000;
};

class Client
{
  public:
    explicit Client(const Endpoint &endpoint) : endpoint_(endpoint)
    {
    }

    void run()
    {
        for (int i = 0; i < 2; i++)
            connect();
    }

  private:
    void connect()
    {
        auto [host, port] = endpoint_.get();
        assert((host == "old") == (port == 1000));
        connections_++;
    }

    const Endpoint &endpoint_;
    int connections_ = 0;
};

int main()
{
    Endpoint endpoint;
    Client near(endpoint), far(endpoint);
    std::thread first([&] { near.run(); });
    std::thread second([&] { far.run(); });
    endpoint.move_to("new", 2000);
    first.join();
    second.join();
    std::printf("%s\n", endpoint.get().first.c_str());
}
