#!/usr/bin/env bats
# The fork server: a forked run is the run that exec would have made; where it is not, or would be slower, runs start by
# exec.
load common

setup_file()
{
    compile_targets
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/early" "$root/tests/cli/early.c"
}

setup()
{
    enter
    ln -sf "$BATS_FILE_TMPDIR/early" .
}

fixed=(--state none --epoch 1700000000)

# What the runs of this campaign have seen, one line a run, into file $1; the reason for exec, if there is one, to
# standard output.
record()
{
    local to=$1
    shift
    rm -f line
    "$pct" run "${fixed[@]}" -g -s 1 -k 40 --ok-status 1 "$@" > said 2>&1 || { cat said && return 1; }
    sort -u line > "$to"
    sed -n 's/.*started by exec: //p' said
}

@test "a forked run is the one by exec: schedule, addresses, environment, time, random numbers, descriptors" {
    # In a constructor: threads, the clock, random numbers, a lock, a variable; or nothing.
    for what in none thread clock random lock variable; do
        is "$(record forked -n 12 -- ./early $what line)" ""
        is "$(record started -n 12 --exec -- ./early $what line)" ""
        is "$(wc -l < started)" 12
        cmp forked started
    done
}

@test "forked runs with points at more accesses than their server are those by exec" {
    cat > own.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static int lock, shared[8];
static long seen[2];
static void release(void) { __atomic_store_n(&lock, 0, 5); syscall(SYS_futex, &lock, 1, 1); }
/* Instructions of two bytes: where a jump fits over one depends on the next ones, and on which memory is free. */
#define SHORT(n)                                                                                                 \
    __asm__ volatile("xchg %0, (%1)\n\tmov (%1), %0\n\tmov %0, (%1)\n\txchg %0, (%1)"                          \
                     : "+&r"(got) : "r"(p + (n) % 8) : "memory");                                                \
    sum = sum * 31 + got;                                                                                        \
    got += me;
#define SHORTS(n) SHORT(n) SHORT(n + 1) SHORT(n + 2) SHORT(n + 3)
static void *work(void *me_)
{
    long me = (long)me_, sum = 0;
    int *p = shared, got = (int)me + 1;
    SHORTS(0) SHORTS(4) SHORTS(1) SHORTS(5) SHORTS(2) SHORTS(3)
    seen[me] = sum;
    return 0;
}
int main(void)
{
    pthread_t t[2];
    char text[64];
    for (long i = 0; i < 2; i++) pthread_create(t + i, 0, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    release();
    int file = open("line", O_WRONLY | O_APPEND | O_CREAT, 0600);
    int length = snprintf(text, sizeof text, "%lx %lx\n", seen[0], seen[1]);
    return write(file, text, length) != length;
}
C
    "$cc" -O1 -g -pthread -o own own.c
    is "$(record forked -n 260 -- ./own)" ""
    grep -q 'from now on, one run in 4 has scheduling points at memory accesses' said
    is "$(record started -n 260 --exec -- ./own)" ""
    cmp forked started
}

@test "each failing run of the programs with known bugs has the same token, and it replays" {
    for program in "$build"/bugs/*; do
        case $program in *-fixed | *.d) continue ;; esac
        for mode in -q --exec; do
            "$pct" run --brief "${fixed[@]}" -g -n 12 -s 1 -S random-walk $mode \
                --save "saved$mode" -- "$program" > said 2>&1 ||
                true
            for trace in "saved$mode"/*; do
                [ ! -e "$trace" ] || head -c 8192 "$trace" | tr '\0' '\n' | grep -ao '^pct1:.*'
            done > "tokens$mode"
            rm -rf "saved$mode"
        done
        cmp tokens-q tokens--exec
        cat tokens-q >> tokens
    done
    [ "$(grep -c '^pct1:' tokens)" -gt 30 ]
    run --separate-stderr "$pct" run "${fixed[@]}" -n 500 -s 1 -d 2 -- ./target abba
    is "$status" 120
    run "$pct" replay -n 3 "$(replay_token)" -- ./target abba
    has "replayed identically 3 times of 3"
}

@test "where copies would differ, runs start by exec, and it is said why" {
    is "$(record runs -n 3 -- ./early open line)" \
        "the target opens or closes descriptors before main, which all runs would share"
    is "$(record runs -n 3 -- ./early shared line)" "the target shares memory before main"
    is "$(record runs -n 3 -- ./early unseen line)" "the target starts threads before main that pct does not see"
    is "$(record runs -n 3 -- ./early close line)" "the target ends before main"
    is "$(record runs -n 3 -- ./early write line)" "the target writes before main"
    is "$(record runs -n 3 -- ./early pid line)" "the first run went another way when it was forked"
    is "$(record runs -n 3 --aslr -- ./early none line)" "forked runs would all have the same addresses (--aslr)"
    run "$pct" run -g -n 3 -S none --ok-status 1 -- ./early none line
    has "started by exec: strategy none leaves the runs to the operating system"
    is "$(record runs -n 3 --exec -- ./early open line)" ""
}

@test "pct check says why the neighbours of a schedule were not forked" {
    run --separate-stderr "$pct" run "${fixed[@]}" -n 500 -s 1 -d 2 -- ./target abba
    "$pct" add "$(replay_token)" -- ./target abba
    sed -i 's/target abba/early open line/' pct.schedules
    printf 'Options: --ok-status 1\n' >> pct.schedules
    run "$pct" check
    is "$status" 0
    has "pct.schedules:3: each run was started by exec: the target opens or closes descriptors before main"
    run "$pct" check -q
    is "$output" ""
}

@test "a run that waits in a server has its own time: it does not pay for one that hangs before it" {
    cat > hangs.c <<'C'
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}
/* The 30th and all later processes hang. */
int main(void)
{
    pthread_t thread;
    struct stat status;
    int file = open("runs", O_WRONLY | O_APPEND | O_CREAT, 0600);
    assert(write(file, ".", 1) == 1 && !fstat(file, &status));
    pthread_create(&thread, NULL, lock, NULL);
    pthread_join(thread, NULL);
    while (status.st_size >= 30)
        ;
    return 0;
}
C
    "$cc" -g -pthread -o hangs hangs.c
    run "$pct" run "${fixed[@]}" -g -j 2 --explore=0 -n 34 -s 1 --timeout 0.4 -- ./hangs
    is "$status" 124
    has "pct: 34 runs in"
    lacks "not controlled"
}

@test "a server that is killed is replaced, and then done without: no run is lost" {
    is "$(record runs --memory=off -n 20 -- ./early kill line)" "its fork server has ended, or does not answer"
    is "$(wc -l < runs)" 20
    grep -q '^pct: 20 runs in .* no failure' said
}

@test "the time that a fork server takes to start is no time of the run that begins meanwhile" {
    cat > slow.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
static int count;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long call(long number, long a, long b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}
static void add(void) { count++; }
/* Before any constructor, when the program is relocated: a fork server, which has a socket under 192, takes longer than
 * a run may, but for the first one. */
static void (*resolve(void))(void)
{
    static const char first[] = "first";
    struct timespec time = { 4, 0 };
    if (call(SYS_fcntl, 192, F_GETFD, 0) >= 0 && call(SYS_open, (long)first, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0)
        call(SYS_nanosleep, (long)&time, 0, 0);
    return add;
}
static void count_one(void) __attribute__((ifunc("resolve")));
static void *work(void *unused)
{
    pthread_mutex_lock(&m);
    count_one();
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    return pthread_join(thread, 0);
}
C
    "$cc" -g -O1 -pthread -Wl,-z,now -o slow slow.c
    rm -f first
    run "$pct" run "${fixed[@]}" -g -j 2 --explore=0 -n 40 -s 1 --timeout 3 -- ./slow
    is "$status" 0
    has "pct: 40 runs in"
    has "the target does not come to its main in time"
}

@test "interrupted while it is tried whether runs can be forked, nothing is said against that" {
    "$pct" run --state none -n 5 -s 1 \
        -- sh -c 'if [ -e ran ]; then : > again; exec ./target hang; fi; : > ran' 2> said &
    pid=$!
    until [ -e again ]; do sleep 0.05; done
    kill -INT $pid
    status=0
    wait $pid || status=$?
    is "$status" 130
    grep -q interrupted said
    run ! grep "started by exec" said
}

@test "children of a forked run have its token" {
    record runs -n 4 -- ./early child line
    [ "$(grep -c 'child=0' runs)" -ge 4 ]
    ! grep -q 'child=[1-9]' runs
}

@test "forked runs read the same file, each from its start, and what they write is shown if they fail" {
    printf 'one\ntwo\n' > file
    run bash -c '"$0" run -n 30 -- grep -q two < file' "$pct"
    is "$status" 0
    run --separate-stderr bash -c '"$0" run -g -n 30 -- grep . < file' "$pct"
    is "$status" 0
    is "$output" ""
    run --separate-stderr bash -c '"$0" run -n 30 -- sh -c "cat; exit 4" < file' "$pct"
    is "$status" 4
    is "$output" $'one\ntwo'
}

@test "no server is left behind" {
    run "$pct" run "${fixed[@]}" --explore=0 -n 40 -j 2 -s 1 -- ./early none line
    is "$status" "$(($(grep -c 'first=2' line) > 0))"
    ! grep -qsa "early.none" /proc/[0-9]*/cmdline
}
