// An object of C++, whose count and list are its base class's, under a std::mutex; -DFIXED: looked at under it, too.
#include <cassert>
#include <mutex>

struct Item {
    int uses = 1;
};

struct Counted {
    int count = 1;
    Item *item = nullptr;
    static int all;
};
int Counted::all;

struct Named {
    const char *name = "";
};

struct Queue : Named, Counted {
    std::mutex lock;
};

Queue queue;
static Item only;

extern "C" __attribute__((noinline)) void take(Queue *q)
{
    assert(q->count > 0 && q->item->uses > 0);
    q->count--;
}

// Others.
extern "C" void steal(Queue *q)
{
    std::lock_guard<std::mutex> guard(q->lock);
    if (q->count > 0)
        q->count--;
}

extern "C" void wear(Item *i)
{
    std::lock_guard<std::mutex> guard(queue.lock);
    i->uses = 0;
}

extern "C" __attribute__((noinline)) void get(Queue *q)
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(q->lock);
#endif
    if (q->count > 0 && q->item->uses > 0)
        take(q);
}

int main()
{
    queue.item = &only;
    get(&queue);
    return 0;
}
