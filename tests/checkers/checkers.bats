#!/usr/bin/env bats
# Replays under other tools: the same interleaving, and what the tool finds in it. `make check-checkers`.
load ../cli/common

setup_file()
{
    for sanitizer in none address undefined; do
        option=
        [ $sanitizer = none ] || option=-fsanitize=$sanitizer
        # shellcheck disable=SC2086 # none, or one
        "$cc" -g -O1 -pthread $option -o "$BATS_FILE_TMPDIR/late-$sanitizer" "$root/tests/checkers/late.c"
    done
    cd "$BATS_FILE_TMPDIR" || return
    # The schedules in which the box is read after it was freed, and in which it is not.
    XDG_STATE_HOME=$BATS_FILE_TMPDIR "$pct" run -n 100 -s 1 -S pct,depth=2,k=10 -t bad.trace -- ./late-none fail \
        > /dev/null 2>&1 || [ $? = 1 ]
    token=$("$pct" trace bad.trace -f jsonl | sed -n '1s/.*"token":"\([^"]*\)".*/\1/p')
    [ -n "$token" ]
    echo "$token" > token
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    ln -s "$BATS_FILE_TMPDIR"/late-* .
    token=$(cat "$BATS_FILE_TMPDIR/token")
}

@test "valgrind: an identical replay, in which memcheck sees the read after the free" {
    run timeout 300 "$pct" replay --with 'valgrind -q' "$token" -- ./late-none fail
    has "Invalid read of size 4"
    has "late.c:"
    has "block of size 4 free'd"
    has "replayed identically"
}

@test "AddressSanitizer: the same interleaving, and its report" {
    run timeout 300 "$pct" replay "$token" -- ./late-address fail
    has "heap-use-after-free"
    has "late.c:"
}

@test "UndefinedBehaviorSanitizer: an identical replay" {
    run timeout 300 "$pct" replay "$token" -- ./late-undefined fail
    has "replayed identically"
}

@test "checkers of synchronisation are refused, with the reason" {
    for tool in helgrind drd; do
        run "$pct" replay --with "valgrind --tool=$tool" "$token" -- ./late-none fail
        is "$status" 2
        has "$tool would check pct's own synchronisation"
    done
}
