#!/usr/bin/env bats
# Targets that kill or stop pct itself: what does the work is a child of the process that the user sees, which outlives
# that.
load common

setup_file()
{
    compile_targets
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/killer" "$root/tests/cli/killer.c"
    "$cc" -g -O1 -pthread -static -o "$BATS_FILE_TMPDIR/killer-static" "$root/tests/cli/killer.c"
}

setup()
{
    enter
    ln -s "$BATS_FILE_TMPDIR/killer" "$BATS_FILE_TMPDIR/killer-static" .
    export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR/runtime TMPDIR=$BATS_TEST_TMPDIR/temporary
    mkdir runtime temporary
}

fixed=(--state none --epoch 1700000000)

# Neither processes nor files of runs are there any more.
nothing_is_left()
{
    run ! grep -sa "^$BATS_TEST_TMPDIR/" /proc/[0-9]*/cmdline
    is "$(ls runtime temporary)" $'runtime:\n\ntemporary:'
}

# seeds_of TITLE FILE: the seeds of its runs.
seeds_of()
{
    python3 - "$1" "$2" <<'PYTHON'
import sqlite3, sys
rows = sqlite3.connect(sys.argv[2]).execute(
    'SELECT runs.seed FROM runs JOIN findings ON runs.finding = findings.id WHERE findings.title = ? '
    'ORDER BY runs.seed', (sys.argv[1],))
print(*(seed for seed, in rows))
PYTHON
}

# worker_of PID: the child that does the work.
worker_of()
{
    local worker=''
    until [ -n "$worker" ]; do
        worker=$(cat "/proc/$1/task/$1/children")
        sleep 0.05
    done
    echo "${worker%% *}"
}

# wait_for_state PID STATE: as /proc/PID/stat has it.
wait_for_state()
{
    until grep -q ") $2 " "/proc/$1/stat"; do sleep 0.05; done
}

@test "a target that kills pct in some runs: these are a finding, and all others are done" {
    "$pct" campaign "${fixed[@]:2}" -n 60 -s 1 -j 2 --db plain.db -- "$PWD/killer" parent 0 7 || is $? 1
    expected=$(seeds_of "exit status 3" plain.db)
    [ "$(wc -w <<< "$expected")" -gt 2 ]
    for mode in "-j 2" ${FULL:+"-j 1" "-j 2 --exec"}; do
        # shellcheck disable=SC2086 # two words
        run --separate-stderr "$pct" campaign "${fixed[@]:2}" -n 60 -s 1 $mode --fresh -- "$PWD/killer" parent 9 7
        is "$status" 1
        has "60 of 60 runs"
        has "killed pct by signal 9 (Killed)"
        has "not replayed, as it would kill pct again"
        has "under way"
        is "$(seeds_of "killed pct by signal 9 (Killed)" pct-campaign.db)" "$expected"
        nothing_is_left
    done
    # Asked for more, it has not forgotten.
    run "$pct" campaign "${fixed[@]:2}" -n 61 -s 1 -- "$PWD/killer" parent 9 7
    is "$status" 1
    has "60 of 61 runs are done"
    lacks "not yet replayed"
}

@test "pct that was killed twice in the same run does not say that the run did it: it is made once more" {
    run "$pct" campaign "${fixed[@]:2}" -n 4 -s 1 -j 1 -- "$PWD/killer" parent 9 1 "$PWD/count"
    is "$status" 0
    has "4 of 4 runs"
    has "pct was ended by signals 2 times in all, and went on each time"
    is "$(cat count)" xx
    nothing_is_left
}

@test "a target that kills pct, or the process group of it, in each run ends neither the calibration nor the campaign" {
    for whom in parent group; do
        run "$pct" campaign "${fixed[@]:2}" -n 6 -s 1 -j 2 --scratch=cwd --fresh -- "$PWD/killer" $whom 9
        is "$status" 1
        has "6 of 6 runs"
        has "6 failed, 1 finding"
        nothing_is_left
        run "$pct" campaign report --all
        has "killed pct by signal 9"
        lacks "before its first step"
    done
}

@test "a child of the target that is not under control and kills pct is no other case" {
    cat > script <<'SH'
#!/bin/sh
echo "$2" > mark
exec ./killer-static "$@"
SH
    chmod +x script
    run "$pct" campaign "${fixed[@]:2}" -n 4 -s 1 -j 2 -- ./script parent 9
    is "$status" 1
    has "4 failed, 1 finding"
    nothing_is_left
}

@test "a target that stops pct does not hold it up" {
    for command in "run -g" "run -g --exec" "campaign -j 2"; do
        # shellcheck disable=SC2086 # words
        run timeout 120 "$pct" $command --epoch 1700000000 -n 20 -s 1 -- "$PWD/killer" parent 19
        is "$status" 0
        has "pct itself was stopped by signal 19"
        has "20 "
        rm -f pct-campaign.db
    done
    nothing_is_left
}

@test "what has no file to go on from ends with the runs that were under way, and leaves nothing behind" {
    for mode in -g --exec; do
        run --separate-stderr "$pct" run "${fixed[@]}" $mode -n 20 -s 5 --scratch -- "$PWD/killer" parent 9
        is "$status" 137
        has "pct itself was ended by signal 9 (Killed)"
        has "1 run was under way"
        case $(replay_line) in "$pct replay --scratch 'pct1:"*":5:"*"' -- $PWD/killer parent 9") ;; *) false ;; esac
        nothing_is_left
    done
}

@test "of several commands, it is said which one has killed pct" {
    run --separate-stderr "$pct" run "${fixed[@]}" -n 20 -s 5 -- "$PWD/killer" parent 9
    token=$(replay_line | grep -o "pct1:[^']*")
    printf 'Schedule: %s\nCommand: %s\nOptions: --scratch\n\n' "$token" ./target "$token" "$PWD/killer parent 9" \
        > pct.schedules
    run --separate-stderr "$pct" check --near 0
    is "$status" 137
    has "pct itself was ended by signal 9 (Killed)"
    case $(replay_line) in "$pct replay --scratch '$token' -- $PWD/killer parent 9") ;; *) false ;; esac
    nothing_is_left
}

@test "pct that is killed again and again without any run gives up" {
    # The oracle is asked when the run is over.
    run "$pct" campaign "${fixed[@]:2}" -n 5 -s 1 --oracle 'kill -KILL $PPID' -- ./target
    is "$status" 137
    has "6 times in a row"
    is "$(ls runtime temporary)" $'runtime:\n\ntemporary:'
    # Nothing was lost.
    run "$pct" campaign "${fixed[@]:2}" -n 5 -s 1 --oracle true --fresh -- ./target
    is "$status" 0
}

@test "a run whose set-up kills pct is charged with it" {
    run "$pct" campaign "${fixed[@]:2}" -n 5 -s 1 -j 1 --setup 'kill -KILL $PPID' -- ./target
    is "$status" 1
    has "5 failed, 1 finding"
}

@test "a writer whose reader has gone ends as it always did" {
    set +o pipefail
    "$pct" campaign "${fixed[@]:2}" -n 5 -- ./target exit 1 2> errors | true
    [ "${PIPESTATUS[0]}" = 141 ] || [ "${PIPESTATUS[0]}" = 1 ]
    ! grep -q "pct itself" errors
}

@test "stopped and continued by its user, pct does so as a whole" {
    set -m # a job of a shell, as users have it
    "$pct" campaign "${fixed[@]:2}" --explore=0 -n 1000000 -j 2 -- ./target > out 2> errors &
    pid=$!
    set +m
    worker=$(worker_of $pid)
    for signal in STOP TSTP; do
        until [ -s pct-campaign.db ]; do sleep 0.05; done
        kill -$signal $pid
        wait_for_state $pid T
        wait_for_state "$worker" T
        kill -CONT $pid
        wait_for_state "$worker" '[RSD]'
    done
    kill -TERM $pid
    code=0
    wait $pid || code=$?
    is "$code" 143
    run ! grep "pct itself" errors
    grep -q "interrupted" errors
    nothing_is_left
}

@test "whoever kills the process that the user sees ends all of it" {
    "$pct" campaign "${fixed[@]:2}" --explore=0 -n 1000000 -j 2 -- "$PWD/killer" parent 19 > out 2>&1 &
    pid=$!
    worker=$(worker_of $pid)
    kill -KILL $pid
    wait $pid || true
    # Nobody may ask for the status of the worker.
    while grep -q ') [^Z] ' "/proc/$worker/stat"; do sleep 0.05; done
    while grep -qsa "^$BATS_TEST_TMPDIR/" /proc/[0-9]*/cmdline; do sleep 0.05; done
}

@test "under nohup, a campaign outlives its terminal" {
    nohup "$pct" campaign "${fixed[@]:2}" --explore=0 -n 1000000 -- ./target > out 2>&1 &
    pid=$!
    until [ -s pct-campaign.db ]; do sleep 0.05; done
    worker=$(worker_of $pid)
    kill -HUP $pid "$worker"
    kill -TERM $pid # of signals that wait, the one with the lower number is taken first
    code=0
    wait $pid || code=$?
    is "$code" 143
}

@test "pct that is a target of pct is supervised, too" {
    run "$pct" run "${fixed[@]}" -- env -u PCT_TOKEN -u PCT_TRACE "$pct" run "${fixed[@]}" -n 5 -s 1 -- ./target
    is "$status" 0
    has "5 runs"
}

# scratch PID DRAWN: the name of a scratch file.
scratch()
{
    printf 'runtime/pct-%010d-%s' "$1" "$2"
}

@test "scratch files of commands that were killed go; others of users, and those in use, stay" {
    true &
    gone=$!
    wait $gone
    # As SIGKILL leaves them: of all kinds, written or not; the trace of a child whose run's is gone, and of one whose
    # run's is there, goes behind that.
    child=$(scratch $gone aaaaaa).17
    first=("$(scratch $gone bbbbbb)" "$(scratch $gone cccccc)" "$(scratch $gone cccccc).18" "$child")
    echo PCTSCRP > "${first[1]}"
    touch "${first[@]}"
    kept=(runtime/pct-2026112801-backup "runtime/pct-$gone-short1" "$(scratch $gone longer1)" \
        "$(scratch $gone dddddd).txt" "$(scratch $$ living)" "$(scratch $gone locked)" \
        "$(scratch $gone linked)" runtime/pct-)
    touch "${kept[@]}"
    ln "$(scratch $gone linked)" elsewhere
    touch -d '2 minutes ago' "${first[@]}" "${kept[@]}"
    touch "$(scratch $gone youngs)"
    # Where one place is full, they are in the next.
    touch -d '2 minutes ago' "temporary/${first[0]#*/}"
    exec 9< "$(scratch $gone locked)"
    flock -s 9
    "$pct" run -q "${fixed[@]}" -n 2 -s 1 -- ./target
    "$pct" run -q "${fixed[@]}" -n 2 -s 1 -- ./target
    exec 9<&-
    is "$(ls temporary)" ""
    is "$(find runtime -type f | sort)" "$(printf '%s\n' "${kept[@]}" "$(scratch $gone youngs)" | sort)"
}
