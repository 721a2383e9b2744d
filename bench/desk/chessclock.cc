// A chess clock: a thread counts the time of the side that is to move down, a move adds to it.
//
// Bug: the clock reads what is left, sleeps, and writes what it has read less a tick: what a move has added meanwhile
// is gone.
// Shows as: a failed assertion: time is missing at the end.
// FIXED: it reads behind its sleep.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

enum { TICKS = 3, MOVES = 2, BONUS = 5, START = 20 };

class chess_clock
{
    std::mutex lock;
    int left = START;

  public:
    int get()
    {
        std::lock_guard guard(lock); // culprit
        return left;
    }
    void set(int value)
    {
        std::lock_guard guard(lock); // culprit
        left = value;
    }
    void add(int bonus)
    {
        std::lock_guard guard(lock); // culprit
        left += bonus;
    }
    void tick()
    {
#ifdef FIXED
        std::this_thread::sleep_for(10ms);
        add(-1);
#else
        int value = get(); // culprit
        std::this_thread::sleep_for(10ms);
        set(value - 1); // culprit
#endif
    }
};

int main()
{
    chess_clock white;
    std::thread counting([&] {
        for (int i = 0; i < TICKS; i++)
            white.tick();
    });
    std::thread moving([&] {
        for (int i = 0; i < MOVES; i++) {
            std::this_thread::sleep_for(10ms);
            white.add(BONUS); // culprit
        }
    });
    counting.join();
    moving.join();
    assert(white.get() == START - TICKS + MOVES * BONUS);
}
