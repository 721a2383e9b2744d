#!/usr/bin/env bats
# What `pct run` says a clean campaign is worth, --confidence, and what it learns and keeps: docs/GUARANTEE.md.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
    state=$XDG_STATE_HOME/pct
}

# seconds in the report differ from run to run
guarantee()
{
    printf '%s\n' "$output" "${stderr:-}" | grep -o 'n = .* (PCT, theorem 9)'
}

# The only file that was kept.
kept()
{
    find "$state" -type f
}

@test "a clean campaign says what it is worth, from its n, k and runs" {
    run "$pct" run -n 200 -s 1 -d 1 -k 9 -- ./target race 0
    is "$status" 0
    # (1 - 1/2)^200
    is "$(guarantee)" "n = 2 threads, k = 9 points, 200 runs: a bug of depth 1 would have been missed with probability \
at most 6.3e-61 (PCT, theorem 9)"
    run "$pct" run -n 20 -s 1 -d 2 -k 1207 -- ./target race 0
    # 1 - 20/2414 and a little; rounded up
    has "20 runs: a bug of depth 1 would have been missed with probability at most 0.9918; depth 2: 0.9918 (PCT, \
theorem 9)"
    has "k = 1,207 points"
    has "to be 99 % sure of depth 1: --depth 1 --confidence 0.99, 7 runs, about "
    run --separate-stderr "$pct" run -q -n 20 -s 1 -- ./target race 0
    is "$stderr" ""
    run "$pct" run -n 20 -- ./target
    has "n = 1 thread, which has one schedule"
    lacks "to be 99 % sure"
}

@test "the guarantee is withdrawn, with the reason" {
    refused()
    {
        local reason=$1
        shift
        run "$pct" run -n 4 -s 1 "$@"
        is "$status" 0
        has "no guarantee about the bugs that these runs may have missed: $reason"
        lacks "theorem"
    }
    refused "the strategy random-walk has no guarantee; --strategy pct has one" -S random-walk -- ./target race 0
    refused "the strategy lowest has no guarantee" -S ./lowest.so -- ./target race 0
    refused "with phases it holds within each phase only" -S pct,phases=1 -- ./target race 0
    refused "--aslr leaves the addresses to chance" --aslr -- ./target race 0
    refused "in real time the schedule does not decide" --time real -- ./target race 0
    refused "a run took 9 steps, more than the k that was given" -d 2 -k 3 -- ./target race 0
    refused "not all was controlled by pct: " -- sh -c 'true & wait'
    # It appends to its own input: no two runs are the same.
    printf '#!/bin/sh\nread -r line < count; echo x$line > count; exec ./target steps ${#line}\n' > growing
    chmod +x growing
    echo x > count
    refused "the first run, repeated, took other steps" -- ./growing
    echo x > count
    refused "the first run, repeated, took other steps" --show-output -- ./growing
    # Whoever wants to hear nothing has not asked for less.
    echo x > count
    run "$pct" run -q --confidence 0.9 -d 1 -s 1 -- ./growing
    is "$status" 119
    has "no guarantee about the bugs that these runs may have missed: the first run, repeated, took other steps"
}

@test "no guarantee where addresses cannot be fixed" {
    "$cc" -g -O1 -o forbid "$root/tests/cli/forbid.c"
    [ "$(cat /proc/sys/kernel/randomize_va_space)" != 0 ] || skip "addresses are fixed here"
    run ./forbid "$pct" run -n 4 -s 1 -- ./target race 0
    is "$status" 0
    has "address-space randomisation stays on"
    has "no guarantee about the bugs that these runs may have missed: the addresses are left to chance"
    run ./forbid "$pct" run -q -n 4 -s 1 -- ./target race 0
    lacks "address-space"
}

@test "an interrupted campaign guarantees what it has done" {
    printf '#!/bin/sh\necho x >> ran\nexec ./target race 0\n' > counted
    chmod +x counted
    touch ran
    "$pct" run -n 1000000 -s 1 -d 1 -- ./counted 2> said &
    pid=$!
    until [ "$(wc -l < ran)" -gt 5 ]; do sleep 0.1; done
    kill -INT $pid
    wait $pid || status=$?
    is "$status" 130
    grep -q ' runs: a bug of depth 1 would have been missed with probability at most ' said
    grep -q 'the first run was not repeated at the end: whether the schedule decides all is not known' said
}

@test "a failing campaign guarantees nothing" {
    run "$pct" run -n 500 -s 1 -d 2 -- ./target abba
    is "$status" 120
    lacks "theorem 9"
}

@test "spins lower the bound" {
    run "$pct" run -n 50 -s 1 -d 1 -- ./target yields 10
    is "$status" 0
    has "the bound is lower for threads that yield, sleep, poll or fail a try, up to 10 times in a run"
    # (1 - (15/16)^10 / 2)^50
    has "at most 2.5e-07"
}

@test "spins that cost nothing, and steps that do not count" {
    run "$pct" run -n 50 -s 1 -S pct,depth=1,spin=never -- ./target yields 10
    has "at most 8.9e-16"
    lacks "the bound is lower"
    # The steps of main before it makes the other thread, and after that has ended, are made alone.
    run "$pct" run -n 50 -s 1 -d 2 -- ./target race 0
    has "k = 9 points"
    run "$pct" run -n 50 -s 1 -S pct,depth=2,sequential=1 --state none -- ./target race 0
    fewer=$(printf '%s\n' "$output" | sed -n 's/.*k = \([0-9]*\) points.*/\1/p')
    [ "$fewer" -gt 1 ]
    [ "$fewer" -lt 9 ]
}

@test "confidence: as many runs as it takes, with any number of workers" {
    # 1/(2*9) a run: ln 0.01 / ln (17/18) = 80.6
    for jobs in 1 3; do
        run "$pct" run -j $jobs --confidence 0.99 -s 1 -d 2 -k 9 -- ./target race 0
        is "$status" 0
        has "pct: 81 runs in "
        has "depth 2: 0.0098 (PCT"
        lacks "not reached"
    done
    # Earlier runs teach k; the first one is not needed to measure it, and all count.
    run "$pct" run --confidence 0.9 -s 1 -d 2 -- ./target race 0
    is "$status" 0
    has "k=9, learned from earlier runs"
}

@test "confidence that is not affordable: said after a few runs, with what is" {
    run "$pct" run --confidence 0.99 -s 1 -d 3 -k 1000 --budget 1 -- ./target race 0
    is "$status" 119
    has "pct: 32 runs in "
    has "not affordable: confidence 0.99 for bugs of depth 3 takes 9,210,339 runs, about "
    has "affordable: "
    has "with --depth 1 they miss a bug of depth 1 with probability at most "
    run "$pct" run --confidence 0.99 -n 70 -s 1 -d 2 -k 9 -- ./target race 0
    is "$status" 119
    has "takes 81 runs"
    has "affordable: 70 runs"
    run "$pct" run --confidence 0.99 -s 1 -S pct,depth=2,k=3 -- ./target race 0
    is "$status" 119
    has "no guarantee about the bugs that these runs may have missed: a run took 9 steps"
    run "$pct" run --confidence 0.99 -s 1 -d 1 -- sh -c 'true & wait'
    is "$status" 119
    has "child process"
}

@test "confidence: a failure is a failure" {
    run "$pct" run --confidence 0.999 -s 1 -d 2 -- ./target abba
    is "$status" 120
}

@test "bad confidence, budget and strategy are refused" {
    for wrong in 0 1.5 -1 x '' nan 99%; do
        run "$pct" run --confidence "$wrong" -- ./target
        is "$status" 2
        has "is not a number between 0 and 1, such as 0.99"
    done
    run "$pct" run --confidence 1 -- ./target
    is "$status" 2
    has "no number of runs gives certainty"
    run "$pct" run --confidence 0.9 -S random-delay -- ./target
    is "$status" 2
    has "--confidence: the strategy random-delay has no guarantee; --strategy pct has one"
    for command in run campaign; do
        run "$pct" $command --confidence 0.99 -d 2 -S random-walk -- ./target
        is "$status" 2
        has "--confidence: the strategy random-walk has no guarantee, and no depth; use --strategy pct"
        run "$pct" $command -d 2 -S random-walk -- ./target
        is "$status" 2
        has "--depth: the strategy random-walk has no depth, and no guarantee; --strategy pct has both"
    done
    run "$pct" run --budget 5 -- ./target
    is "$status" 2
    run "$pct" run --confidence 0.9 --budget 0 -- ./target
    is "$status" 2
}

@test "k of 0 is refused, a depth beyond k is remarked on" {
    run "$pct" run -k 0 -- ./target
    is "$status" 2
    has "k: '0' is out of range; it must be 1 to "
    run "$pct" run -d 10 -k 8 -- ./target
    is "$status" 0
    has "depth is greater than k + 1"
    # What is learned never makes it so.
    run "$pct" run -n 3 -d 50 -- ./target race 0
    is "$status" 0
    has "k=9, learned"
    has "k=50 was used all the same"
    has "give a depth of at most 9"
    lacks "greater"
}

@test "the first run measures k, later ones correct it, the next campaign begins with it" {
    run "$pct" run -n 3 -s 1 -S pct -- ./target race 0
    is "$status" 0
    has "learned from these runs, the first of which had depth 1"
    is "$(grep -E '^(most|least|runs|threads) ' "$(kept)")" $'runs 3\nmost 9\nleast 9\nthreads 2'
    run "$pct" run -n 3 -s 1 -S pct -- ./target race 0
    has "k=9, learned from earlier runs"
    has "k = 9 points, 3 runs"
    # So does a single run, and its token has the k.
    run "$pct" run -s 5 -S pct -- ./target race 0
    has "pct1:pct,depth=auto,k=9,"
    # Other arguments: another command.
    run "$pct" run -s 5 -S pct -- ./target race 00
    has "pct1:pct,depth=auto,k=821,"
    is "$(kept | wc -l)" 2
    run "$pct" run -n 3 -s 1 -S pct -k 77 -- ./target race 0
    lacks "learned"
}

@test "k moves down with the program, a share for each run" {
    echo 400 > size
    printf '#!/bin/sh\nread -r n < size; exec ./target steps $n\n' > sized
    chmod +x sized
    run "$pct" run -n 2 -s 1 -S pct --state file -- ./sized
    before=$(sed -n 's/^most //p' file)
    [ "$before" -gt 800 ]
    echo 1 > size
    run "$pct" run -n 64 -s 1 -d 1 --state file -- ./sized
    after=$(sed -n 's/^most //p' file)
    [ "$after" -gt $((before / 2 - 8)) ]
    [ "$after" -lt $((before / 2 + 8)) ]
}

@test "a rebuilt program is measured anew" {
    cp target program
    run "$pct" run -n 3 -s 1 -- ./program race 0
    echo >> program
    run "$pct" run -n 3 -s 1 -- ./program race 0
    is "$status" 0
    has "the first of which had depth 1"
    is "$(kept | wc -l)" 1
}

@test "no file, on request" {
    run "$pct" run -n 3 --state none -- ./target race 0
    is "$status" 0
    [ ! -e "$state" ]
}

@test "a state file of another command, or no state file, is left alone" {
    run "$pct" run -n 3 --state kept -- ./target race 0
    cp kept copy
    run "$pct" run -n 3 --state kept -- ./target race 00
    has "the state file kept is not used, and left as it is: it is of another command"
    has "learned from these runs, the first of which had"
    cmp kept copy
    echo important > mine
    run "$pct" run -n 3 --state mine -- ./target race 0
    is "$status" 0
    has "the state file mine is not used, and left as it is: it is not a state file of pct; move it away"
    is "$(cat mine)" important
    sed -i 's/^pct-state 1/pct-state 2/' kept
    cp kept copy
    run "$pct" run -n 3 --state kept -- ./target race 0
    has "it was written by a newer version of pct"
    cmp kept copy
    run "$pct" run -n 3 --state . -- ./target race 0
    is "$status" 0
    has "cannot read the state file .: Is a directory"
}

@test "a damaged state file is put aside" {
    run "$pct" run -n 3 --state kept -- ./target race 0
    sed -i 's/^most 9/most 8/' kept
    cp kept copy
    run "$pct" run -n 3 --state kept -- ./target race 0
    is "$status" 0
    has "the state file kept is damaged: k is measured anew, and the file kept as kept.damaged"
    cmp kept.damaged copy
    run "$pct" run -n 3 --state kept -- ./target race 0
    has "learned from earlier runs"
    lacks "damaged"
}

@test "where it cannot be kept, that is said, and nothing else changes" {
    echo file > blocked
    run "$pct" run -n 3 --state blocked/here -- ./target race 0
    is "$status" 0
    has "what was learned is not kept: blocked/here: Not a directory"
    XDG_STATE_HOME=relative HOME=$PWD run "$pct" run -n 3 -- ./target race 0
    [ ! -e relative ]
    [ -d .local/state/pct ]
}

@test "a replay needs no state file" {
    run "$pct" run -n 50 -s 1 -d 2 -- ./target abba
    run --separate-stderr "$pct" run -n 500 -s 1000 -d 2 -- ./target abba
    is "$status" 120
    token=$(replay_token)
    rm -r "$state"
    run "$pct" replay "$token" -- ./target abba
    has "replayed identically"
}

@test "a clean campaign of drawn depths says what their mixture is worth" {
    # n = 2, k = 9: each run finds a bug of depth 1 with 1/16 + 1/72 + 1/648 + 1/5832 + 1/104976, one of depth 5 with
    # the last.
    run "$pct" run -n 500 -s 1 -S pct -k 9 -- ./target race 0
    is "$status" 0
    has "500 runs: a bug of depth 1 would have been missed with probability at most 2.2e-18; "
    has "; depth 5: 0.9953 (PCT, theorem 9; the depth is drawn for each run)"
    run "$pct" run --confidence 0.9 -S pct -- ./target race 0
    is "$status" 2
    has "--depth does"
}

@test "of the mixture, the default, the runs of pct count, and a depth or a confidence makes all of them so" {
    # Of 40 seeds from 0 on, each 20 have the shares.
    run "$pct" run -n 40 -s 0 -k 9 -S mixture -- ./target race 0
    is "$status" 0
    has "k = 9 points, 8 runs: a bug of depth 1 would have been missed with probability at most "
    has "8 of 40 runs are those of pct, which alone has a guarantee"
    # Unless it is named, five runs are schedules with few preemptions, two of them in the place of runs of pct.
    run "$pct" run --explore=0 -n 40 -s 0 -k 9 -- ./target race 0
    has "5 of runs 17 to 31 were all schedules with at most 2 preemptions at points where threads conflict"
    has "k = 9 points, 6 runs: a bug of depth 1 would have been missed with probability at most "
    has "6 of 40 runs are those of pct, which alone has a guarantee"
    run "$pct" run -n 40 -s 0 -d 2 -k 9 -- ./target race 0
    has "40 runs: a bug of depth 1"
    lacks "are those of pct"
    run "$pct" run --confidence 0.9 -d 1 -- ./target race 0
    is "$status" 0
    run "$pct" run -n 40 -s 0 -S mixture,k=8 -- ./target race 0
    has "no guarantee about the bugs that these runs may have missed: a run took 9 steps, more than the k that was \
given"
}

@test "of a portfolio the runs of pct count" {
    # Seeds 6 and 12: (1 - 1/18)^2.
    run "$pct" run -n 12 -s 1 -S portfolio,depth=2,k=9 -- ./target race 0
    is "$status" 0
    has "n = 2 threads, k = 9 points, 2 runs: a bug of depth 1 would have been missed with probability at most 0.90; \
depth 2: 0.90 (PCT"
    has "2 of 12 runs are those of pct, which alone has a guarantee"
    has "to be 99 % sure of depth 1: --strategy pct --depth 1 --confidence 0.99"
    run "$pct" run -n 5 -s 1 -S portfolio,depth=2,k=9 -- ./target race 0
    has "no guarantee about the bugs that these runs may have missed: none of these runs of the portfolio was one of \
pct"
    run "$pct" run --confidence 0.9 -S portfolio -- ./target race 0
    is "$status" 2
    has "with --strategy pct all do"
}

@test "a signal that has several waiters to choose from is said, also of a campaign that is read again" {
    local program=$build/bugs/bounded-buffer-fixed
    has_sentence()
    {
        has "pct: signals had several waiters to choose from, or pct_choose() several numbers, up to 3 times in a run: \
a bug that needs a certain one is not among these"
    }
    run "$pct" run -n 200 -s 1 -- "$program"
    has_sentence
    run "$pct" campaign -q --db c.db -n 200 -s 1 -S pct -- "$program"
    run "$pct" campaign report c.db
    has_sentence
    run "$pct" campaign merge merged.db c.db
    run "$pct" campaign report merged.db
    has_sentence
    run "$pct" run -n 200 -s 1 -- ./target race 0
    lacks "several waiters"
}
