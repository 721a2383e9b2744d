#!/usr/bin/env bats
# `pct replay --gdb`: a replay under gdb, which goes through the schedule and does not disturb it. gdb reads its commands from
# standard input. Everything here is said by steps, nothing by time.
load common

setup_file()
{
    compile_targets
    cd "$BATS_FILE_TMPDIR" || return
    # With k given: what is learned elsewhere must not choose another failing schedule.
    "$pct" run -n 500 -s 1 -S pct,depth=2,k=49 -t deadlock.trace -- ./target abba > /dev/null 2>&1 || [ $? = 120 ]
    "$pct" run -s 3 -S random-walk -t yields.trace -- ./target yields 20 > /dev/null 2>&1
}

setup()
{
    enter
    cp "$BATS_FILE_TMPDIR"/*.trace .
    # Containers may forbid what a debugger needs.
    gdb -nx -batch -ex run --args true 2>&1 | grep -q 'exited normally' || skip "gdb cannot run programs here"
    export LC_ALL=C HOME=$BATS_TEST_TMPDIR # nobody's .gdbinit
}

# debug TRACE COMMAND...: what gdb and pct print for these commands of gdb, one an argument.
debug()
{
    local trace=$1 arguments=(abba)
    shift
    [ "$trace" = deadlock.trace ] || arguments=(yields 20)
    printf '%s\n' "$@" > commands
    run timeout 120 "$pct" replay --gdb "$trace" -- ./target "${arguments[@]}" < commands
}

@test "every step, with next, is the recorded one, and the run ends as recorded" {
    for trace in deadlock yields; do
        steps_of $trace.trace > expected
        mapfile -t commands < <(sed 's/.*/pct next/' expected)
        debug $trace.trace "${commands[@]}" "continue" "continue"
        printf '%s\n' "$output" | grep -o 'before step .*' > came
        while read -r line <&3; do
            read -r step <&4
            [ "${step#"$line"}" != "$step" ] || { echo "expected $line, came $step" && return 1; }
        done 3< expected 4< came
        is "$(wc -l < came)" "$(wc -l < expected)"
        has "the last run under gdb was the recorded one"
    done
}

@test "until and back, forwards and backwards; breakpoints are passed by on the way" {
    debug deadlock.trace "break take_both" "pct until 5" "continue" "pct until 4" "delete" "pct until 6" "pct back" "pct back 9"
    is "$status" 0
    is "$(printf '%s\n' "$output" | grep -c 'hit Breakpoint')" 1
    is "$(printf '%s\n' "$output" | grep -o 'before step [0-9]*' | tr -dc '0-9\n' | tr '\n' ' ')" "5 4 6 5 1 "
}

@test "switch goes to the first step of another thread" {
    steps_of yields.trace > expected
    awk '{ if (NR > 1 && $5 != last) print; last = $5 }' expected | head -n 2 > switches
    debug yields.trace "pct next" "pct switch" "pct switch"
    is "$(printf '%s\n' "$output" | grep -o 'before step .*' | tail -n 2)" "$(cat switches)"
}

@test "a deadlock stops with all threads alive: who waits for what, who holds it" {
    debug deadlock.trace "continue" "pct threads" "pct objects" "pct next"
    has "the run ends here: deadlock, after $("$pct" trace deadlock.trace -f jsonl | grep -c '"type":"step"') steps"
    has "waits: join thread 1"
    has "waits: lock mutex 2, held by thread 2; holds mutex 1"
    has "; holds mutex 2"
    has "mutex 1: "
    has ", held by thread 1, awaited by thread 2"
    has "the run ends here; \`pct back\` goes to an earlier step"
}

@test "breakpoints, stepping over a lock at which threads change, calls and finish leave the schedule as it was" {
    debug deadlock.trace "break take_both" "continue" "next" "next" "bt" "continue" "next" "pct finish" "pct where" \
        "delete" "continue" "continue"
    is "$status" 0
    has "hit Breakpoint"
    has "the last run under gdb was the recorded one"
}

@test "schedule prefers another thread here, as a token and as a file that can be replayed" {
    # The first lock is thread 1's, and the deadlock needs another thread then.
    step=$("$pct" trace deadlock.trace -f jsonl | sed -n '/"op":"lock"/{s/.*"step":\([0-9]*\).*/\1/p;q}')
    debug deadlock.trace "pct until $((step + 1))" "pct schedule 1" "pct schedule 1 edited.schedule" "pct schedule one"
    has "pct: token pct1:schedule,switches="
    has "written to edited.schedule"
    has "which thread (by pct's number)"
    token=$(printf '%s\n' "$output" | sed -n 's/.*pct: token //p')
    for name in "$token" edited.schedule; do
        run --separate-stderr "$pct" replay -t edited.trace "$name" -- ./target abba
        is "$("$pct" trace --to "$step" edited.trace | tail -n +4)" "$("$pct" trace --to "$step" deadlock.trace | tail -n +4)"
        is "$("$pct" trace edited.trace -f jsonl | sed -n "$((step + 2))s/.*\"thread\":\([0-9]*\).*/\1/p")" 1
    done
}

@test "a token, a stripped program" {
    cp target stripped
    strip stripped
    token=$("$pct" trace deadlock.trace -f jsonl | sed -n '1s/.*"token":"\([^"]*\)".*/\1/p')
    printf '%s\n' "pct next" "pct back" "continue" "pct threads" > commands
    run timeout 120 "$pct" replay --gdb "$token" -- ./stripped abba < commands
    has "before step 2: thread "
    has "before step 1: thread 0: create"
    has "the run ends here: deadlock"
    has "held by thread"
}

@test "mistakes are said, and what to do" {
    debug deadlock.trace "pct nxet" "pct until" "pct next zero" "kill" "pct where"
    has "there is no command 'nxet'; \`help pct\` lists them"
    has "until: which step?"
    has "next: 'zero' is not a number above 0"
    has "the program does not run; \`run\` starts it"
    run "$pct" replay --gdb -n 2 deadlock.trace -- ./target abba
    is "$status" 2
    has "--gdb goes with neither --with, --rr, --runs"
    PATH=/nowhere run -127 "$pct" replay --gdb deadlock.trace -- ./target abba
    has "gdb: command not found; Debian's package gdb has it"
}
