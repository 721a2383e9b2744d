#!/usr/bin/env bats
# `pct campaign`: findings, oracles, the campaign file and what may happen to it, shards, reports.
load common

setup_file()
{
    compile_targets
    "$cc" -O1 -fPIC -shared -o "$BATS_FILE_TMPDIR/nospace.so" "$root/tests/cli/nospace.c"
}

setup()
{
    enter
    # One strategy, so that it is known after how many runs it finds something.
    export PCT_STRATEGY=pct
}

# All that a file says about runs and findings, but for times.
rows()
{
    python3 - "$@" <<'END'
import sqlite3, sys
file = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for table in sys.argv[2:] or ("runs", "findings", "frames", "coverage", "uncontrolled"):
    for row in sorted(file.execute(f"SELECT * FROM {table}")):
        print(table, *row, sep="|")
END
}

# same_campaign ONE OTHER: the runs are the same, and so are the findings, but for what may differ: the command, and the
# cause, which is looked for while there is time.
same_campaign()
{
    local finding="SELECT group_concat(signature || ' ' || seed || ' ' || token || ' ' || replays || ' ' || same, '
') FROM findings"
    diff <(rows "$1" runs frames coverage uncontrolled) <(rows "$2" runs frames coverage uncontrolled)
    is "$(query "$2" "$finding")" "$(query "$1" "$finding")"
}

# The last command that replays a finding.
replay_command()
{
    printf '%s\n' "$output" | grep ' replay ' | tail -n 1
}

@test "a failure is a finding: folded, confirmed by ten replays, with its rate and a command that replays it" {
    run "$pct" campaign -n 60 -s 1 -d 2 -- ./target race
    is "$status" 1
    has "60 of 60 runs"
    has "1 finding;"
    has "10 of 10  assertion: "
    has "replayed 10 times: 10 failed the same way; 10 identical"
    has "#"
    has "race  at "
    lacks "pthread_kill" # a frame of a library above it
    failed=$(printf '%s\n' "$output" | sed -n 's/^60 of 60 .*: \([0-9]*\) failed.*/\1/p')
    [ "$failed" -gt 1 ]
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs WHERE finding = 1')" "$failed"
    run --separate-stderr bash -c "$(replay_command)"
    is "$status" 134
    has "replayed identically"
}

@test "different failures are different findings" {
    run "$pct" campaign -n 120 -s 1 -d 2 -q -- ./target abba
    is "$status" 1
    has "deadlock at "
    has "waits for mutex "
    is "$(query pct-campaign.db 'SELECT count(*) FROM findings')" 1
    # The same deadlock in another order of the two threads is the same.
    has "take_both"
    run "$pct" campaign --db two.db -n 2 -s 1 -- ./target crash
    is "$status" 1
    is "$(query two.db 'SELECT count(*) FROM findings')" 1
    has "crash by signal 11"
    run "$pct" campaign --db three.db -n 2 -s 1 -- ./target exit 3
    has "exit status 3"
    run "$pct" campaign --db three.db -n 2 -s 1 --fresh --ok-status 3 -- ./target exit 3
    is "$status" 0
    has "no failure"
    [ -e three.db.old ]
    run "$pct" campaign --db any.db -n 2 -s 1 --ok-status any -- ./target exit 3
    is "$status" 0
    is "$(query any.db "SELECT value FROM facts WHERE key = 'judging'")" "--ok-status any "
}

@test "a run that hangs is a finding, and the campaign goes on" {
    run "$pct" campaign -n 2 -s 1 -k 9 --timeout 0.3 -- ./target hang
    is "$status" 1
    has "2 of 2 runs"
    has "1 finding;"
    has "10 of 10  timeout"
    has "10 failed the same way; a run that was killed has no hash to compare"
    has "replay --timeout 0.3 "
    run "$pct" campaign --db single.db -n 1 -s 1 -k 9 -- true
    has "coverage: 1 different schedule, 0 ordered pairs of operations"
    run "$pct" campaign --db defaults.db -q -n 1 -s 1 -k 9 -- ./target
    is "$(query defaults.db "SELECT value FROM facts WHERE key = 'options'")" "--timeout 60 "
}

@test "a campaign whose runs are endless says so within seconds: those that measure k are cut" {
    "$pct" campaign -n 2 -s 1 -j 2 -- ./target hang > said 2>&1 &
    until grep -q 'was cut' said; do sleep 0.1; done
    kill -INT $!
    wait $! || status=$?
    run cat said
    has "a run by which k is measured took more than 5 s, as no other has ended, and was cut"
    lacks "a run by which k is measured has failed"
}

@test "a run that takes far longer than the others is cut, unless --timeout is given" {
    # The cuts of the calibration are not in question, so k is given.
    run timeout 600 "$pct" campaign -n 12 -s 1 -k 9 -j 4 --epoch 1700000000 -- ./target snag
    is "$status" 1
    has "12 of 12 runs"
    has " s, far longer than the others (at most "
    has "), and was cut: it is made again, and is a timeout if it then takes 60 s: pct1:"
    has "far longer than the others and were cut, a timeout"
    has "replay --timeout 5 "
    run "$pct" campaign report --all
    has "timeout: killed after 5 s of real time, which is far longer than other runs took"
    run timeout 600 "$pct" campaign --db given.db -n 4 -s 1 -k 9 -j 4 --timeout 1 --epoch 1700000000 -- ./target snag
    lacks "far longer than the others"
}

# bats test_tags=long
@test "a failure behind a run that was cut is said before that is made again, and is no finding until then" {
    local jobs
    for jobs in 1 2; do
        "$pct" campaign --db "$jobs.db" -n 900 -s 5 -k 12 -j "$jobs" --epoch 1700000000 -- ./target thirds \
            > said 2>&1 &
        until grep -q 'which counts when' said; do sleep 0.1; done
        kill -INT $!
        wait $! || status=$?
        is "$status" 130
        run cat said
        has " fails, which counts when the run before it that was cut has been made again: assertion: "
        has "6 of 900 runs"
        has " cut, and not made again to the end: whether "
        has "seed 12 failed, too, behind all runs counted above, and is not counted yet: assertion: "
        has "pct replay 'pct1:pct,"
        is "$(query "$jobs.db" 'SELECT count(*) FROM findings')" 0
        has "none of these failed"
        run "$pct" campaign report "$jobs.db"
        has "none of these failed"
        has "no guarantee about the bugs that these runs may have missed: it was interrupted"
        "$pct" campaign merge "merged$jobs.db" "$jobs.db"
        run "$pct" campaign report "merged$jobs.db"
        has "no guarantee about the bugs that these runs may have missed: it was interrupted"
    done
    same_campaign 1.db 2.db
}

# What kept it may have been the machine: a disk, or want of the CPU in threads that have ended meanwhile.
@test "a run that was cut is made again without that, and is no failure if it ends then" {
    local jobs
    for jobs in 1 3; do
        run timeout 600 "$pct" campaign --db "$jobs.db" -n 12 -s 1 -k 9 -j "$jobs" --epoch 1700000000 -- \
            ./target snag-once "$PWD/$jobs"
        [ -e "$jobs" ]
        is "$status" 0
        has "12 of 12 runs"
        has "1 run took far longer than the others and was made again: what it did then is what counts"
        lacks "cut, a timeout"
        is "$(query "$jobs.db" 'SELECT count(*) FROM findings')" 0
    done
    same_campaign 1.db 3.db
}

# Ten replays of a run that hangs take ten times its limit: who waits for them sees nothing of what else there is.
# bats test_tags=long
@test "what hangs is confirmed behind the last run, and holds up no other finding" {
    local hangs="SELECT replays FROM findings WHERE verdict = 'timeout'"
    local fails="SELECT replays FROM findings WHERE verdict = 'assertion'"
    local what=(campaign -s 11 -k 12 -j 1 --timeout 1 --epoch 1700000000)
    "$pct" "${what[@]}" --db cut.db -n 900 -- ./target thirds > said 2>&1 &
    until [ "$(query cut.db "$fails" 2> nowhere)" = 10 ]; do sleep 0.1; done
    kill -INT $!
    wait $! || status=$?
    is "$status" 130
    is "$(query cut.db "$hangs")" 0
    "$pct" "${what[@]}" --db whole.db -n 2 -- ./target thirds > said 2>&1 || status=$?
    is "$status" 1
    is "$(query whole.db "$hangs")" 10
    is "$(query whole.db "$fails")" 10
    is "$(query whole.db "SELECT group_concat(id || ' ' || seed || ' ' || verdict) FROM findings")" \
        "1 11 timeout,2 12 assertion"
}

@test "a failure of a run by which k is measured is a finding" {
    run "$pct" campaign -n 1 -s 1 -S mixture --epoch 1700000000 -- ./target abba
    is "$status" 1
    has "a run by which k is measured has failed (deadlock): pct1:"
    [[ $output =~ "finding 1, seed "[0-9]+": deadlock at " ]]
    is "$(query pct-campaign.db 'SELECT count(*) FROM findings')" 1
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs')" 1
    has "10 of 10  deadlock"
    # Also where the campaign was interrupted before it came to that.
    what=(--db cut.db -n 3 -s 1 -S mixture --epoch 1700000000
        --oracle '[ ! -e cut.db ] || [ -e cut ] || { > cut; kill -INT $PPID; sleep 1; }' -- ./target abba)
    run "$pct" campaign "${what[@]}"
    is "$status" 130
    has "none of these failed"
    run "$pct" campaign "${what[@]}"
    is "$status" 1
    [[ $output =~ "finding 1, seed "[0-9]+": deadlock at " ]]
}

@test "few schedules: those with few preemptions are made, whatever the number of workers, and when resumed" {
    unset PCT_STRATEGY
    "$pct" campaign -q -s 1 --explore=0 -n 300 -j 1 --epoch 1 --db one.db -- "$build/bugs/bank-account-fixed" || true
    "$pct" campaign -q -s 1 --explore=0 -n 300 -j 2 --epoch 1 --db two.db -- "$build/bugs/bank-account-fixed" || true
    rows one.db > one
    rows two.db > two
    cmp one two
    [ "$(query one.db 'SELECT count(*) FROM runs WHERE complete & 4')" -gt 20 ]
    [ "$(query one.db 'SELECT count(*) FROM runs WHERE complete & 4 AND preemptions > 2')" -eq 0 ]
    # Another campaign, which is interrupted in the middle of them.
    python3 -c '
import sqlite3
file = sqlite3.connect("two.db")
file.execute("DELETE FROM runs WHERE seed > 60")
file.commit()'
    "$pct" campaign -q -s 1 --explore=0 -j 2 --epoch 1 --db two.db -- "$build/bugs/bank-account-fixed" || true
    query two.db 'SELECT group_concat(complete || hash) FROM (SELECT * FROM runs ORDER BY seed)' > two
    query one.db 'SELECT group_concat(complete || hash) FROM (SELECT * FROM runs ORDER BY seed)' > one
    cmp one two
    # One that was to have fewer runs, and goes on with more.
    for runs in 12 60 150; do
        "$pct" campaign -q -s 1 --explore=0 -n $runs --epoch 1 --db three.db -- "$build/bugs/bank-account-fixed" || true
        query three.db 'SELECT * FROM runs ORDER BY seed' > three
        query one.db "SELECT * FROM runs ORDER BY seed LIMIT $runs" > one
        cmp one three
    done
}

@test "few classes of schedules: behind 16 runs all are explored, and that is the campaign's verdict" {
    local fixed=$build/bugs/bank-account-fixed jobs
    unset PCT_STRATEGY
    for jobs in 1 2; do
        run "$pct" campaign -s 1 -n 300 -j "$jobs" --epoch 1 --db "$jobs.db" -- "$fixed"
        is "$status" 0
        has "16 of 300 runs"
        has "pct: verified under sequential consistency: all 2 classes of schedules pass"
        lacks "would have been missed"
    done
    rows 1.db > one
    rows 2.db > two
    cmp one two
    # It goes on where that is known, or is found out again.
    run "$pct" campaign -s 1 -n 400 --epoch 1 --db 1.db -- "$fixed"
    is "$status" 0
    has "all schedules were explored, --fresh begins anew"
    has "verified under sequential consistency"
    python3 -c '
import sqlite3
file = sqlite3.connect("2.db")
file.execute("DELETE FROM runs WHERE seed > 9")
file.execute("DELETE FROM facts WHERE key LIKE \"verdict%\"")
file.commit()'
    run "$pct" campaign -s 1 -j 2 --epoch 1 --db 2.db --report junit:junit.xml -- "$fixed"
    is "$status" 0
    has "16 of 300 runs"
    has "verified under sequential consistency: all 2 classes"
    grep -q "verified under sequential consistency" junit.xml
    rows 2.db > two
    cmp one two
    # One that was to have fewer runs, for which there were none to explore it by, or too few.
    local runs
    for runs in 12 17; do
        "$pct" campaign -q -s 1 -n $runs --epoch 1 --db $runs.db -- "$fixed" || true
        run "$pct" campaign -s 1 -n 300 --epoch 1 --db $runs.db -- "$fixed"
        is "$status" 0
        has "$((runs < 16 ? 16 : runs)) of 300 runs"
        has "verified under sequential consistency: all 2 classes"
    done
    # A file of before says nothing of it: its runs are those of then.
    "$pct" campaign -q -s 1 -n 40 --explore=0 --epoch 1 --db old.db -- "$fixed"
    run "$pct" campaign -s 1 -n 60 --epoch 1 --db old.db -- "$fixed"
    has "60 of 60 runs"
    lacks "verified"
}

@test "few classes of schedules, but not by all memory: the runs are made, and then the verdict has its if" {
    unset PCT_STRATEGY
    cat > heap.c << 'END'
#include <pthread.h>
#include <stdlib.h>
static void *add(void *sum)
{
    ++*(int *)sum;
    return NULL;
}
int main(void)
{
    int *sum = calloc(1, sizeof *sum);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, add, sum);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    free(sum);
    return 0;
}
END
    gcc -O1 -pthread -o heap heap.c
    for level in off atomics globals; do
        run "$pct" run -s 1 -n 40 --state none --memory=$level -- ./heap
        has "pct: 40 runs in"
        has "memory by calls alone"
    done
    run "$pct" run -s 1 -n 40 --state none --memory=all -- ./heap
    has "pct: 16 runs in"
}

@test "no verdict where other runs may show more: the campaign goes on, with the same runs" {
    unset PCT_STRATEGY
    # Blocks of the heap that get addresses of earlier ones: not in an exploration.
    cat > reused.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *volatile head;
static void *compare(void *unused)
{
    pthread_mutex_lock(&m);
    void *seen = head;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    int same = seen == head;
    pthread_mutex_unlock(&m);
    return same ? unused : NULL;
}
static void *replace(void *unused)
{
    pthread_mutex_lock(&m);
    free(head);
    head = malloc(24);
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void)
{
    pthread_t one, other;
    head = malloc(24);
    pthread_create(&one, NULL, compare, NULL);
    pthread_create(&other, NULL, replace, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
EOF
    "$cc" -g -pthread -o reused reused.c
    run "$pct" campaign -s 1 -n 100 --epoch 1 --db on.db -- ./reused
    is "$status" 0
    has "100 of 100 runs"
    has "all 3 classes of schedules pass"
    has "and nothing depends on whether a block of memory gets the address of an earlier one"
    has "would have been missed"
    "$pct" campaign -q -s 1 -n 100 --explore=0 --epoch 1 --db off.db -- ./reused
    rows on.db > on
    rows off.db > off
    cmp on off
}

@test "a clean campaign says what it is worth" {
    run "$pct" campaign -n 50 -s 1 -d 1 -k 9 -- ./target race 0
    is "$status" 0
    has "no failure"
    has "n = 2 threads, k = 9 points, 50 runs: a bug of depth 1 would have been missed with probability at most"
    run "$pct" campaign report
    is "$status" 0
    has "50 runs: a bug of depth 1 would have been missed"
}

@test "--confidence: as many runs as it takes, and more of them when the same file is asked for more" {
    # 1 - (1 - 1/(n k))^41 > 0.9 with n = 2 and k = 9, and not with 40 runs.
    run "$pct" campaign --confidence 0.9 -s 1 -d 2 -- ./target race 0
    is "$status" 0
    has "confidence 0.9 for bugs of depth 2 takes 41 runs (n = 2, k = 9)"
    has "pct,depth=2,k=9,"
    has ", seeds 1 to 41,"
    has "41 of 41 runs"
    run "$pct" campaign --confidence 0.99 -d 2 -- ./target race 0
    is "$status" 0
    has "takes 81 runs"
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs')" 81
    run "$pct" campaign --confidence 0.5 -d 2 -- ./target race 0
    is "$status" 0
    has "81 of 81 runs are done"
    run "$pct" campaign --confidence 0.9 -s 1 -d 2 --db finds.db -- ./target abba
    is "$status" 1
    has "deadlock at "
}

@test "--confidence that is not affordable says so, and what is" {
    run "$pct" campaign --confidence 0.9 -s 1 -d 2 -n 40 -- ./target race 0
    is "$status" 119
    has "not affordable: confidence 0.9 for bugs of depth 2 takes 41 runs (n = 2, k = 9)"
    has "affordable: 40 runs: with --depth 2 they miss a bug of depth 2 with probability at most"
    [ ! -e pct-campaign.db ]
    run "$pct" campaign --confidence 0.9 -s 1 -d 6 --budget 0.001 -- ./target race 0
    is "$status" 119
    has "not affordable: confidence 0.9 for bugs of depth 6"
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs')" 32
    run "$pct" campaign --confidence 0.9 --strategy portfolio -- ./target race 0
    is "$status" 2
    has "with --strategy pct all do"
    run "$pct" campaign --budget 5 -- ./target race 0
    is "$status" 2
    has "--budget is for --confidence"
}

@test "k is measured before the first run, and after a run that is longer there is no guarantee" {
    run "$pct" campaign -n 10 -s 1 -d 2 -- ./target race 0
    has "pct,depth=2,k=9,"
    has ", seeds 1 to 10,"
    has "k = 9 points, 10 runs"
    run "$pct" campaign --db short.db -n 10 -s 1 -d 2 -k 3 -- ./target race 0
    has "no guarantee about the bugs that these runs may have missed: a run took 9 steps, more than the k that was \
given"
}

# bats test_tags=long
@test "what a sanitizer reports is a failure, even if the program ends with status 0" {
    printf '%s\n' '#include <limits.h>' \
        'int main(int argc, char **argv) { volatile int most = INT_MAX; (void)argv;' 'most += argc;' 'return 0; }' \
        > undefined.c
    "$cc" -g -O0 -fsanitize=undefined -o undefined undefined.c
    run "$pct" campaign -n 3 -s 1 -- ./undefined
    is "$status" 1
    has "sanitizer report: "
    has "undefined.c:3:"
    has "runtime error: signed integer overflow"
    printf '%s\n' '#include <stdlib.h>' 'int main(void) { char *p = malloc(3); free(p); return p[1]; }' > address.c
    "$cc" -g -O0 -fsanitize=address -o address address.c
    run "$pct" campaign --db address.db -n 3 -s 1 -- ./address
    is "$status" 1
    has "sanitizer report: AddressSanitizer: heap-use-after-free"
    is "$(query address.db 'SELECT count(*) FROM findings')" 1
}

@test "with --expect-same and no seed, the same command goes on: it is compared with the same output" {
    cat > drawn.c <<'C'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    unsigned drawn;
    return getentropy(&drawn, sizeof drawn) || printf("%u at %ld\n", drawn, (long)time(NULL)) < 0;
}
C
    "$cc" -o drawn drawn.c
    run "$pct" campaign -n 3 --expect-same -- ./drawn
    is "$status" 1
    has "3 of 3 runs"
    run "$pct" campaign -n 5 --expect-same -- ./drawn
    is "$status" 1
    has "5 of 5 runs"
    has "4 failed"
}

@test "whoever ends pct while the oracle is asked does not wait for its end, and its end by that is no failure" {
    local oracle='[ ! -e pct-campaign.db ] || { > asked; sleep 1234; }' pid code=0
    "$pct" campaign -n 5 -s 1 --explore=0 --oracle "$oracle" -- ./target > out 2>&1 &
    pid=$!
    until [ -e asked ]; do sleep 0.05; done
    kill -TERM $pid
    wait $pid || code=$?
    is "$code" 143
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs')" 0
    run ! grep -sa "^sleep.1234" /proc/[0-9]*/cmdline
    # The terminal goes: it sends the signal to the oracle, too.
    rm asked pct-campaign.db
    python3 - "$pct" "$oracle" << 'PYTHON'
import os, pty, sys, time
pid, terminal = pty.fork()
if not pid:
    command = 'exec "$0" campaign -n 5 -s 1 --explore=0 --oracle "$1" -- ./target > out 2>&1'
    os.execv('/bin/sh', ['sh', '-c', command, sys.argv[1], sys.argv[2]])
while not os.path.exists('asked'):
    time.sleep(0.05)
os.close(terminal)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129
PYTHON
    is "$(query pct-campaign.db 'SELECT count(*) FROM runs')" 0
    is "$(query pct-campaign.db 'SELECT count(*) FROM findings')" 0
}

@test "output is compared with a file, or with the first run; an oracle decides" {
    echo "seen 0" > want
    run "$pct" campaign -n 40 -s 1 -d 1 --expect want -- ./target race tell
    is "$status" 1
    has "wrong output: line 1 is 'seen 1', expected 'seen 0'"
    is "$(query pct-campaign.db 'SELECT count(*) FROM findings')" 1
    run "$pct" campaign --db same.db -n 5 -s 1 --expect-same -- ./target output
    is "$status" 0
    run "$pct" campaign --db oracle.db -n 40 -s 1 -d 1 --oracle 'grep -qx "seen 0"' -- ./target race tell
    is "$status" 1
    has "oracle: the oracle's status is 1"
    # It may like what pct would not.
    run "$pct" campaign --db status.db -n 3 -s 1 --oracle '[ "$RUN_STATUS" = 7 ]' -- ./target exit 7
    is "$status" 0
    lacks "has failed"
    # It is asked about the runs that measure k, too.
    run "$pct" campaign --db measured.db -n 1 -s 1 --oracle '[ "$RUN_SEED" = 1 ]' -- ./target race 0
    is "$status" 1
    has "a run by which k is measured has failed (oracle): pct1:"
    has "oracle: the oracle's status is 1"
    run -127 "$pct" campaign --db nothing.db -n 3 -s 1 --oracle ./nothing -- ./target exit 7
    has "the oracle could not be run"
    run "$pct" campaign --db nowhere.db -n 3 --expect nowhere -- ./target
    is "$status" 2
    has "--expect=nowhere: No such file"
}

@test "a finding that does not replay says so, and what was not controlled" {
    # Fails on its first start after the calibration (two runs), and never again.
    printf '%s\n' '#!/bin/sh' 'echo >> count' '[ "$(wc -l < count)" != 5 ]' > flaky
    chmod +x flaky
    run "$pct" campaign -n 6 -s 1 -j 1 -k 100 -- ./flaky
    is "$status" 1
    has "0 of 10"
    has "replayed 10 times: 0 failed the same way, 10 did not fail"
    has "not controlled by pct"
}

@test "killed at many points and resumed, it is the campaign that was never killed" {
    arguments=(-n 60 -s 1 -d 2 --epoch 1700000000 -j 2 --timeout 30)
    echo 0 > pid
    "$pct" campaign "${arguments[@]}" --db whole.db -- ./target murder count pid 999999 > whole.out 2>&1 || true
    rm count
    # In the calibration (17 runs), among the first runs, while a finding is confirmed, and later.
    points=(1 9 30 50 51 70 71 90 100 110 111 112 140 150 160 185 186 205)
    kills=0
    for attempt in $(seq 40); do
        rm -f pid
        "$pct" campaign "${arguments[@]}" --db killed.db -- ./target murder count pid "${points[@]}" > out 2>&1 &
        child=$!
        echo $child > pid.new
        mv pid.new pid
        status=0
        wait $child || status=$?
        [ "$status" = 137 ] || break
        kills=$((kills + 1))
    done
    is "$status" 1
    [ "$kills" -ge 5 ]
    is "$(query killed.db 'SELECT count(*) FROM runs')" 60
    same_campaign whole.db killed.db
    [ ! -e killed.db-wal ]
}

@test "interrupted by Ctrl-C it says how to go on, and does; -n adds runs" {
    echo > go
    "$pct" campaign -n 1000000 -s 1 -k 9 --db long.db -- ./target race 0 > out 2>&1 &
    child=$!
    for _ in $(seq 600); do
        [ "$(query long.db 'SELECT count(*) FROM runs' 2>/dev/null || echo 0)" -gt 3 ] && break
        sleep 0.1
    done
    kill -INT $child
    status=0
    wait $child || status=$?
    is "$status" 130
    grep -q 'interrupted; long.db has all runs so far, and the same command resumes the campaign' out
    done_runs=$(query long.db 'SELECT count(*) FROM runs')
    [ "$done_runs" -gt 3 ]
    run "$pct" campaign -n $((done_runs + 5)) -s 1 -k 9 --db long.db -- ./target race 0
    is "$status" 0
    has "long.db: $done_runs of $((done_runs + 5)) runs are done; going on"
    has "$((done_runs + 5)) of $((done_runs + 5)) runs"
    run "$pct" campaign -n 2 -s 1 -k 9 --db long.db -- ./target race 0
    is "$status" 2
    has "-n is the number of runs in all"
    run "$pct" campaign --db long.db -- ./target race 0
    is "$status" 0
    has "--fresh begins anew"
}

@test "a full disk stops it cleanly, and it goes on when there is room" {
    LD_PRELOAD=$BATS_FILE_TMPDIR/nospace.so NOSPACE_BYTES=150000 run "$pct" campaign -n 3000 -s 1 -k 9 \
        --epoch 1700000000 -- \
        ./target race 0
    is "$status" 125
    has "there is no space left on the disk; what is in it stays; make room, and the same command resumes the campaign"
    run "$pct" campaign report
    is "$status" 0
    before=$(query pct-campaign.db 'SELECT count(*) FROM runs')
    [ "$before" -lt 3000 ]
    run "$pct" campaign -n $((before + 3)) -s 1 -k 9 --epoch 1700000000 -- ./target race 0
    is "$status" 0
    has "$((before + 3)) of $((before + 3)) runs"
}

@test "a file that is not its own, or damaged, is refused and left alone" {
    refused()
    {
        local reason=$1 sum
        sum=$(sha256sum < some.db)
        run "$pct" campaign --db some.db -n 2 -s 1 -k 9 -- ./target race 0
        is "$status" 2
        has "$reason"
        run "$pct" campaign report some.db
        is "$status" 2
        has "$reason"
        is "$(sha256sum < some.db)" "$sum"
    }
    run "$pct" campaign --db no/such/place.db -n 2 -- ./target
    is "$status" 2
    has "--db=no/such/place.db: No such file or directory: no file can be made in no/such/"
    echo "a diary" > some.db
    refused "this is not a campaign file of pct; it was left as it is"
    run "$pct" campaign --fresh --db some.db -n 2 -- ./target
    is "$status" 2
    is "$(cat some.db)" "a diary"
    rm some.db
    python3 -c 'import sqlite3; f = sqlite3.connect("some.db"); f.execute("CREATE TABLE runs(x)"); f.commit()'
    refused "this is not a campaign file of pct"
    "$pct" campaign --db good.db -n 20 -s 1 -k 9 -- ./target race 0
    python3 -c 'import sys; d = bytearray(open("good.db", "rb").read()); d[63] = 2; open("some.db", "wb").write(d)'
    refused "a newer version of pct made this campaign file"
    head -c 20000 good.db > some.db
    refused "damaged"
    python3 -c 'd = bytearray(open("good.db", "rb").read()); d[4096:8192] = b"x" * 4096; open("some.db", "wb").write(d)'
    refused "damaged"
    python3 -c 'd = bytearray(open("good.db", "rb").read()); d[4104:4106] = b"xx"; open("some.db", "wb").write(d)'
    refused "the file is damaged ("
    lacks "***" # SQLite's heading, a line of its own
    cp good.db some.db
    python3 -c 'import sqlite3; f = sqlite3.connect("some.db"); f.execute("DROP TABLE findings"); f.commit()'
    refused "damaged"
    run "$pct" campaign report nothing.db
    is "$status" 2
    has "No such file"
}

@test "a file of another campaign is not resumed: says what differs, and the way out" {
    "$pct" campaign -n 3 -s 1 -d 2 -k 9 -- ./target race 0
    differs()
    {
        run "$pct" campaign "${@:2}"
        is "$status" 2
        has "$1"
        has "--fresh"
    }
    differs "its command is" -n 3 -s 1 -d 2 -k 9 -- ./target race 1
    differs "its seed is '1', not '2'" -n 3 -s 2 -d 2 -k 9 -- ./target race 0
    differs "its strategy is 'pct,depth=2,k=9,end=drawn,slack=20ms', not 'pct,depth=3,k=9,end=drawn,slack=20ms'" -n 3 \
        -s 1 -d 3 -k 9 -- ./target race 0
    differs "what it calls a failure is" -n 3 -s 1 -d 2 -k 9 --ok-status 1 -- ./target race 0
    differs "its options are" -n 3 -s 1 -d 2 -k 9 --timeout 9 -- ./target race 0
    differs "its shard is" -n 3 -s 1 -d 2 -k 9 \
        --epoch "$(query pct-campaign.db "SELECT value FROM facts WHERE key = 'epoch'")" \
        --shard 2/3 -- ./target race 0
    cp --remove-destination "$(readlink target)" other
    ln -sf other target
    "$pct" campaign --db rebuilt.db -n 3 -s 1 -- ./target
    printf x >> other
    differs "the program was rebuilt since" --db rebuilt.db -n 3 -s 1 -- ./target
}

@test "two campaigns do not write to one file" {
    "$pct" campaign -n 3 -s 1 -k 9 -- ./target race 0
    python3 - "$pct" <<'END'
import sqlite3, subprocess, sys
file = sqlite3.connect("pct-campaign.db", isolation_level=None)
file.execute("BEGIN IMMEDIATE")
done = subprocess.run([sys.argv[1], "campaign", "-n", "4", "-s", "1", "-k", "9", "--", "./target", "race", "0"],
                      capture_output=True, text=True)
assert done.returncode == 2 and "another campaign is writing to it" in done.stderr, done
done = subprocess.run([sys.argv[1], "campaign", "--fresh", "-n", "4", "-s", "1", "-k", "9", "--", "./target", "race",
                       "0"], capture_output=True, text=True)
assert done.returncode == 2 and "another campaign is writing to it" in done.stderr, done
END
    [ ! -e pct-campaign.db.old ]
}

@test "what a killed campaign has left of a file that was removed is not taken for a part of the next one" {
    "$pct" campaign -n 100000 -s 1 -k 9 -j 1 --db orphan.db -- ./target race 0 &
    until [ -s orphan.db-wal ]; do sleep 0.1; done
    kill -KILL $!
    wait $! || true
    while grep -qsa "orphan.db" /proc/[0-9]*/cmdline; do sleep 0.05; done
    rm orphan.db
    run "$pct" campaign -n 2 -s 500 -k 9 --db orphan.db -- ./target race 0
    is "$status" 2
    has "it was removed, but orphan.db-wal, which was a part of it, is there; remove that, too"
    rm orphan.db-*
    run "$pct" campaign -n 2 -s 500 -k 9 --db orphan.db -- ./target race 0
    is "$status" 0
    has "2 of 2 runs"
}

@test "a file that is removed while the campaign writes to it is missed" {
    printf '%s\n' '#!/bin/sh' 'rm -f gone.db' > tidy
    chmod +x tidy
    run "$pct" campaign --db gone.db -n 4 -s 1 -k 9 -- ./tidy
    is "$status" 125
    has "gone.db: the file was removed or replaced while the campaign wrote to it"
}

@test "shards do the runs of the whole, and merged they are the whole" {
    arguments=(-n 50 -s 1 -d 2 --epoch 1700000000)
    "$pct" campaign "${arguments[@]}" --db whole.db -- ./target race > /dev/null 2>&1 || true
    for i in 1 2 3; do
        "$pct" campaign "${arguments[@]}" --shard $i/3 --db shard$i.db -- ./target race > /dev/null 2>&1 || true
    done
    is "$(query shard2.db "SELECT min(seed) || ' ' || max(seed) || ' ' || count(*) FROM runs")" "2 50 17"
    run "$pct" campaign merge merged.db shard3.db shard1.db shard2.db
    is "$status" 0
    same_campaign whole.db merged.db
    run "$pct" campaign report merged.db
    is "$status" 1
    has "50 of 50 runs"
    # A part of them is no campaign that could go on; the whole is.
    "$pct" campaign merge part.db shard1.db shard3.db
    run "$pct" campaign "${arguments[@]}" --db part.db -- ./target race
    is "$status" 2
    has "merged from files that do not have all runs"
    run "$pct" campaign "${arguments[@]}" -n 52 --db merged.db -- ./target race
    is "$status" 1
    has "52 of 52 runs"
    # A run that is in several files counts once, and so does the time that it took.
    run "$pct" campaign merge twice.db shard1.db merged.db shard1.db
    is "$status" 0
    is "$(query twice.db 'SELECT count(*) FROM runs')" 52
    local sessions='SELECT started, seconds, runs, jobs FROM sessions ORDER BY 1, 2, 3, 4'
    is "$(query twice.db "$sessions")" "$(query merged.db "$sessions")"
    lacks "ended differently"
    # What two files say differently of one drawn run, that began alike, was not the schedule's.
    "$pct" campaign "${arguments[@]}" --db clean.db -- ./target race 0
    cp clean.db varies.db
    sqlite3 varies.db 'UPDATE runs SET hash = 1 WHERE seed = 7'
    run "$pct" campaign merge differs.db clean.db varies.db
    is "$status" 0
    has "1 runs are in two files and ended differently there: something besides the schedule decides"
    run "$pct" campaign report differs.db
    has "no guarantee about the bugs that these runs may have missed: the first run, repeated, took other steps"
    # What one of them has found is not forgotten.
    cp whole.db passes.db
    sqlite3 passes.db 'UPDATE runs SET finding = NULL, code = 0, hash = 1 WHERE finding > 0' 'DELETE FROM frames' \
        'DELETE FROM findings'
    "$pct" campaign merge found.db passes.db whole.db
    run "$pct" campaign report found.db
    is "$status" 1
}

@test "what cannot be merged is not, and nothing is overwritten" {
    "$pct" campaign --db a.db -n 3 -s 1 -d 2 -k 9 -- ./target race 0
    "$pct" campaign --db b.db -n 3 -s 1 -d 3 -k 9 -- ./target race 0
    run "$pct" campaign --db c.db -n 3 -s 1 -d 2 -k 9 -- ./target race 1
    run "$pct" campaign merge out.db a.db b.db
    is "$status" 2
    has "different strategies"
    run "$pct" campaign merge out.db a.db c.db
    is "$status" 2
    has "different campaigns (command)"
    run "$pct" campaign merge b.db a.db
    is "$status" 2
    has "left as it is"
    run "$pct" campaign merge out.db a.db nothing.db
    is "$status" 2
    has "nothing.db: No such file"
    [ ! -e out.db ]
    for shard in 1 2; do
        "$pct" campaign --db s$shard.db -n 4 -s 1 -d 2 -k 9 --shard $shard/2 --epoch 170000000$shard -- ./target race 0
    done
    run "$pct" campaign merge out.db s1.db s2.db
    is "$status" 2
    has "s1.db and s2.db are shards with another --epoch each"
    # Other seeds of the same campaign may be put together.
    "$pct" campaign --db d.db -n 3 -s 4 -d 2 -k 9 -- ./target race 0
    run "$pct" campaign merge out.db a.db d.db
    is "$status" 0
    run "$pct" campaign report out.db
    has "seeds 1 to 6"
    has "6 of 6 runs"
}

@test "shards want a seed and an epoch, and a sensible number" {
    for wrong in 0/3 4/3 3 x/3 1/0 -1/3 1/3x; do
        run "$pct" campaign --shard=$wrong -s 1 --epoch 5 -- ./target
        is "$status" 2
        has "such as 3/64"
    done
    run "$pct" campaign --shard 1/3 -s 1 -- ./target
    is "$status" 2
    has "need the same --seed and --epoch"
}

@test "the end: no command, a command that is not there, one that is not controlled" {
    run "$pct" campaign
    is "$status" 2
    has "no command is given"
    run -127 "$pct" campaign -- ./nothing
    has "command not found"
    run "$pct" campaign -n 3 -- ./static
    is "$status" 123
    [ ! -e pct-campaign.db ]
}

@test "a report shows all of a finding when asked" {
    run "$pct" campaign -q -x -n 200 -s 1 -d 2 -- ./target abba
    is "$status" 1
    run "$pct" campaign report --all
    is "$status" 1
    has "the cycle:"
    has "lock mutex "
    has "abba begins"
    has "failed the same way"
}

# bats test_tags=long
@test "what was counted of objects stands in the file: resumed, and in shards, a campaign makes the same runs" {
    runs="SELECT group_concat(seed || ' ' || hash) FROM (SELECT * FROM runs ORDER BY seed)"
    for strategy in mixture surw-one hold; do
        run "$pct" campaign --epoch 1700000000 --db whole.db --fresh -n 40 -s 1 -S $strategy -- ./target race 0
        is "$status" 0
        [ -n "$(query whole.db "SELECT value FROM facts WHERE key = 'objects'")" ]
        run "$pct" campaign --epoch 1700000000 --db part.db --fresh -n 15 -s 1 -S $strategy -- ./target race 0
        run "$pct" campaign --epoch 1700000000 --db part.db -n 40 -s 1 -S $strategy -- ./target race 0
        is "$status" 0
        is "$(query part.db "$runs")" "$(query whole.db "$runs")"
        for shard in 1 2; do
            run "$pct" campaign --epoch 1700000000 --db $shard.db --fresh -n 40 -s 1 -S $strategy --shard $shard/2 \
                -- ./target race 0
            is "$status" 0
        done
        rm -f both.db
        run "$pct" campaign merge both.db 1.db 2.db
        is "$(query both.db "$runs")" "$(query whole.db "$runs")"
        is "$(query both.db "SELECT value FROM facts WHERE key = 'objects'")" \
            "$(query whole.db "SELECT value FROM facts WHERE key = 'objects'")"
    done
}

@test "the strategy is the mixture, unless another one is asked for" {
    unset PCT_STRATEGY
    # Of each 20 seeds from 0 on, four are those of pct; two of the eight are those of systematic runs.
    run "$pct" campaign --explore=0 -n 40 -s 0 -k 9 -- ./target race 0
    is "$status" 0
    has "mixture,depth=auto,k=9,"
    has "5 of runs 17 to 31 were all schedules with at most 2 preemptions at points where threads conflict"
    has "n = 2 threads, k = 9 points, 6 runs: a bug of depth 1 would have been missed with probability at most "
    has "6 of 40 runs are those of pct, which alone has a guarantee"
    # The file knows which runs they were.
    run "$pct" campaign report
    has "6 of 40 runs are those of pct, which alone has a guarantee"
    # A token names the strategy that was drawn.
    run "$pct" campaign --fresh -n 60 -s 1 -- ./target race
    is "$status" 1
    has "replay 'pct1:"
    lacks "pct1:mixture"
    run "$pct" campaign --fresh -n 60 -s 1 -d 2 -- ./target race
    has "replay 'pct1:pct,depth=2,"
    run "$pct" campaign --db other.db -n 4 -s 1 -k 9 -S pct,depth=1 -- ./target race 0
    has "pct,depth=1,k=9,"
    has ", seeds 1 to 4,"
}

# bats test_tags=long
@test "the systematic runs find a rare bug that chance does not, and JSON counts them" {
    unset PCT_STRATEGY
    "$cc" -g -O1 -pthread -o rare "$root/tests/cli/rare.c"
    for seed in 1 ${FULL:+1001 3001}; do
        run "$pct" campaign --fresh -q -n 600 -s $seed --report json:rare.json -- ./rare
        is "$status" 1
        has "replay 'pct1:schedule,switches=0.6.1-1.7.0,"
        python3 - "$(query pct-campaign.db "SELECT count(*) FROM runs WHERE complete & 4")" << 'PYTHON'
import json, sys
systematic = json.load(open("rare.json"))["systematic"]
assert systematic == {"most": 200, "runs": int(sys.argv[1]), "failures": 1,
                      "schedules": int(sys.argv[1]), "preemptions": 2}, systematic
PYTHON
        run "$pct" campaign --fresh -q -n 600 -s $seed -S mixture --report json:rare.json -- ./rare
        is "$status" 0
        ! grep systematic rare.json
    done
    # In shards only the first has them; together they say the same.
    for shard in 1 2; do
        run "$pct" campaign --fresh -q --db $shard.db --epoch 1700000000 -n 1200 -s 1 --shard $shard/2 -- ./rare
    done
    run "$pct" campaign merge both.db 1.db 2.db
    run "$pct" campaign report --format json both.db
    has '"most": 200,'
    has '"preemptions": 2'
}

# bats test_tags=long
@test "a cycle of locks is forced, in the same runs with any number of workers; a gate, join and trylock make none" {
    unset PCT_STRATEGY
    "$cc" -g -O1 -pthread -o cycles "$root/tests/cli/cycles.c"
    # The first run passes, and shows the cycle.
    run --separate-stderr "$pct" run -n 10 -s 3 --state none -- ./cycles cycle
    is "$status" 120
    [[ $stderr == *"pct: seed 4: deadlock"* ]]
    [[ $(replay_token) == pct1:order,before=* ]]
    run "$pct" replay "$(replay_token)" -- ./cycles cycle
    has "replayed identically"
    for jobs in 1 2; do
        run "$pct" campaign -q -n 20 -s 3 -j $jobs --epoch 1700000000 --db $jobs.db -- ./cycles cycle
    done
    runs="SELECT group_concat(seed || ' ' || hash || ' ' || complete) FROM runs"
    is "$(query 1.db "$runs")" "$(query 2.db "$runs")"
    # One cycle of the same threads at the same steps: with a meeting, and without.
    is "$(query 1.db "SELECT group_concat(seed || ':' || finding) FROM runs WHERE complete & 8")" "4:1,5:1"
    # They are no part of the rate at which chance shows it.
    drawn="SELECT count(finding) || ' of ' || count(*) FROM runs WHERE NOT complete & 12"
    run "$pct" campaign report --format github 1.db
    has "$(query 1.db "SELECT count(finding) || ' of ' || count(*) FROM runs") runs ($(query 1.db \
        "$drawn") drawn ones: "
    for correct in gate join try; do
        run "$pct" campaign -q --fresh -n 20 -s 3 --db correct.db -- ./cycles $correct
        is "$status" 0
        is "$(query correct.db "SELECT count(*) FROM runs WHERE complete & 8")" 0
    done
}

@test "a report that cannot be written: said before the first run, or by the exit status" {
    run "$pct" campaign -n 3 --report "junit:$PWD/nowhere/x.xml" -- ./target
    is "$status" 2
    has "nowhere/x.xml: No such file or directory"
    run "$pct" campaign -n 3 --db= -- ./target
    is "$status" 2
    has "--db: the name of the file is empty"
    run ! ls pct-campaign.db
    # Nothing but the report itself is there when it can be made.
    run --separate-stderr "$pct" campaign -n 3 -q --report junit:x.xml -- ./target
    is "$status" 0
    is "$(ls x.xml*)" x.xml
    run sh -c '"$1" campaign -n 3 -- ./target > /dev/full' sh "$pct"
    is "$status" 125
    has "standard output could not be written"
    for format in text junit; do
        run "$pct" campaign report --format $format -o /dev/full
        is "$status" 125
        has "No space left"
    done
}

@test "standard streams that are closed are nobody else's" {
    cat > open.c <<'C'
#include <fcntl.h>
int main(void)
{
    int open = 0;
    for (int i = 0; i < 3; i++)
        open |= (fcntl(i, F_GETFD) >= 0) << i;
    return open;
}
C
    "$cc" -o open open.c
    code=0
    "$pct" run -q -- ./open <&- >&- 2>&- || code=$?
    is "$code" 0
    code=0
    "$pct" campaign -n 3 -s 1 -- ./open <&- >&- 2>&- || code=$?
    is "$code" 1
    run "$pct" campaign report
    has "exit status 7"
    is "$(query pct-campaign.db 'PRAGMA integrity_check')" ok
}

@test "a finding has its cause, and points at it, not at who only waits" {
    run -1 "$pct" campaign -q --db cause.db -n 60 -s 1 -d 2 -- ./target abba
    run -1 "$pct" campaign report cause.db
    has "  cause: wait cycle: threads wait for each other"
    run -1 "$pct" campaign report --all cause.db
    is "$(printf '%s\n' "$output" | grep -c 'cause: wait cycle')" 1
    locks=$(grep -n -F 'pthread_mutex_lock(' "$root/tests/cli/target.c" | cut -d : -f 1)
    "$pct" campaign report --format json cause.db | python3 -c '
import json, sys
finding = json.load(sys.stdin)["findings"][0]
assert finding["cause"].startswith("cause: wait cycle: "), finding["cause"]
assert str(finding["line"]) in sys.argv[1].split(), (finding["file"], finding["line"])' "$locks"
    run "$pct" campaign report --format github cause.db
    has "%0Acause: wait cycle: "
}

@test "nothing of a campaign file reaches the terminal as it is" {
    run -1 "$pct" campaign -q --db foreign.db -n 60 -s 1 -d 2 -- ./target abba
    python3 -c '
import sqlite3
file = sqlite3.connect("foreign.db")
bad = "x\x1b]0;title\x07\x1b[2J\u202ey\n::error file=x::y\n##vso[task.x]z\u009b"
for column in ("title", "message", "token", "replay", "report", "file", "uncontrolled", "verdict"):
    file.execute("UPDATE findings SET %s = ?" % column, (bad,))
for column in ("doing", "function", "file", "module"):
    file.execute("UPDATE frames SET %s = ?" % column, (bad,))
for key in ("command", "spec"):
    file.execute("UPDATE facts SET value = value || ? WHERE key = ?", (bad, key))
file.commit()'
    for arguments in '' --all '--format github' '--format gitlab' '--format junit' '--format sarif' '--format html' \
        '--format json' '--format lines'; do
        # shellcheck disable=SC2086 # words
        run "$pct" campaign report $arguments foreign.db
        lacks $'\033'
        lacks $'\a'
        lacks $'\u202e'
        lacks $'\u009b'
        [[ $arguments == *github ]] || lacks '##vso[' # the logs of others obey that anywhere on a line
    done
    run "$pct" campaign report --all foreign.db
    run ! grep '^ *::' <<< "$output"
    run "$pct" campaign report foreign.db
    has "x?]0;title??[2J"
}
