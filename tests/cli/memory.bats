#!/usr/bin/env bats
# Programs that tell of their memory accesses: the compilers, which accesses count, data races.
# shellcheck disable=SC2154 # variables that bats and common.bash set

setup_file()
{
    load common
    cd "$BATS_FILE_TMPDIR" || return
    cp "$root/bench/bugs-memory/shared.h" "$root/bench/bugs-memory/lost-update.c" .
    "$build/pct-cc" -g -O1 -pthread -o lost lost-update.c
    "$build/pct-cc" -g -O1 -pthread -DFIXED -o lost-fixed lost-update.c
    "$build/pct-cc" -g -O1 -pthread -o lazy "$root/bench/bugs-memory/lazy-object.c"
}

setup()
{
    load common
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    ln -s "$BATS_FILE_TMPDIR"/* .
}

@test "a lost update is found, and replays" {
    run "$pct" run -n 100 -s 1 -- ./lost
    [ "$status" = 134 ]
    has "load memory 1"
    token=$(tail -n 1 <<< "$output" | grep -o "pct1:[^']*")
    run "$pct" replay -n 3 "$token" -- ./lost
    [ "$status" = 134 ]
    has "replayed identically 3 times of 3"
}

@test "without points at memory it is not found, and the token says so" {
    run "$pct" run -n 50 -s 1 -g --memory-points=off -- ./lost
    [ "$status" = 0 ]
    run "$pct" run -s 1 --memory-points=off -- ./lost
    has ",memory-points=off,"
    run "$pct" run -s 1 --memory-points=all -- ./lost-fixed
    [ "$status" = 0 ]
    has ",memory-points=all,"
    PCT_MEMORY_POINTS=all run "$pct" run -s 1 -- ./lost-fixed
    has ",memory-points=all,"
}

@test "by itself the program runs as without pct" {
    run ./lost-fixed
    [ "$status" = 0 ]
    [ -z "$output" ]
}

@test "a loop that waits on memory makes few steps, and one that looks twice is no such loop" {
    cat > wait.c << 'END'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
static atomic_int flag, value;
static void *look(void *unused)
{
    for (int i = 0; i < 1000000 && !atomic_load(&flag); i++)
        ;
    return unused;
}
static void *twice(void *unused)
{
    int seen[2];
    for (int i = 0; i < 2; i++)
        seen[i] = atomic_load(&value);
    assert(seen[0] == seen[1]);
    return unused;
}
static void *set(void *unused)
{
    atomic_store(&value, 1);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t a, b;
    pthread_create(&a, NULL, argc > 1 && !strcmp(argv[1], "twice") ? twice : look, NULL);
    pthread_create(&b, NULL, argc > 1 ? set : look, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
END
    "$build/pct-cc" -g -O1 -pthread -o wait wait.c
    for strategy in pct random-walk round-robin; do
        run "$pct" run -s 1 -S $strategy -t wait.trace -- ./wait
        is "$status" 0
        run "$pct" report wait.trace
        steps=$(sed -n 's/.*, steps \([0-9]*\),.*/\1/p' <<< "$output")
        # Two threads look a million times each: of 65 looks, one is a step, and one yield comes before it; more where
        # the other thread's steps come in between.
        [ "$steps" -gt 60000 ]
        [ "$steps" -lt 100000 ]
        run "$pct" replay wait.trace -- ./wait
        has "replayed identically"
    done
    run "$pct" run -n 200 -s 1 -S pct,depth=2 -- ./wait twice
    is "$status" 134
    has "seen[0] == seen[1]"
}

@test "objects, libraries, C++, link time optimisation, no PIE" {
    "$build/pct-cc" -O2 -flto -fPIC -c -DFIXED -o part.o lost-update.c
    "$build/pct-cc" -flto -O2 -no-pie -pthread -o lto part.o
    run "$pct" run -n 3 -s 1 -- ./lto
    [ "$status" = 0 ]
    echo 'int shared; void add(void) { shared++; }' > part.c
    printf '%s\n' '#include <assert.h>' '#include <thread>' 'extern "C" { extern int shared; void add(void); }' \
        'int main() { std::thread a(add), b(add); a.join(); b.join(); int sum = shared; assert(sum == 2); }' > main.cc
    "$build/pct-cc" -fPIC -shared -o libpart.so part.c
    "$build/pct-c++" -pthread -o with-library main.cc ./libpart.so
    run "$pct" run -n 100 -s 1 -- ./with-library
    [ "$status" = 134 ]
    has "load memory"
}

@test "each module has handlers of its own, which nobody else sees, and one that is loaded later does" {
    printf '%s\n' 'static int shared; int add(void) { return ++shared; }' > plugin.c
    # Not instrumented: all that pct hears of is the library.
    cat > host.c << 'END'
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
static int (*add)(void);
static void *run(void *arg) { add(); return arg; }
int main(void)
{
    pthread_t a, b;
    add = (int (*)(void))dlsym(dlopen("./plugin.so", RTLD_NOW), "add");
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(add() == 3);
}
END
    compilers="pct-cc"
    if command -v clang > /dev/null; then compilers="pct-cc pct-clang"; fi
    "$cc" -pthread -o host host.c
    for compiler in $compilers; do
        "$build/$compiler" -O2 -fPIC -shared -o plugin.so plugin.c
        run readelf --dyn-syms -W plugin.so
        lacks "__tsan_write"
        has "pct_tsan_access"
        run ./host
        [ "$status" = 0 ]
        run "$pct" run -n 100 -s 1 -- ./host
        [ "$status" = 134 ]
        has "load memory"
        token=$(tail -n 1 <<< "$output" | grep -o "pct1:[^']*")
        run "$pct" replay "$token" -- ./host
        [ "$status" = 134 ]
        has "replayed identically"
    done
}

@test "options that name a language do not reach what is linked in addition" {
    "$build/pct-cc" -o from-input -pthread -x c - < lost-update.c
    run "$pct" run -n 100 -s 1 -- ./from-input
    [ "$status" = 134 ]
    if command -v clang > /dev/null; then
        "$build/pct-clang" -o from-input -pthread -x c - < lost-update.c
        run "$pct" run -n 100 -s 1 -- ./from-input
        [ "$status" = 134 ]
    fi
}

@test "patching leaves the handlers alone, and sees the rest" {
    # An increment that the compiler does not know of.
    cat > inline.c << 'END'
#include <assert.h>
#include <pthread.h>
static int seen, unseen;
static void *run(void *arg) { seen++; __asm__ volatile("incl %0" : "+m"(unseen)); return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(unseen == 2);
}
END
    "$build/pct-cc" -g -O1 -pthread -o inline inline.c
    run "$pct" sites --memory=all inline
    [ "$status" = 0 ]
    sites=$output
    objcopy --rename-section .pct_handlers=.other inline renamed
    run "$pct" sites --memory=all renamed
    [ "$output" != "${sites//inline/renamed}" ]
    run "$pct" run -n 50 -s 1 -- ./inline
    [ "$status" = 0 ]
    run "$pct" run -n 50 -s 1 --memory=all -- ./inline
    [ "$status" = 134 ]
}

@test "a library of another version does not go unnoticed" {
    # One that does not have what the program's handlers want: the loader says so, with and without pct.
    echo 'int nothing;' | "$cc" -shared -fPIC -Wl,-soname,libpct-tsan.so -o libpct-tsan.so -x c -
    LD_LIBRARY_PATH=$PWD run -127 ./lost
    has "undefined symbol: pct_tsan_"
    # A libpct.so that speaks of memory in another way.
    printf '%s\n' 'const unsigned pct_memory_interface = 99;' | "$cc" -shared -fPIC -o newer.so -x c -
    LD_PRELOAD=$PWD/newer.so run ./lost-fixed
    [ "$status" = 0 ]
    has "pct: libpct.so and the libpct-tsan.so of this program are of different versions: its memory accesses are not \
seen"
}

@test "a race ends the run, with both accesses" {
    run "$pct" run -n 5 -s 1 --races=fail -- ./lazy
    [ "$status" = 118 ]
    has "pct: seed 1: data race"
    has "data race 1 of 1:"
    has "#0  get  at"
    token=$(tail -n 1 <<< "$output" | grep -o "pct1:[^']*")
    run "$pct" replay "$token" -- ./lazy
    [ "$status" = 118 ]
    has "replayed identically"
    has "data race 1 of 1:"
}

@test "races are reported, and the run goes on" {
    run "$pct" run -n 3 -s 1 --memory-points=off --races=report -- ./lost
    [ "$status" = 0 ]
    has "pct: 3 of the runs that did not fail had data races; the first is that of seed 1:"
    has "writes 4 bytes"
    has "lost-update.c:"
    has "races=report,"
    run "$pct" run -n 3 -s 1 --races=report -- ./lost-fixed
    [ "$status" = 0 ]
    lacks "data race"
}

@test "a mutex that is destroyed while another thread unlocks it is a race" {
    "$build/pct-cc" -g -O1 -pthread -DFIXED -o unlock-DFIXED -I"$root" "$root/bench/bugs/fig2-pbzip2.c"
    mkdir -p unset
    cp "$root/bench/bugs/shared.h" unset/
    sed '/ memset(/d' "$root/bench/bugs/fig2-pbzip2.c" > unset/unlock.c
    "$build/pct-cc" -g -O1 -pthread -o unlock -I"$root" unset/unlock.c
    "$build/pct-cc" -g -O1 -pthread -o unlock-set -I"$root" "$root/bench/bugs/fig2-pbzip2.c"
    # It is overwritten behind that, too.
    run "$pct" run -n 200 -s 1 --races=fail -- ./unlock-set
    [ "$status" = 118 ]
    has "#0  queue_delete  at"
    run "$pct" run -n 200 -s 1 --races=fail -- ./unlock
    [ "$status" = 118 ]
    has "data race 1 of 1:"
    has "thread 0 writes 1 byte"
    has "#0  file_writer  at"
    run "$pct" run -n 20 -s 1 --races=fail -- ./unlock-DFIXED
    [ "$status" = 0 ]
}

@test "synchronised threads have no races" {
    "$build/pct-c++" -std=c++20 -g -O1 -pthread -o sync "$root/tests/cli/sync.cc"
    for strategy in pct pos random-walk; do
        run "$pct" run -n 8 -s 1 -S $strategy --races=fail -- ./sync
        [ "$status" = 0 ]
    done
}

@test "a program built with -fsanitize=thread is taken over" {
    # clang's is inside unless it is told otherwise; gcc does not know the option.
    "$cc" -fsanitize=thread -shared-libsan -g -O1 -pthread -o other lost-update.c ||
        "$cc" -fsanitize=thread -g -O1 -pthread -o other lost-update.c || skip "the compiler has no such library"
    run "$pct" run -n 100 -s 1 -- ./other
    [ "$status" = 134 ]
    has "store memory 1"
    lacks "ThreadSanitizer"
    # Where clang's library is, the loader does not know by itself.
    run -2 env LD_LIBRARY_PATH="$(dirname "$("$cc" -print-file-name=libclang_rt.tsan-x86_64.so)")" \
        LD_PRELOAD="$build/libpct.so" ./other
    has "start it by \`pct run\`"
}

@test "the sanitizer's library inside: said before the start" {
    "$cc" -fsanitize=thread -static-libtsan -pthread -o inside lost-update.c ||
        "$cc" -fsanitize=thread -static-libsan -pthread -o inside lost-update.c ||
        skip "the compiler has no such library"
    run "$pct" run -- ./inside
    [ "$status" = 2 ]
    has "build it with pct-clang or pct-cc"
}

@test "bad choices" {
    run "$pct" run --races=maybe -- ./lost
    [ "$status" = 2 ]
    has "--races: 'maybe' is not a choice; it must be off, report or fail"
    PCT_MEMORY_POINTS=some run "$pct" run -- ./lost
    [ "$status" = 2 ]
    has "PCT_MEMORY_POINTS: 'some' is not a choice; it must be shared, all, off or learned"
    run env PCT_RACES=maybe LD_PRELOAD="$build/libpct.so" ./lost
    [ "$status" = 2 ]
    has "PCT_RACES: 'maybe'"
    run "$build/pct-cc" -static -o x lost-update.c
    [ "$status" = 1 ]
    has "a static program cannot be controlled"
}

@test "a program that is patched has its memory where it is without, whether it is forked or not" {
    "$cc" -g -O1 -pthread -o places-here "$root/tests/cli/places.c"
    for level in off globals all; do
        rm -f places
        run "$pct" run -n 20 -s 1 -d 1 --memory=$level -- ./places-here
        [ "$status" = 0 ]
        lacks "started by exec"
        run "$pct" run -n 2 -s 1 -d 1 --exec --memory=$level -- ./places-here
        [ "$status" = 0 ]
        run sort -u places
        [ "${#lines[@]}" = 1 ]
        line=${line:-$output}
        [ "$output" = "$line" ]
    done
}
