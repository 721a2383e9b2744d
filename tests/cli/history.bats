#!/usr/bin/env bats
# <pct/history.h>: that a history which is not linearizable is found, printed and replayed. Whether the check is right:
# tests/unit/test_history.c.
load common

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    "$cc" -O1 -g -pthread -I "$root/include" -o queue "$root/examples/interleaving/queue.c"
    "$cc" -O1 -g -pthread -DFIXED -I "$root/include" -o fixed "$root/examples/interleaving/queue.c"
}

@test "a queue that gives an item out twice; the mended one" {
    run ./fixed
    is "$status" 0
    run --separate-stderr timeout 60 "$pct" run -n 1000 -s 1 --state none -- ./queue
    is "$status" 134
    has 'queue: not linearizable'
    has '<---'
    has "Assertion \`the printed history is linearizable' failed"
    line=$(replay_line)
    run --separate-stderr bash -c "$line"
    is "$status" 134
    has 'replayed identically'
    has '<---'
    run timeout 60 "$pct" explore --first -- ./queue
    is "$status" 1
    has "the printed history is linearizable"
    run timeout 100 "$pct" explore -- ./fixed
    is "$status" 0
    has 'all 206 classes of schedules pass'
}

@test "a call that returns twice, or was not made" {
    cat > wrong.c << 'C'
#include <pct/history.h>
static const struct pct_model model;
static struct pct_history history = PCT_HISTORY(&model);
int main(int argc, char **argv)
{
    int call = pct_call(&history, 0, 0);
    pct_return(&history, call + (argc > 1 ? atoi(argv[1]) : 0), 0);
    pct_return(&history, call, 0);
}
C
    "$cc" -pthread -I "$root/include" -o wrong wrong.c
    for difference in 0 1 -1; do
        run ./wrong $difference
        is "$status" 134
        has 'pct/history.h: pct_return() of a call that was not made, or has returned'
    done
}

@test "from C++, and by the compiler of pct" {
    g++ -x c++ -std=c++17 -Wall -Wextra -Werror -pthread -I "$root/include" -o queue \
        "$root/examples/interleaving/queue.c"
    run ./queue
    run timeout 60 "$pct" run -q -n 1000 -s 1 --state none -- ./queue
    is "$status" 134
    "$build/pct-cc" -pthread -o fixed -DFIXED "$root/examples/interleaving/queue.c"
    run timeout 60 "$pct" run -q -n 100 -s 1 --state none -- ./fixed
    is "$status" 0
}
