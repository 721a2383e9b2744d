#!/usr/bin/env bats
# `pct run`: exit statuses, failures and how they are reported, many runs, parallel workers, output, being interrupted.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

@test "a run without failure has status 0 and a summary with a token" {
    run --separate-stderr "$pct" run -s 7 -S pct -- ./target
    is "$status" 0
    has "no failure"
    has "pct1:pct,depth=auto,k=347,"
}

@test "one run without failure says how to make many, unless it was this one that was asked for" {
    run "$pct" run -- ./target race tell
    has "that was one schedule of many: pct run -n 1000 tries a thousand"
    for options in '-s 7' '-n 1' '-S pct'; do
        # shellcheck disable=SC2086 # words
        run "$pct" run $options -- ./target race tell
        lacks "schedule of many"
    done
    run "$pct" run -- true
    lacks "schedule of many"
}

@test "the target's exit status passes through" {
    for code in 1 3 42 119 255; do
        run "$pct" run -- ./target exit $code
        is "$status" $code
    done
}

@test "an exit status that is named is no failure" {
    run "$pct" run --ok-status 3 --ok-status 4 -- ./target exit 3
    is "$status" 0
    run "$pct" run --ok-status 4 -- ./target exit 3
    is "$status" 3
    run "$pct" run --ok-status any -- ./target exit 3
    is "$status" 0
    for bad in some 256; do
        run "$pct" run --ok-status $bad -- ./target exit 3
        is "$status" 2
        has "it must be 0 to 255, or any"
    done
}

@test "a crash is 128 and the signal, with a stack" {
    run "$pct" run -- ./target crash
    is "$status" 139
    has "crash in thread 0: signal 11 (Segmentation fault)"
    has "main  at "
    has "target.c:"
}

@test "a process that is killed is 128 and the signal" {
    run "$pct" run -- ./target kill
    is "$status" 137
    has "killed by signal 9"
}

@test "an assertion is found, with its text, and is 134" {
    run "$pct" run -n 200 -s 1 -d 2 -- ./target race
    is "$status" 134
    has "assertion failed in thread 0"
    has "Assertion \`!seen' failed"
}

@test "a deadlock is 120: the cycle, the stacks, the last steps, the line that replays it" {
    run --separate-stderr "$pct" run -n 500 -s 1 -d 2 -- ./target abba
    is "$status" 120
    has "deadlock"
    has "the cycle:"
    has "  thread 1 waits for mutex "
    has ", held by thread 2"
    has "  thread 2 waits for mutex "
    has ", held by thread 1"
    has "#0  take_both  at "
    has "#1  forwards  at "
    has "#1  backwards  at "
    has "switch (preempted)"
    case $(replay_line) in
    "$pct replay 'pct1:pct,depth=2,k="*"' -- ./target abba") ;;
    *) is "$(replay_line)" "the command that replays it" ;;
    esac
}

@test "a lost wake-up has no cycle, and many threads are shown together" {
    run "$pct" run -s 1 -- ./target lost 30
    is "$status" 120
    has "no cycle"
    has "threads (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...), all blocked"
    has "sleeper  at "
}

@test "the command in the last line can be pasted into a shell" {
    ln -s target "it's a target"
    run --separate-stderr "$pct" run -- "./it's a target" exit 9 'a b' '*' '' '$x'
    is "$status" 9
    line=$(replay_line)
    run sh -c "$line"
    is "$status" 9
    has "replayed identically"
}

@test "one of several runs that hangs is cut without --timeout, and what fails behind it is said meanwhile" {
    "$pct" run -n 900 -s 5 -S pct -k 12 --epoch 1700000000 -- ./target thirds > said 2>&1 &
    until grep -q 'seed 12 fails' said; do sleep 0.1; done
    kill -INT $!
    wait $! || status=$?
    is "$status" 130
    run cat said
    has " s, far longer than the others (at most "
    has ": none of these failed; at most n="
    has " cut, and not made again to the end: whether "
    has " behind runs that had not ended yet "
    has "seed 12 fails (assertion); before that counts, the run before it that was cut is made again: pct1:pct,"
}

@test "a timeout is 124" {
    run "$pct" run --timeout 0.3 -- ./target hang
    is "$status" 124
    has "timeout: killed after 0.3 s"
}

@test "after a timeout, the report says what child processes did" {
    run "$pct" run --timeout 5 -- sh -c 'sh -c "kill -STOP \$\$"; :'
    is "$status" 124
    [[ $output =~ "child process "[0-9]+" (sh): "[0-9.]+" s of a CPU used, thread "[0-9]+" is stopped" ]]
    run "$pct" run --timeout 5 -- sh -c '(./target hang; :); :'
    is "$status" 124
    [[ $output =~ "child process "[0-9]+" (target): "[0-9.]+" s of a CPU used, thread "[0-9]+ ]]
    # It may have been stopped in main itself.
    [[ $output =~ "  thread "[0-9]+": "(.*" < ")?"main target.c:"[0-9]+ ]]
}

@test "after a timeout of a run that others kept from the CPU, the report says so" {
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    spin='while :; do :; done'
    for i in 1 2 3; do
        timeout 60 taskset -c "$cpu" sh -c "$spin" 3>&- &
    done
    run taskset -c "$cpu" nice "$pct" run --timeout 4 -- sh -c "$spin"
    kill $(jobs -p)
    is "$status" 124
    [[ $output =~ "the machine was busy: the run's threads, taken together, waited "[0-9.]+" s for a CPU" ]]
}

@test "after a timeout, the thread that waits for the outside on behalf of all shows where it is" {
    mkfifo nobody
    # A machine that is busy with something else may need longer until all threads wait.
    for limit in 1 4 16 64; do
        run "$pct" run --timeout $limit -- ./target listener 0<> nobody
        is "$status" 124
        [[ $output != *"waits for descriptor 0"* ]] || break
    done
    has "copy_input  at "
    has "listener  at "
}

@test "the step bound is a livelock, 121" {
    run "$pct" run --slack=0 --max-steps 10 -s 2 -S pct -- ./target abba
    is "$status" 121
    has "livelock"
    has ",max-steps=10,"
}

@test "a static program is not controlled: 123, and why" {
    run "$pct" run -- ./static exit 0
    is "$status" 123
    has "statically linked"
    has "was not controlled"
    lacks "no failure"
    run "$pct" run -n 5 -- ./static exit 0
    is "$status" 123
}

@test "a program of Go is left alone, and said to be one" {
    # Its note is what tells; a thread that waits for another by a system call of its own is what would not end.
    cat > go.c << 'EOF'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__asm__(".pushsection .note.go.buildid, \"a\", @note\n.balign 4\n.long 4, 4, 4\n.ascii \"Go\\0\\0same\"\n.popsection");
static void *work(void *word)
{
    return write(1, "worked\n", 7) == 7 ? word : NULL;
}
int main(void)
{
    pthread_t thread;
    int word;
    void *result;
    return pthread_create(&thread, NULL, work, &word) || pthread_join(thread, &result) || result != &word;
}
EOF
    "$cc" -pthread -o go go.c
    run "$pct" run -- ./go
    is "$status" 123
    has "it is a Go program"
    has "pct: ./go was not controlled"
    LD_PRELOAD=$build/libpct.so run --separate-stderr ./go
    is "$status" 0
    is "$output" worked
    is "$stderr" "pct: a program of Go: its runtime makes threads and system calls without libc, so it is not \
controlled"
    run --separate-stderr "$pct" run -q -- sh -c "./go; ./go"
    is "$status" 0
    is "$output" $'worked\nworked'
    is "$stderr" ""
}

@test "command not found is 127, not executable is 126" {
    run -127 "$pct" run -- ./nothing
    has "command not found"
    run -127 "$pct" run -- nothing-of-this-name
    has "command not found"
    echo text > file
    run "$pct" run -- ./file
    is "$status" 126
    chmod +x file
    run "$pct" run -- ./file
    is "$status" 126
    printf '#!/no/such/interpreter\n' > file
    run -127 "$pct" run -- ./file
    has "interpreter"
}

@test "options behind the command belong to the command" {
    run "$pct" run sh -c 'exit $1' -n -n
    is "$status" 2
    lacks "Usage"
    run "$pct" run -- ./target exit 0 --help
    is "$status" 0
    lacks "Usage"
}

@test "one run: input and output pass through" {
    run --separate-stderr bash -c 'printf "one\ntwo\n" | "$0" run -q -- ./target input' "$pct"
    is "$status" 0
    is "$output" $'one\ntwo'
    is "$stderr" ""
    run --separate-stderr "$pct" run -q -- ./target output
    is "$output" "to standard output"
    is "$stderr" "to standard error"
}

@test "several runs: the output of the failing run only, or of all" {
    run --separate-stderr "$pct" run -n 3 -- ./target output
    is "$status" 0
    is "$output" ""
    lacks "to standard error"
    run --separate-stderr "$pct" run -n 3 -- ./target output 5
    is "$status" 5
    has "to standard output"
    has "to standard error"
    run --separate-stderr "$pct" run -n 3 --show-output -- ./target output
    is "$(printf '%s\n' "$output" | grep -c 'to standard output')" 3
}

@test "several runs read the same file, each from its start" {
    printf 'one\ntwo\n' > file
    run --separate-stderr bash -c '"$0" run -n 3 --show-output -- ./target input < file' "$pct"
    is "$status" 0
    is "$output" $'one\ntwo\none\ntwo\none\ntwo'
}

@test "seeds are consecutive, and the lowest that fails is reported" {
    run --separate-stderr "$pct" run -n 500 -s 100 -d 2 -k 45 --epoch 1700000000 -- ./target abba
    is "$status" 120
    seed=$(replay_token | cut -d: -f3)
    [ "$seed" -gt 100 ]
    # No seed before it fails.
    for ((s = seed > 110 ? seed - 10 : 100; s < seed; s++)); do
        run "$pct" run -q -s $s -d 2 -k 45 --epoch 1700000000 -- ./target abba
        is "$status" 0
    done
}

@test "parallel workers report the same failure as one" {
    # Also with k learned on the way.
    options=(-n 500 -s 1000 -d 2 --epoch 1700000000 --state none)
    run --separate-stderr "$pct" run "${options[@]}" -- ./target abba
    is "$status" 120
    expected=$(replay_line)
    for jobs in 2 5; do
        for again in 1 2 3; do
            run --separate-stderr "$pct" run -j $jobs "${options[@]}" -- ./target abba
            is "$status" 120
            is "$(replay_line)" "$expected"
        done
    done
}

@test "cores of crashing runs are kept, where the kernel writes them" {
    ulimit -c unlimited || skip "no cores here"
    ./target crash || true
    compgen -G 'core*' > /dev/null || skip "the kernel writes no cores into the current directory"
    rm -f core*
    run "$pct" run -g -n 2 -s 7 --save kept -- ./target crash
    is "$status" 139
    lacks "core was not kept"
    for seed in 7 8; do
        is "$(head -c 4 kept/seed-$seed.core | tail -c 3)" ELF
        [ -s kept/seed-$seed.trace ]
    done
    run compgen -G 'core*'
    is "$output" ""
    ulimit -c 0
    run "$pct" run -s 7 --save none -- ./target crash
    is "$(ls none)" seed-7.trace
}

@test "keep going: all runs, failures counted, traces saved" {
    run "$pct" run -g -n 60 -s 1 -d 2 -j 2 --save traces --epoch 1700000000 --state none -- ./target abba
    is "$status" 120
    has "60 runs"
    failed=$(printf '%s\n' "$output" | sed -n 's/.* \([0-9]*\) failed (.*/\1/p')
    [ "$failed" -gt 1 ]
    is "$(find traces -name 'seed-*.trace' | wc -l)" "$failed"
    lacks "not saved"
    run "$pct" run -g -n 60 -s 1 -d 2 --epoch 1700000000 --state none -- ./target abba
    has " $failed failed ("
}

@test "the first run gives every strategy the numbers that it wants" {
    for spec in urw portfolio,n0=7 delay-bound; do
        run "$pct" run --state none -g -n 40 -s 1 -S $spec --epoch 1700000000 --save traces -- ./target abba
        # The last run that failed knows what the first one taught.
        last=$(find traces -name 'seed-*.trace' | sort -V | tail -n 1)
        "$pct" report "$last" > "$spec.report"
        rm -r traces
    done
    grep -q '^token: pct1:urw,n=100,n0=[1-9]' urw.report
    grep -q ',n=100,n0=7,n1=[1-9]' portfolio,n0=7.report
    [ "$(grep -c 'k=1000' delay-bound.report)" = 0 ]
    # Steps that a thread makes alone are no part of this k.
    run "$pct" run --state none -g -n 60 -s 1 -S pct --epoch 1700000000 -- ./target abba
    all=$(printf '%s\n' "$output" | sed -n 's/^pct: k=\([0-9]*\), learned.*/\1/p')
    run "$pct" run --state none -g -n 60 -s 1 -S pct,sequential=1 --epoch 1700000000 -- ./target abba
    several=$(printf '%s\n' "$output" | sed -n 's/^pct: k=\([0-9]*\), learned.*/\1/p')
    [ "$several" -lt "$all" ]
}

@test "the strategies run by name, with parameters" {
    for spec in pct pct,depth=5,k=50 pct,depth=auto,sequential=1,phases=1,spin=never,final=0 tapct pctcp \
        pct-large,quantum=3 pos urw,n=20,n1=5 surw,object=1 delay-bound preemption-bound,bound=9 portfolio random-walk \
        random-delay round-robin none; do
        run "$pct" run -n 3 -S $spec -- ./target race 0
        is "$status" 0
    done
}

@test "variables of the environment choose, options win" {
    PCT_STRATEGY=random-walk PCT_SEED=5 run "$pct" run -- ./target
    is "$status" 0
    has "pct1:random-walk,"
    PCT_STRATEGY=random-walk PCT_SEED=5 run "$pct" run -S pct -s 6 --state none -- ./target
    has "pct1:pct,depth=auto,k=1315,"
    PCT_TOKEN=x run "$pct" run -- ./target
    is "$status" 2
    has "pct replay"
}

@test "an out-of-tree strategy runs, and its token replays" {
    PCT_STRATEGY=./lowest.so run --separate-stderr "$pct" run -s 1 -- ./target exit 4
    is "$status" 4
    token=$(replay_token)
    case $token in pct1:./lowest.so,even=2,*:1:*) ;; *) is "$token" "a token of ./lowest.so" ;; esac
    run "$pct" replay "$token" -- ./target exit 4
    is "$status" 4
    has "replayed identically"
}

@test "being interrupted: says what was done, ends the targets, leaves no files" {
    mkdir scratch
    XDG_RUNTIME_DIR=$PWD/scratch "$pct" run -n 1000000 -j 2 -s 1 -- sh -c 'echo >> ran; exec ./target' 2> said &
    pid=$!
    until [ -e ran ] && [ "$(wc -l < ran)" -gt 5 ]; do sleep 0.05; done
    kill -INT $pid
    status=0
    wait $pid || status=$?
    is "$status" 130
    grep -q 'interrupted; [0-9]* runs in .* no failure' said
    is "$(find scratch -type f)" ""

    "$pct" run -q -n 1000000 -s 1 -- ./target 2> said &
    pid=$!
    until [ "$(cat /proc/$pid/task/$pid/children)" ]; do sleep 0.05; done
    kill -INT $pid
    wait $pid || status=$?
    is "$status" 130
    grep -q 'interrupted; \(no run was\|[0-9]* runs\?\) done' said

    XDG_RUNTIME_DIR=$PWD/scratch "$pct" run -- ./target hang 2> said &
    pid=$!
    until child=$(tr -d " " < /proc/$pid/task/$pid/children) && [ "$child" ]; do sleep 0.05; done
    kill -TERM $pid
    status=0
    wait $pid || status=$?
    is "$status" 143
    is "$(find scratch -type f)" ""
    ! kill -0 "$child" 2>/dev/null
}

@test "a target that is stopped and continued does not hang the command" {
    "$cc" -D_GNU_SOURCE -O1 -fPIC -shared -o goon.so "$root/tests/cli/goon.c"
    # shellcheck disable=SC2016 # the target's shell expands it
    LD_PRELOAD=$PWD/goon.so run timeout 120 "$pct" run -- sh -c 'kill -STOP $$; exit 5'
    is "$status" 5
}

@test "a run in the background leaves the terminal to the shell, one that is interrupted gives it back" {
    command -v script > /dev/null || skip "no script(1)"
    cat > jobs <<END
set -m
front() { read -r line < /proc/\$\$/stat; set -- \$line; [ "\$5" = "\$8" ] && echo "\$when: the shell's"; }
"$pct" run -- sh -c 'kill -STOP \$\$; : > on; until [ -e end ]; do :; done'
bg > /dev/null
until [ -e on ]; do :; done
when=under front
: > end
while kill -0 %1 2> /dev/null; do :; done
when=behind front
END
    run script -qec "bash jobs" /dev/null < /dev/null
    has "under: the shell's"
    has "behind: the shell's"
    cat > asks <<END
(until [ -e on ]; do :; done; kill -TERM \$(cat pct)) &
sh -c 'echo \$\$ > pct; exec "$pct" run -- sh -c ": > on; exec ./target hang"'
read -r line < /proc/\$\$/stat; set -- \$line; [ "\$5" = "\$8" ] && echo "interrupted: the shell's"
END
    rm on
    run script -qec "bash asks" /dev/null < /dev/null
    has "interrupted: the shell's"
}

@test "what a target leaves behind is ended, when there are several runs" {
    run "$pct" run -n 2 -- sh -c "sleep 300.$$ > /dev/null & exit 0"
    is "$status" 0
    ! grep -qsa "sleep.300\.$$" /proc/[0-9]*/cmdline
}

@test "no scratch file stays after a run, a failure or a timeout" {
    mkdir scratch
    export XDG_RUNTIME_DIR=$PWD/scratch
    run "$pct" run -- ./target
    run "$pct" run -n 50 -d 2 -s 1 -- ./target abba
    run "$pct" run --timeout 0.2 -- ./target hang
    run -127 "$pct" run -- ./nothing
    run "$pct" run -- ./static
    is "$(find scratch -type f)" ""
}

@test "a terminal gets a progress line, a file does not" {
    command -v script > /dev/null || skip "no script(1)"
    TERM=xterm run script -qec "$pct run -n 300 -s 1 -- ./target" /dev/null
    has " of 300 runs, " # how many were done when it first came is a matter of speed
    run "$pct" run -n 50 -s 1 -- ./target
    lacks "of 50 runs"
}

@test "address-space randomisation is off, unless asked for" {
    cat > where.c <<'END'
#include <stdio.h>
int main(void) { int here; printf("%p\n", (void *)&here); return 0; }
END
    "$cc" -o where where.c
    first=$("$pct" run -q -s 1 -- ./where)
    is "$(EXTRA=some-text-that-shifts-the-stack "$pct" run -q -s 123456789 -- ./where)" "$first"
    distinct=$(for _ in 1 2 3 4; do "$pct" run -q --aslr -s 1 -- ./where; done | sort -u | wc -l)
    [ "$distinct" -gt 1 ]
}

@test "no space for the trace: the run goes on, and it is said" {
    run bash -c 'ulimit -f 32; "$0" run -s 1 -t kept.trace -- ./target exit 3' "$pct"
    is "$status" 3
    has "1 of these runs were not recorded"
    [ ! -e kept.trace ]
    run bash -c 'ulimit -f 32; "$0" run -s 1 -- ./target lost 2' "$pct"
    is "$status" 120
    has "seed 1: deadlock"
    has "not recorded"
}

@test "a limit on files that leaves no room to start with is said, and is still the target's" {
    run bash -c 'ulimit -f 1; "$0" run -s 1 -- ./target exit 3' "$pct"
    is "$status" 125
    has "cannot make a scratch file for the trace: File too large"
    run bash -c 'ulimit -f 64; "$0" run -q -s 1 -- sh -c "head -c 100000 /dev/zero > large"' "$pct"
    is "$status" 153
}

@test "a target that became a program without pct is said to have gone on" {
    run "$pct" run -s 1 -- env -i ./target
    is "$status" 0
    has "1 of these runs went on after the last step that pct saw"
    run "$pct" run -n 3 -s 1 -- env -i ./target exit 3
    is "$status" 3
    has "1 of these runs went on after the last step that pct saw"
    run "$pct" run -n 3 -s 1 -- env ./target
    is "$status" 0
    lacks "went on after the last step"
}

@test "run: a program with AddressSanitizer gets its library first, and its report is the failure" {
    cat > "$BATS_TEST_TMPDIR/late.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *shared;
static void *use(void *unused)
{
    pthread_mutex_lock(&mutex);
    int *mine = shared;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    if (mine)
        *mine = 1; /* freed meanwhile */
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void)
{
    pthread_t thread;
    shared = malloc(sizeof *shared);
    pthread_create(&thread, NULL, use, NULL);
    pthread_mutex_lock(&mutex);
    free(shared);
    shared = NULL;
    pthread_mutex_unlock(&mutex);
    return pthread_join(thread, NULL);
}
C
    gcc -g -fsanitize=address -pthread "$BATS_TEST_TMPDIR/late.c" -o "$BATS_TEST_TMPDIR/late"
    ASAN_OPTIONS=detect_leaks=0 run "$pct" run -n 200 -s 1 -S random-walk -- "$BATS_TEST_TMPDIR/late"
    [ "$status" = 1 ]
    [[ $output == *heap-use-after-free* ]]
}

@test "few classes of schedules: behind 16 runs all are explored: verified, or a failure like others" {
    unset PCT_STRATEGY
    run "$pct" run -n 200 -s 1 --state none -- "$build/bugs/circular-list-fixed"
    is "$status" 0
    has "pct: 16 runs in "
    has "pct: verified under sequential consistency: all 2 classes of schedules pass"
    lacks "would have been missed"
    run "$pct" run --explore=0 -n 200 -s 1 --state none -- "$build/bugs/circular-list-fixed"
    has "pct: 200 runs in "
    lacks "verified"
    # A number of runs that leaves no room, or a strategy that somebody chose: they are made.
    run "$pct" run -n 19 -s 1 --state none -- "$build/bugs/circular-list-fixed"
    has "pct: 19 runs in "
    run "$pct" run -n 30 -S mixture -s 1 --state none -- "$build/bugs/circular-list-fixed"
    has "pct: 30 runs in "
    # Its 16 runs find nothing.
    run "$pct" run -n 1000 -s 2 --state none -- "$build/bugs/fig4-control-flow"
    is "$status" 134
    [[ ${output}${stderr:-} =~ explored,\ behind\ 16\ runs,\ in\ run\ [0-9]+:\ assertion ]]
    has "pct: 16 runs in "
    has "1 failed (1 assertion)"
    local token
    token=$(grep -o "pct1:schedule[^']*" <<< "$output${stderr:-}" | tail -n 1)
    run "$pct" replay "$token" -- "$build/bugs/fig4-control-flow"
    is "$status" 134
    run "$pct" run -g -n 60 -s 2 --state none -- "$build/bugs/fig4-control-flow"
    is "$status" 134
    has "pct: 60 runs in "
    # What was found at memory accesses and fails at calls, too, is shown at calls, and has its cause.
    g++ -std=c++20 -g -o "$BATS_TEST_TMPDIR/inventory" "$root/bench/desk/inventory.cc" -lpthread
    local seed # the compiler's atomic accesses say which seeds find nothing by their first 16 runs
    for ((seed = 96; seed < 1000; seed += 16)); do
        run "$pct" run -n 1000 -s $seed --state none -- "$BATS_TEST_TMPDIR/inventory"
        is "$status" 134
        [[ ! $output =~ "pct: explored, behind 16 runs, in run " ]] || break
    done
    has "pct: explored, behind 16 runs, in run "
    has "cause: atomicity violation"
    lacks "load memory"
}

@test "explored runs have the mask of signals that all others have" {
    unset PCT_STRATEGY
    cat > "$BATS_TEST_TMPDIR/mask.c" << 'C'
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    const int theirs[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGIO };
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int i = 0; i < 5; i++)
        assert(!sigismember(&now, theirs[i]));
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}
C
    gcc -g -o "$BATS_TEST_TMPDIR/mask" "$BATS_TEST_TMPDIR/mask.c" -lpthread
    run "$pct" run -n 60 -s 1 --state none -- "$BATS_TEST_TMPDIR/mask"
    is "$status" 0
    has "pct: 16 runs in "
}

@test "what an exploration rests on is said, and the runs are made: what runs leave in files, process ids" {
    unset PCT_STRATEGY
    cat > "$BATS_TEST_TMPDIR/counts.c" << 'C'
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int count, char **arguments)
{
    int runs = 0;
    if (count > 2) {
        int file = open(arguments[1], O_RDWR | O_CREAT, 0600);
        if (pread(file, &runs, sizeof runs, 0) != sizeof runs)
            runs = 0;
        runs++;
        assert(pwrite(file, &runs, sizeof runs, 0) == sizeof runs);
        close(file);
        assert(runs != atoi(arguments[2]));
    } else if (count > 1)
        assert(getpid() > 1);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}
C
    gcc -g -o "$BATS_TEST_TMPDIR/counts" "$BATS_TEST_TMPDIR/counts.c" -lpthread
    local counts=$BATS_TEST_TMPDIR/counts file=$BATS_TEST_TMPDIR/runs
    run "$pct" run -n 60 -s 1 --state none -- "$counts"
    is "$status" 0
    has "pct: 16 runs in "
    lacks "and each run finds files, process ids and whatever else is outside of it as the first one did"
    run "$pct" run -n 60 -s 1 --state none -- "$counts" pid
    is "$status" 0
    has "pct: 60 runs in "
    has "and each run finds files, process ids and whatever else is outside of it as the first one did"
    run "$pct" run -n 60 -s 1 --state none -- "$counts" "$file" 1000
    is "$status" 0
    has "pct: 60 runs in "
    has "and each run finds files, process ids and whatever else is outside of it as the first one did"
    # One of the explored runs fails, and no other one does.
    rm "$file"
    run "$pct" run -n 60 -s 1 --state none -- "$counts" "$file" 20
    is "$status" 0
    has "pct: a run of the exploration failed, and no token repeats that"
    has "no guarantee about the bugs that these runs may have missed: an explored run has failed"
    has "pct: 60 runs in "
    lacks "verified"
}
