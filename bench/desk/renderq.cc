// A renderer: the loader announces tiles by a counting semaphore, two painters take them out of a list.
//
// Bug: a tile is announced before it is in the list.
// Shows as: a failed assertion: a painter finds the list empty.
// FIXED: it is put there first.
#include <cassert>
#include <list>
#include <mutex>
#include <semaphore>
#include <thread>

static std::counting_semaphore<16> ready{ 0 };
static std::mutex guard;
static std::list<int> tiles;

static void announce(int tile)
{
#ifndef FIXED
    ready.release(); // culprit
#endif
    {
        std::lock_guard<std::mutex> lock(guard); // culprit
        tiles.push_back(tile);
    }
#ifdef FIXED
    ready.release();
#endif
}

static int next_tile()
{
    ready.acquire();                         // culprit
    std::lock_guard<std::mutex> lock(guard); // culprit
    assert(!tiles.empty());
    int tile = tiles.front();
    tiles.pop_front();
    return tile;
}

static void paint(int count, int *sum)
{
    for (int i = 0; i < count; i++)
        *sum += next_tile();
}

int main()
{
    int sums[2] = { 0, 0 };
    std::thread loader([] {
        for (int tile = 1; tile <= 4; tile++)
            announce(tile);
    });
    std::thread first(paint, 2, &sums[0]), second(paint, 2, &sums[1]);
    loader.join();
    first.join();
    second.join();
    assert(sums[0] + sums[1] == 10);
}
