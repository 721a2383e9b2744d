# Replays under a debugger, which goes through the schedule and does not disturb it: one set of cases, in the words of
# gdb and of lldb. Loaded by gdb.bats and lldb.bats, which set $debugger. Everything here is said by steps, nothing by
# time.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables that bats and common.bash set

# What differs: commands, what a breakpoint says (lldb counts pct's own three, too), and what pct says where there is
# none.
case $debugger in
gdb) break=break delete=delete kill=kill hit='hit Breakpoint' otherwise='' ;;
lldb)
    break=b delete='breakpoint delete' kill='process kill' hit='stop reason = breakpoint 4'
    otherwise=' (apt-get install lldb), and --gdb the same commands'
    ;;
esac

# can_debug: whether the debugger is there and can run programs; containers may forbid what it needs. Otherwise says why
# not. All that lldb prints must be read: it spins if nobody does.
can_debug()
{
    local said
    if ! command -v "$debugger" > /dev/null; then
        echo "$debugger is not installed (apt-get install $debugger)"
        return 1
    fi
    if [ "$debugger" = gdb ]; then
        said=$(gdb -nx -batch -ex run --args true 2>&1) || true
    else
        said=$(timeout -k 5 60 lldb -x -b -o run true < /dev/null 2>&1) || true
    fi
    case $said in
    *'exited normally'* | *'exited with status = 0'*) ;;
    *) echo "$debugger cannot run programs here" && return 1 ;;
    esac
}

# record_runs: the traces that all cases use.
record_runs()
{
    can_debug > "$BATS_FILE_TMPDIR/missing" || return 0
    rm "$BATS_FILE_TMPDIR/missing"
    compile_targets
    cd "$BATS_FILE_TMPDIR" || return
    # With k given: what is learned elsewhere must not choose another failing schedule.
    "$pct" run -n 500 -s 1 -S pct,depth=2,k=49 -t deadlock.trace -- ./target abba > /dev/null 2>&1 || [ $? = 120 ]
    "$pct" run -s 3 -S random-walk -t yields.trace -- ./target yields 20 > /dev/null 2>&1
}

enter_debugger()
{
    [ ! -e "$BATS_FILE_TMPDIR/missing" ] || skip "$(cat "$BATS_FILE_TMPDIR/missing")"
    enter
    cp "$BATS_FILE_TMPDIR"/*.trace .
    export LC_ALL=C HOME=$BATS_TEST_TMPDIR # nobody's .gdbinit or .lldbinit
}

# debug_commands [OPTION...] TOKEN|TRACE PROGRAM...: what the debugger and pct print for the commands in the file
# `commands`. gdb reads them from standard input, lldb from the file, one after the other.
debug_commands()
{
    local options=()
    while [[ $1 == -* ]]; do
        options+=("$1") && shift
    done
    local name=$1
    shift
    if [ "$debugger" = gdb ]; then
        run timeout -k 5 120 "$pct" replay --gdb "${options[@]}" "$name" -- "$@" < commands
    else
        run timeout -k 5 120 "$pct" replay --lldb='-b -o "command source -e false commands"' "${options[@]}" "$name" \
            -- "$@" < /dev/null
    fi
}

# debug TRACE COMMAND...: the same for these commands, one an argument.
debug()
{
    local trace=$1 arguments=(abba)
    shift
    [ "$trace" = deadlock.trace ] || arguments=(yields 20)
    printf '%s\n' "$@" > commands
    debug_commands "$trace" ./target "${arguments[@]}"
}

# Every step, with next, is the recorded one, and the run ends as recorded.
every_step()
{
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
        has "the last run under $debugger was the recorded one"
    done
}

# Until and back, forwards and backwards; breakpoints on the way are skipped.
until_and_back()
{
    debug deadlock.trace "$break take_both" "pct until 5" "continue" "pct until 4" "$delete" "pct until 6" "pct back" \
        "pct back 9"
    is "$status" 0
    is "$(printf '%s\n' "$output" | grep -c "$hit")" 1
    is "$(printf '%s\n' "$output" | grep -o 'before step [0-9]*' | tr -dc '0-9\n' | tr '\n' ' ')" "5 4 6 5 1 "
}

# Switch goes to the first step of another thread.
switch_to_another()
{
    steps_of yields.trace > expected
    awk '{ if (NR > 1 && $5 != last) print; last = $5 }' expected | head -n 2 > switches
    debug yields.trace "pct next" "pct switch" "pct switch"
    is "$(printf '%s\n' "$output" | grep -o 'before step .*' | tail -n 2)" "$(cat switches)"
}

# A deadlock stops with all threads alive: who waits for what, who holds it.
deadlock_alive()
{
    debug deadlock.trace "continue" "pct threads" "pct objects" "pct next"
    has "the run ends here: deadlock, after $("$pct" trace deadlock.trace -f jsonl | grep -c '"type":"step"') steps"
    has "waits: join thread 1"
    has "waits: lock mutex 2, held by thread 2; holds mutex 1"
    has "; holds mutex 2"
    has "mutex 1: "
    has ", held by thread 1, awaited by thread 2"
    has "the run ends here; \`pct back\` goes to an earlier step"
}

# Breakpoints, stepping over a lock at which threads change, calls and finish leave the schedule as it was.
leaves_the_schedule()
{
    debug deadlock.trace "$break take_both" "continue" "next" "next" "bt" "continue" "next" "pct finish" "pct where" \
        "$delete" "continue" "continue"
    is "$status" 0
    has "$hit"
    has "the last run under $debugger was the recorded one"
}

# Schedule prefers another thread here, as a token and as a file that can be replayed.
prefers_another()
{
    # The first lock is thread 1's, and the deadlock needs another thread then.
    step=$("$pct" trace deadlock.trace -f jsonl | sed -n '/"op":"lock"/{s/.*"step":\([0-9]*\).*/\1/p;q}')
    debug deadlock.trace "pct until $((step + 1))" "pct schedule 1" "pct schedule 1 edited.schedule" "pct schedule one"
    has "pct: token pct1:schedule,switches="
    has "written to edited.schedule"
    has "which thread (by pct's number)"
    token=$(printf '%s\n' "$output" | sed -n 's/.*pct: token //p')
    for name in "$token" edited.schedule; do
        run --separate-stderr "$pct" replay -t edited.trace "$name" -- ./target abba
        is "$("$pct" trace --to "$step" edited.trace | tail -n +4)" "$("$pct" trace --to "$step" deadlock.trace |
            tail -n +4)"
        is "$("$pct" trace edited.trace -f jsonl | sed -n "$((step + 2))s/.*\"thread\":\([0-9]*\).*/\1/p")" 1
    done
}

# A token, a stripped program.
token_and_stripped()
{
    cp target stripped
    strip stripped
    token=$("$pct" trace deadlock.trace -f jsonl | sed -n '1s/.*"token":"\([^"]*\)".*/\1/p')
    printf '%s\n' "pct next" "pct back" "continue" "pct threads" > commands
    debug_commands "$token" ./stripped abba
    has "before step 2: thread "
    has "before step 1: thread 0: create"
    has "the run ends here: deadlock"
    has "held by thread"
}

# The program reads the file, the debugger what it reads anyway; again when it starts again.
reads_a_file()
{
    printf '%s\n' '#include <stdio.h>' 'int main(void)' \
        '{ char line[64]; return !fgets(line, sizeof line, stdin) || printf("<%s>", line) < 0; }' > reads.c
    "$cc" -g -o reads reads.c
    printf 'words' > words
    "$pct" run -s 1 --stdin=words -t reads.trace -- ./reads > /dev/null 2>&1
    printf '%s\n' continue run continue > commands
    debug_commands "--stdin=words" reads.trace ./reads
    is "$(grep -o '<words>' <<< "$output" | wc -l)" 2
    [[ $output != *'under '*'the program reads what'* ]]
}

# Mistakes are said, and what to do.
mistakes()
{
    debug deadlock.trace "pct nxet" "pct until" "pct next zero" "$kill" "pct where"
    has "there is no command 'nxet'; \`help pct\` lists them"
    has "until: which step?"
    has "next: 'zero' is not a number above 0"
    has "the program does not run; \`run\` starts it"
    run "$pct" replay --"$debugger" -n 2 deadlock.trace -- ./target abba
    is "$status" 2
    has "--$debugger cannot be combined with --with, --rr, --runs"
    PATH=/nowhere run -127 "$pct" replay --"$debugger" deadlock.trace -- ./target abba
    has "$debugger: command not found; Debian's package $debugger has it$otherwise"
}
