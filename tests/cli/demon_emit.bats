#!/usr/bin/env bats
# `pct demon --emit-test`: what is written is linked with the program and fails by the token; what cannot be written.
load common
load demon

setup()
{
    enter_demon || return
}

# external NAME OBJECT ACTION TYPE: p.c from bench/demon/NAME.c, where other files can name the_OBJECT and the ACTION.
external()
{
    sed -e "s/^__attribute__((used)) static void $3/void $3/" \
        -e "s/^    static struct \([a-z_]*\) $2 = {/    the_$2 = (struct \1){/" \
        -e "s/(&$2\([,)]\)/(\&the_$2\1/; s/^int main/struct $4 the_$2;\n&/" "$root/bench/demon/$1.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
}

emits()
{
    run --separate-stderr timeout 120 "$pct" demon --emit-test test.c --spec "$root/bench/demon/$1.demon" -- ./program
}

# What was written fails by its token, wherever it stands in the link.
fails()
{
    local line
    is "$status" 1
    has 'test.c is a test of it: link it'
    line=$(tail -n 1 <<< "$output")
    grep -qF "${line#* }" test.c
    for order in 'p.c test.c' 'test.c p.c'; do
        # shellcheck disable=SC2086 # two words
        "$cc" -Wall -Wextra -Werror -O0 -g -pthread -o demon-test $order
        run --separate-stderr bash -c "$line"
        is "$status" 134
        has 'replayed identically'
        has "$1"
    done
}

# And passes when it is linked with the correction.
fails_alone()
{
    fails "$1"
    "$cc" -DFIXED -O0 -g -pthread -o demon-test p.c test.c
    run --separate-stderr "$pct" run -n 10 --seed 1 -- ./demon-test
    is "$status" 0
}

@test "--emit-test: a call with an object" {
    external apache-45605 queue take_idler queue_info
    emits apache-45605
    fails_alone "queue->idlers > 0' failed"
}

@test "--emit-test: a call with an object and a number" {
    external apache-25520 log other_writer buffered_log
    emits apache-25520
    fails_alone 'BUFFER'
    grep -q 'other_writer(&the_log, [0-9]*U);' test.c
    grep -q '^void other_writer(struct buffered_log \*log, uint32_t len);' test.c
}

# refuses MESSAGE: nothing is written, and the finding is told all the same.
refuses()
{
    is "$status" 2
    has "pct: --emit-test: $1"
    has 'confirmed by a real schedule'
    [ ! -e test.c ]
}

# nameable FILE SED...: p.c, where other files can name what is static in it, and its one variable as `the`.
nameable()
{
    sed -e 's/^__attribute__((used)) static //; s/^    static \(struct [a-z_]*\) [a-z]* = {/    the = (\1){/;
        s/(&[a-z]*)\(;\|)\)/(\&the)\1/' \
        -e "s/^int main/struct $2 the;\n&/" "${@:3}" "$1" > p.c
    "$cc" -O0 -g -pthread -o program p.c
}

@test "--emit-test: others come in twice" {
    nameable "$root/tests/cli/demon_depth.c" counter
    printf '%s\n' 'test visit(c)' '  rely locked: holds(c.lock) implies unchanged(c.tickets)' 'proc look(c)' \
        'proc take(c)' \
        '  require some: c.tickets > 0' 'proc open_counter(c)' '  ensure opened: c.open = 1' 'proc sell(c)' \
        '  require some: c.tickets > 0' '  ensure fewer: c.tickets = old c.tickets - 1' > spec.demon
    run --separate-stderr timeout 120 "$pct" demon --depth 2 --emit-test test.c --spec spec.demon -- ./program
    fails_alone "c->tickets > 0' failed"
}

@test "--emit-test: others come in before an operation" {
    nameable "$root/tests/cli/demon_points.c" stack
    printf '%s\n' 'test take(s)' '  rely locked: holds(s.lock) implies unchanged(s.size)' 'proc pop(s)' \
        '  require some: s.size > 0' 'proc clear(s)' '  ensure none: s.size = 0' > spec.demon
    run --separate-stderr timeout 120 "$pct" demon --points locks --emit-test test.c --spec spec.demon -- ./program
    fails_alone "size > 0' failed"
}

# objects COMPILER FLAG...: program from room.c, in which others come in between two accesses. These are of five bytes
# or more: wherever they are loaded, they can be patched.
objects()
{
    printf '%s\n' 'test visit(h)' '  rely mine: old h.room.owner = 1 implies unchanged(h.room.owner)' 'proc use(r)' \
        '  require alone: r.guests = 0' 'proc enter(r)' '  require free: r.owner = 0' \
        '  ensure owned: r.owner = 2 and r.guests = old r.guests + 1' > spec.demon
    printf '%s\n' 'struct room { char name[256]; int owner, guests; };' \
        'struct house { char name[256]; struct room *room; };' > room.h
    printf '%s\n' '#include <assert.h>' '#include "room.h"' 'struct room the_room;' \
        'struct house the = { .room = &the_room };' \
        '__attribute__((noinline)) void use(struct room *r) { assert(r->guests == 0); }' \
        'void enter(struct room *r) { r->owner = 2; r->guests++; }' \
        '__attribute__((noinline)) void visit(struct house *h)' \
        '{ if (h->room->owner == 0) { h->room->owner = 1; use(h->room); } }' \
        'int main(void) { visit(&the); return 0; }' > "${source:=room.c}"
    "$1" "${@:2}" -g -c -o room.o "$source"
    "$1" room.o -o program
    run --separate-stderr timeout 120 "$pct" demon --points accesses --emit-test test.c --spec spec.demon -- ./program
}

@test "--emit-test: others come in between two accesses of a program by pct-cc" {
    objects "$build/pct-cc" -O2
    is "$status" 1
    has 'where visit is about to store memory (room.c:8)'
    has 'test.c is a test of it: link it by pct-cc'
    "$build/pct-cc" -Wall -Wextra -Werror -O2 -g -o demon-test test.c room.o
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
    has "r->guests == 0' failed"
}

@test "--emit-test: others come in between two accesses of a program as it is; those by its own sources count" {
    objects "$cc" -O0
    is "$status" 1
    has ',memory=all,focus=room.c,'
    "$cc" -Wall -Wextra -Werror -O0 -g -o demon-test test.c room.o
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
    has "r->guests == 0' failed"
    rm test.c
    source=a-name-$(printf '%0120d' 0).c
    objects "$cc" -O0
    is "$status" 2
    has 'the token has no room for the names of all source files whose accesses count: build the program by pct-cc'
    [ ! -e test.c ]
}

@test "--emit-test: the test waits for what a third thread does" {
    nameable "$root/bench/demon/apache-45605.c" queue_info -e '1i #define WAITS\n#define EMPTY' \
        -e 's/    queue\./    the./'
    emits apache-45605-empty
    fails "queue->idlers > 0' failed"
    grep -q '^static void \*help(void \*unused)$' test.c
}

@test "--emit-test: the two wait for each other" {
    nameable "$root/bench/demon/apache-45605.c" queue_info -e '1i #define FIXED' \
        -e 's/    pthread_mutex_t mutex;/&\n    pthread_mutex_t other;/' \
        -e '/take_idler/,/^}/s/    pthread_mutex_lock/    pthread_mutex_lock(\&queue->other);\n&/' \
        -e 's/        decrement(queue);/&\n    pthread_mutex_lock(\&queue->other);/'
    sed '/  rely/d' "$root/bench/demon/apache-45605.demon" > spec.demon
    run --separate-stderr timeout 120 "$pct" demon --emit-test test.c --spec spec.demon -- ./program
    is "$status" 1
    "$cc" -O0 -g -pthread -o demon-test p.c test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 120
    has 'replayed identically'
}

@test "--emit-test: what other files cannot name is refused, and it is said what helps" {
    "$cc" -O0 -g -pthread -o program "$root/bench/demon/apache-45605.c"
    emits apache-45605
    refuses 'take_idler is static, so no other file can call it: make it external for this test'
    sed 's/^__attribute__((used)) static //' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    emits apache-45605
    refuses 'what take_idler is called with as queue is queue of the test, and no global variable that another file '\
'can name: make it one, not static'
    printf '%s\n' '#include <assert.h>' 'static struct list { int n; } list = { 1 };' \
        'static void use(void) { assert(list.n > 0); }' 'void clear(struct list *l) { l->n = 0; }' \
        'int main(void) { use(); return 0; }' > p.c
    printf '%s\n' 'shared list' 'test main()' 'proc use() require some: list.n > 0' \
        'proc clear(l) ensure none: l.n = 0' > spec.demon
    "$cc" -O0 -g -o program p.c
    run --separate-stderr timeout 120 "$pct" demon --emit-test test.c --spec spec.demon -- ./program
    refuses 'list is static, so no other file can name it: make it external for this test'
}

@test "the example: a test of its own from contracts in comments, and one that waits" {
    cp "$root"/examples/demon/*.[ch] .
    "$cc" -O0 -g -pthread -o program queue.c queue_test.c
    run --separate-stderr timeout 120 "$pct" demon --emit-test test.c -- ./program
    is "$status" 1
    has 'another thread calls queue_clear(queue)'
    lacks 'waits for others'
    "$cc" -O0 -g -pthread -o demon-test queue.c queue_test.c test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
    run --separate-stderr timeout 120 "$pct" demon -- ./program empty
    is "$status" 1
    has 'where queue_get waits for others, another thread calls queue_put(queue, '
    has 'another thread calls queue_clear(queue)'
    "$cc" -O0 -g -pthread -DFIXED -o program queue.c queue_test.c
    for argument in '' empty; do
        # shellcheck disable=SC2086 # none, or one
        run --separate-stderr timeout 120 "$pct" demon -- ./program $argument
        is "$status" 0
        has 'no interference found'
    done
}

@test "functions that others cannot be made to call are refused" {
    printf 'test main()\nproc make(n) ensure any: 1 = 1\n' > spec.demon
    printf '%s\n' 'struct big { long part[4]; } big;' 'struct big make(int n) { big.part[0] = n; return big; }' \
        'int main(void) { return (int)make(0).part[0]; }' > p.c
    "$cc" -O0 -g -o program p.c
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon -- ./program
    is "$status" 2
    is "$stderr" 'pct: spec.demon:2: make returns a structure in memory, so its parameters are not where others pass '\
'them: write a function around it'
    printf 'int make(int n) { return n; }\nint main() { return make(0); }\n' > p.cc
    "${CXX:-g++}" -O0 -g -o program p.cc
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon -- ./program
    is "$status" 2
    is "$stderr" 'pct: spec.demon:2: make is a function of C++, whose symbol has another name: write an extern "C" '\
'function around it'
}

@test "--emit-test: nothing is written where nothing is confirmed, nor where it cannot be" {
    "$cc" -DFIXED -O0 -g -pthread -o program "$root/bench/demon/apache-45605.c"
    emits apache-45605
    is "$status" 0
    has 'test.c is not written: nothing is confirmed'
    [ ! -e test.c ]
    run --separate-stderr "$pct" demon --emit-test none/test.c --spec "$root/bench/demon/apache-45605.demon" \
        -- ./program
    is "$status" 2
    is "$stderr" 'pct: none/test.c: No such file or directory'
}
