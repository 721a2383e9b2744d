#!/usr/bin/env bats
# `assert "FILE:LINE"` of `pct demon`, and the points that it stands on: --functions=FILE:LINE.
load common
load demon

setup()
{
    enter_demon || return
    cp "$root/bench/demon/apache-45605.c" p.c
    line=$(sed -n '/^#else/,$ { /decrement(queue);/= }' p.c)
    fixed=$(sed -n '/^#ifdef FIXED/,/^#else/ { /decrement(queue);/= }' p.c)
}

# specify LINE...: something asserted at each of these lines.
specify()
{
    echo 'test wait_for_idler(queue)'
    echo '  rely locked: holds(queue.mutex) implies unchanged(queue.idlers)'
    printf '  assert "p.c:%s" some: queue.idlers > 0\n' "$@"
    printf '%s\n' 'proc take_idler(queue)' '  require some: queue.idlers > 0' \
        '  ensure less: queue.idlers = old queue.idlers - 1'
} > spec.demon

compile()
{
    "$cc" -g -pthread "${@--O0}" -o program p.c
}

demon()
{
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon "$@" -- ./program
}

@test "assert: what others can break at a line is found there, and confirmed by a schedule that replays" {
    specify "$line"
    compile
    demon --report json:out.json
    is "$status" 1
    has "interference where wait_for_idler reaches p.c:$line: another thread calls take_idler(queue)"
    has "then \`assert some: queue.idlers > 0\` at p.c:$line does not hold"
    has 'confirmed by a real schedule of two threads'
    grep -q '"file": "p.c"' out.json
    run --separate-stderr bash -c "$(grep ' replay --demon ' <<< "$output")"
    is "$status" 134
    has 'replayed identically'
    demon --list
    has "2  reaches p.c:$line"
}

@test "assert: the correction is stable, and interference at the line before it does not count" {
    specify "$fixed"
    compile -O0 -DFIXED
    demon
    is "$status" 0
    has 'no interference found'
    has 'candidates were refuted by a real run'
}

@test "assert: what the program does not mind is the contract's alone; what breaks behind the line is not the line's" {
    sed -i 's/assert(queue->idlers.*/;/' p.c
    specify "$line"
    compile
    demon
    is "$status" 3
    has 'only the contract is broken'
    # Only before the line of `return` there is something to take.
    specify $((line + 1))
    sed -i 's/queue.idlers > 0$/queue.idlers = 0 or true/' spec.demon
    demon
    is "$status" 0
}

@test "assert: in a comment above the test, at a line of what it calls, optimised" {
    sed -i -e 's|^static void decrement|__attribute__((noinline, noclone)) void decrement|' \
        -e "s|^static int wait|/*@demon test assert \"p.c:13\" some: queue.idlers > 0 */\n__attribute__((noinline, \
noclone)) int wait|" \
        -e 's|^__attribute__((used)) static void take_idler|/*@demon require some: queue.idlers > 0 ensure less: '\
'queue.idlers = old queue.idlers - 1 */\n&|' p.c
    compile -O2
    run --separate-stderr timeout 120 "$pct" demon -- ./program
    is "$status" 1
    has "then \`assert some: queue.idlers > 0\` at p.c:13 does not hold"
}

# What is asserted at line 13, which begins with a call, also optimised; at line 12 there is a jump alone.
write_calls()
{
    cat > q.c << END
#include <assert.h>
#define APART __attribute__((noinline, noclone))
struct queue { unsigned idlers; } queue = { 1 };
int times;
APART void note(void) { times++; }
APART void take(struct queue *q) { assert(q->idlers > 0); q->idlers--; }
APART void steal(struct queue *q) { q->idlers = 0; }
APART int get(struct queue *q, void (*by)(void))
{
    switch (q->idlers) {
    case 0:
        break;
    default: $1();
        take(q);
    }
    return times;
}
int main(void) { return get(&queue, note) != 1; }
END
    printf '%s\n' 'test get(q, by)' "assert \"q.c:$2\" some: q.idlers > 0 or $2 = 12" \
        'proc steal(q) ensure none: q.idlers = 0' > spec.demon
}

@test "assert: at a line that begins with a call, direct or by a pointer, optimised or not" {
    for call in note by; do
        write_calls "$call" 13
        for level in 0 2; do
            "$cc" -g -pthread "-O$level" -o program q.c
            demon
            is "$status" 1
            has 'interference where get reaches q.c:13: another thread calls steal(q)'
            has 'confirmed by a real schedule of two threads'
        done
    done
    replays
}

@test "assert: --emit-test of what was found at a line" {
    sed -i -e 's/^__attribute__((used)) static void take/void take/' \
        -e 's/^    static struct queue_info queue = {/    the = (struct queue_info){/' \
        -e 's/(&queue)/(\&the)/; s/^int main/struct queue_info the;\n&/' p.c
    specify "$line"
    compile
    demon --emit-test test.c
    is "$status" 1
    "$cc" -O0 -g -pthread -o demon-test p.c test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
}

# rejects MESSAGE LINE...
rejects()
{
    specify "${@:2}"
    demon
    is "$status" 2
    [[ $stderr == *"$1"* ]] || { echo "$stderr"; false; }
}

@test "assert: lines that there are not, that the test does not come to, or that nothing can stand on" {
    compile
    rejects "spec.demon:3: assert some: line 1 of p.c has no code in $PWD/program" 1
    specify 1
    sed -i 's/"p.c:1"/"pp.c:1"/' spec.demon
    demon
    is "$status" 2
    is "$stderr" "pct: spec.demon:3: assert some: $PWD/program has no source file pp.c; did you mean p.c?"
    rejects "code of p.c:$((line - 11)) begins where wait_for_idler is entered: that is its \`require\`" $((line - 11))
    rejects "spec.demon:3: \`assert some: queue.idlers > 0\` does not hold where it reaches p.c:$((line + 1)), without \
any interference" $((line + 1))
    specify $((line - 1))
    demon
    is "$status" 2
    [[ $stderr == "pct: spec.demon:3: \`assert some\` is not looked at: wait_for_idler does not come to \
p.c:$((line - 1))"* ]]
    has 'pct: nothing was asked, so nothing is known'
    sed -i 's/^static void decrement/static inline __attribute__((always_inline)) &/; s/void static inline/inline/' p.c
    sed -i 's/static inline __attribute__((always_inline)) static/static inline __attribute__((always_inline))/' p.c
    sed -i 's/^int main.*/static void twice(struct queue_info *q) { decrement(q), decrement(q); }\n&/;
        s/ wait_for_idler(&queue);/& if (queue.idlers) twice(\&queue);/' p.c
    compile
    rejects 'is in 2 functions: name the line of one, or build with -O0 or -fno-inline' 14
}

@test "assert: at a line whose code has no room for a jump" {
    ! "$cc" --version | grep -q clang || skip "of what gcc compiles"
    write_calls note 12
    "$cc" -O0 -g -o program q.c
    demon
    is "$status" 2
    has 'no jump fits where code of q.c:12 begins, at 0x'
    [[ $stderr == *': name q.c:13, or build it with -O0'* ]]
    lacks 'fails by itself'
    lacks 'was not entered'
}

@test "--functions=FILE:LINE: where code of the line begins is a scheduling point, in tokens, too" {
    printf '%s\n' '#include <pthread.h>' 'static int n;' 'static void *f(void *p) { return p; }' 'int main(void) {' \
        'pthread_t t;' 'pthread_create(&t, 0, f, 0);' 'n++;' 'n += 2;' 'pthread_join(t, 0);' 'return n != 3;' '}' > p.c
    compile
    run --separate-stderr "$pct" run -n 1 --seed 1 --functions p.c:7,p.c:8 --trace t -- ./program
    is "$status" 0
    has 'functions=p.c%3a7/p.c%3a8:'
    is "$("$pct" trace --format=jsonl t | grep -c '"op":"enter"')" 2
    run --separate-stderr "$pct" replay "$(grep -o "pct1:[^ ']*" <<< "$output$stderr" | head -n 1)" -- ./program
    is "$status" 0
    has 'replayed identically'
    run --separate-stderr "$pct" run --functions p.c:1 -- ./program
    is "$status" 2
    is "$stderr" 'pct: --functions: line 1 of p.c has no code in program; the nearest that has is line 3'
    run --separate-stderr "$pct" run --functions q.c:7 -- ./program
    is "$status" 2
    has "nothing in program and its libraries is called 'q.c'; did you mean 'p.c'?"
    run --separate-stderr "$pct" scope --functions p.c:7 ./program
    is "$status" 0
    has "'p.c:7':"
    has '  line p.c:7, at 0x'
}

@test "functions of which a part lies elsewhere, and lines that have code in both parts" {
    cat > p.c << 'END'
#include <stdlib.h>
struct queue { int length; } queue = { 1 };
volatile int calls;
__attribute__((cold, noinline, noclone)) void complain(int length) { exit(length ? 2 : 1); }
__attribute__((noinline, noclone)) void get(struct queue *q)
{
    if (!q->length) return;
    calls++;
    if (q->length < 1) complain(q->length);
    q->length--;
}
__attribute__((used, noinline)) void steal(struct queue *q) { q->length = 0; }
int main(void) { get(&queue); return 0; }
END
    printf '%s\n' 'test get(q)' '  assert "p.c:9" some: q.length > 0' 'proc steal(q) ensure none: q.length = 0' \
        > spec.demon
    compile -O2
    nm program | grep -q 'get\.cold' || skip "$cc keeps functions in one part"
    demon
    is "$status" 1
    has 'interference where get reaches p.c:9: another thread calls steal(q)'
    has 'confirmed by a real schedule'
}
