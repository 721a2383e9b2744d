#!/usr/bin/env bats
# `pct coverage`: in which ways threads have come in between each other.
# shellcheck disable=SC2154 # variables that bats and common.bash set
load common

setup_file()
{
    compile_targets
    "$build/pct-cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/reorder" "$root/bench/scale/reorder.c"
}

setup()
{
    enter
    reorder=$BATS_FILE_TMPDIR/reorder
}

@test "coverage: what was exposed, with lines on both sides; a failure ends with what replays it" {
    run "$pct" coverage --seed 1 -n 40 -- "$reorder" 3
    [ "$status" -eq 1 ]
    has "reorder.c:26 => atomic load in check at "
    has "exposed iRoots: "
    has " of the runs failed, the first with seed "
    # `first` is not `second`, though they are in the same eight bytes
    lacks "atomic store in set at bench/scale/reorder.c:26 => atomic store in set at bench/scale/reorder.c:27"
    replay=$(printf '%s\n' "$output" | grep -o "replay 'pct1:[^']*'" | cut -d"'" -f2)
    run "$pct" replay "$replay" -- "$reorder" 3
    [ "$status" -eq 134 ]
}

@test "coverage: the same seeds expose the same, whatever --jobs says" {
    run --separate-stderr "$pct" coverage --seed 1 -n 30 --json -- "$reorder" 3
    [ "$status" -eq 1 ]
    one=$output
    run --separate-stderr "$pct" coverage --seed 1 -n 30 --json -j 2 -- "$reorder" 3
    [ "$status" -eq 1 ]
    [ "$output" = "$one" ]
    printf '%s\n' "$one" | jq -e '.runs == 30 and .failed > 0 and .last_new <= 30 and .complete and
        all(.exposed[]; (.places | length) == ([2, 3, 4, 4, 4][.idiom - 1]) and .runs > 0 and .places[0].line > 0)'
}

@test "coverage: ends when it is saturated; a program without shared memory is told what to do" {
    run "$pct" coverage --seed 1 --until-saturated 3 -- true
    [ "$status" -eq 0 ]
    has "exposed iRoots: 0 (idioms 1 to 5: 0, 0, 0, 0, 0) in 3 runs"
    has "build the program with pct-cc, or say --memory=globals"
    run "$pct" coverage
    [ "$status" -eq 2 ]
    run "$pct" coverage --window 0 -- true
    [ "$status" -eq 2 ]
}
