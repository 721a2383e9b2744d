// A lost update in a member function.
#include <cassert>
#include <thread>

struct Box {
    int sum = 0;
    __attribute__((noinline)) void add(int value);
};

void Box::add(int value)
{
    sum += value;
}

int main()
{
    static Box box;
    std::thread a([] { box.add(1); }), b([] { box.add(1); });
    a.join();
    b.join();
    assert(box.sum == 2);
}
