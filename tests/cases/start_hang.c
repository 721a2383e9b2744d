// A program that does not come to its main: in a constructor, or even before, in a function that the linker calls to
// resolve a name. --timeout ends it, and that is the verdict; the second was said not to be under control, as libpct.so
// had not started yet.
//
// BUILD: gcc -O1 -g -o %p %s && gcc -O1 -g -DRESOLVER -o %p.resolver %s
// RUN 124: pct run -q -s 1 --state none --timeout 1 -- %p
// RUN 124: pct run -q -s 1 --state none --timeout 1 -- %p pause
// RUN 124: pct run -q -g -n 3 -s 1 --state none --timeout 1 -- %p
// RUN 124: pct run -q -s 1 --state none --timeout 1 -- %p.resolver > %t/log 2>&1; s=$?;
//     grep -q 'strategy pct, seed 1' %t/log || exit 9; exit $s
#include <unistd.h>

static void hang(void)
{
    for (;;)
        __asm__ volatile("");
}

#ifdef RESOLVER
static void (*choose(void))(void)
{
    hang();
    return hang;
}

void function(void) __attribute__((ifunc("choose")));

int main(void)
{
    function();
    return 0;
}
#else
__attribute__((constructor)) static void construct(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        pause();
    else
        hang();
}

int main(void)
{
    return 0;
}
#endif
