#!/usr/bin/env bats
# `pct run` and `pct replay`: child processes that fail.
load common

setup_file()
{
    compile_targets
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/children" "$root/tests/cli/children.c"
}

setup()
{
    enter
    ln -s "$BATS_FILE_TMPDIR/children" .
    mkdir scratch
    export XDG_RUNTIME_DIR=$PWD/scratch
    export CCACHE_DISABLE=1 # where cc is ccache, it would keep files there too
}

teardown()
{
    is "$(find scratch -type f)" ""
}

@test "a child that deadlocks is a failing run, with a report of its own; one that crashes on demand" {
    run --separate-stderr "$pct" run -n 3 -s 1 -- ./children deadlock
    is "$status" 120
    has "seed 1: deadlock in a child process"
    has " of ./children deadlock:"
    has "thread 0 waits for mutex 1 \`mutex\` (lock), held by itself"
    has "main  at "
    has "the target ended with exit status 0"
    run sh -c "$(replay_line)"
    is "$status" 120
    has "replayed identically"
    has "deadlock in a child process"
    run --separate-stderr "$pct" run --children all -- ./children crash
    is "$status" 139
    has "crash in thread 0: signal 11"
    run sh -c "$(replay_line)"
    is "$status" 139
}

@test "a lock that was held where the process was forked is said to be held by nobody in the child" {
    run "$pct" run -- ./children held
    is "$status" 120
    has "waits for mutex 1 \`mutex\` (lock), held by none of these threads"
}

@test "what else a child ends with is its parent's business" {
    run "$pct" run -n 3 -- ./children exit
    is "$status" 0
    run "$pct" run -n 3 -- ./children crash
    is "$status" 0
    has "no failure"
    run "$pct" run -n 3 --children=none -- ./children deadlock
    is "$status" 0
    has "no failure"
    run "$pct" run --children=some -- ./children exit
    is "$status" 2
    has "'some' is not one of stuck, all and none"
}

@test "a program that a script starts, in the foreground or not, and the lowest seed with any number of workers" {
    # k is given: how many steps the shell makes depends on whether its child ends before it waits.
    run --separate-stderr "$pct" run --state none -n 500 -s 1 -d 2 -k 8 --epoch 1700000000 -- sh \
        -c './target abba; exit 0'
    is "$status" 120
    has " of ./target abba:"
    has "the cycle:"
    # How many steps the shell makes depends on the machine as well, and so does the hash.
    without_hash='s/:[0-9a-f]*:[0-9a-f]*\('"'"' -- \)/\1/'
    line=$(replay_line)
    expected=$(sed "$without_hash" <<< "$line")
    run --separate-stderr "$pct" run --state none -j 3 -n 500 -s 1 -d 2 -k 8 --epoch 1700000000 -- sh \
        -c './target abba; exit 0'
    is "$(replay_line | sed "$without_hash")" "$expected"
    run sh -c "$line"
    has "deadlock in a child process"
}

@test "without the command: the child's file stands beside the trace" {
    LD_PRELOAD=$build/libpct.so PCT_TRACE=$PWD/trace run sh -c './target lost; exit 0'
    is "$status" 0
    run "$pct" report trace
    has "exit status 0"
    run "$pct" report trace.*
    has "deadlock"
    has "./target lost"
}

@test "a program that su or runuser starts for root has a schedule of its own; one that setpriv becomes is the target" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    run --separate-stderr "$pct" run -n 1 -s 1 -- su root -s /bin/sh -c './children deadlock'
    is "$status" 120
    has "deadlock in a child process"
    run --separate-stderr "$pct" run -n 1 -s 1 -- runuser -u root ./children deadlock
    is "$status" 120
    has "deadlock in a child process"
    run --separate-stderr "$pct" run -n 50 -s 1 -- setpriv --reuid=0 --clear-groups ./target abba
    is "$status" 120
    has "the cycle:"
    lacks "child process"
}

@test "what libc opens and closes while it waits changes no descriptor's number: a trace with children replays" {
    "$cc" -g -O1 -pthread -o numbers "$root/tests/cli/numbers.c"
    for seed in {1..20}; do
        "$pct" run -q -S random-walk -s "$seed" -t trace -- ./numbers
        run "$pct" replay trace -- ./numbers
        is "$status" 0
        has "replayed identically"
    done
}
