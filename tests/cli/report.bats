#!/usr/bin/env bats
# `pct report`, and traces that are damaged, foreign or newer: said so, and left as they are.
load common

setup_file()
{
    compile_targets
    cd "$BATS_FILE_TMPDIR" || return
    "$pct" run -n 500 -s 1 -d 2 -t deadlock.trace -- ./target abba > /dev/null 2>&1 || [ $? = 120 ]
}

setup()
{
    enter
    cp "$BATS_FILE_TMPDIR/deadlock.trace" .
}

# patch OFFSET BYTES: overwrite in deadlock.trace; bytes as printf takes them.
patch()
{
    # shellcheck disable=SC2059 # the bytes are escapes
    printf "$2" | dd of=deadlock.trace bs=1 seek="$1" conv=notrunc status=none
}

# refused TEXT: report and replay refuse deadlock.trace, run does not overwrite it, and it stays as it is.
refused()
{
    cp deadlock.trace before
    run "$pct" report deadlock.trace
    is "$status" 2
    has "deadlock.trace: "
    has "$1"
    run "$pct" replay deadlock.trace -- touch started
    is "$status" 2
    has "$1"
    run "$pct" run -t deadlock.trace -- touch started
    is "$status" 2
    has "would be overwritten"
    [ ! -e started ]
    cmp before deadlock.trace
}

@test "the report of a trace: verdict, cycle, stacks, steps" {
    run "$pct" report deadlock.trace
    is "$status" 0
    has "command: ./target abba"
    has "token: pct1:pct,depth=2,"
    has "deadlock: no thread can go on"
    has "the cycle:"
    has "take_both  at "
    has "      step  thread 0"
    run sh -c "$(printf '%s\n' "$output" | tail -n 1)"
    is "$status" 120
    has "replayed identically"
}

@test "the schedule: all steps, or the last of them" {
    run "$pct" report --events deadlock.trace
    is "$status" 0
    has "create thread 1"
    has "switch ("
    all=$(printf '%s\n' "$output" | grep -c '^ *[0-9][0-9]*  ')
    [ "$all" -gt 4 ]
    run "$pct" report --events --last 3 deadlock.trace
    is "$(printf '%s\n' "$output" | grep -c '^ *[0-9][0-9]*  ')" 3
    has "$all  "
}

@test "the last lines of a report: a step that is repeated is one of them" {
    run "$pct" run -q -t written -- sh -c \
        'cd /; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do echo; done'
    run -0 "$pct" report written
    has "all 24 steps:"
    has "write fd 1, 23 times"
    run -0 "$pct" report --last 1 written
    has "the last 1 of 24 steps:"
}

@test "on a terminal that is too narrow for a column for each thread, each line says whose it is" {
    command -v script > /dev/null || skip "no script(1)"
    run script -qec "stty cols 120; $pct report deadlock.trace" /dev/null
    has "step  thread 0"
    run script -qec "stty cols 40; $pct report deadlock.trace" /dev/null
    lacks "step  thread 0"
    has "  thread 1      lock mutex 1"
}

@test "on a narrow terminal, reports break between words: no line is longer but for one word" {
    command -v script > /dev/null || skip "no script(1)"
    run script -qec "stty cols 40; NO_COLOR=1 $pct report deadlock.trace" /dev/null
    has "deadlock: "
    has "switch"
    long=$(printf '%s\n' "$output" | tr -d '\r' | grep -v ' replay \|^token: ' | grep '[^ ] *  *[^ ]' |
        grep -c '^.\{41,\}$') || true
    is "$long" 0
}

@test "on a narrow terminal, messages and causes break between words" {
    command -v script > /dev/null || skip "no script(1)"
    run script -qec "stty cols 40; $pct explore -q -- $build/bugs/fig1c-deadlock" /dev/null
    has "  cause, exact: each class that fails so"
    has "    (1) has all of these orderings, and"
    has "pct: found: 1 of all 3 classes of"
    has "     schedules fails "
    # A line of progress that is longer than the terminal's would not be cleared by the next one.
    TERM=xterm run script -qec "stty cols 30; $pct run --state none -n 300 -s 1 -- ./target" /dev/null
    has " of 300 runs, "
    long=$(tr '\r' '\n' <<< "$output" | sed 's/\x1b\[K.*//' | grep ' of 300 runs, ' | grep -c '^.\{31,\}$') || true
    is "$long" 0
    TERM=xterm run script -qec "stty cols 20; $pct explore --budget 5 -- ./target abba" /dev/null
    long=$(tr '\r' '\n' <<< "$output" | sed 's/\x1b\[K.*//' | grep '^pct: .* classes, ' | grep -c '^.\{21,\}$') || true
    is "$long" 0
}

@test "on a narrow terminal, no screen has a line that is longer but for one word" {
    command -v script > /dev/null || skip "no script(1)"
    "$pct" campaign -q -n 20 -s 1 --db it.db -- "$build/bugs/fig1c-deadlock" > campaign.txt || true
    printf 'Schedule: %s\nCommand: ./target abba\n' "$("$pct" trace deadlock.trace | sed -n 's/^token: //p')" \
        > pct.schedules
    for screen in "sites ./target" strategies "doctor --system" "trace --last 3 deadlock.trace" check \
        "explain deadlock.trace -- ./target abba" "explain --search deadlock.trace -- ./target abba" \
        "campaign report it.db"; do
        run script -qec "stty cols 40; NO_COLOR=1 $pct $screen" /dev/null
        echo "$screen: $output"
        [[ $screen =~ ^(sites|strategies|doctor) ]] || has "deadlock"
        long=$(printf '%s\n' "$output" | sed 's/.*\x1b\[K//; s/\r//' | grep -v ' replay \| explain \|^token: ' |
            grep '[^ ] *  *[^ ]' | grep -c '^.\{41,\}$') || true
        is "$long" 0
    done
    has "#1: "
    has " runs, rate: "
    has "of 10;"
    run script -qec "stty cols 120; NO_COLOR=1 $pct campaign report it.db" /dev/null
    has "rate (95 % interval)"
}

@test "the operations of a trace, by identifier" {
    run "$pct" report --ops deadlock.trace
    is "$status" 0
    is "$(printf '%s\n' "$output" | grep -x MUTEX_LOCK)" MUTEX_LOCK
    is "$(printf '%s\n' "$output" | grep -x THREAD_CREATE)" THREAD_CREATE
}

@test "a file that is not a trace" {
    echo 'something else' > deadlock.trace
    refused "not a pct trace"
    head -c 20000 /dev/urandom > deadlock.trace
    refused "not a pct trace"
}

@test "a trace of a newer version" {
    patch 8 '\x03'
    refused "written by a newer pct: version 3; this one reads up to 2"
}

@test "a truncated trace" {
    cp deadlock.trace whole
    for size in 100 8191 8200 20000; do
        head -c $size whole > deadlock.trace
        refused truncated
    done
}

@test "a damaged step" {
    patch 8200 '\x7f'
    refused "damaged"
}

@test "a trace in which nothing was recorded" {
    head -c 8192 /dev/zero > deadlock.trace
    refused "empty"
}

@test "a directory, a pipe and a missing file are no traces" {
    mkdir directory
    run "$pct" report directory
    is "$status" 2
    mkfifo pipe
    run timeout 5 "$pct" report pipe
    is "$status" 2
    has "not a regular file"
    run "$pct" report missing
    is "$status" 2
    has "No such file"
}

@test "an older trace is replaced, with the new one whole" {
    cp deadlock.trace old
    run "$pct" run -s 1 -t deadlock.trace -- ./target
    is "$status" 0
    if cmp -s old deadlock.trace; then false; fi
    run "$pct" report deadlock.trace
    has "exit status 0"
    is "$(find . -name 'deadlock.trace?*')" ""
}

@test "what a command of the same process id has left, as in another container, keeps no trace from being saved" {
    # As SIGKILL leaves it; the shell becomes the command.
    (: > "again.trace.$BASHPID.tmp"; exec "$pct" run -s 1 -t again.trace -- ./target)
    run "$pct" report again.trace
    has "exit status 0"
}

@test "a trace is compact" {
    run "$pct" run -s 1 -t small.trace -- ./target
    [ "$(stat -c %s small.trace)" -lt 20000 ]
}

@test "locks on the stack of main() have names, but where two have the same place" {
    cat > local.c <<'END'
#include <pthread.h>
struct box { int n; pthread_mutex_t lock; };
static void *take(void *p)
{
    pthread_mutex_t **locks = p;
    pthread_mutex_lock(locks[0]);
    pthread_mutex_lock(locks[1]);
    pthread_mutex_unlock(locks[1]);
    pthread_mutex_unlock(locks[0]);
    return 0;
}
static void both(pthread_mutex_t **one, pthread_mutex_t **two)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, take, one);
    pthread_create(&threads[1], 0, take, two);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
#define SET { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER }
int main(void)
{
#ifdef BLOCKS
    { pthread_mutex_t a[2] = SET; both((pthread_mutex_t *[]){ &a[0], &a[1] }, (pthread_mutex_t *[]){ &a[0], &a[1] }); }
    { pthread_mutex_t b[2] = SET; both((pthread_mutex_t *[]){ &b[0], &b[1] }, (pthread_mutex_t *[]){ &b[1], &b[0] }); }
#else
    struct box boxes[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER }, { .lock = PTHREAD_MUTEX_INITIALIZER } };
    pthread_mutex_t *one = &boxes[0].lock, *two = &boxes[1].lock;
    both((pthread_mutex_t *[]){ one, two }, (pthread_mutex_t *[]){ two, one });
#endif
}
END
    "$cc" -g -O0 -o local local.c -pthread
    run "$pct" run -n 100 -s 1 --state none -- ./local
    has 'thread 1 waits for mutex 2 `boxes[1].lock in main()` (lock), held by thread 2'
    has 'objects: mutex 1 `boxes[0].lock in main()`; mutex 2 `boxes[1].lock in main()`'
    # clang lets blocks share a place only where it optimises.
    "$cc" -g -O1 -DBLOCKS -o local local.c -pthread
    run "$pct" run -n 100 -s 1 --state none -- ./local
    has 'deadlock'
    [[ $output != *'in main()`'* ]]
}

@test "threads have the names that the program gave them, all the same name if it gave none" {
    cat > named.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t never, there;
static const char *way;

static void *wait_for_ever(void *unused)
{
    if (!strcmp(way, "prctl"))
        prctl(PR_SET_NAME, "worker");
    else if (!strcmp(way, "syscall"))
        syscall(SYS_prctl, PR_SET_NAME, "worker");
    sem_post(&there);
    sem_wait(&never);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    way = argc > 1 ? argv[1] : "";
    sem_init(&there, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    if (!strcmp(way, "pthread"))
        pthread_setname_np(thread, "worker");
    sem_wait(&there);
    abort();
}
END
    "$cc" -o named named.c -pthread
    for way in pthread prctl syscall; do
        run "$pct" run -s 1 -- ./named $way
        is "$status" 134
        has 'thread 0 "named"'
        has 'thread 1 "worker"'
    done
    run "$pct" run -s 1 -- ./named
    is "$status" 134
    has 'thread 0 "named"'
    has 'thread 1 "named"'
}

@test "control characters of a trace do not reach the terminal" {
    ln -s target $'bad\033[31mname'
    "$pct" run -q -s 1 -t escape.trace -- $'./bad\033[31mname'
    run "$pct" report escape.trace
    is "$status" 0
    lacks $'\033'
}
