/* Lets one test of a unit or simulation test program run alone: PCT_TEST=NAME build/unit/test_config, with `*` and `?`
 * as in the shell. Linked into each of these programs by the Makefile; runs before their main(). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

static __attribute__((constructor)) void pct_test_filter(void)
{
    const char *name = getenv("PCT_TEST");
    if (name)
        cmocka_set_test_filter(name);
}
