// Pictures that are shared by count.
//
// Bug: the count is lowered in one section, and looked at in the next: two who let go at the same time both see zero.
// Shows as: a double free.
// FIXED: it is looked at where it is lowered.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

class Picture
{
  public:
    explicit Picture(size_t size) : size_(size), pixels_(static_cast<char *>(malloc(size)))
    {
    }

    void take()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        users_++;
    }

    void drop()
    {
#ifdef FIXED
        if (lower() == 0)
#else
        lower();
        if (unused())
#endif
            free(pixels_);
    }

    void clear()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        memset(pixels_, 0, size_);
    }

  private:
    int lower()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return --users_;
    }

    bool unused()
    {
        std::lock_guard<std::mutex> guard(mutex_); /* culprit */
        return users_ == 0;
    }

    std::mutex mutex_;
    size_t size_;
    char *pixels_;
    int users_ = 1;
};

} // namespace

int main()
{
    Picture picture(512);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) {
        picture.take();
        threads.emplace_back([&picture] {
            picture.clear();
            picture.drop();
        });
    }
    picture.drop();
    for (auto &thread : threads)
        thread.join();
    return 0;
}
