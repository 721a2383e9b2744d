#!/usr/bin/env bats
# What the user chooses of memory accesses and races: --focus, --memory-sample, --suppressions, `pct scope`.
# shellcheck disable=SC2154 # variables that bats and common.bash set

setup_file()
{
    load common
    cd "$BATS_FILE_TMPDIR" || return
    "$build/pct-cc" -g -O1 -pthread -o app "$root/tests/cli/focus.c"
    "$build/pct-cc" -g -O1 -pthread -o guarded "$root/tests/cli/ordered.c"
    "$build/pct-cc" -g -O1 -pthread -o hot "$root/tests/cli/hot.c"
    "$cc" -g -O1 -pthread -o plain "$root/tests/cli/focus.c"
}

setup()
{
    load common
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
    ln -s "$BATS_FILE_TMPDIR"/* .
}

# The points at memory of seed 1, with these options.
points()
{
    "$pct" run -q -s 1 -S round-robin -t trace "$@" 2> /dev/null
    "$pct" trace trace --format text | grep -c ' memory '
}

token()
{
    tail -n 1 <<< "$output" | grep -o "pct1:[^']*"
}

# The k that the last command has learned.
learned_k()
{
    sed -n 's/^pct: k=\([0-9]*\), learned.*/\1/p' <<< "$output"
}

@test "focus on a variable, a function, a file, addresses" {
    local all one
    all=$(points -- ./app)
    for focus in counter update 'upd*' 'nothing-else,update'; do
        [ "$focus" = 'nothing-else,update' ] && focus=update,counter
        one=$(points --focus="$focus" -- ./app)
        is "$one" 4
    done
    [ "$all" -gt 20 ]
    is "$(points --focus=focus.c -- ./app)" "$all"
    one=$(nm app | awk '$3 == "counter" { print $1 }')
    is "$(points --focus="+0x${one##*(0)}" -- ./app)" 4
}

@test "in a program that is patched in memory" {
    is "$(points --memory=globals --focus=counter -- ./plain)" 4
    is "$(points --memory=globals --focus=update -- ./plain)" 4
}

@test "the token holds the focus, and needs nothing else" {
    run "$pct" run -n 300 -s 1 --focus=update -- ./app
    [ "$status" = 134 ]
    has ",focus=update,"
    token=$(token)
    run "$pct" replay -n 2 "$token" -- ./app
    has "replayed identically 2 times of 2"
    [ "$status" = 134 ]
    PCT_TOKEN=$token PCT_TRACE=$PWD/bare LD_PRELOAD=$build/libpct.so run ./app
    [ "$status" = 134 ]
    run "$pct" report bare
    has "replay"
    has "$token"
    run "$pct" minimize --seconds 1000000 "$token" -- ./app
    [ "$status" = 0 ]
    has ",focus=update,"
}

@test "names with characters that a token does not have" {
    "$build/pct-c++" -g -O1 -pthread -o cxx "$root/tests/cli/focus.cc"
    run "$pct" run -n 300 -s 1 --focus='Box::add' -- ./cxx
    [ "$status" = 134 ]
    has ",focus=Box%3a%3aadd,"
    token=$(token)
    run "$pct" replay "$token" -- ./cxx
    has "replayed identically"
    run "$pct" scope --focus='Box::add(int)' ./cxx
    [ "$status" = 0 ]
    has "function Box::add(int)"
}

@test "what is nowhere to be found" {
    run "$pct" run --focus=updte -- ./app
    [ "$status" = 2 ]
    has "nothing in app and its libraries is called 'updte'; did you mean 'update'?"
    run "$pct" run --focus=completely-different -- ./app
    [ "$status" = 2 ]
    has "no function, file or variable of app and its libraries is called 'completely-different'"
    run "$pct" run --focus=libnone.so+0x10 -- ./app
    [ "$status" = 2 ]
    has "is loaded with no module 'libnone.so'"
    run "$pct" run --focus=a,,b -- ./app
    [ "$status" = 2 ]
    has "there is an empty pattern"
    printf '#!/bin/sh\nexec ./app\n' > script
    chmod +x script
    run "$pct" run --focus=update -- ./script
    [ "$status" = 2 ]
    has "give the program itself"
}

@test "a focus on memory in a program that tells of none" {
    run "$pct" run -s 1 --focus=counter -- ./plain
    [ "$status" = 0 ]
    has "tells pct of no memory accesses: build it with pct-cc, or add --memory=globals"
}

@test "a sample of the places, drawn from the seed" {
    run "$pct" run -n 40 -s 1 -g -S round-robin --memory-sample=40 --save traces -- ./app
    has "with --memory-sample each run has points of its own" || has "has no guarantee"
    local seed counts
    counts=$(for seed in 1 2 3 4 5 6 7 8; do
        "$pct" run -q -s $seed -S round-robin --memory-sample=40 -t trace -- ./app 2> /dev/null
        "$pct" trace trace --format text | grep -c ' memory '
    done | sort -u | wc -l)
    [ "$counts" -gt 2 ]
    run "$pct" run -s 7 --memory-sample=40 -- ./app
    has ",memory-sample=40,"
    token=$(grep -o "pct1:[^' ]*" <<< "$output" | tail -n 1)
    run "$pct" replay "$token" -- ./app
    has "replayed identically"
    run "$pct" run --memory-sample=0 -- ./app
    [ "$status" = 2 ]
    has "it must be 1 to 99"
}

# Every run of this program without a sample has more than 120,000 points.
@test "where points are too many, a sample switches itself on, and the token has it" {
    run "$pct" run --brief -g -n 33 -s 1 --save traces -- ./hot
    has "of the points of a run are plain accesses to memory: from now on, each run has those of 8 % of the places"
    local k
    k=$(grep -o 'at most n=3, k=.*' <<< "$output")
    # The next campaign knows it from the start, and the number of jobs does not matter.
    run "$pct" run --brief -g -n 33 -s 1 -j 3 --state none -- ./hot
    has "$k"
    run "$pct" run -n 2 -s 1 -S pct,depth=1 -t trace -- ./hot
    has "from now on, each run has those of 8 %"
    run "$pct" run -n 2 -s 1 --state none --memory-sample=off -- ./hot
    lacks "from now on"
    run "$pct" run -s 1 -- ./hot
    lacks "from now on"
    run "$pct" run --brief -n 500 -s 1 --state none --memory-sample=50 -- ./hot
    is "$status" 134
    token=$(tail -n 1 <<< "$output" | grep -o "pct1:[^' ]*")
    [[ $token =~ ,memory-sample=50-[0-9]+[:,] ]]
    run "$pct" replay "$token" -- ./hot
    has "replayed identically"
}

@test "a campaign has a sample from its first run on, also when it goes on, and in shards" {
    local shard
    run "$pct" campaign -n 3 -s 1 -j 1 --epoch 1000000000 --db whole.db -- ./hot
    has "each run of the campaign has those of 8 % of the places"
    has "memory-sample=8,"
    has ", seeds 1 to 3,"
    lacks "from now on"
    run "$pct" campaign -n 6 -s 1 -j 1 --epoch 1000000000 --db whole.db -- ./hot
    has "whole.db: 3 of 6 runs are done; going on"
    has "memory-sample=8,"
    has ", seeds 1 to 6,"
    whole=$(grep coverage <<< "$output")
    for shard in 1 2; do
        run "$pct" campaign -n 6 -s 1 -j 1 --epoch 1000000000 --shard $shard/2 --db shard$shard.db -- ./hot
        has "memory-sample=8"
    done
    run "$pct" campaign merge both.db shard1.db shard2.db
    run "$pct" campaign report both.db
    has "$whole"
    run "$pct" campaign -n 9 -s 1 -j 1 --epoch 1000000000 --memory-sample=off --db whole.db -- ./hot
    [ "$status" = 2 ]
    has "whole.db is of another campaign"
}

@test "suppressed races do not end a run; the token needs no file" {
    run "$pct" run -n 5 -s 1 --races=fail -- ./app
    [ "$status" = 118 ]
    printf '# known\nrace:^busy$\nrace:noise\n' > known
    run "$pct" run -n 20 -s 1 --races=fail --suppressions=known -- ./app
    [ "$status" = 118 ]
    has "update  at"
    has "suppressed"
    has "races-passed="
    lacks "#0  busy"
    token=$(token)
    run "$pct" replay "$token" -- ./app
    [ "$status" = 118 ]
    has "replayed identically"
    run "$pct" replay --suppressions=known "$token" -- ./app
    has "replayed identically"
    printf 'race:focus.c\n' > all
    PCT_SUPPRESSIONS=all run "$pct" run -n 5 -s 1 -g --races=fail --ok-status 134 -- ./app
    lacks "data race 1"
    has "pairs of places were suppressed"
    run "$pct" campaign -n 5 -s 1 --races=fail --suppressions=all --ok-status 134 -- ./app
    has "pairs of places were suppressed"
    cp all same
    run "$pct" campaign -n 5 -s 1 --races=fail --suppressions=same --ok-status 134 -- ./app
    has "5 of 5 runs are done"
    run "$pct" campaign -n 5 -s 1 --races=fail --ok-status 134 -- ./app
    [ "$status" = 2 ]
    has "the races that are no failures (--suppressions) are others since"
    PCT_SUPPRESSIONS=all PCT_SEED=1 PCT_STRATEGY=round-robin PCT_RACES=fail LD_PRELOAD=$build/libpct.so run ./app
    [ "$status" != 118 ]
}

@test "a file of suppressions that is wrong" {
    printf 'race:x\nrac:x\n' > wrong
    run "$pct" run --races=fail --suppressions=wrong -- ./app
    [ "$status" = 2 ]
    has "wrong:2: unknown kind of suppression 'rac'; did you mean race?"
    run "$pct" run --races=fail --suppressions=missing -- ./app
    [ "$status" = 2 ]
    has "--suppressions=missing: No such file"
}

@test "pct scope says what patterns stand for" {
    printf 'race:^counter$\nrace_top:nobody\n' > file
    run "$pct" scope --focus=update --suppressions=file ./app
    [ "$status" = 1 ]
    has "line 1, '^counter\$':"
    has "  variable counter, at 0x"
    has "line 2, 'nobody':"
    has "  nothing"
    has "'update':"
    has "  function update, at 0x"
    run "$pct" scope ./app
    [ "$status" = 2 ]
    has "no patterns are given"
}

@test "what is ordered in every run is skipped in later ones" {
    local before token
    run "$pct" run -n 64 -s 1 -d 2 -g --races=report -- ./guarded
    before=$(learned_k)
    run "$pct" run -n 64 -s 1 -d 2 -g --memory-points=learned -- ./guarded
    has "were ordered in every run, and are skipped in later ones"
    [ "$(learned_k)" -lt $((before / 4)) ]
    # Another campaign begins with what this one knows.
    run "$pct" run -n 400 -s 1 -d 2 --memory-points=learned -- ./guarded
    [ "$status" = 134 ]
    has "learned from earlier runs"
    has ",ordered="
    token=$(token)
    run "$pct" replay -n 2 "$token" -- ./guarded
    has "replayed identically 2 times of 2"
    PCT_ORDERED=$XDG_STATE_HOME/pct/ordered PCT_TOKEN=$token LD_PRELOAD=$build/libpct.so run ./guarded
    [ "$status" = 134 ]
    has "$token"
    run "$pct" minimize --seconds 1000000 "$token" -- ./guarded
    [ "$status" = 0 ]
    # It is needed, whole.
    for file in "$XDG_STATE_HOME"/pct/ordered/*; do
        printf x >> "$file"
    done
    run "$pct" replay "$token" -- ./guarded
    [ "$status" = 2 ]
    has "names what its campaign had learned about memory accesses, and that is not here, or damaged: copy \
$XDG_STATE_HOME"
    XDG_STATE_HOME=$PWD/elsewhere PCT_TOKEN=$token LD_PRELOAD=$build/libpct.so run ./guarded
    [ "$status" = 2 ]
    has "is not in the directory of PCT_ORDERED"
}

@test "what is learned does not depend on the number of jobs" {
    local one two
    run "$pct" run -n 40 -s 1 -g --epoch 1 --state none --memory-points=learned -- ./guarded
    one=$(grep -o 'of [0-9]* places.*' <<< "$output")$(token)
    run "$pct" run -n 40 -s 1 -g -j 3 --epoch 1 --state none --memory-points=learned -- ./guarded
    two=$(grep -o 'of [0-9]* places.*' <<< "$output")$(token)
    is "$two" "$one"
    has ",memory-points=learned,races=report"
}

@test "a campaign learns before its first run, and goes on with that" {
    run "$pct" campaign -n 10 -s 1 -S pct --memory-points=learned -- ./guarded
    has ",ordered="
    spec=$(grep -o 'ordered=[0-9a-f]*' <<< "$output" | sort -u)
    is "$(wc -l <<< "$spec")" 1
    run "$pct" campaign -n 20 -s 1 -S pct --memory-points=learned -- ./guarded
    has "10 of 20 runs are done; going on"
    is "$(grep -o 'ordered=[0-9a-f]*' <<< "$output" | sort -u)" "$spec"
}
