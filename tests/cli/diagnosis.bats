#!/usr/bin/env bats
# The causes that `pct explain` names by rules, of programs of bench/desk built as their users would, -O0.
# shellcheck disable=SC2016,SC2154 # names in `...`; cc is of common.bash
load common

setup_file()
{
    local to=$BATS_FILE_TMPDIR name
    for name in bank pipeline; do
        "$cc" -g -pthread -o "$to/$name" "$root/bench/desk/$name.c"
    done
    "${CXX:-g++}" -g -pthread -o "$to/singleton" "$root/bench/desk/singleton.cc"
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

# first_cause NAME: what is named of the first failure, with all the runs beside it that there are to be.
first_cause()
{
    local program=$BATS_FILE_TMPDIR/$1 token
    token=$("$pct" run -q -n 100 -s 1 --state none --epoch 1700000000 -- "$program" 2>&1 |
        grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --seconds 1000000 "$token" -- "$program"
    is "$status" 0
}

@test "a semaphore that others post is not held by who waits for it: a post is missing" {
    first_cause pipeline
    has 'cause: a missing post: thread 0 waits for semaphore 1 `ring.free_slots`; thread '
    [[ $output != *'waits for itself'* ]]
}

@test "two halves under two locks, and who sees one of them" {
    first_cause bank
    has 'cause: atomicity violation: '
    has 'withdraw bank.c:'
    has 'audit bank.c:'
    has 'deposit bank.c:'
}

@test "two threads that make the same, behind std::mutex, which is not inlined" {
    first_cause singleton
    has 'cause: done twice: thread '
    has 'Service::instance() singleton.cc:'
}
