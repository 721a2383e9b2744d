// std::lock of many threads under strategies without chance, or where maple holds each thread in turn: each took one
// lock, found the other taken, and gave its own back just too late for the next, for ever: a livelock, which no run
// without pct has.
//
// RUN: for n in 4 6 8 12 30; do pct run -q -s 1 -S round-robin --timeout 30 -- %p $n || exit; done
// RUN: for q in 1 2 7; do pct run -q -s 1 -S round-robin,quantum=$q --timeout 30 -- %p 8 || exit; done
// RUN: pct run -q -n 100 -s 1 -S delay-bound --timeout 30 -- %p 8
// RUN: for n in 3 4 8; do pct run -q -n 60 -s 1 -S maple --state none --timeout 30 -- %p $n || exit; done
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex a, b;
static int v;

int main(int, char **arguments)
{
    int n = atoi(arguments[1]);
    std::vector<std::thread> t;
    for (int i = 0; i < n; i++)
        t.emplace_back([i] {
            for (int k = 0; k < 3; k++) {
                if (i & 1) {
                    std::scoped_lock l(a, b);
                    v++;
                } else {
                    std::scoped_lock l(b, a);
                    v++;
                }
            }
        });
    for (auto &x : t)
        x.join();
    return v != 3 * n;
}
