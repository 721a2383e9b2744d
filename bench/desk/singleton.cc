// A service that is made when it is first asked for, and counts its clients.
//
// Bug: instance() looks before it takes the lock, and does not look again behind it: two threads may each make one, and
//   the clients of the first are forgotten.
// Shows as: a failed assertion on the number of clients.
// FIXED: it looks again.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Service
{
  public:
    static Service *instance()
    {
        Service *service = instance_.load(std::memory_order_acquire); /* culprit */
        if (!service) {
            std::lock_guard<std::mutex> guard(making_); /* culprit */
#ifdef FIXED
            service = instance_.load(std::memory_order_acquire);
            if (service)
                return service;
#endif
            service = new Service;
            instance_.store(service, std::memory_order_release); /* culprit */
        }
        return service;
    }

    void add_client(int number)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        clients_.push_back(number);
    }

    std::size_t clients()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return clients_.size();
    }

  private:
    static std::atomic<Service *> instance_;
    static std::mutex making_;
    std::mutex mutex_;
    std::vector<int> clients_;
};

std::atomic<Service *> Service::instance_;
std::mutex Service::making_;

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i] { Service::instance()->add_client(i); });
    for (auto &thread : threads)
        thread.join();
    assert(Service::instance()->clients() == 3);
    std::printf("three clients\n");
    return 0;
}
