// Where a handler begins, a step has the number of the signal: that of SIGINT was called busy, and that of SIGHUP was
// said to have timed out.
//
// NEED: command -v jq
// RUN: pct run -q -n 1 -s 1 -t %t/trace -- %p && pct trace -f jsonl %t/trace |
//         jq -e -s '[.[] | select(.op == "signal handler") | .text] | unique == ["signal handler"]'
#include <assert.h>
#include <signal.h>

static volatile sig_atomic_t came;

static void handle(int number)
{
    (void)number;
    came++;
}

int main(void)
{
    signal(SIGINT, handle);
    signal(SIGHUP, handle);
    raise(SIGINT);
    raise(SIGHUP);
    assert(came == 2);
    return 0;
}
