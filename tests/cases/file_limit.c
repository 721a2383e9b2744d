// A program that lets itself write no files, but to its standard output: of several runs that is a file of pct's, and
// the failure was said to be the program's alone.
//
// RUN: pct run -s 1 --state none -- %p 2> %t/err | grep -x ok
// RUN: pct run -s 1 -n 2 --state none -- %p > %t/out 2>&1;
//     grep 'perhaps no failure of the target: .*RLIMIT_FSIZE' %t/out
#include <assert.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
    struct rlimit none = { 0, 0 };
    assert(!setrlimit(RLIMIT_FSIZE, &none));
    return write(STDOUT_FILENO, "ok\n", 3) != 3;
}
