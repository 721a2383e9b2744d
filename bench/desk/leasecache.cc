// A cache of rendered pages, with room for two. Who asks for a page gets a pointer to it and reads it without the lock.
//
// Bug: nothing keeps a page that somebody reads: when another page needs room, the place of the oldest is used.
// Shows as: an exit status of 1: the reader has another page than it asked for.
// FIXED: pages are counted, and a place is used anew only if nobody reads.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct page {
    std::mutex mutex;
    std::string name, text;
    int readers = 0;
    unsigned used = 0;

    std::string read()
    {
        std::lock_guard<std::mutex> hold(mutex); // culprit
        return text;
    }

    void render(const std::string &as)
    {
        std::lock_guard<std::mutex> hold(mutex); // culprit
        name = as;
        text = "<h1>" + as + "</h1>";
    }
};

class cache
{
  public:
    page *get(const std::string &name)
    {
        std::unique_lock<std::mutex> hold(mutex_); // culprit
        for (;;) {
            page *oldest = nullptr;
            for (page &each : pages_) {
                if (each.name == name) {
                    each.used = ++clock_;
                    each.readers++;
                    return &each;
                }
#ifdef FIXED
                if (each.readers)
                    continue;
#endif
                if (!oldest || each.used < oldest->used)
                    oldest = &each;
            }
            if (oldest) {
                oldest->render(name); // culprit
                oldest->used = ++clock_;
                oldest->readers++;
                return oldest;
            }
            given_back_.wait(hold);
        }
    }

    void put(page *one)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        one->readers--;
        given_back_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable given_back_;
    std::array<page, 2> pages_;
    unsigned clock_ = 0;
};

static bool request(cache &pages, const std::string &name)
{
    page *one = pages.get(name);    // culprit
    std::string text = one->read(); // culprit
    pages.put(one);
    return text == "<h1>" + name + "</h1>";
}

int main()
{
    cache pages;
    std::mutex wrong_mutex;
    int wrong = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; i++)
        clients.emplace_back([&, i] {
            for (int page = 0; page < 2; page++)
                if (!request(pages, "page" + std::to_string((i + page) % 3))) {
                    std::lock_guard<std::mutex> hold(wrong_mutex);
                    wrong++;
                }
        });
    for (auto &client : clients)
        client.join();
    std::printf("%d wrong pages\n", wrong);
    return wrong ? 1 : 0;
}
