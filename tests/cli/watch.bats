#!/usr/bin/env bats
# `--watch`: accesses to variables of a program that is neither rebuilt nor patched, by the processor's watchpoints.
# shellcheck disable=SC2154 # variables that bats and common.bash set

setup_file()
{
    load common
    cd "$BATS_FILE_TMPDIR" || return
    "$cc" -g -O1 -pthread -o app "$root/tests/cli/watch.c"
    # At -O1 clang makes two variables of the pair.
    "$cc" -g -O0 -pthread -o torn "$root/bench/bugs-memory/torn-publication.c"
    "$cc" -g -O0 -pthread -DFIXED -o torn-fixed "$root/bench/bugs-memory/torn-publication.c"
    "$cc" -g -O1 -pthread -o check "$root/bench/bugs-memory/check-then-act.c"
    "$cc" -g -O1 -o forbid "$root/tests/cli/forbid.c"
}

setup()
{
    load common
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    ln -s "$BATS_FILE_TMPDIR"/* .
}

# Skips where the kernel, the container or the processor has no watchpoints: pct's own words are the reason.
needs_watchpoints()
{
    run "$pct" run -q --watch=pair -- ./torn-fixed
    case $output in
        *"there are no watchpoints"*) skip "${output#*: }" ;;
    esac
    is "$status" 0
}

token()
{
    tail -n 1 <<< "$output" | grep -o "pct1:[^']*"
}

@test "a bug between two plain accesses, found and replayed by token, by trace and by a bare run" {
    needs_watchpoints
    run "$pct" run -n 50 -s 1 --memory=off -- ./torn
    is "$status" 0
    for program in torn:pair check:owner; do
        run "$pct" run -n 50 -s 1 -t trace --watch="${program#*:}" -- "./${program%:*}"
        is "$status" 134
        has ",watch=${program#*:},"
        token=$(token)
        run "$pct" replay -n 3 "$token" -- "./${program%:*}"
        is "$status" 134
        has "replayed identically 3 times of 3"
        run "$pct" replay -n 3 trace -- "./${program%:*}"
        has "replayed identically 3 times of 3"
    done
    PCT_TOKEN=$token PCT_TRACE=$PWD/bare LD_PRELOAD=$build/libpct.so run ./check
    is "$status" 134
    run "$pct" report bare
    has "$token"
}

@test "the schedule says who accessed what in which order, and where" {
    needs_watchpoints
    "$pct" run -q -s 1 -S round-robin --sites -t trace --watch=pair -- ./torn-fixed
    run "$pct" trace trace --format text
    is "$(grep -c 'store memory' <<< "$output")" 2
    is "$(grep -c 'load memory' <<< "$output")" 2
    run "$pct" run -n 50 -s 1 -S pct,depth=2,k=12 --watch=pair -- ./torn
    run "$pct" explain --seconds 1000000 --search "$(token)" -- ./torn
    has "store memory 1 \`pair.low\`"
    has "torn-publication.c:"
    has "before thread 2: load memory"
}

@test "what a failure needs is found, also of a program that tells of its accesses itself" {
    needs_watchpoints
    # Only a reader that begins with the other half, as gcc makes one at -O1, sees halves in but one way.
    sed 's/int low = pair.low, high = pair.high;/int high = pair.high, low = pair.low;/' \
        "$root/bench/bugs-memory/torn-publication.c" > torn.c
    grep -q 'int high = pair.high, low' torn.c
    rm torn
    "$cc" -g -O0 -pthread -I"$root/bench/bugs-memory" -I"$root" -o torn torn.c
    "$build/pct-cc" -g -O1 -pthread -o torn-told "$root/bench/bugs-memory/torn-publication.c"
    "$build/pct-cc" -g -O1 -pthread -o check-told "$root/bench/bugs-memory/check-then-act.c"
    local program
    for program in torn torn-told ${FULL:+check check-told}; do
        local watched=pair
        [[ $program = torn* ]] || watched=owner
        run -134 "$pct" run -q -n 300 -s 1 --watch=$watched -- ./$program
        run -0 "$pct" minimize --seconds 1000000 "$(token)" -- ./$program
        has "depth 2: 100 of 100 schedules fail"
        is "$(grep -c -E '[Rr]eversed, .*([0-9]+) of \1 pass' <<< "$output")" 2
    done
}

@test "a program without the bug passes, and the guarantee says what it is about" {
    needs_watchpoints
    run "$pct" run -n 50 -s 1 -d 2 --watch=pair -- ./torn-fixed
    is "$status" 0
    has "k counts those to what is watched"
    run "$pct" campaign -n 20 -s 1 --db db --watch=pair -- ./torn-fixed
    is "$status" 0
    run "$pct" campaign -n 20 -s 1 --db db --watch=pair+4 -- ./torn-fixed
    is "$status" 2
    has "is of another campaign"
}

@test "other strategies find it, and its token replays" {
    needs_watchpoints
    for strategy in tapct pos surw delay-bound random-delay; do
        run "$pct" run -n 100 -s 1 -S "$strategy" --watch=pair -- ./torn
        is "$strategy $status" "$strategy 134"
        run "$pct" replay "$(token)" -- ./torn
        has "replayed identically"
    done
}

# Each of these programs ends by itself with status 3 if it sees a SIGTRAP that is not its own, or misses one.
@test "SIGTRAP blocked, ignored, handled; a loop that waits; a child; libc; a handler" {
    needs_watchpoints
    for mode in "" blocked ignored handled spin child library twice; do
        run ./app $mode
        is "$mode $status" "$mode 0"
        run "$pct" run -g -n 20 -s 1 -S random-walk --watch=counter,other,start,text:4 -- ./app $mode
        is "$mode $status" "$mode 134"
        grep -q 'runs in .*: \([0-9]*\) failed (\1 assertion)' <<< "$output"
        run "$pct" replay "$(token)" -- ./app $mode
        has "replayed identically"
    done
}

@test "parts of variables, and addresses" {
    needs_watchpoints
    local at
    at=$(nm torn | awk '$3 == "pair" { print $1 }')
    for part in pair:4 "+0x${at##*(0)}:4"; do
        "$pct" run -q -s 1 -S round-robin -t trace --watch="$part" -- ./torn
        is "$("$pct" trace trace --format text | grep -c ' memory ')" 2
    done
    run "$pct" scope --watch=pair+4:2 ./torn
    has "variable pair, at 0x"
}

@test "variables that the compiler calls otherwise: of functions, and parts" {
    needs_watchpoints
    cat > own.c << 'EOF'
#include <pthread.h>
static void *one(void *p) { static int count; ++*(volatile int *)&count; return p; }
static void *two(void *p) { static int count; ++*(volatile int *)&count; return p; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    return pthread_join(a, 0) || pthread_join(b, 0);
}
EOF
    "$cc" -g -O0 -pthread -o own own.c
    run "$pct" scope --watch=count ./own
    is "$(grep -c '^  variable .*count.*, at 0x' <<< "$output")" 2
    "$pct" run -q -s 1 -t trace --watch=count -- ./own
    is "$("$pct" trace trace --format text | grep -c ' memory ')" 4
    run "$pct" run --watch=coun -- ./own
    is "$status" 2
    command -v clang || skip "clang is not installed"
    clang -g -O1 -pthread -o parts "$root/bench/bugs-memory/torn-publication.c"
    nm parts | grep -q ' pair\.1$' || skip "this clang leaves the pair whole"
    run -134 "$pct" run -n 50 -s 1 --watch=pair -- ./parts
    run -134 "$pct" replay "$(token)" -- ./parts
    has "replayed identically"
    run "$pct" scope --focus=pair ./parts
    has "variable pair.0, at 0x"
    run -2 "$pct" run --watch=pair+4 -- ./parts
    has "did you mean 'pair."
}

@test "what cannot be watched is said before the start" {
    needs_watchpoints
    run "$pct" run --watch=pai -- ./torn
    is "$status" 2
    has "did you mean 'pair'?"
    run "$pct" run --watch=change -- ./torn
    is "$status" 2
    has "'change' is no variable, but a function"
    run "$pct" run --watch=pair+8 -- ./torn
    is "$status" 2
    has "'pair' is no variable of that size"
    run "$pct" run --watch=pair:x -- ./torn
    is "$status" 2
    run "$pct" run --watch=+0x10 -- ./torn
    is "$status" 2
    has "has no variables at +0x10"
    run "$pct" run --watch=counter,other,start,text,handled -- ./app
    is "$status" 2
    has "too much for the processor"
    run "$pct" run --watch=pair --memory=globals -- ./torn
    is "$status" 2
    has "--focus=pair"
    run "$pct" run --watch=pair -S none -- ./torn
    is "$status" 2
}

@test "where the kernel refuses watchpoints, pct says so and what to do" {
    needs_watchpoints
    run ./forbid "$pct" run --watch=pair -- ./torn
    is "$status" 2
    has "there are no watchpoints: the kernel refuses them here"
    has "kernel.perf_event_paranoid"
    has "--memory=globals --focus=pair"
    PCT_WATCH=pair LD_PRELOAD=$build/libpct.so run ./forbid ./torn
    is "$status" 2
    has "PCT_WATCH: the kernel refuses watchpoints"
}
