#!/usr/bin/env bats
# `pct run --ready WHAT --drive CLIENT`: servers. Each test has a port of its own, so that nothing is left of an earlier
# one.
load common

setup_file()
{
    compile_targets
    compiled deny deny.c
}

setup()
{
    enter
    port=$((23100 + BATS_TEST_NUMBER * 10))
    ask="./server ask $port"
}

# Nothing of ours runs any more.
nothing_left()
{
    local exe
    for exe in /proc/[0-9]*/exe; do
        [ ! "$exe" -ef server ] || {
            echo "left behind: $(tr '\0' ' ' < "${exe%exe}cmdline")"
            return 1
        }
    done
}

@test "a port, a socket, a line, a regular expression, a file: the client begins when the server is ready" {
    run --separate-stderr "$pct" run -s 1 --ready port:$port --drive "$ask" -- ./server $port
    is "$status" 0
    is "$output" "the server says hello"
    has "ready at [$port]"
    has "ends as it was told"
    has "no failure"
    # Where the kernel does not answer (recvfrom), its tables are read.
    run "$BATS_FILE_TMPDIR/deny" 45 "$pct" run -s 1 --ready port:$port --drive "$ask" -- ./server $port
    is "$status" 0
    has "ready at [$port]"
    for ready in unix:socket "unix:$PWD/socket" 'line:ready at [./' 'regex:^ready at .\./socket]$'; do
        run --separate-stderr "$pct" run -n 2 -s 1 --ready "$ready" --drive './server ask ./socket' -- ./server ./socket
        is "$status" 0
        has "no failure"
    done
    for _ in 1 2; do # in the second run the file is there before, and is new all the same
        run "$pct" run -n 3 -s 1 --ready file:pid --drive "$ask" -- \
            sh -c 'trap "exit 0" TERM; ./server "$0" & until ./server ask "$0"; do :; done; echo $$ > pid; wait; wait' \
            $port
        is "$status" 0
    done
    nothing_left
}

@test "much output before and after the line blocks neither side, in many runs and in one" {
    drive=(-s 1 --ready "line:ready at [$port]" --drive "$ask; seq 100000" -- ./server $port loud)
    run "$pct" run -n 3 "${drive[@]}"
    is "$status" 0
    "$pct" run "${drive[@]}" > out 2> err
    is "$(wc -l < out)" 100001
    is "$(grep -c '^a line that nobody waits for$' err)" 40000
}

@test "what a report quotes of the target is obeyed by no terminal and no log" {
    printf 'printf "one\\ttwo \\033[31mred\\n::error::not ours\\n\\0end"; exit 3\n' > loud
    run --separate-stderr "$pct" run -n 2 -s 1 -- /bin/sh ./loud
    is "$status" 3
    has "what the target wrote:"
    is "$(printf '%s\n' "$output" | grep -c $'\033')" 0
    is "$(printf '%s\n' "$output" | grep -c '^::error')" 0
    has "two ?[31mred"
    has "?end"
    run --separate-stderr "$pct" run -n 1 -s 1 -- /bin/sh ./loud
    is "$(printf '%s\n' "$output" | grep -c $'\033')" 1 # of one run, it passes
}

@test "a client that fails is a failing run; the last line replays it" {
    run --separate-stderr "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask; echo 'it'\''s wrong'; exit 9" \
        -- ./server $port
    is "$status" 9
    has "what the server wrote:"
    has "ready at [$port]"
    has "what the client wrote:"
    has "it's wrong"
    has "the client failed: exit status 9"
    has "1 failed (1 client failed)"
    has "replay --ready port:$port --drive './server ask $port; echo "
    # Whether the client has connected before the server waits for it is the machine's, so the replay need not be
    # identical.
    local line
    line=$(replay_line)
    run sh -c "$line"
    has "the client failed: exit status 9"
    run sh -c "$(sed 's/ replay / explain --json --seconds 1 /' <<< "$line")"
    has '"message": "the client failed: exit status 9"'
    run "$pct" run -n 3 -s 1 --ready port:$port --drive 'kill -SEGV $$' -- ./server $port
    is "$status" 139
    has "the client failed: killed by signal 11"
    nothing_left
}

@test "the server's own failure is the verdict, whatever the client says" {
    run --separate-stderr "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask; exit 0" -- ./server $port crash
    is "$status" 139
    has "crash in thread 0"
    has "client: exit status 0"
    run --separate-stderr "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" -- ./server $port deadlock
    is "$status" 120
    has "(lock), held by thread 1:"
    has "client: exit status 1"
    run sh -c "$(replay_line)"
    has "deadlock"
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" -- ./server $port sorry
    is "$status" 7
    run "$pct" run -n 3 -s 1 --ok-status 7 --ready port:$port --drive "$ask" -- ./server $port sorry
    is "$status" 0
}

@test "the stop: a signal of choice, by which the server may end; the client; in time or killed" {
    run "$pct" run -s 1 --ready port:$port --drive "$ask" -- ./server $port plain
    is "$status" 0
    for signal in INT SIGINT 2; do
        run "$pct" run -s 1 --ready port:$port --drive "$ask" --stop $signal -- ./server $port deaf
        is "$status" 0
    done
    run "$pct" run -s 1 --ready port:$port --drive "$ask" -- sh -c 'trap "exit 143" TERM; ./server "$0" & wait' $port
    is "$status" 0
    run --separate-stderr "$pct" run -s 1 --ready port:$port --drive "$ask" --stop-timeout 0.3 -- ./server $port deaf
    is "$status" 124
    has "the server did not end within 0.3 s (--stop-timeout) after SIGTERM"
    has "--stop-timeout 0.3"
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" --stop none -- ./server $port once
    is "$status" 0
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" --stop none --stop-timeout 0.3 -- ./server $port
    is "$status" 124
    has "after the client, which should have stopped it"
    nothing_left
}

@test "a server that a script started is stopped with it, and has its time" {
    run "$pct" run -s 1 --ready port:$port --drive "$ask" -- sh -c './server "$0"; exit 5' $port
    is "$status" 0
    has "ends as it was told"
    run "$pct" run -s 1 --ready port:$port --drive "$ask" --stop-timeout 0.3 -- sh -c './server "$0" deaf; exit 5' $port
    is "$status" 124
    nothing_left
    run "$pct" run -s 1 --ready port:$port --drive "$ask" -- sh -c './server "$0" deadlock; wait' $port
    is "$status" 120
    has "deadlock in a child process"
}

@test "a server that ends too early" {
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" -- ./server $port unable
    is "$status" 5
    has "the server ended with exit status 5 before it was ready: nothing listened on TCP port $port"
    lacks "what the client wrote"
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask; sleep 0.2" -- ./server $port once
    is "$status" 1
    has "the server ended with exit status 0 before it was stopped"
    # The client that waits for it is not waited for.
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask; sleep 100" --stop-timeout 0.3 -- ./server $port once
    is "$status" 1
    has "client: did not end within 0.3 s after the server"
}

@test "a server that never is ready: what was waited for" {
    run --separate-stderr "$pct" run -n 3 -s 1 --ready port:$port --ready-timeout 0.3 --drive "$ask" -- ./server 0
    is "$status" 124
    has "not ready: nothing listened on TCP port $port within 0.3 s"
    has "client: not started"
    case $(replay_line) in *" --ready-timeout 0.3 "*) ;; *) is "$(replay_line)" "the limit in it" ;; esac
    run "$pct" run -n 3 -s 1 --ready line:nonsense --ready-timeout 0.3 --drive "$ask" -- ./server 0
    is "$status" 124
    has "no line with 'nonsense' came within 0.3 s: a program whose output is no terminal may write it late"
    nothing_left
}

@test "a port that is in use before the start" {
    ./server $port > /dev/null &
    other=$!
    until $ask; do sleep 0.02; done
    run "$pct" run -n 3 -s 1 --ready port:$port --drive "$ask" -- ./server $port
    kill $other
    is "$status" 125
    has "port $port is in use: something listens there already"
}

@test "a client that cannot be run ends the campaign: 127, 126" {
    run -127 "$pct" run -g -n 100 -s 1 --ready port:$port --drive "./nothing" -- ./server $port
    has "the client could not be run (the shell's status is 127): ./nothing"
    lacks "this replays it"
    : > file
    run "$pct" run -g -n 100 -s 1 --ready port:$port --drive "./file" -- ./server $port
    is "$status" 126
}

@test "workers need places of their own, by {worker}" {
    run "$pct" run -n 10 -j 2 --ready port:$port --drive "$ask" -- ./server $port
    is "$status" 2
    has "2 workers cannot share port $port: write {$port+worker}"
    run "$pct" run -n 10 -j 2 --ready unix:socket --drive "$ask" -- ./server ./socket
    is "$status" 2
    has "write {worker} into it"
    run "$pct" run -n 30 -j 3 -s 1 --ready "port:{$port+worker}" --drive "./server ask {$port+worker}" -- ./server \
        "{$port+worker}"
    is "$status" 0
    run "$pct" run -n 30 -j 3 -s 1 --ready "unix:socket{worker}" --drive "./server ask ./socket{worker}" -- ./server \
        "./socket{worker}"
    is "$status" 0
    run --separate-stderr "$pct" run -n 30 -j 3 -s 1 --ready "port:{$port+worker}" \
        --drive "./server ask {$port+worker}; exit 3" \
        -- ./server "{$port+worker}"
    is "$status" 3
    case $(replay_line) in *worker*) is "$(replay_line)" "a command with the port in it" ;; esac
    run sh -c "$(replay_line)"
    has "the client failed: exit status 3"
}

@test "the client is not under control" {
    LD_PRELOAD='' run --separate-stderr "$pct" run -q -s 1 --ready port:$port --drive "env" -- ./server $port
    is "$status" 0
    lacks LD_PRELOAD
    lacks PCT_
    has "PATH="
}

@test "a timeout, an interrupt: both sides are ended" {
    run --separate-stderr "$pct" run -s 1 --timeout 0.5 --ready port:$port --drive "$ask; sleep 100" -- ./server $port
    is "$status" 124
    has "timeout: killed after 0.5 s"
    nothing_left
    for runs in 1 5; do
        "$pct" run -n $runs -s 1 --ready port:$port --drive "$ask; touch asked; sh -c 'sleep 300.$$; true'" -- \
            ./server $port 2> said &
        pid=$!
        until [ -e asked ]; do sleep 0.02; done
        kill -INT $pid
        status=0
        wait $pid || status=$?
        is "$status" 130
        grep -q interrupted said
        nothing_left
        run ! grep -qsa "sleep.300\.$$" /proc/[0-9]*/cmdline
        rm asked
    done
}

@test "options that make no sense" {
    for bad in "--drive true" "--ready port:80" "--ready port:x --drive true" "--ready port:70000 --drive true" \
        "--ready line: --drive true" "--ready nothing --drive true" "--ready regex:( --drive true" \
        "--ready port:80 --drive true --stop HUPP" "--stop TERM" "--ready port:80 --drive true --ready-timeout 0"; do
        # shellcheck disable=SC2086 # words
        run "$pct" run $bad -- ./server $port
        is "$status" 2
    done
}
