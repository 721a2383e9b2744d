#!/usr/bin/env bats
# `pct explore --db`: an exploration is kept in a file, goes on after whatever ended it, and is the same with any number
# of workers.
load common

setup_file()
{
    compile_targets
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/explored" "$root/tests/cli/explore.c"
}

setup()
{
    enter
    explored=$BATS_FILE_TMPDIR/explored
    starved=$build/bugs/rw-starvation # 851 classes, 93 of which fail
    small=$build/bugs/fig2-pbzip2     # 60 classes, 40 of which fail
}

last()
{
    printf '%s\n' "$output" | tail -n 1
}

# Without how long it took: "117 ms", "2 min 39 s".
untimed()
{
    sed 's/, [0-9][^,()]*)/)/'
}

# What is in a file: the runs in the order of the search, and what was found.
contents()
{
    for rows in 'number, plan, flags, threads, doubts, assumes, failure, hex(log) FROM explored ORDER BY number' \
        'seed, code, finding, steps, hash FROM runs ORDER BY seed' 'signature, title, token FROM findings ORDER BY id' \
        'kind, count FROM uncontrolled ORDER BY kind'; do
        query "$1" "SELECT $rows"
    done
}

# survives PROGRAM RUNS FAILING LAST OPTION...: killed at random moments, with one worker and two, it ends as one that
# was not.
survives()
{
    local program=$1 runs=$2 failing=$3 said=$4
    shift 4
    run "$pct" explore -q --epoch 1 --db whole.db "$@" -- "$program"
    [ "$status" -eq 1 ]
    is "$(query whole.db 'SELECT count(*), count(finding) FROM runs')" "$runs|$failing"
    for ((i = 0; i < ${KILLS:-10}; i++)); do
        "$pct" explore -q --epoch 1 -j $((i % 2 + 1)) --db killed.db "$@" -- "$program" &> /dev/null &
        sleep "0.$((RANDOM % most))$((RANDOM % 10))"
        kill -KILL $! 2> /dev/null || true
        wait $! 2> /dev/null || true
    done
    run "$pct" explore -q --epoch 1 --db killed.db "$@" -- "$program"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: $said ($runs runs,"* ]]
    diff <(contents whole.db) <(contents killed.db)
}

# By make check-explore-kills, a program with more classes, so that each kill comes in between.
@test "an exploration that goes on is the same as one that was not interrupted, whenever it was killed" {
    if [ -n "${KILLS:-}" ] || [ "${FULL:-}" = 1 ]; then
        most=6 survives "$starved" 851 93 '93 of all 851 classes of schedules fail'
    else
        most=2 survives "$small" 60 40 '40 of all 60 classes of schedules fail'
    fi
}

@test "with a bound, too, it goes on as if nothing had happened, whenever it was killed" {
    if [ -n "${KILLS:-}" ] || [ "${FULL:-}" = 1 ]; then
        most=6 survives "$starved" 432 24 '20 of all 96 classes of schedules with at most 2 preemptions fail' --bound=2
    else
        most=3 survives "$starved" 86 3 '3 of all 17 classes of schedules with at most 1 preemption fail' --bound=1
    fi
}

@test "a file of few runs at a time ends as one" {
    for runs in 10 25 26 50; do
        run "$pct" explore -q --epoch 1 -n $runs --db parts.db -- "$small"
        echo "$output"
        [[ $(last) == *"the runs that -n allows are made"* && $(last) == *" $runs runs, "* ||
            $(last) == *"($runs runs, "* ]]
    done
    run "$pct" explore -q --epoch 1 --resume --db parts.db -- "$small"
    [[ $(last) == "pct: found: 40 of all 60 classes of schedules fail (60 runs,"* ]]
    run "$pct" explore -q --epoch 1 --db whole.db -- "$small"
    diff <(contents whole.db) <(contents parts.db)
    # What is over needs no runs but those that show that the program is still the same.
    run "$pct" explore -q --epoch 1 --db parts.db -- "$small"
    [[ $(last) == "pct: found: 40 of all 60 classes of schedules fail (60 runs,"* ]]
}

# bats test_tags=long
@test "with a bound, too, and with several workers: the same runs, the same verdict" {
    local most=$((${FULL:-0} ? 300 : 60))
    for program in lost-wakeup double-checked-fixed \
        ${FULL:+philosophers philosophers-fixed fig1c-deadlock producer-consumer-fixed bounded-buffer}; do
        for bound in "" --bound=1; do
            rm -f ./*.db
            run "$pct" explore -q --epoch 1 -n $most $bound --db one.db -- "$build/bugs/$program"
            one=$status said=$(last)
            run "$pct" explore -q --epoch 1 -n $most $bound -j 3 --db several.db -- "$build/bugs/$program"
            echo "$program $bound: $output"
            is "$status" "$one"
            is "$(last | untimed)" "$(untimed <<< "$said")"
            diff <(contents one.db) <(contents several.db)
        done
    done
}

@test "shards that are merged are the whole, each class once; without one of them, or its end, nothing is verified" {
    cp "$build/bugs/philosophers-fixed" program
    for shard in 1/2 2/2; do
        run "$pct" explore -q --epoch 1 --shard $shard --db ${shard%/2}.db -- ./program
        echo "$output"
        [ "$status" -eq 0 ]
        [[ $(last) == "pct: shard ${shard%/2} of 2 is complete at calls: its "* ]]
        lacks verified
    done
    run "$pct" campaign merge whole.db 1.db 2.db
    [ "$status" -eq 0 ]
    [[ $output == "pct: verified at calls: all 6 classes of schedules pass, if threads share memory"* ]]
    run "$pct" campaign report whole.db
    [ "$status" -eq 0 ]
    has 'verified at calls: all 6 classes'
    run "$pct" explore --epoch 1 --db whole.db -- ./program
    [ "$status" -eq 2 ]
    has 'each of which goes on in its own file'

    run "$pct" campaign merge missing.db 2.db
    [ "$status" -eq 119 ]
    has 'not verified, because of: shard 1 of 2 is missing'
    run "$pct" campaign merge twice.db 2.db 2.db
    [ "$status" -eq 2 ]
    has 'shard 2 is there already'
    run "$pct" campaign merge again.db whole.db 2.db
    [ "$status" -eq 2 ]
    has 'whole.db: it is no shard of an exploration'

    # An earlier version did not say at which accesses: the last number was whether there were any.
    cp 1.db old.db
    for table in $(query old.db "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%fact%'"); do
        sqlite3 old.db "UPDATE $table SET value = replace(value, ' memory=', ' ') WHERE key = 'whole'"
    done
    run "$pct" campaign merge new.db old.db 2.db
    echo "$output"
    [ "$status" -eq 2 ]
    has 'old.db: it is damaged, or another version of pct made it; explore its shard anew'

    # A shard that goes on later is the same, with any number of workers; before its end, nothing is known.
    run "$pct" explore -q --epoch 1 -n 20 --shard 1/2 --db begun.db -- ./program
    [ "$status" -eq 119 ]
    run "$pct" campaign merge half.db begun.db 2.db
    [ "$status" -eq 119 ]
    has 'not verified, because of: shard 1 of 2 was not explored to its end'
    run "$pct" explore -q --epoch 1 -j 2 --resume --shard 1/2 --db begun.db -- ./program
    [ "$status" -eq 0 ]
    diff <(contents 1.db) <(contents begun.db)
    run "$pct" explore -q --epoch 1 --resume --shard 2/2 --db begun.db -- ./program
    [ "$status" -eq 2 ]
    has "its shard is '1', not '2'"
}

@test "what the shards found is found, in as many classes; they are of one program, divided alike" {
    cp "$build/bugs/producer-consumer" program
    for shard in 1 2 3; do
        run "$pct" explore -q --epoch 1 --shard $shard/3 --db $shard.db -- ./program
        echo "$output"
        [ "$status" -le 1 ]
    done
    run "$pct" campaign merge whole.db 1.db 2.db 3.db
    [ "$status" -eq 1 ]
    has 'found: 2 of all 13 classes of schedules fail'
    run "$pct" explore -q --epoch 1 --db alone.db -- ./program
    is "$(query whole.db 'SELECT signature FROM findings ORDER BY signature')" \
        "$(query alone.db 'SELECT signature FROM findings ORDER BY signature')"
    is "$(query whole.db 'SELECT count(*) FROM runs')" \
        "$(($(query 1.db 'SELECT count(*) FROM runs') + $(query 2.db 'SELECT count(*) FROM runs')
            + $(query 3.db 'SELECT count(*) FROM runs')))"
    cp "$build/bugs/philosophers" program
    run "$pct" explore -q --epoch 1 --shard 3/3 --db other.db -- ./program
    run "$pct" campaign merge mixed.db 1.db 2.db other.db
    [ "$status" -eq 2 ]
    has 'divided in another way'
    run "$pct" explore --shard 1/2 -- "$build/bugs/philosophers"
    [ "$status" -eq 2 ]
    has 'all shards need the same --seed and --epoch'
    run "$pct" explore --shard 1/2 --epoch 1 --bound 1 -- "$build/bugs/philosophers"
    [ "$status" -eq 2 ]
    has '--shard divides classes of schedules'
}

@test "findings are those of a campaign: replayed ten times, reported in each format" {
    run "$pct" explore --db found.db --report json:found.json --report junit:found.xml --report sarif:found.sarif \
        --report html:found.html \
        -- "$build/bugs/philosophers"
    echo "$output"
    [ "$status" -eq 1 ]
    is "$(query found.db 'SELECT replays, same, identical FROM findings')" '10|10|10'
    run "$pct" campaign report found.db
    has 'exploration of: '
    has 'found: 1 of all 7 classes of schedules fails (7 runs, '
    lacks 'seed'
    lacks '%'
    token=$(query found.db 'SELECT token FROM findings')
    run "$pct" replay "$token" -- "$build/bugs/philosophers"
    [ "$status" -eq 120 ]
    has 'replayed identically'
    run "$pct" explain --seconds 1000000 --search "$token" -- "$build/bugs/philosophers"
    [ "$status" -eq 0 ]
    grep -q '"format":"pct-campaign"\|"format": "pct-campaign"' found.json
    grep -q '<failure' found.xml
    grep -q 'deadlock' found.sarif
    grep -q 'deadlock' found.html
    run "$pct" explore --db clean.db --report json:clean.json -- "$build/bugs/philosophers-fixed"
    [ "$status" -eq 0 ]
    grep -q '"guarantee": *"verified at calls: all 6 classes' clean.json
    run "$pct" campaign report clean.db
    has 'verified at calls: all 6 classes'
}

@test "a file is of one program and one bound, and says so" {
    run "$pct" explore --resume -- "$starved"
    [ "$status" -eq 2 ]
    has '--resume: there is no pct-explore.db'
    cp "$build/bugs/philosophers-fixed" program
    run "$pct" explore -q --db it.db -- ./program
    [ "$status" -eq 0 ]
    run "$pct" explore -q --bound 1 --db it.db -- ./program
    [ "$status" -eq 2 ]
    has 'it.db is of an exploration with no bound, not --bound=1'
    cp "$build/bugs/philosophers" program
    run "$pct" explore -q --db it.db -- ./program
    [ "$status" -eq 2 ]
    has 'it.db: the program was rebuilt since its runs were made'
    run "$pct" explore -q --fresh --db it.db -- ./program
    [ "$status" -eq 1 ]
    [ -e it.db.old ]
    run "$pct" campaign -n 4 -q --db it.db -- ./program
    [ "$status" -eq 2 ]
    has 'it.db is of another campaign'
    run "$pct" campaign -n 4 -q --db campaign.db -- ./program
    run "$pct" explore -q --db campaign.db -- ./program
    [ "$status" -eq 2 ]
    has 'campaign.db is of another campaign'
}

@test "several inputs are several explorations in one file, each of which goes on, is reported and merged" {
    for program in philosophers-fixed philosophers producer-consumer; do
        run "$pct" explore -q --epoch 1 -n 7 --db it.db -- "$build/bugs/$program"
    done
    echo "$output"
    has ' 7 runs'
    run "$pct" explore -q --epoch 1 -n 7 --db alone.db -- "$build/bugs/producer-consumer"
    run "$pct" explore -q --epoch 1 --resume --db alone.db -- "$build/bugs/producer-consumer"
    run "$pct" explore -q --epoch 1 --resume --db it.db -- "$build/bugs/producer-consumer"
    [[ $(last) == "pct: found: 2 of all 13 classes of schedules fail (13 runs,"* ]]
    # Each has tables of its own, the same as alone.
    diff <(query it.db 'SELECT number, plan, hex(log) FROM e3_explored') \
        <(query alone.db 'SELECT number, plan, hex(log) FROM explored')
    diff <(query it.db 'SELECT token FROM e3_findings') <(query alone.db 'SELECT token FROM findings')
    run "$pct" explore -q --epoch 1 --resume --db it.db -- "$build/bugs/philosophers"
    [[ $(last) == "pct: found: 1 of all 7 classes"* ]]
    # Of a bound, there is one for each input; other options are another one.
    run "$pct" explore --bound 1 --db it.db -- "$build/bugs/philosophers"
    [ "$status" -eq 2 ]
    has 'it.db is of an exploration with no bound, not --bound=1'
    run "$pct" explore -q --resume --db it.db -- "$build/bugs/lost-wakeup"
    [ "$status" -eq 2 ]
    has '--resume: it.db has no exploration of this command'
    run "$pct" campaign --explore --db it.db -- "$build/bugs/philosophers"
    [ "$status" -eq 2 ]
    has 'it.db has 3 explorations'

    run "$pct" campaign report it.db
    [ "$status" -eq 1 ]
    [[ $output == *"exploration 1 of 3"*"verified at calls: all 6"*"exploration 2 of 3"*"found: 1 of all \
7"*"exploration 3 of 3"*"found: 2 of all 13"* ]]
    run "$pct" campaign report --exploration 1 it.db
    [ "$status" -eq 0 ]
    lacks 'of all 13'
    run "$pct" campaign report --format json it.db
    [ "$status" -eq 2 ]
    run "$pct" campaign report --format json --exploration 2 it.db
    [ "$status" -eq 1 ]
    has '"guarantee": "found: 1 of all 7'
    run "$pct" campaign report --exploration 4 it.db
    [ "$status" -eq 2 ]

    # Shards of several, and one that is whole, which still goes on.
    for shard in 1 2; do
        for program in philosophers-fixed producer-consumer-fixed; do
            run "$pct" explore -q --epoch 1 --shard $shard/2 --db $shard.db -- "$build/bugs/$program"
        done
    done
    run "$pct" explore -q -n 1 --db clean.db -- "$build/bugs/lost-wakeup-fixed"
    run "$pct" campaign merge all.db 1.db 2.db clean.db
    echo "$output"
    [ "$status" -eq 119 ]
    [[ $output == *"/philosophers-fixed: verified at calls: all 6 "*"/producer-consumer-fixed: verified at calls: all \
12 "*"/lost-wakeup-fixed: not verified, "* ]]
    run "$pct" explore -q --resume --db all.db -- "$build/bugs/lost-wakeup-fixed"
    [ "$status" -eq 0 ]
    run "$pct" explore -q --epoch 1 --resume --db all.db -- "$build/bugs/philosophers-fixed"
    [ "$status" -eq 2 ]
    has 'it can be reported, but not resumed'
}

@test "runs of a program that does something else now are not taken" {
    cat > reads.c << 'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}
int main(void)
{
    FILE *file = fopen("count", "r");
    int count = 0;
    pthread_t thread[8];
    if (!file || fscanf(file, "%d", &count) != 1)
        return 1;
    fclose(file);
    for (int i = 0; i < count; i++)
        pthread_create(&thread[i], 0, run, 0);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], 0);
    return 0;
}
END
    "$cc" -pthread -o reads reads.c
    echo 2 > count
    run "$pct" explore -q --db it.db -- ./reads
    echo "$output"
    [ "$status" -eq 0 ]
    echo 3 > count
    run "$pct" explore -q --db it.db -- ./reads
    echo "$output"
    [ "$status" -eq 2 ]
    has "the program's first run is another one now"
    run "$pct" campaign report it.db
    has 'verified at calls: '
    run "$pct" explore -q --fresh --db it.db -- ./reads
    [ "$status" -eq 0 ]
}

@test "what was verified of one library is not said of another" {
    echo 'int answer(void) { return 0; }' > answer.c
    "$cc" -shared -fPIC -o libanswer.so answer.c
    cat > asks.c << 'END'
#include <pthread.h>
int answer(void);
static void *run(void *arg)
{
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return answer();
}
END
    "$cc" -pthread -o asks asks.c -L. -lanswer '-Wl,-rpath,$ORIGIN'
    run "$pct" explore -q --db it.db -- ./asks
    [ "$status" -eq 0 ]
    run "$pct" explore -q --db it.db -- ./asks
    [ "$status" -eq 0 ]
    echo 'int answer(void) { return 4; }' > answer.c
    "$cc" -shared -fPIC -o libanswer.so answer.c
    run "$pct" explore -q --db it.db -- ./asks
    [ "$status" -eq 2 ]
    has 'a library that the program loads, its interpreter (#!), or pct, was rebuilt'
    run "$pct" explore -q --fresh --db it.db -- ./asks
    [ "$status" -eq 1 ]
    run "$pct" campaign merge both.db it.db it.db.old
    [ "$status" -eq 2 ]
    has 'it.db: it is no shard of an exploration'
}

@test "an interrupted exploration says what is known, and how it goes on" {
    "$pct" explore --db it.db -- "$starved" 2> said &
    until [ -s it.db ] && [[ $(query it.db 'SELECT count(*) FROM runs' 2> /dev/null) -gt 10 ]]; do sleep 0.05; done
    kill -INT $!
    wait $! || status=$?
    cat said
    [ "$status" -eq 130 ]
    grep -q 'it.db has all runs so far' said
    tail -n 1 said | grep -q 'interrupted'
    run "$pct" explore -q --db it.db -- "$starved"
    [[ $(last) == "pct: found: 93 of all 851 classes of schedules fail (851 runs,"* ]]
}

@test "what is a failure may be said by a file with the right output, or a command" {
    run "$pct" explore -q --oracle 'exit 3' -- "$build/bugs/philosophers-fixed"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: 6 of all 6 classes of schedules fail"* ]]
    echo unlike > want
    run "$pct" explore -q --first --expect want -- "$build/bugs/philosophers-fixed"
    [ "$status" -eq 1 ]
}

@test "pct check holds what is verified, and fails when it is not any more" {
    cp "$build/bugs/philosophers-fixed" program
    run "$pct" add -m 'no deadlock' explore -- ./program
    echo "$output"
    [ "$status" -eq 0 ]
    has 'pct.schedules now holds all its schedules (verified at calls: all 6 classes'
    run "$pct" add 'explore --bound 1' -- ./program
    [ "$status" -eq 0 ]
    run "$pct" add explore -- ./program
    has 'pct.schedules:3 has this schedule already'
    run "$pct" check -j 2
    echo "$output"
    [ "$status" -eq 0 ]
    has 'pct.schedules:3: passed: verified at calls: all 6 classes'
    has 'passed: verified up to 1 preemption'
    cp "$build/bugs/philosophers" program
    run "$pct" check --junit checked.xml
    echo "$output"
    [ "$status" -eq 1 ]
    has 'pct.schedules:3: FAILED: it is not verified any more'
    has 'note: no deadlock'
    has 'finding 1: deadlock'
    has '2 schedules, 2 runs in '
    is "$(grep -c '<failure' checked.xml)" 2
    # What has fewer scheduling points than it had is no longer what was verified.
    cp "$build/bugs-memory/lost-update-fixed" update
    run "$pct" add -f accesses explore -- ./update
    [ "$status" -eq 0 ]
    has 'verified under sequential consistency'
    has 'commit it'
    run "$pct" add -f accesses explore -- ./update
    has 'accesses:3 has this schedule already'
    run "$pct" check accesses
    [ "$status" -eq 0 ]
    "$cc" -DFIXED -O1 -g -pthread -o update "$root/bench/bugs-memory/lost-update.c"
    run "$pct" check accesses
    echo "$output"
    [ "$status" -eq 119 ]
    has 'scheduling points were at calls only, and --level=accesses wants more'
    # What is not verified is not kept.
    run "$pct" add -f other explore -- ./program
    [ "$status" -eq 2 ]
    [ ! -e other ]
    run "$pct" add -f other 'explore -n 2' -- "$build/bugs/philosophers-fixed"
    [ "$status" -eq 2 ]
    has 'it is not verified, so it is not kept'
    printf 'Schedule: explore -n 2\nCommand: %s\n' "$build/bugs/philosophers-fixed" > other
    run "$pct" check other
    [ "$status" -eq 119 ]
    printf 'Schedule: explore --nonsense\nCommand: %s\n' "$build/bugs/philosophers-fixed" > other
    run "$pct" check other
    [ "$status" -eq 2 ]
    has 'NOT CHECKED'
}

@test "each test case has a verdict of its own" {
    cat > cases.c << 'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *wrong)
{
    pthread_mutex_lock(wrong ? &b : &a);
    pthread_mutex_lock(wrong ? &a : &b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (!strcmp(what, "--gtest_list_tests")) {
        puts("Table.\n  Right\n  Wrong\n  Forks");
        return 0;
    }
    if (strstr(what, "Forks")) {
        if (!fork())
            _exit(0);
        wait(0);
    }
    pthread_create(&thread, 0, run, strstr(what, "Wrong") ? &a : 0);
    run(0);
    pthread_join(thread, 0);
    return 0;
}
END
    "$cc" -pthread -o cases cases.c
    run "$pct" explore -q --each-test=gtest --db 'it-{test}.db' -- ./cases
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"test 1 of 3: Table.Right"*"pct: verified at calls: all 2 classes"*"test 2 of 3: Table.Wrong"*"pct: \
found: "*"Table.Wrong FAILED (status 1)"* ]]
    [[ $output == *"test 3 of 3: Table.Forks"*"pct: not verified, because of: "*"child processes"*"Table.Forks \
UNDECIDED (status 119)"* ]]
    has '3 test cases: 1 failed, 1 undecided'
    [ -e it-Table.Right.db ]
    # In one file, too.
    run "$pct" explore -q --each-test=gtest --db it.db -- ./cases
    [ "$status" -eq 1 ]
    run "$pct" campaign report it.db
    [ "$status" -eq 1 ]
    [[ $output == *"exploration 1 of 3"*"verified at calls: all 2"*"exploration 2 of 3"*"found: "*"exploration 3 of \
3"*"not verified, "* ]]
    run "$pct" explore --each-test=gtest --fresh --db it.db -- ./cases
    [ "$status" -eq 2 ]
}

# bats test_tags=long
@test "a schedule of many switches has a token that replays, or its trace is kept" {
    for what in long yields uneven; do
        for first in 0 1; do
            rm -f found.db*
            run "$pct" explore --db found.db -- "$explored" $what $first
            echo "$what $first: $output"
            [ "$status" -eq 1 ]
            printed=$(printf '%s\n' "$output" | grep -o " replay .*")
            kept=$(query found.db 'SELECT replay FROM findings')
            eval "run '$pct' $printed"
            echo "$output"
            [ "$status" -eq 3 ]
            [[ $output == *"replayed identically"* ]]
            [ $what != yields ] || [[ $printed == *"schedule,switches=Z"* ]]
            eval "run '$pct' $kept"
            echo "$output"
            [ "$status" -eq 3 ]
            [[ $output == *"replayed identically"* ]]
        done
    done
    [ -s found.db.run-1.trace ]
    run "$pct" campaign report found.db
    [[ $output == *"its schedule is too long for a token"*"replay found.db.run-1.trace -- "* ]]
}

@test "run and campaign explore first, and draw no schedules where that comes to its end" {
    run "$pct" run --explore -n 50 -- "$build/bugs/philosophers-fixed"
    [ "$status" -eq 0 ]
    [[ $(last) == "pct: verified at calls: all 6 classes of schedules pass"* ]]
    run "$pct" run --explore -n 50 -- "$build/bugs/philosophers"
    [ "$status" -eq 1 ]
    [[ $(last) == "pct: found: 1 of all 7 classes of schedules fails"* ]]
    run "$pct" run --explore -n 50 --memory=globals --memory-modules=libz -- "$build/bugs/fig1c-deadlock"
    [[ $output == *"pct: found: 1 of all "* ]]
    for again in 0 1; do
        run "$pct" campaign --explore -n 50 --report json:first.json --report junit:first.xml \
            -- "$build/bugs/philosophers-fixed"
        echo "$again: $output"
        [ "$status" -eq 0 ]
        [[ $(last) == "pct: verified at calls: all 6 classes of schedules pass"* ]]
        grep -q '"guarantee": "verified at calls' first.json
        grep -q 'verified at calls' first.xml
    done
    # Whether it is worth the time is estimated.
    run "$pct" explore --estimate=50 --afford=0.0001 -- "$build/bugs/bounded-buffer-fixed"
    [ "$status" -eq 114 ]
    run "$pct" explore --estimate=50 --afford=1e7 -- "$build/bugs/bounded-buffer-fixed"
    [ "$status" -eq 0 ]
    # 200 classes do not fit: the campaign's own runs are made, and the file is its.
    run "$pct" campaign --explore=0.001 --db other.db -n 30 -s 1 -- "$build/bugs/rw-starvation-fixed"
    [ "$status" -eq 2 ]
    [[ $output == *"it takes no --seed" ]]
    run "$pct" campaign --explore=0.001 --db other.db -n 30 -- "$build/bugs/rw-starvation-fixed"
    echo "$output"
    [ "$status" -eq 0 ]
    # By the budget, or by an estimate of one run, if there was time for it.
    [[ $output == *"going on with random schedules"*"30 of 30 runs"* ]]
    is "$(query other.db 'SELECT count(*) FROM runs')" 30
    # What was found is not forgotten.
    printf '%s\n' '#!/bin/sh' 'if mkdir seen 2> /dev/null; then exit 1; fi' > once
    chmod +x once
    run "$pct" run --explore -n 2 -- ./once
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"not all was explored; going on with random schedules"*"no failure"* ]]
    for option in -Spos --races --depth=2; do
        run "$pct" campaign --explore "$option" -- "$build/bugs/philosophers"
        [ "$status" -eq 2 ]
    done
}

@test "--memory=all: no way of blocking signals keeps back the SIGTRAP of an int3" {
    "$cc" -O1 -w -no-pie -pthread -o masks "$BATS_TEST_DIRNAME/masks.c"
    for how in pthread_sigmask sigset sigsetmask sigblock sighold syscall syscall-block syscall-same \
        setcontext swapcontext uc_link handler; do
        run -0 ./masks "$how"
        run "$pct" explore --memory=all --first -- ./masks "$how"
        echo "$how: $output"
        [ "$status" -eq 1 ]
        [[ $output == *"finding 1: exit status 3 "* ]]
    done
    # But these: and then it is no failure of the program.
    for how in inline pending; do
        run -0 ./masks "$how"
        for command in 'explore --memory=all' 'run --memory=stacks' 'campaign --memory=stacks -n 2'; do
            # shellcheck disable=SC2086 # words
            run "$pct" $command -- ./masks "$how"
            echo "$how, $command: $output"
            [ "$status" -eq 125 ]
            [[ $output == *"no failure of the program: SIGTRAP was blocked"*"a signal mask that pct did not see"* ]]
            [[ $output != *"found: "* && $output != *replay* ]]
        done
    done
}
