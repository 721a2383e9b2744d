#!/usr/bin/env bats
# What `pct demon` refuses: one line that says what is wrong, and the way out; nothing of it is called stable.
load common
load demon

setup()
{
    enter_demon || return
    spec=$root/bench/demon/apache-45605.demon
}

# changed SED: ./program from bench/demon/apache-45605.c.
changed()
{
    sed "$1" "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
}

# refuses LINE [OPTION...]: this alone.
refuses()
{
    run --separate-stderr timeout 60 "$pct" demon --spec "$spec" "${@:2}" -- "${program:-./program}"
    is "$status" 2
    is "$output" ''
    is "$stderr" "pct: $1"
}

# contracts TEXT...: lines.
contracts()
{
    printf '%s\n' "$@" > bad.demon
    spec=bad.demon
}

@test "a test that fails by itself, does not end, or that nobody enters" {
    local main=main
    [[ $("$cc" --version) != *clang* ]] || main='int main(void)'
    changed 's/ wait_for_idler(&queue);/& assert(!"mine");/'
    refuses "the test fails by itself, without any interference: mend that first (assertion failed in thread 0: \
p.c:97: $main: Assertion \`!\"mine\"' failed.)"
    changed 's/ wait_for_idler(&queue);/& return 3;/'
    refuses 'the test fails by itself, without any interference: mend that first (the target ended with exit status 3)'
    changed 's/ wait_for_idler(&queue);/& return -1;/'
    refuses 'the test fails by itself, without any interference: mend that first (the target ended with exit status '\
'255)'
    changed 's/ wait_for_idler(&queue);/& for (volatile int on = 1; on;) continue;/'
    refuses 'the test does not end within 0.2 s, without any interference: mend that first, or give it more time by '\
'--timeout' --timeout=0.2
    changed 's/ wait_for_idler(&queue);/& for (;;) sched_yield();/; 1i #include <sched.h>'
    refuses 'the test does not end, without any interference: mend that first (livelock: for a million steps threads '\
'have only yielded, slept and retried)'
    changed 's/ wait_for_idler(&queue);/ for (volatile int on = 0; on;)&/'
    refuses "wait_for_idler was not entered: the program's first thread must call it"
}

@test "a solver that was removed since pct was built" {
    cp "$build/pct" pct
    sed 's/libz3\.so/libzz.so/g' "$build/pct-demon" > pct-demon
    chmod +x pct-demon
    run -2 ./pct demon --list --spec "$spec" -- "$build/demon/apache-45605"
    has "pct: pct demon cannot start: libzz.so.4: cannot open shared object file"
    has "(the solver's library is in Debian's package libz3-4)"
}

@test "killed, it leaves nothing behind" {
    changed 's/ wait_for_idler(&queue);/ for (volatile int on = 1; on;) continue;&/'
    mkdir temporary
    run env TMPDIR="$PWD/temporary" timeout -s TERM 0.5 "$pct" demon --spec "$spec" -- ./program
    is "$status" 124
    is "$(ls -A temporary)" ''
}

@test "interrupted while it searches: what is known is told, and that it is not all" {
    cat > stop.h <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
/* In the fourth run: whose child `pct run` is gets SIGTERM. */
static void stop_the_search(void)
{
    struct stat runs;
    char path[64];
    int file = open("runs", O_WRONLY | O_CREAT | O_APPEND, 0600), searcher = 0;
    if (write(file, "x", 1) != 1 || fstat(file, &runs) || runs.st_size != 4)
        return;
    snprintf(path, sizeof path, "/proc/%d/stat", getppid());
    FILE *status = fopen(path, "r");
    if (status && fscanf(status, "%*d (pct) %*c %d", &searcher) == 1)
        kill(searcher, SIGTERM);
}
END
    sed '1i #include "stop.h"
        s/^    delete_all(&table);/    stop_the_search();\n&/' "$root/bench/demon/mysql-169.c" > p.c
    "$cc" -O0 -g -pthread -DFIXED -o program p.c
    run -143 "$pct" demon --spec "$root/bench/demon/mysql-169.demon" -- ./program
    is "$(cat runs)" xxxx
    has "interrupted before all was looked at"
    has "no interference found, for this test, these contracts and these objects, in what was looked at"
}

@test "a test that has threads of its own: what they do is not looked at, which is said" {
    changed 's/^int main(void)/static void *idle(void *queue) { return queue; }\n&/
        s/ wait_for_idler(&queue);/ pthread_t other; pthread_create(\&other, NULL, idle, NULL);& '\
'pthread_join(other, NULL);/'
    run --separate-stderr timeout 60 "$pct" demon --spec "$spec" -- ./program
    is "$status" 1
    has 'confirmed by a real schedule of two threads'
    [[ $stderr == 'pct: the test has threads of its own, '* ]]
}

@test "programs without debug information, that are no programs, or that pct cannot run" {
    changed ''
    cp program stripped && strip stripped
    program=./stripped refuses "$spec:1: $PWD/stripped has no debug information: build it with -g"
    "$cc" -O0 -g -gsplit-dwarf -pthread -o split p.c
    program=./split refuses "$spec:1: $PWD/split has debug information in .dwo files, which are not read: build it \
without -gsplit-dwarf"
    # Split off, it is found where the file says.
    objcopy --only-keep-debug program program.debug && objcopy --add-gnu-debuglink=program.debug stripped
    run --separate-stderr timeout 60 "$pct" demon --spec "$spec" -- ./stripped
    is "$status" 1
    has 'interference where wait_for_idler enters decrement (p.c:11)'
    printf '#!/bin/sh\nexec ./program\n' > script && chmod +x script
    program=./script refuses "$spec:1: $PWD/script is no compiled program: contracts are of one, and it must be the \
command"
    program=./none refuses './none: command not found'
    "$cc" -O0 -g -shared -fPIC -o library.so p.c
    run --separate-stderr timeout 60 "$pct" demon --spec "$spec" -- ./library.so
    is "$status" 2
    has 'it names no dynamic linker'
    has 'pct: the program could not be run under pct, so nothing was asked'
    lacks 'fails by itself'
}

@test "contracts that nothing can meet, that ask for nothing, or that speak of what there is not" {
    changed ''
    contracts 'test wait_for_idler(queue)' 'proc take_idler(queue)' '  ensure one: queue.idlers = 1' \
        '    two: queue.idlers = 2'
    refuses "bad.demon:4: the contract of take_idler is vacuous: nothing can meet \`ensure two: queue.idlers = 2\`, as \
clauses of it contradict each other"
    contracts 'test wait_for_idler(queue) rely never: false'
    refuses "bad.demon:1: the contract of wait_for_idler is vacuous: nothing can meet \`rely never: false\`, as \
clauses of it contradict each other"
    contracts 'test wait_for_idler(queue)' 'proc decrement(queue)'
    refuses 'nothing was asked, so nothing is known: no function that wait_for_idler enters, nor itself, requires '\
'anything; say by `require` of such a proc what must hold there, or look further by --depth 2'
    contracts 'test wait_for_idler(queue) require a: queue.idlers.many > 0'
    refuses 'bad.demon:1: queue.idlers.many: what stands before a dot is no structure, and does not point to one'
    contracts $'test wait_for_idler(queue) require \e[31ma: queue.idlers > 0'
    refuses 'bad.demon:1: the name of a clause (tag: condition) is expected, not ?'
    contracts 'test wait_for_idler(queue) require a: queue.mutex = 0'
    refuses 'bad.demon:1: queue.mutex is a mutex: holds(queue.mutex) asks for it'
    contracts 'test wait_for_idler(queue) require a: holds(queue.idlers)'
    refuses 'bad.demon:1: holds(queue.idlers): it is no mutex'
}

@test "64 objects are looked at; more, and more procedures than there is room for: named, with the way out" {
    echo "struct one { int n; } $(seq -s, -f 'o%g' 65);" > objects.h
    changed '1i #include "objects.h"\n__attribute__((used)) static void set(struct one *one) { one->n = 1; }
        s/decrement(queue);/if (!o64.n) &/; s/queue->idlers > 0/& \&\& !o64.n/'
    local objects='proc set(one) ensure one: one.n = 1'
    contracts "shared $(seq -s, -f 'o%g' 64)" 'test wait_for_idler(queue)' \
        'proc decrement(queue) require a: o64.n = 0' "$objects"
    run --separate-stderr timeout 60 "$pct" demon --spec "$spec" -- ./program
    is "$status" 1
    has 'another thread calls set(&o64)'
    contracts "shared $(seq -s, -f 'o%g' 65)" 'test wait_for_idler(queue)'
    refuses 'bad.demon:1: there are more than 64 shared variables and ghosts: name fewer'
    contracts 'test wait_for_idler(queue)' "$(seq -f 'proc p%g(queue)' 64)"
    refuses 'bad.demon:33: there are more than 31 procedures: name fewer'
    echo "struct big { int $(seq -s, -f 'm%g' 60); } $(seq -s, -f 'o%g' 9);" > objects.h
    changed '1i #include "objects.h"'
    contracts "shared $(seq -s, -f 'o%g' 9)" 'test wait_for_idler(queue)' \
        "$(for i in {1..9}; do echo "invariant t$i: $(seq -s ' and ' -f "o$i.m%g = 0" 60)"; done)"
    refuses 'bad.demon: contracts speak of more than 512 places in all; each member of each parameter is one: name '\
'fewer'
}

@test "built without Z3: what is missing, and how to get it" {
    mkdir alone && cp "$pct" alone/pct && cp "$build"/libpct*.so alone
    run --separate-stderr alone/pct demon --spec "$spec" -- true
    is "$status" 2
    is "$stderr" 'pct: pct demon needs Z3, without which this pct was built: install libz3-dev and run `make`'
}

@test "contracts that are no text or have no end, and a plan that cannot be kept" {
    changed ''
    printf 'test wait_for_idler(queue)\n\0' > bad.demon
    spec=bad.demon
    refuses 'bad.demon: contracts are text, and there is a byte 0 in it'
    contracts 'test wait_for_idler(queue)' "  rely a: $(printf '1+%.0s' {1..5000})1 > 0"
    refuses 'bad.demon:2: the condition has more than 4096 parts'
    contracts 'test wait_for_idler(queue)' "  rely a: $(printf -- '- %.0s' {1..300})1 > 0"
    refuses 'bad.demon:2: the condition is nested too deeply'
    printf '\xef\xbb\xbftest wait_for_idler(queue)\r\n' > bad.demon # as some editors write it
    run --separate-stderr "$pct" demon --list --spec bad.demon -- ./program
    is "$status" 0
    spec=$root/bench/demon/apache-45605.demon
    refuses 'none/plan, which keeps the plan of a finding, cannot be written (No such file or directory): -o FILE '\
'puts it elsewhere' -o none/plan
    refuses '., which keeps the plan of a finding, cannot be written (Is a directory): -o FILE puts it elsewhere' -o .
}
