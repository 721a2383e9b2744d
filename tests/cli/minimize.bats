#!/usr/bin/env bats
# `pct minimize` and `pct explain`: the smallest schedule as a token and as a file, and what they say to bad input. That
# depths and culprits are right is for tests/programs/explain.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

# A deadlock of ./target abba: $token, and its trace in the file deadlock.trace.
find_deadlock()
{
    run --separate-stderr "$pct" run -n 500 -s 1 -S pct,depth=2,k=20 -t deadlock.trace -- ./target abba
    is "$status" 120
    token=$(replay_token)
}

@test "a token becomes the smallest schedule, which replays" {
    find_deadlock
    run "$pct" minimize --seconds 1000000 "$token" -- ./target abba
    is "$status" 0
    has "the smallest schedule: 1 switch, 1 preemption"
    has "depth 2: 100 of 100 schedules fail that keep to these orderings"
    has "Reversed, "
    second=$(grep -n 'pthread_mutex_lock(second)' "$root/tests/cli/target.c" | head -n 1 | cut -d : -f 1)
    has "target.c:$second (take_both)"
    small=$(printf '%s\n' "$output" | grep -o 'pct1:schedule,switches=[^ '"'"']*' | head -n 1)
    run "$pct" replay "$small" -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
    # What is smallest stays so.
    run --separate-stderr "$pct" minimize --seconds 1000000 -q "$small" -- ./target abba
    is "$output" "$small"
}

@test "a failure that comes late is made one that comes early" {
    cat > late.c << 'END'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *second)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(second ? &b : &a);
        pthread_mutex_lock(second ? &a : &b);
        pthread_mutex_unlock(&a);
        pthread_mutex_unlock(&b);
    }
    return second;
}
int main(void)
{
    pthread_t thread[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END
    "$cc" -g -pthread -o late late.c
    run "$pct" run -q -s 1 -S schedule,switches=1.10.2 -t late.trace -- ./late
    run "$pct" minimize --no-depth late.trace -- ./late
    is "$status" 0
    has "6 steps (of 14)"
    has "pct1:schedule,switches=1.2.2,"
}

@test "where steps stand, and one of a thing: as one reads it" {
    cat > update.c << 'END'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *update(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    count = seen + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, update, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
}
END
    "$cc" -g -pthread -o update update.c
    run --separate-stderr "$pct" run -n 1 -s 2 -S schedule,switches=0.2.2-2.3.1-1.6.2 -- ./update
    is "$status" 134
    run "$pct" minimize --seconds 1000000 "$(replay_token)" -- ./update
    has "Assertion \`count == 2' failed, after "
    # The end of a thread is libc's.
    has "'s finish: thread "
    lacks "nptl"
    run --separate-stderr "$pct" run -n 100 -s 1 -S pct,depth=2,k=20 -- ./target race
    run "$pct" minimize --seconds 1000000 "$(replay_token)" -- ./target race
    has "this ordering (of 1 ordering in the run)"
}

# bats test_tags=long
@test "the result does not depend on how many runs go on at a time" {
    find_deadlock
    for jobs in 1 5 ${FULL:+2}; do
        run "$pct" minimize --seconds 1000000 -j $jobs "$token" -- ./target abba
        is "$status" 0
        has ", $jobs at a time, "
        printf '%s\n' "$output" | grep -v ' at a time, ' > result.$jobs
    done
    [ "${FULL:-}" != 1 ] || cmp result.1 result.2
    cmp result.1 result.5
    # On a busy machine, standard error says how far it is.
    run --separate-stderr "$pct" explain --seconds 1000000 --search -j 1 "$token" -- ./target abba
    one=$output
    run --separate-stderr "$pct" explain --seconds 1000000 --search -j 3 "$token" -- ./target abba
    is "$output" "$one"
    run -2 "$pct" minimize --seconds 1000000 -j 0 "$token" -- ./target abba
    has "--jobs"
}

@test "a failure that the schedule does not decide is judged by rates, several runs at a time" {
    # Each run takes one of two ways by a file that only they know of: no schedule decides.
    cat > third.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>
static void *nothing(void *unused) { return unused; }
int main(void)
{
    pthread_t thread;
    int fd = open("count", O_RDWR | O_CREAT, 0600);
    char count = 0;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    flock(fd, LOCK_EX);
    if (read(fd, &count, 1) < 0)
        return 1;
    count++;
    return pwrite(fd, &count, 1, 0) == 1 && count % 3 ? 0 : 7;
}
END
    "$cc" -g -O1 -pthread -o third third.c
    run --separate-stderr "$pct" run -n 9 -s 1 -- ./third
    is "$status" 7
    run "$pct" minimize --seconds 1000000 -j 2 --no-depth "$(replay_token)" -- ./third
    is "$status" 0
    has "something besides the schedule decides: it failed"
    has "none: it fails in the default order"
}

# bats test_tags=long
@test "runs that spoil each other go one at a time; others do not, whatever steps they take" {
    place='./socket{worker}' # where the second run at a time gets another answer
    run --separate-stderr "$pct" run -s 1 --ready "unix:$place" --drive "./server ask $place" -- ./server "$place" first
    is "$status" 7
    run "$pct" minimize --seconds 1000000 -j 2 --no-depth --ready "unix:$place" --drive "./server ask $place" \
        "$(replay_token)" -- ./server "$place" first
    is "$status" 0
    has "runs made at the same time disturb each other"
    has ", 1 at a time, "
    cat > odd.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    for (int i = getpid() % 7; i; i--) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 7;
}
END
    "$cc" -g -O1 -pthread -o odd odd.c
    run --separate-stderr "$pct" run -s 1 -- ./odd
    is "$status" 7
    run "$pct" minimize --seconds 1000000 -j 2 --no-depth "$(replay_token)" -- ./odd
    is "$status" 0
    lacks "disturb each other"
    has ", 2 at a time, "
}

@test "runs that spoil each other go one at a time, also where one alone does not always fail" {
    place='./socket{worker}'
    # The second run at a time fails in another way; the first passes once in four times.
    echo 'n=$(cat n); echo $((n + 1)) > n; [ "$1" = ./socket0 ] || exit 9; [ $((n % 4)) = 0 ] || exit 7' > client
    echo 1 > n
    set -- --ready "unix:$place" --drive "./server ask $place; sh ./client $place"
    run --separate-stderr "$pct" run -s 1 "$@" -- ./server "$place"
    is "$status" 7
    coproc "$pct" minimize --seconds 1000000 -j 2 --no-depth "$@" "$(replay_token)" -- ./server "$place" 2>&1
    pid=$COPROC_PID output=''
    while [[ $output != *"times of 20"* ]] && read -r line; do output+=$line$'\n'; done <&"${COPROC[0]}"
    kill -INT "$pid" # what it says has been said
    wait "$pid" || true
    has "runs made at the same time disturb each other"
    has "something besides the schedule decides: it failed 15 times of 20"
}

@test "a terminal sees how far it is, a file does not" {
    command -v script > /dev/null || skip "no script(1)"
    find_deadlock
    # Each run takes long enough that there is something to be said.
    TERM=xterm run script -qec "$pct minimize --seconds 1000000 -j 1 --no-depth --setup 'sleep 0.05' '$token' -- \
./target abba" /dev/null
    has " runs, "
    has "/s, "
    has " preemption"
    unset stderr
    run "$pct" minimize --seconds 1000000 --no-depth "$token" -- ./target abba
    lacks "/s, "
    run script -qec "$pct minimize --seconds 1000000 -q -j 1 --no-depth --setup 'sleep 0.05' '$token' -- ./target \
abba" /dev/null
    lacks "/s, "
}

@test "a server with its client: several at a time if each has a place of its own" {
    place='./socket{worker}'
    run --separate-stderr "$pct" run -s 1 --ready "unix:$place" --drive "./server ask $place" -- ./server "$place" sorry
    is "$status" 7
    token=$(replay_token)
    run "$pct" minimize --seconds 1000000 -j 2 --no-depth --ready "unix:$place" --drive "./server ask $place" "$token" \
        -- ./server "$place" sorry
    is "$status" 0
    has "exit status 7, after "
    has ", 2 at a time, "
    # The commands that it prints are those of one worker.
    is "$(printf '%s\n' "$output" | grep -c 'unix:./socket0 .* -- ./server ./socket0 sorry')" 2
    run -2 "$pct" minimize --seconds 1000000 -j 2 --ready unix:./one --drive "./server ask ./one" "$token" -- ./server \
        ./one sorry
    has "write {worker} into it"
    run "$pct" minimize --seconds 1000000 --no-depth --ready unix:./one --drive "./server ask ./one" "$token" \
        -- ./server ./one sorry
    is "$status" 0
    has ", 1 at a time, "
}

@test "a server without its client: says what is missing, and does not wait for ever" {
    run --separate-stderr "$pct" run -s 1 -t trace --ready unix:./one --drive "./server ask ./one" -- ./server ./one \
        sorry
    is "$status" 7
    run -122 "$pct" minimize --seconds 1 trace -- ./server ./one sorry
    has "the run has not ended in 1 s: if it waits for clients, give --ready and --drive"
    run -0 "$pct" explain --seconds 1 trace -- ./server ./one sorry
    has "give --ready and --drive"
    has "the recorded run is explained, as it was"
    run "$pct" run -n 1 -s 1 -t good --ready unix:./one --drive "./server ask ./one" -- ./server ./one
    is "$status" 0
    run -0 "$pct" explain --seconds 1 good -- ./server ./one
    has "the target itself did not fail in it; that a client did is not in a trace"
}

@test "the time is over: a run that does not fail again is not made many times, and a trace is still explained" {
    echo 'echo run >> begun; n=$(cat n); echo $((n + 1)) > n; [ "$n" != 1 ] || exit 7' > client
    echo 1 > n
    set -- --ready unix:./one --drive "./server ask ./one; sh ./client"
    run --separate-stderr "$pct" run -n 1 -s 1 -t trace "$@" -- ./server ./one
    is "$status" 7
    : > begun
    run -122 "$pct" explain --seconds 0 "$@" "$(replay_token)" -- ./server ./one
    is "$(grep -c run begun)" 1
    has "out of time (--seconds=0): the run was made 1 time, and has not failed again"
    run -0 "$pct" explain --seconds 0 "$@" trace -- ./server ./one
    has "the recorded run is explained, as it was"
}

@test "a bound on the time: the best so far, and what was left undone" {
    find_deadlock
    run "$pct" minimize --seconds 0 -o whole.schedule "$token" -- ./target abba
    is "$status" 0
    has "depth: not measured: out of time"
    has "out of time (--seconds=0): this is the best that was found so far"
    switches=$(printf '%s\n' "$output" | sed -n 's/^the smallest schedule: .*(of \([0-9]*\) switches.*/\1/p')
    is "$(grep -c '^switch ' whole.schedule)" "$switches"
    run "$pct" replay whole.schedule -- ./target abba
    is "$status" 120
    run "$pct" explain --search --seconds 0 "$token" -- ./target abba
    is "$status" 0
    has "The orderings that it needs were not found: out of time"
    has "No schedule was found that passes: out of time"
    run "$pct" minimize --seconds 1000000 "$token" -- ./target abba
    has "depth 2: 100 of 100 schedules fail"
    lacks "out of time"
}

begun_are()
{
    [ -e begun ] && [ "$(wc -l < begun)" -ge "$1" ]
}

# end_when COMMAND...: TERM for what was started last, once this is so; $status: what it ends with.
end_when()
{
    local job=$!
    until "$@"; do
        kill -0 $job || break
        sleep 0.01
    done
    # timeout(1) sends it twice: to its child, and to the group.
    kill -TERM $job $job
    status=0
    wait $job || status=$?
}

@test "told to end before the first run is over: it ends" {
    find_deadlock
    mkfifo fifo
    "$pct" minimize "$token" -- sh -c 'echo run >> begun; exec cat fifo' > said 2>&1 &
    end_when begun_are 1
    is "$status" 143
    run cat said
    has "interrupted after 0 runs"
    is "$(wc -l < begun)" 1
}

@test "explain, told to end: the cause by the runs so far" {
    find_deadlock
    "$pct" explain -j 1 --seconds 1000000 --setup 'echo run >> begun' "$token" -- ./target abba > said 2>&1 &
    end_when begun_are 12
    is "$status" 143
    run cat said
    has "interrupted: the cause is told by "
    has "cause: wait cycle"
    has "this replays the run:"
}

@test "told to end: the best so far, with its token; and the file as it was, or whole" {
    find_deadlock
    echo old > kept.schedule
    # Somebody else's signal, when this many runs have begun that something smaller was found: while the search goes on,
    # and in the run that shows what it has come to.
    local begun
    for begun in 12 22; do
        rm -f begun
        "$pct" minimize -j 1 --seconds 1000000 --setup 'echo run >> begun' -o kept.schedule "$token" -- ./target abba \
            > said 2>&1 &
        end_when begun_are $begun
        is "$status" 143
        run cat said
        has "interrupted: this is the best that was found so far"
        has "pct: this replays it:"
    done
    small=$(printf '%s\n' "$output" | grep -o 'pct1:schedule,switches=[^ '"'"']*' | head -n 1)
    is "$(head -n 1 kept.schedule | cut -c 1-16)" "# pct schedule 1"
    run "$pct" replay kept.schedule -- ./target abba
    is "$status" 120
    run "$pct" replay "$small" -- ./target abba
    is "$status" 120
    # A disk that is full when the work is done is no wrong use.
    run -125 "$pct" minimize --seconds 5 --no-depth -o /dev/full "$token" -- ./target abba
    has "/dev/full: No space left on device"
    # What cannot be replaced is known before the work, and nothing is left beside it.
    mkdir closed
    run -2 "$pct" minimize -o closed "$token" -- ./target abba
    has "closed: Is a directory"
    is "$(ls -A closed)" ''
    [ ! -e "$(echo kept.schedule.??????)" ]
}

@test "lines of a schedule file may be long" {
    find_deadlock
    run --separate-stderr "$pct" minimize --seconds 1000000 -q --no-depth -o small "$token" -- ./target abba
    { head -n 1 small; printf '# %s switch 9.9.9\n' "$(head -c 9000000 /dev/zero | tr '\0' x)"; tail -n +2 small; } \
        > long
    run "$pct" replay long -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
}

@test "a failure that depends on which waiter a signal wakes" {
    "$cc" -g -O1 -pthread -o wakes "$root/tests/cli/wakes.c"
    run --separate-stderr "$pct" run -n 100 -s 1 -- ./wakes
    is "$status" 120
    token=$(replay_token)
    culprit=$(grep -n -F '/* culprit */' "$root/tests/cli/wakes.c" | cut -d : -f 1)
    run "$pct" minimize --seconds 1000000 "$token" -- ./wakes
    is "$status" 0
    has "depth 1: 100 of 100 schedules fail that keep to this ordering"
    has "1. thread 0's signal cond"
    has "wakes.c:$culprit (main)"
    has "     wakes thread 2, of those that wait"
    has "Reversed, 24 of 24 pass."
    run "$pct" explain --seconds 1000000 --search "$token" -- ./wakes
    is "$status" 0
    has "     wakes, of those that wait, thread 2: cond wake"
}

@test "--quick does not look for what else decides it" {
    run --separate-stderr "$pct" run -n 1000 -s 1 -d 2 -- "$build/bugs/stringbuffer"
    token=$(replay_token)
    run "$pct" explain --seconds 1000000 --search "$token" -- "$build/bugs/stringbuffer"
    has "still fail"
    has "Reversed, and with this kept, too, "
    run "$pct" explain --seconds 1000000 --search --quick "$token" -- "$build/bugs/stringbuffer"
    has "still fail"
    lacks " kept, too, "
    lacks "No orderings were found that rule this out"
}

@test "a schedule as a file: written, replayed, edited" {
    find_deadlock
    run --separate-stderr "$pct" minimize --seconds 1000000 -q --no-depth -o small "$token" -- ./target abba
    is "$status" 0
    small=$output
    run cat small
    has "# pct schedule 1"
    has "token $small"
    has "switch "
    has "target.c:"
    run "$pct" replay small -- ./target abba
    is "$status" 120
    has "replayed identically (hash "
    run --separate-stderr "$pct" minimize --seconds 1000000 -q small -- ./target abba
    is "$status" 0
    # Without its switches it is the default order.
    sed -i '/^switch/d' small
    run "$pct" replay small -- ./target abba
    is "$status" 0
    has "there is no hash to compare with (the schedule was edited)"
}

@test "damaged schedule files" {
    find_deadlock
    printf '# pct schedule 1\ntoken %s\nswitch 1.2.2\n' "$token" > none
    run -2 "$pct" replay none -- ./target abba
    has "none: its token is of strategy pct, and only schedule follows switches"
    run --separate-stderr "$pct" run -s 1 -S schedule -- ./target abba
    token=$(printf '%s\n' "$stderr" | sed -n 's/^pct: token //p')
    printf '# pct schedule 1\ntoken %s\nswitch 1.2\n' "$token" > none
    run -2 "$pct" replay none -- ./target abba
    has "switches is a list like 1.4.2-2.9.1"
    printf '# pct schedule 1\nswitch 1.2.2\n' > none
    run -2 "$pct" replay none -- ./target abba
    has "there is no line \`token TOKEN\` in it"
    printf '# pct schedule 1\nswitch 1.2.2 twice\n' > none
    run -2 "$pct" minimize --seconds 1000000 none -- ./target abba
    has "line 2: expected \`token TOKEN\` or \`switch THREAD.OPERATIONS.THREAD\`"
    echo 'something else' > none
    run -2 "$pct" minimize --seconds 1000000 none -- ./target abba
    has "none: neither a schedule nor a trace"
}

@test "explain a deadlock, from its trace" {
    find_deadlock
    run "$pct" explain --seconds 1000000 --search deadlock.trace -- ./target abba
    is "$status" 0
    has "the cycle:"
    has "It needs these orderings (depth 2; 100 of 100"
    has "Reversed, "
    has "The smallest schedule that fails (1 preemption"
    has "The schedule that differs least and passes is the same up to step "
    has "Objects: mutex 1: \`"
    run -2 "$pct" explain --seconds 1000000 --search deadlock.trace
    has "no command is given; the trace was recorded with:"
}

@test "explain a deadlock: where each waits, and where it locked what the other waits for" {
    find_deadlock
    run "$pct" explain --seconds 1000000 --search "$token" -- ./target abba
    is "$status" 0
    first=$(grep -n 'pthread_mutex_lock(first)' "$root/tests/cli/target.c" | head -n 1 | cut -d : -f 1)
    second=$(grep -n 'pthread_mutex_lock(second)' "$root/tests/cli/target.c" | head -n 1 | cut -d : -f 1)
    is "$(printf '%s\n' "$output" | sed '/^It needs/,$d' | grep -c "target.c:$first (take_both)")" 2
    is "$(printf '%s\n' "$output" | sed '/^It needs/,$d' | grep -c "target.c:$second (take_both)")" 2
    has "has held since step "
}

@test "explain a data race: both accesses, marked among the steps" {
    "$build/pct-cc" -g -O1 -pthread -I"$root/bench/bugs-memory" -o racy "$root/bench/bugs-memory/store-order.c"
    run --separate-stderr "$pct" run -n 200 -s 1 -S pos --races=fail -- ./racy
    run "$pct" explain --seconds 1000000 --search "$(replay_token)" -- ./racy
    is "$status" 0
    stored=$(grep -n 'message = 42; /\* culprit' "$root/bench/bugs-memory/store-order.c" | cut -d : -f 1)
    loaded=$(grep -n 'received = message' "$root/bench/bugs-memory/store-order.c" | cut -d : -f 1)
    has "data race 1 of 1:"
    has "send  at $root/bench/bugs-memory/store-order.c:$stored"
    has "receive  at $root/bench/bugs-memory/store-order.c:$loaded"
    is "$(printf '%s\n' "$output" | grep -c '^ *[0-9]*\*.*\(store\|  load\) memory')" 2
}

# bats test_tags=long
@test "where accesses to memory decide and none was a step, explain says how to see them, and that shows the cause" {
    cat > plain.c <<'END'
#include <pthread.h>
static volatile int stop, seen;
static void *work(void *unused) { seen = stop; return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    stop = 1;
    pthread_join(thread, NULL);
    return seen;
}
END
    "$cc" -g -pthread -o plain plain.c
    run "$pct" run -q -s 1 -t calls --memory=off -- ./plain
    run -0 "$pct" explain --search --seconds 1000000 calls -- ./plain
    has "No ordering is needed: 100 of 100 random schedules fail."
    has "explain a failure under --memory=all"
    # Where that is not asked for, it looks for a run that shows them itself.
    run -0 --separate-stderr "$pct" explain --seconds 1000000 calls -- ./plain
    has "cause: order violation: "
    has "thread 0: store memory 1 \`stop\`"
    [[ $output == *"replay 'pct1:"*memory=all* ]]
    [[ $stderr == *'no rule fits well: this explains another run, which fails in the same way and shows'* ]]
    "$pct" explain --seconds 1000000 --json calls -- ./plain 2> /dev/null | grep -q '"token": *"pct1:.*memory=all'
    run "$pct" run -q -s 1 -n 100 -t all --memory=all -- ./plain
    run -0 "$pct" explain --seconds 1000000 all -- ./plain
    has "thread 0: store memory 1 \`stop\`"
    lacks "explain a failure under"
}

# bats test_tags=long
@test "a stripped program is explained by offsets, one without debug information by functions" {
    find_deadlock
    "$cc" -O1 -pthread -o bare "$root/tests/cli/target.c"
    run --separate-stderr "$pct" run -n 500 -s 1 -S pct,depth=2,k=20 -- ./bare abba
    token=$(replay_token)
    run "$pct" explain --seconds 1000000 --search "$token" -- ./bare abba
    is "$status" 0
    has "take_both in bare"
    strip bare
    run "$pct" explain --seconds 1000000 --search "$token" -- ./bare abba
    is "$status" 0
    has "bare+0x"
}

@test "a token that does not fail any more: 122, and why" {
    find_deadlock
    for command in minimize explain; do
        run "$pct" $command --seconds 1000000 "$token" -- ./target exit 0
        is "$status" 122
        has "the token does not fail any more: exit status 0"
        has "the program was rebuilt, or its input, arguments, environment or libraries differ"
    done
    run --separate-stderr "$pct" run -s 3 -- ./target output
    passing=$(printf '%s\n' "$stderr" | sed -n 's/^pct: token //p')
    run -2 "$pct" minimize --seconds 1000000 "$passing" -- ./target output
    has "does not fail, and did not when it was recorded"
}

@test "another failure than before is minimized" {
    find_deadlock
    run "$pct" minimize --seconds 1000000 --no-depth "$token" -- ./target exit 7
    is "$status" 0
    has "the run took other steps than the one of the token"
    has "exit status 7"
    has "none: it fails in the default order"
}

@test "a trace that was cut short is repeated from its token" {
    find_deadlock
    # As SIGKILL leaves it: still running, as far as the header knows.
    printf '\0\0\0\0' | dd of=deadlock.trace bs=1 seek=232 conv=notrunc status=none
    run "$pct" minimize --seconds 1000000 --no-depth deadlock.trace -- ./target abba
    is "$status" 0
    has "this trace was cut short: the run is repeated from the token in it"
    has "the smallest schedule: "
}

@test "bad usage" {
    run -2 "$pct" minimize
    has "no token and no file is given"
    run -2 "$pct" minimize --seconds 1000000 pct1:nonsense -- ./target abba
    run -2 "$pct" explain --seconds 1000000 --search pct1:nonsense:1:1:-:0000 -- ./target abba
    has "damaged"
    run --separate-stderr "$pct" run -S none -s 1 -- ./target exit 3
    run -2 "$pct" minimize --seconds 1000000 "$(replay_token)" -- ./target exit 3
    has "strategy none leaves the order to the operating system"
    run -2 "$pct" run -S schedule,switches=1.2 -- ./target exit 0
    has "switches is a list like 1.4.2-2.9.1"
    run -2 "$pct" run -S order,before=1.2.1.3 -- ./target exit 0
    has "before is a list like"
    run -2 "$pct" run -S order,before=A -- ./target exit 0
    has "not a list of lower-case letters"
}

# bats test_tags=long
@test "a program that was changed: the nearest schedule that fails" {
    cp "$root/bench/bugs/fig1c-deadlock.c" now.c
    "$cc" -g -O0 -pthread -I"$root/bench/bugs" -I"$root" -o now now.c
    run --separate-stderr "$pct" run -n 500 -s 1 -S pct,depth=2,k=17 -- ./now
    run --separate-stderr "$pct" minimize --seconds 1000000 -q --no-depth -o small "$(replay_token)" -- ./now
    small=$output
    # Two more operations before the first lock of each thread.
    sed 's/^static void update/static pthread_mutex_t extra = PTHREAD_MUTEX_INITIALIZER;\n&/
        s/^ *pthread_mutex_lock(first);/pthread_mutex_lock(\&extra), pthread_mutex_unlock(\&extra);\n&/' now.c \
            > changed.c
    "$cc" -g -O0 -pthread -I"$root/bench/bugs" -I"$root" -o changed changed.c
    run "$pct" minimize --seconds 1000000 "$small" -- ./changed
    is "$status" 0
    has "this goes on with the nearest one that does: pct1:schedule,switches="
    has "the smallest schedule: 1 switch, 1 preemption"
    has "depth 2: "
    # The replay says what is known of it, and where to go on.
    touch -d 2000-01-01 changed
    run -122 "$pct" replay "$small" -- ./changed
    has "did NOT replay: "
    lacks "it may have been rebuilt"
    has "a token or trace does not tell which functions have changed (a schedule file, \`pct minimize -o\`, does), nor"
    has "the nearest schedule that fails: pct minimize '$small'"
    touch -d 2100-01-01 changed
    run -122 "$pct" replay -q -n 2 small -- ./changed
    has "/changed was written 2100-01-01 00:00:00, after the run that this schedule is from"
    has "function update has changed since this schedule was made"
    run -0 "$pct" explain --seconds 1000000 --search --quick small -- ./changed
    has "function update has changed since this schedule was made"
    if command -v gdb > /dev/null; then
        run "$pct" replay --gdb='-batch -ex run' small -- ./changed
        has "was NOT the recorded one"
        has "function update has changed since this schedule was made"
    fi
    # Without the bug there is none.
    "$cc" -g -O0 -pthread -DFIXED -I"$root/bench/bugs" -I"$root" -o fixed now.c
    run "$pct" minimize --seconds 1000000 "$small" -- ./fixed
    is "$status" 122
    has "the token does not fail any more"
    # A file also knows what the fix has changed.
    run "$pct" minimize --seconds 1000000 small -- ./fixed
    is "$status" 122
    has "function thread2 has changed since this schedule was made"
    lacks "function thread1"
    lacks "function update"
    run -122 "$pct" replay small -- ./fixed
    has "function thread2 has changed since this schedule was made"
    strip fixed
    run "$pct" minimize --seconds 1000000 small -- ./fixed
    is "$status" 122
    has "the program has no symbols"
}
