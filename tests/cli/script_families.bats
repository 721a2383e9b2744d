#!/usr/bin/env bats
# Scripts of several processes: `pct explain --script` writes the turns that the threads of each take; and waits for
# what a process has yet to make.
# shellcheck disable=SC2154,SC2030,SC2031 # variables that bats and common.bash set
load common

setup_file()
{
    "${CC:-gcc}" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/workers" "$root/tests/cli/script_workers.c"
    cp "$BATS_FILE_TMPDIR/workers" "$BATS_FILE_TMPDIR/worker"
}

setup()
{
    cd "$BATS_FILE_TMPDIR" || return
}

# explain MODE: a failure of this, and its script.
explain()
{
    local token
    rm -f found.lua
    token=$("$pct" run -q --state none -n 2000 -s 101 -- ./workers "$1" 2>&1 < /dev/null |
        grep -o "pct1:[^ ']*" | tail -n 1)
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- ./workers "$1"
    is "$status" 0
    has 'It is a script of several processes'
    has "pct script found.lua -- ./workers $1"
}

@test "a bug in another process becomes a script for that, with names" {
    explain one
    grep -q '^process(1, function()$' found.lua
    [ "$(grep -c '^    local t[12] = thread "handle"$' found.lua)" = 2 ]
    grep -q '^    in_order({ t[12], unlocks "lock" \* once' found.lua
    # Lines without which it fails, too, are left out.
    [ "$(grep -c in_order found.lua)" -le 3 ]
    for _ in 1 2 3; do
        run "$pct" script -q found.lua -- ./workers one
        is "$status" 4
    done
    run "$pct" script -q found.lua -- ./workers right
    is "$status" 117
}

@test "one that takes two processes becomes a script for both" {
    explain both
    grep -q '^process(1, function()$' found.lua
    grep -q '^process(2, function()$' found.lua
    run --separate-stderr "$pct" script found.lua -- ./workers both
    is "$status" 4
    line=$(replay_line)
    run --separate-stderr bash -c "$line"
    is "$status" 4
    has 'replayed identically'
}

@test "one in a process that has become another program: threads by numbers, as its names are not the first one's" {
    explain exec
    grep -q '^    local t1 = thread(1) -- starts with handle$' found.lua
    run ! grep -q '"lock"' found.lua
    run "$pct" script -q found.lua -- ./workers exec
    is "$status" 4
}

@test "a process that waits for one which it has yet to make: that is said" {
    printf '%s\n' 'process(1, function() thread "handle" board.post "works" end)' 'board.wait "works"' > early.lua
    run "$pct" script early.lua -- ./workers one
    is "$status" 117
    has "early.lua:2: did not fit: the script wants 'works' to stand on the board, but no other process can post that: \
the"
    has 'one that line 1 is for was not made yet; if this one makes it, a line before must let it go on beyond its does'
    printf '%s\n' 'process(1, function() thread "handle" board.post "works" end)' \
        'run(thread(does "fork"), done)' 'board.wait "works"' > late.lua
    run "$pct" script late.lua -- ./workers one
    is "$status" 0
}
