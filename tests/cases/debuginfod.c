/* pct never asks the network for debug information. But so it took the variable that names servers for that away from
 * the program, where it had looked into a file before the run, or had reported an earlier one.
 *
 * RUN: echo race:x > %t/known; export DEBUGINFOD_URLS=http://localhost:9;
 *     pct run -q -s 1 --suppressions=%t/known -- %p && pct run -q -n 2 -s 1 --exec --suppressions=%t/known -- %p
 */
#include <stdlib.h>

int main(void)
{
    return getenv("DEBUGINFOD_URLS") ? 0 : 3;
}
