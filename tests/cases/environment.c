/* The values of the environment stand above the stack that a trace has a copy of: --no-environment leaves them out, and
 * a trace is its owner's.
 * RUN: export SECRET=sesame-%t; pct run -q -s 1 -t %t/trace -- %p; grep -q "$SECRET" %t/trace &&
 *     [ "$(stat -c %a %t/trace)" = 600 ]
 * RUN: export SECRET=sesame-%t; pct run -q -s 1 --no-environment -t %t/trace -- %p; ! grep -q "sesame" %t/trace &&
 *     grep -q SECRET=xxx %t/trace && pct report %t/trace | grep "main.*environment.c"
 * RUN: export SECRET=sesame-%t; PCT_ENVIRONMENT=off PCT_TRACE=%t/trace PCT_LOG=quiet LD_PRELOAD=$LIBPCT %p;
 *     ! grep -q "sesame" %t/trace && [ "$(stat -c %a %t/trace)" = 600 ]
 * RUN: export SECRET=sesame-%t; PCT_ENVIRONMENT=off pct run -q -s 1 -t %t/trace -- %p; ! grep -q "sesame" %t/trace &&
 *     grep -q SECRET=xxx %t/trace
 * RUN 2: PCT_ENVIRONMENT=perhaps pct run -q -s 1 -- %p
 * RUN 2: PCT_ENVIRONMENT=perhaps LD_PRELOAD=$LIBPCT %p
 */
#include <stdlib.h>

int main(void)
{
    abort();
}
