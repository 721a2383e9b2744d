#!/usr/bin/env bats
# What would make `pct demon` call a program stable that is not, or confirm what the contracts do not let others do.
load common
load demon

setup()
{
    enter_demon || return
    cat > head.h << 'C'
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
struct q { pthread_mutex_t m; int n, limit; bool open; signed char level; };
struct q q = { .m = PTHREAD_MUTEX_INITIALIZER, .n = 5, .limit = 3 };
C
}

# asks STATUS CODE [FLAG...]: `pct demon` of a program of this code, with the contracts of standard input.
asks()
{
    cat > spec.demon
    printf '%s\n' '#include "head.h"' "$2" 'int main(void) { test(&q); return 0; }' > program.c
    "${compiler:-$cc}" -g -pthread "${@:3}" -o program program.c
    run --separate-stderr timeout 60 "$pct" demon --spec spec.demon -- ./program
    is "$status" "$1"
}

@test "what the test makes of what others have changed, on its way, is seen in runs: no question has it" {
    local code='void look(struct q *q) { (void)q; }
void use(struct q *q, int k) { assert(q->n >= k); }
void raise_limit(struct q *q) { q->limit = 1000; }
void test(struct q *q) { LOCK look(q); int k = q->limit; use(q, k); UNLOCK }'
    local contracts='test test(q)
  rely same: unchanged(q.n)
  locked: holds(q.m) implies unchanged(q.limit)
proc look(q)
proc use(q, k)
  require enough: q.n >= k
proc raise_limit(q)
  ensure high: q.limit = 1000'
    asks 1 "$code" -DLOCK= -DUNLOCK= <<< "$contracts"
    has 'another thread calls raise_limit(q)'
    has "then \`require enough: q.n >= k\` of use does not hold"
    replays
    # Before the lock it is allowed, and does break that: so the bound is taken from below, too.
    asks 0 "${code/q->limit;/q->limit < q->n ? q->limit : q->n;}" '-DLOCK=pthread_mutex_lock(&q->m);' \
        '-DUNLOCK=pthread_mutex_unlock(&q->m);' <<< "$contracts"
    has '2 single calls of others were made, too'
}

@test "a bool is 0 or 1, and a number with a sign is passed as callers pass it" {
    asks 0 'void use(struct q *q) { assert(q->n <= 5); }
void set_open(struct q *q, bool open) { q->n = 4 + open; }
void test(struct q *q) { use(q); }' << 'SPEC'
test test(q)
proc use(q)
  require low: q.n <= 5
proc set_open(q, open)
  ensure set: q.n = 4 + open
SPEC
    compiler=$(command -v clang || echo "$cc")
    asks 1 '#define OPEN __attribute__((noinline))
OPEN void use(struct q *q) { q->limit++; assert(q->n >= 0); }
OPEN void set_level(struct q *q, signed char level) { q->n = level; q->limit *= q->limit; q->limit++; }
OPEN void test(struct q *q) { q->limit = 3; use(q); q->limit++; }' -O1 << 'SPEC'
test test(q)
proc use(q)
  require high: q.n >= 0
proc set_level(q, level)
  require low: level = 0 - 3
  ensure set: q.n = level
SPEC
    has 'another thread calls set_level(q, -3)'
}

@test "a lock that a procedure requires its caller to hold is not the test's: others do not call it" {
    asks 0 'void use(struct q *q) { assert(q->n > 0); }
void take(struct q *q) { q->n = 0; }
void test(struct q *q) { pthread_mutex_lock(&q->m); use(q); pthread_mutex_unlock(&q->m); }' << 'SPEC'
test test(q)
proc use(q)
  require some: q.n > 0
proc take(q)
  require locked: holds(q.m)
  ensure none: q.n = 0
SPEC
    has 'take was never called by others: it requires holds(q.m) of its caller; name a function that locks it and '\
'calls take'
}

@test "functions whose parameters are not where callers put them, or of which there are several, are refused" {
    local contracts=$'test test(q)\nproc use(unused, q)\n  require some: q.n > 0\nproc take(q)\n  ensure none: q.n = 0'
    local take='__attribute__((noinline)) void take(struct q *q) { q->n = 0; q->limit++; q->n *= q->limit; }'
    local shifted="volatile int sink;
__attribute__((noinline)) static void use(struct q *unused, struct q *q) { sink++; assert(q->n > 0); sink += 2; }
$take __attribute__((noinline)) void test(struct q *q) { sink++; sink++; use(&q[1], q); sink++; }"
    compiler=gcc asks 2 "$shifted" -O2 <<< "$contracts"
    [[ $stderr == 'pct: spec.demon:2: the compiler has made a copy of use for special arguments: build with -O0, '* ]]
    if command -v clang; then
        compiler=clang asks 2 "$shifted" -O2 <<< "$contracts"
        [[ $stderr == 'pct: spec.demon:2: the compiler has changed how use gets unused: build with -O0, '* ]]
    fi
    contracts=${contracts/unused, /}
    asks 2 "struct big { long a[5]; }; struct big use(struct q *q) { assert(q->n > 0); return (struct big){ { 1 } }; }
$take void test(struct q *q) { use(q); }" <<< "$contracts"
    is "$stderr" 'pct: spec.demon:2: use returns a structure in memory, so its parameters are not where others pass '\
'them: write a function around it'
    printf '%s\n' '#include "head.h"' 'static void use(struct q *q) { assert(q->n > 0); }' \
        'void call(void) { use(&q); }' > other.c && sed -i 's/^struct q q/extern struct q q; __attribute__((weak)) &/' \
        head.h
    asks 2 "static void use(struct q *q) { q->n++; } $take void test(struct q *q) { use(q); }" other.c <<< "$contracts"
    [[ $stderr == "pct: spec.demon:2: there are several functions use in $PWD/program, one of them at \
"*': rename the others' ]]
}

@test "a test whose code is the last of the program" {
    asks 1 "$(printf '%s\n' 'void use(struct q *q) { assert(q->n > 0); }' 'void take(struct q *q) { q->n = 0; }' \
        '__attribute__((section(".zlast"))) void test(struct q *q) { use(q); }')" << 'SPEC'
test test(q)
proc use(q)
  require some: q.n > 0
proc take(q)
  ensure none: q.n = 0
SPEC
    has 'another thread calls take(q)'
}
