// A cache of thumbnails with two places: who needs one looks it up, else makes it and evicts the oldest.
//
// Bug: what was looked up is used when the lock is given back, and may have been evicted by then.
// Shows as: an assertion: a thumbnail that has been evicted is drawn.
// FIXED: it is kept alive by a shared pointer and marked only when nobody has it.
#include <cassert>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

struct thumbnail {
    int image;
    std::mutex lock;
    bool alive = true;
    int drawn = 0;
    explicit thumbnail(int number) : image(number)
    {
    }
};

class cache
{
  public:
    std::shared_ptr<thumbnail> get(int image)
    {
        std::lock_guard<std::mutex> hold(lock_); // culprit
        for (auto &one : list_)
            if (one->image == image)
                return one;
        auto made = std::make_shared<thumbnail>(image);
        list_.push_back(made);
        if (list_.size() > 2) {
            auto victim = list_.front();
            list_.pop_front();
#ifdef FIXED
            if (victim.use_count() > 1)
                return made;
#endif
            std::lock_guard<std::mutex> inner(victim->lock); // culprit
            victim->alive = false;
        }
        return made;
    }

  private:
    std::mutex lock_;
    std::list<std::shared_ptr<thumbnail>> list_;
};

static void draw(thumbnail &one)
{
    std::lock_guard<std::mutex> hold(one.lock); // culprit
    assert(one.alive);
    one.drawn++;
}

int main()
{
    cache images;
    std::thread viewer([&] {
        for (int i = 0; i < 2; i++) {
            auto one = images.get(1); // culprit
            draw(*one);               // culprit
        }
    });
    std::thread scroller([&] {
        for (int i = 2; i < 4; i++) {
            auto one = images.get(i); // culprit
            draw(*one);
        }
    });
    viewer.join();
    scroller.join();
    return 0;
}
