/* Where functions begin and return as scheduling points, in a program as it is: recursion, tail calls, switches,
 * exceptions, jumps and callbacks do what they do without, a lost update between two of them is found and replays, and
 * runs that are forked go as those that are not.
 *
 * RUN: pct run -g -n 60 --functions=descend,choose,thrower,catcher,jumper,leave,compare,odd,even --state none -- %p
 * RUN 134: pct run -n 100 -s 1 --functions=balance_is,set_balance --state none -- %p lost
 * RUN: for s in 1 2 3; do for how in "" --exec;
 *     do pct run -n 1 -s $s --epoch 1600000000 --functions=descend,compare,choose,balance_is,set_balance $how --state
 *     none -- %p 2>&1 | grep -o 'pct1:[^ ]*' || exit 1; done | uniq | wc -l | grep -qx 1 || exit 1; done
 */
#include <algorithm>
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>

#define OWN __attribute__((noinline))

static int balance = 100;

OWN int balance_is()
{
    return balance;
}

OWN void set_balance(int value)
{
    balance = value;
}

OWN long descend(long n)
{
    return n < 2 ? 1 : n * descend(n - 1);
}

OWN int choose(int n)
{
    switch (n) {
    case 0:
        return 7;
    case 1:
        return 11 * balance_is();
    case 2:
        return -1;
    case 3:
        throw std::runtime_error("three");
    case 4:
        return choose(0) + 1;
    case 5:
        return 42;
    default:
        return n;
    }
}

OWN int thrower(int n)
{
    if (n == 0)
        throw std::runtime_error("zero");
    return thrower(n - 1) + 1;
}

OWN int catcher(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &) {
        return n;
    }
}

OWN void jumper(jmp_buf *where)
{
    longjmp(*where, 3);
}

OWN int leave()
{
    jmp_buf where;
    int value = setjmp(where);
    if (!value)
        jumper(&where);
    return value;
}

extern "C" OWN int compare(const void *a, const void *b)
{
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

OWN bool odd(unsigned n);
OWN bool even(unsigned n)
{
    return n == 0 || odd(n - 1);
}

OWN bool odd(unsigned n)
{
    return n != 0 && even(n - 1);
}

static void *work(void *unused)
{
    assert(descend(10) == 3628800);
    int chosen = 0;
    for (int i = 0; i < 8; i++)
        try {
            chosen += choose(i);
        } catch (const std::exception &) {
            chosen += 1000;
        }
    assert(chosen == 7 + 1100 - 1 + 1000 + 8 + 42 + 6 + 7);
    assert(catcher(5) == 5 && leave() == 3 && even(10) && odd(11));
    int numbers[] = { 5, 3, 9, 1 };
    qsort(numbers, 4, sizeof *numbers, compare);
    assert(std::is_sorted(numbers, numbers + 4));
    return unused;
}

static void *withdraw(void *unused)
{
    set_balance(balance_is() - 30);
    return unused;
}

int main(int argc, char **)
{
    pthread_t threads[2];
    for (pthread_t &thread : threads)
        pthread_create(&thread, nullptr, argc > 1 ? withdraw : work, nullptr);
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    assert(argc == 1 || balance == 40);
}
