#!/usr/bin/env bats
# The strategy maple: profile runs, and runs that force what they have predicted.
# shellcheck disable=SC2154 # variables that bats and common.bash set
load common

setup_file()
{
    compile_targets
    for program in reorder twostage; do
        "$build/pct-cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/$program" "$root/bench/scale/$program.c"
        "$build/pct-cc" -DFIXED -O1 -g -pthread -o "$BATS_FILE_TMPDIR/$program-fixed" "$root/bench/scale/$program.c"
    done
}

setup()
{
    enter
    reorder=$BATS_FILE_TMPDIR/reorder
    twostage=$BATS_FILE_TMPDIR/twostage
}

# The runs that it took until the first failure.
runs()
{
    printf '%s\n' "$output" | sed -n 's/^pct: \([0-9]*\) runs\{0,1\} in .*/\1/p'
}

@test "maple: few runs, however many threads there are; the token replays without the profile" {
    for threads in 3 30; do
        run "$pct" run -S maple -n 40 --seed 1 --state none -- "$reorder" "$threads"
        [ "$status" -eq 134 ]
        [ "$(runs)" -le 12 ]
        run "$pct" run -S maple -n 60 --seed 1 --state none -- "$twostage" "$threads"
        [ "$status" -eq 134 ]
        [ "$(runs)" -le 30 ]
    done
    has "directed ones; of "
    replay=$(printf '%s\n' "$output" | grep -o "replay 'pct1:maple[^']*'" | cut -d"'" -f2)
    for _ in 1 2 3; do
        run "$pct" replay "$replay" -- "$twostage" 30
        [ "$status" -eq 134 ]
        lacks "diverge"
    done
}

@test "maple: what a run is does not depend on --jobs; programs without the bug pass" {
    run "$pct" run -S maple -n 40 -g --seed 1 --state none -- "$twostage" 5
    one=$(printf '%s\n' "$output" | grep -e 'iRoots that were predicted' -e 'runs in' | sed 's/ in .*seeds/ seeds/')
    run "$pct" run -S maple -n 40 -g -j 2 --seed 1 --state none -- "$twostage" 5
    [ "$(printf '%s\n' "$output" | grep -e 'iRoots that were predicted' -e 'runs in' | sed 's/ in .*seeds/ seeds/')" = "$one" ]
    for program in reorder twostage; do
        run "$pct" run -S maple -n 60 --seed 1 --state none -- "$BATS_FILE_TMPDIR/$program-fixed" 4
        [ "$status" -eq 0 ]
        has "iRoots that were predicted"
    done
}

@test "maple: a campaign that is resumed goes on with what it knows" {
    run "$pct" campaign -S maple -n 30 --seed 1 --epoch 1700000000 --db whole.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    has "iRoots that were predicted"
    run "$pct" campaign -S maple -n 12 --seed 1 --epoch 1700000000 --db parts.db -- "$twostage" 4
    run "$pct" campaign -S maple -n 30 --seed 1 --epoch 1700000000 --db parts.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    for table in runs iroots iroot_places; do
        [ "$(sqlite3 whole.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
    done
    [ "$(sqlite3 whole.db 'select count(*) > 0 from iroots where predicted and exposed')" -eq 1 ]
    sqlite3 parts.db 'update iroots set predicted = 4711'
    run "$pct" campaign -S maple -n 40 --db parts.db -- "$twostage" 4
    [ "$status" -eq 2 ]
    has "the file is damaged"
}

@test "maple: a program without shared memory is told what to do; what is no iRoot is refused" {
    run "$pct" run -S maple -n 3 -- true
    [ "$status" -eq 0 ]
    has "build the program with pct-cc, or say --memory=globals"
    for wrong in 6-1.00000000 1-1.0000000g-1.00000000 1-1.00000000 1-1.00000000-1.00000000-1.00000000 x; do
        run "$pct" run -S "maple,iroot=$wrong" -- true
        [ "$status" -eq 2 ]
        has "iroot is an idiom"
    done
}
