#!/usr/bin/env bats
# Restored runs (--engine=restore): they are the runs that exec makes; where they would not be, runs are forked.
load common

setup_file()
{
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/kept" "$root/tests/cli/kept.c"
    "$cc" -O1 -o "$BATS_FILE_TMPDIR/deny" "$root/tests/cli/deny.c"
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state PCT_WATCHDOG=off # nothing is long because the machine is busy
    ln -s "$BATS_FILE_TMPDIR/kept" "$BATS_FILE_TMPDIR/deny" .
}

fixed=(--epoch 1700000000 -s 1)

# rows FILE MODE...: a campaign, and what its file knows of its runs.
rows()
{
    local to=$1
    shift
    "$pct" campaign "${fixed[@]}" --db "$to.db" "$@" > "$to.said" 2>&1 || [ $? = 1 ] || { cat "$to.said" && return 1; }
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute("SELECT * FROM runs ORDER BY seed"): print(row)' "$to.db" > "$to"
}

has_line()
{
    grep -F "$1" said
}

# say WHAT...: runs of kept, and the last line about those that were restored.
say()
{
    "$pct" run "${fixed[@]}" -g --state none -n 16 --ok-status 3 --engine=restore -- ./kept "$@" > said 2>&1 ||
        { cat said && return 1; }
    sed -n 's/^pct: from then on, runs were forked: //p' said
}

@test "restored runs are those by exec: failing ones, too, with several workers, and what they print" {
    for program in bounded-buffer-fixed abba3; do
        rm -f ./*.db
        rows started -n 25 --exec -- "$build/bugs/$program"
        rows restored -n 25 --engine=restore -j 1 -- "$build/bugs/$program"
        cmp started restored
        rm restored.db
        rows restored -n 25 --engine=restore -j 2 -- "$build/bugs/$program"
        cmp started restored
        grep -E '^pct: [1-9][0-9]* runs were restored; [1-9]' restored.said
    done
    # Memory of all kinds: addresses, too, are those of the first run.
    rows restored -n 25 -j 1 --engine=restore --expect-same --fresh -- ./kept memory
    grep -E '^pct: [12][0-9] runs were restored; 3 of them were made again, and were the same' restored.said
    rows started -n 25 --exec --expect-same --fresh -- ./kept memory
    cmp started restored
}

@test "what cannot be undone is not done: such runs are forked, and it is said why" {
    is "$(say open)" "the target makes a system call that is not undone (openat)"
    is "$(say munmap)" "the target makes a system call that is not undone (munmap)"
    # Undone: what a signal does, and pipes that nobody has closed.
    is "$(say handler)" ""
    grep -E '^pct: 1[0-9] runs were restored' said
    is "$(say pipe)" ""
    grep -E '^pct: 1[0-9] runs were restored' said
    is "$(say running)" "threads still run when the process ends, or the first one does not end it"
    is "$(say pending)" "a signal was pending at the end"
    has_line "no failure"
    is "$(say shared)" "the target shares memory with other processes before main"
    is "$(say none)" ""
    run "$pct" run "${fixed[@]}" -n 16 --memory-limit 4G --engine=restore -- ./kept none
    has "from then on, runs were forked: the memory of a run is limited (--memory-limit, ulimit -v)"
    run ./deny 323 "$pct" run "${fixed[@]}" -n 16 --engine=restore -- ./kept none
    has "from then on, runs were forked: the kernel does not tell which memory was written (Linux 6.7, userfaultfd)"
    run "$pct" run "${fixed[@]}" -n 16 --memory=globals --engine=restore -- ./kept none
    has "not restored: accesses to memory are points"
}

@test "runs that fail are made again by exec, and one that differs ends it" {
    is "$(say status)" ""
    has_line "no failure"
    is "$(say switches 50)" "a restored run was not the one that is started by exec"
    has_line "16 runs in"
    # Others were taken for what they said: none of it can be trusted.
    run "$pct" run "${fixed[@]}" -n 60 --engine=restore -- ./kept switches 1000
    is "$status" 125
    has "a restored run was not the one that is started by exec; "
    has "may not be what was reported: give up; --engine=fork makes them as usual"
    run "$pct" run "${fixed[@]}" -n 60 --engine=fork -- ./kept switches 1000
    is "$status" 0
}

@test "the engine has three names" {
    run "$pct" run --engine=fast -- ./kept none
    is "$status" 2
    has "--engine: 'fast' is not one of auto, fork and restore"
    for name in auto fork; do
        run "$pct" run "${fixed[@]}" -n 10 --engine=$name -- ./kept none
        is "$status" 0
        case $output in *restored*) return 1 ;; esac
    done
}
