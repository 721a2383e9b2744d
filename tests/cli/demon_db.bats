#!/usr/bin/env bats
# `pct demon --db`: a confirmed finding as a campaign file, which `pct campaign report` prints like others; what is
# none.
load common
load demon

setup()
{
    enter_demon || return
}

demon()
{
    "$cc" -O0 -g -pthread "${@:2}" -o program "$root/bench/demon/apache-45605.c"
    run --separate-stderr timeout 120 "$pct" demon --db "$1" --spec "$root/bench/demon/apache-45605.demon" -- ./program
}

@test "--db: a campaign file with the finding, its cause and its replays; one that is there is kept" {
    demon found.db
    is "$status" 1
    has 'confirmed by a real schedule of two threads'
    is "$stderr" ''
    run --separate-stderr "$pct" campaign report found.db
    is "$status" 1
    has '1 of 1 runs in'
    has '  cause: interference where wait_for_idler enters decrement (apache-45605.c:11): another thread calls '\
'take_idler(queue)'
    has '          queue.idlers: 1 -> 0'
    has '    then `require non_zero: queue.idlers > 0` of decrement does not hold'
    has '    queue.mutex is not held there'
    has 'replayed 10 times: 10 failed the same way; 10 identical'
    run --separate-stderr bash -c "$(grep ' replay --demon ' <<< "$output")"
    is "$status" 134
    run --separate-stderr "$pct" campaign report --format=json found.db
    is "$status" 1
    grep -q '"cause": *"cause: interference where wait_for_idler enters decrement' <<< "$output"
    demon found.db
    is "$status" 1
    [ -s found.db.old ]
}

@test "--db: nothing confirmed, nothing written; what is no campaign file stays, and is said before any run" {
    demon none.db -DFIXED
    is "$status" 0
    has 'none.db is not written: nothing is confirmed'
    [ ! -e none.db ]
    echo text > foreign.db
    demon foreign.db
    is "$status" 2
    is "$output" ''
    [[ $stderr == 'pct: --db: foreign.db: '* ]]
    is "$(cat foreign.db)" text
    demon ''
    is "$status" 2
    is "$stderr" 'pct: --db: the name of the file is empty'
    demon none/found.db
    is "$status" 2
    [[ $stderr == 'pct: --db: none/found.db: No such file or directory' ]]
}
