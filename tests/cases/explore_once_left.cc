// A routine of call_once that throws ends unseen: until no other thread could go on, those that waited for it were
// taken to wait still. `pct explore` said "verified" of schedules in which another thread makes what the first did not.
//
// RUN 1: pct explore -q -- %p 1 2
// RUN 1: pct explore -q -- %p 2 1
// RUN: pct explore -q -- %p
// RUN: pct explore -q -- %p 2 1 > %t/out 2>&1; test $? = 1 && token=$(grep -o "pct1:[^']*" %t/out) &&
//     { pct replay "$token" -- %p 2 1 > %t/out 2>&1; grep 'replayed identically' %t/out; }
#include <cstdlib>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int calls, threw, made;

static void run(int me)
{
    for (int i = 0; i < 2; i++) {
        try {
            std::call_once(flag, [me] {
                if (!calls++) {
                    threw = me;
                    throw me;
                }
                made = me;
            });
        } catch (int) {
        }
    }
}

int main(int argc, char **argv)
{
    std::thread first(run, 1), second(run, 2);
    first.join();
    second.join();
    return argc > 2 && threw == atoi(argv[1]) && made == atoi(argv[2]);
}
