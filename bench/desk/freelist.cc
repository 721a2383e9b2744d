// A free list of nodes with indices: pop takes the head in two steps (ABA), each step locked by itself.
//
// Bug: the head is the same again, and its next is not (ABA).
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Head
{
  public:
    int load()
    {
        std::lock_guard<std::mutex> g(mutex_);
        return value_;
    }
    bool swap_if(int expected, int wanted)
    {
        std::lock_guard<std::mutex> g(mutex_); // culprit
        if (value_ != expected)
            return false;
        value_ = wanted;
        return true;
    }

  private:
    std::mutex mutex_;
    int value_ = -1;
};

class Pool
{
  public:
    explicit Pool(int n) : next_(n, -1), owner_(n, 0)
    {
        for (int i = 0; i < n; i++)
            push(i);
    }
    void push(int i)
    {
#ifdef FIXED
        std::lock_guard<std::mutex> g(popping_);
#endif
        int head;
        do {
            head = head_.load();
            set_next(i, head);
        } while (!head_.swap_if(head, i));
    }
    int pop()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> g(popping_);
#endif
        int head, next;
        do {
            head = head_.load();
            if (head < 0)
                return -1;
            next = get_next(head);
        } while (!head_.swap_if(head, next));
        return head;
    }
    void own(int i, int who)
    {
        std::lock_guard<std::mutex> g(owners_);
        assert(owner_[i] == 0);
        owner_[i] = who;
    }
    void disown(int i)
    {
        std::lock_guard<std::mutex> g(owners_);
        owner_[i] = 0;
    }

  private:
    int get_next(int i)
    {
        std::lock_guard<std::mutex> g(links_); // culprit
        return next_[i];
    }
    void set_next(int i, int n)
    {
        std::lock_guard<std::mutex> g(links_);
        next_[i] = n;
    }
    Head head_;
#ifdef FIXED
    std::mutex popping_; // of two who pop, none sees what the other one takes and gives back
#endif
    std::mutex links_, owners_;
    std::vector<int> next_, owner_;
};

static void use(Pool &pool, int who)
{
    int a = pool.pop(), b = pool.pop();
    if (a >= 0)
        pool.own(a, who);
    if (b >= 0)
        pool.own(b, who);
    if (a >= 0) {
        pool.disown(a);
        pool.push(a);
    }
}

int main()
{
    Pool pool(3);
    std::thread a([&] { use(pool, 1); }), b([&] { use(pool, 2); });
    a.join();
    b.join();
    std::puts("ok");
}
