#!/usr/bin/env bats
# What runs read: the standard input of several is the same, from its start, for each.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
    # shellcheck disable=SC2016 # it is the script's
    printf '#!/bin/sh\nread -r line; echo "got ${line:-nothing}" >> out; exit "${1:-0}"\n' > reader
    chmod +x reader
}

# This many runs at least, by default three (some more try how runs can be made, or repeat the first), have read this,
# and none anything else.
all_read()
{
    is "$(sort -u out)" "got $1"
    [ "$(wc -l < out)" -ge "${2:-3}" ]
}

@test "a pipe is kept, and each run reads it from its start" {
    echo hello | "$pct" run -n 3 -s 1 -- ./reader
    all_read hello
}

@test "a pipe longer than memory pages and pipes are passes whole" {
    seq 300000 > long
    run bash -c "cat long | '$pct' run -n 2 -s 1 --show-output -- sh -c 'cmp - long && echo same'"
    is "$status" 0
    is "$(grep -c '^same$' <<< "$output")" 2
}

@test "a file, by redirection and by --stdin, is in the line that replays" {
    echo told > 'a file'
    run --separate-stderr "$pct" run -n 3 -s 1 -- ./reader 3 < 'a file'
    is "$status" 3
    has "replay --stdin 'a file' 'pct1:"
    rm out
    run --separate-stderr "$pct" run -n 3 -s 1 --stdin 'a file' -- ./reader 3
    is "$status" 3
    line=$(replay_line)
    run bash -c "$line < /dev/null"
    is "$status" 3
    all_read told 2 # the first fails, and its replay
}

@test "a single run with --stdin reads that" {
    echo told > file
    echo other | "$pct" run --stdin file -- ./reader
    is "$(cat out)" 'got told'
}

@test "of a pipe, the replay is to be given the same" {
    run bash -c "echo hello | '$pct' run -n 3 -s 1 -- ./reader 3"
    is "$status" 3
    has 'its standard input came by a pipe: give the replay the same'
}

@test "a pipe that says nothing does not hold pct up, unless --stdin - waits for it" {
    mkfifo silent
    exec 8<> silent
    run timeout 60 "$pct" run -n 3 -s 1 -- ./reader 8>&- < silent
    is "$status" 0
    has 'nothing came for a second'
    all_read nothing
    rm out
    (sleep 1.5; echo late) | timeout 60 "$pct" run -n 3 -s 1 --stdin - -- ./reader
    all_read late
}

@test "a pipe that an argument names, as a shell makes it of <(...), is read by each run from its start" {
    printf '#!/bin/sh\nread -r line < "$1"; echo "got ${line:-nothing}" >> out; exit "${2:-0}"\n' > reads
    chmod +x reads
    run --separate-stderr "$pct" run -n 3 -s 1 -- ./reads <(echo hello)
    is "$status" 0
    all_read hello
    run --separate-stderr "$pct" run -n 3 -s 1 --exec -- ./reads <(echo hello) 3
    is "$status" 3
    has "an argument names a pipe: give the replay the same"
    all_read hello
    printf '#!/bin/sh\nread -r one < "${1%%%%:*}"; read -r two < "${1#*:}"; echo "got $one$two" >> out\n' > both
    chmod +x both
    run "$pct" run -n 3 -s 1 -- ./both <(echo hel):<(echo lo)
    is "$status" 0
    all_read hello
    run "$pct" run -n 3 -s 1 -- ./reads <(yes)
    is "$status" 2
    has "it has more than 64 MiB: write it to a file first"
    all_read hello
    run "$pct" run -s 1 -- ./reads <(yes)
    is "$status" 0
}

@test "an exploration before a campaign leaves it the pipe" {
    echo hello | "$pct" run -q -n 3 --explore -- ./reader
    all_read hello
}

@test "what --stdin cannot be" {
    run "$pct" run -n 3 --stdin none -- ./reader
    is "$status" 2
    has '--stdin=none: No such file or directory'
    run "$pct" run --stdin . -- ./reader
    is "$status" 2
    has '--stdin=.: it is a directory'
    [ ! -e out ]
}

@test "a kept schedule has its input with it" {
    echo told > file
    run --separate-stderr "$pct" run -n 3 -s 1 --stdin file -- ./reader 3
    token=$(replay_line | grep -o "pct1:[^']*")
    run "$pct" add --stdin file "$token" -- ./reader 3
    is "$status" 0
    grep -q 'Options: .*--stdin file' pct.schedules
    rm out
    run "$pct" check
    is "$status" 3
    is "$(sort -u out)" 'got told'
}
