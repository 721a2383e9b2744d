// A stack of free buffers, by number, without a lock.
//
// Bug: a pop reads the head and what is below it, and exchanges the head if it is the same: it may have gone and come
// back.
// Shows as: a failed assertion: a buffer has two owners.
// FIXED: a tag beside the number.
#include <atomic>
#include <cassert>
#include <thread>

static const unsigned NONE = 0xff;
static std::atomic<unsigned> head{ NONE };
static std::atomic<unsigned> below[4];
static std::atomic<int> owners[4];

static unsigned tagged(unsigned old, unsigned number)
{
#ifdef FIXED
    return ((old >> 8) + 1) << 8 | number;
#else
    (void)old;
    return number;
#endif
}

static void push(unsigned number)
{
    unsigned old = head.load();
    do
        below[number].store(old & 0xff);
    while (!head.compare_exchange_strong(old, tagged(old, number))); // culprit
}

static unsigned pop()
{
    unsigned old = head.load(); // culprit
    for (;;) {
        if ((old & 0xff) == NONE)
            return NONE;
        unsigned next = below[old & 0xff].load();                 // culprit
        if (head.compare_exchange_strong(old, tagged(old, next))) // culprit
            return old & 0xff;
    }
}

static unsigned take()
{
    unsigned number = pop();
    if (number != NONE)
        assert(owners[number].fetch_add(1) == 0);
    return number;
}

static void give(unsigned number)
{
    if (number == NONE)
        return;
    owners[number].fetch_sub(1);
    push(number);
}

int main()
{
    for (unsigned i = 0; i < 3; i++)
        push(i);
    std::thread reader([] { take(); });
    std::thread writer([] {
        unsigned first = take(), second = take();
        give(first);
        give(take());
        (void)second;
    });
    reader.join();
    writer.join();
    take();
    take();
}
