#!/usr/bin/env bats
# `at "FILE:LINE"` of `pct script`, in programs that tell of nothing: where threads come to a line they stand, in each
# copy that compilers have made of it.
load common
load script

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    cp "$root/tests/cli/script_lines.c" l.c
}

# line MARK: where in l.c that comment stands.
line()
{
    echo "l.c:$(grep -n "/\* $1 \*/" l.c | cut -d: -f1)"
}

compile()
{
    "$cc" -g -pthread "${@--O0}" -o program l.c
}

# comes TIMES MARK: how often a thread comes to that line.
comes()
{
    script "local t, n = thread(1), 0
while not ended(t) do run(t, at \"$(line "$2")\" + ends) if stands(t, ends) then break end n = n + 1 end
assert(n == $1, n .. ' times')" ./program "$3"
    is "$status" 0
}

@test "at: an update is lost between two lines that call nothing, and the token replays without the script" {
    for level in -O0 -O2 '-O0 -no-pie' '-O2 -fPIE -pie'; do
        # shellcheck disable=SC2086 # words
        compile $level
        script "local a, b = thread(1), thread(2)
run(a, at \"$(line write)\")
run(b, ends)
run(a, ends)" ./program lose
        is "$status" 134
        has 'the program: assertion'
        replays 134
    done
}

@test "at: each copy of an inlined function, each time; a loop's body, and what is behind it once" {
    for level in -O0 -O2; do
        compile $level
        comes 2 copied copies
        comes 3 'in turn' loop
        comes 1 behind loop
    done
}

@test "at: beside an operation it is where that is called, and a thread that is looked at is in the line" {
    compile
    script "local t = thread(1)
run(t, at \"$(line lock)\") assert(not stands(t, locks))
run(t, locks \"lock\" * at \"$(line lock)\") expect(t, at \"$(line lock)\")
run(t, at \"$(line locked)\") expect(t, -at \"$(line lock)\") assert(not stands(t, enters) and not stands(t, enters \
\"locks\"))
run(t, at \"$(line lock)\" + unlocks) expect(t, unlocks)" ./program locks
    is "$status" 0
    script "local t = thread(enters \"locks\")
run(t, at \"$(line locked)\" * inside \"locks\")
run(t, returns \"locks\") expect(t, -inside \"lose\" * inside \"locks\")" ./program locks
    is "$status" 0
}

@test "at: a line without code, a file that is not there, a stripped program" {
    compile
    script 'run(thread(1), at "l.c:1")' ./program lose
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: line 1 of l.c has no code in ./program; the nearest that has is line 10'
    script 'run(thread(1), at "k.c:1")' ./program lose
    is "$status" 2
    has "no source file 'k.c'; did you mean 'l.c'?"
    strip program
    script "run(thread(1), at \"$(line write)\")" ./program lose
    is "$status" 2
    has "no source file 'l.c' (a stripped file has no names)"
}

@test "at: where no jump fits, the nearest line is named, and what is called on the line can still be meant" {
    printf '%s\n' '#include <pthread.h>' 'static volatile int n;' 'static pthread_mutex_t m;' \
        'static void *f(void *p) {' \
        'n++;' 'while (n < 0)' 'if (n > -2) break;' \
        'n++;' 'asm volatile("jrcxz .+2"); pthread_mutex_lock(&m);' 'n--; return p; }' \
        'int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }' > l.c
    compile
    script 'local t = thread(1) run(t, at "l.c:9")' ./program
    is "$status" 2
    has 'test.lua:1: no jump fits where code of l.c:9 begins, at 0x'
    has ': name l.c:8, or build it with -O0'
    script 'local t = thread(1) run(t, locks * at "l.c:9") expect(t, at "l.c:9") run(t, at "l.c:10")' ./program
    is "$status" 0
}

@test "at: lines of libraries, and of templates in C++" {
    printf '%s\n' 'int shared;' 'int add(int k)' '{' 'shared += k;' 'return shared;' '}' > add.c
    "$cc" -g -O2 -fPIC -shared -o libadd.so add.c
    printf '%s\n' '#include <pthread.h>' 'int add(int);' 'static void *f(void *p) { add(1); return p; }' \
        'int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0), pthread_create(&b, 0, f, 0);' \
        'pthread_join(a, 0), pthread_join(b, 0); return add(0) - 2; }' > l.c
    compile -O2 -L. -Wl,--no-as-needed -ladd -Wl,-rpath,"$PWD"
    script 'local a, b = thread(1), thread(2) run(a, at "add.c:4") run(b, at "add.c:4" * once) run(a, ends)' ./program
    is "$status" 0
    replays 0
    printf '%s\n' '#include <thread>' 'template <class T> struct box {' 'T v;' \
        '__attribute__((noinline)) void put(T x) {' \
        'v = v + x;' '}' '};' 'box<int> i;' 'box<double> d;' 'void first() { i.put(1); }' \
        'void second() { d.put(1); }' \
        'int main() { std::thread a(first), b(second); a.join(), b.join(); return i.v - d.v; }' > t.cpp
    for level in -O0 -O2; do
        "${CXX:-g++}" -g $level -pthread -o program t.cpp
        script 'local a, b = thread "first", thread "second"
run(a, at "t.cpp:5") run(b, at "t.cpp:5" * once) run(a, ends)' ./program
        is "$status" 0
        replays 0
    done
}

@test "reads: that some accesses could not be patched is said where the script waits for one" {
    printf '%s\n' '#include <pthread.h>' 'static int n;' 'static void *f(void *p) {' \
        'asm volatile("mov $1, %%ecx\n1: movl %0, %%eax\njrcxz 1b+1" : : "m"(n) : "eax", "ecx"); return p; }' \
        'int main(void) { pthread_t a, b; pthread_create(&a, 0, f, 0), pthread_create(&b, 0, f, 0);' \
        'pthread_join(a, 0), pthread_join(b, 0); return 0; }' > l.c
    compile
    printf 'local a = thread(1) run(a, reads "n")\n' > test.lua
    run --separate-stderr timeout 60 "$pct" script --memory=all test.lua -- ./program
    is "$status" 117
    has 'not seen, though the script may wait for one of them: 1 instruction that accesses memory and could not be '\
'patched'
}
