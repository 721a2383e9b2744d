// A cache of decoded images with two places; the one that was used least recently is evicted. Who draws an image pins
// it for as long as it draws.
//
// Bug: the image is looked up in one section and pinned in the next one; in between it may be evicted, and its place
// have another image.
// Shows as: an exit status of 1: a wrong image was drawn.
// FIXED: it is pinned where it is found.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

struct image {
    int id = -1;
    int pins = 0;
    std::array<int, 4> pixels{};
};

class image_cache
{
  public:
    // The image, pinned.
    image *open(int id)
    {
        image *found = lookup(id);
        if (!found)
            found = load(id);
#ifndef FIXED
        pin(found);
#endif
        return found;
    }

    void close(image *what)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        if (--what->pins == 0)
            unpinned_.notify_one();
    }

    unsigned misses()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        return misses_;
    }

  private:
    image *lookup(int id)
    {
        std::lock_guard<std::mutex> hold(mutex_); // culprit
        auto it = by_id_.find(id);
        if (it == by_id_.end())
            return nullptr;
        recent_.splice(recent_.begin(), recent_, it->second);
#ifdef FIXED
        (*it->second)->pins++;
#endif
        return *it->second;
    }

    void pin(image *what)
    {
        std::lock_guard<std::mutex> hold(mutex_); // culprit
        what->pins++;
    }

    image *load(int id)
    {
        std::unique_lock<std::mutex> hold(mutex_); // culprit
        image *place = nullptr;
        while (!(place = by_id_.count(id) ? *by_id_[id] : free_place()))
            unpinned_.wait(hold);
        if (place->id != id) {
            misses_++;
            place->id = id;
            for (int &pixel : place->pixels)
                pixel = id;
            recent_.push_front(place);
            by_id_[id] = recent_.begin();
        }
#ifdef FIXED
        place->pins++;
#endif
        return place;
    }

    image *free_place()
    {
        for (image &place : places_)
            if (place.id < 0)
                return &place;
        for (auto it = recent_.rbegin(); it != recent_.rend(); ++it)
            if ((*it)->pins == 0) {
                image *place = *it;
                recent_.erase(by_id_[place->id]);
                by_id_.erase(place->id);
                return place;
            }
        return nullptr;
    }

    std::mutex mutex_;
    std::condition_variable unpinned_;
    std::array<image, 2> places_;
    std::list<image *> recent_;
    std::unordered_map<int, std::list<image *>::iterator> by_id_;
    unsigned misses_ = 0;
};

class screen
{
  public:
    void draw(const image &what, int expected)
    {
        std::lock_guard<std::mutex> hold(mutex_); // culprit
        for (int pixel : what.pixels)
            wrong_ += pixel != expected;
        drawn_++;
    }

    bool good() const
    {
        return wrong_ == 0;
    }
    int drawn() const
    {
        return drawn_;
    }

  private:
    std::mutex mutex_;
    int wrong_ = 0, drawn_ = 0;
};

int main()
{
    image_cache cache;
    screen page;
    std::vector<std::thread> painters;
    for (int painter = 0; painter < 2; painter++)
        painters.emplace_back([&, painter] {
            for (int i = 0; i < 3; i++) {
                int id = (painter * 2 + i) % 4;
                image *what = cache.open(id);
                page.draw(*what, id);
                cache.close(what);
            }
        });
    for (auto &painter : painters)
        painter.join();
    std::printf("%d drawn, %u loaded\n", page.drawn(), cache.misses());
    return page.good() ? 0 : 1;
}
