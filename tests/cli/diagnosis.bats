#!/usr/bin/env bats
# The causes that `pct explain` names by rules, of programs of bench/desk built as their users would, -O0.
# shellcheck disable=SC2016,SC2154 # names in `...`; cc is of common.bash
load common

setup_file()
{
    local to=$BATS_FILE_TMPDIR name
    for name in bank batch flushskip forklock groupcommit parcels pipeline phases quiesce quota request shutdown; do
        "$cc" -g -pthread -o "$to/$name" "$root/bench/desk/$name.c"
    done
    for name in chessclock cvshared poolidle singleton; do
        "${CXX:-g++}" -std=c++20 -g -pthread -o "$to/$name" "$root/bench/desk/$name.cc"
    done
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

# first_cause NAME [SEED [OPTION...]]: what is named of the first failure from this seed on (default: 1), of runs with
# these options, with all the runs beside it that there are to be.
first_cause()
{
    local program=$BATS_FILE_TMPDIR/$1 token
    [ -x "$program" ] || program=$1
    token=$("$pct" run -q --brief -n 100 -s "${2:-1}" --state none --epoch 1700000000 "${@:3}" -- "$program" 2>&1 |
        grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --seconds 1000000 "$token" -- "$program"
    is "$status" 0
}

@test "a semaphore that others post is not held by who waits for it: a post is missing" {
    first_cause pipeline
    has 'cause: a missing post: thread 0 waits for semaphore 1 `ring.free_slots`; thread '
    [[ $output != *'waits for itself'* ]]
}

@test "who waits for a semaphore has the lock that who posts it needs" {
    first_cause parcels
    has 'cause: waits with a lock held: thread 1 waits on semaphore 1 `depot.places` and still holds mutex 3 '\
'`depot.lock`'
    has 'bring parcels.c:35'
    has 'fetch parcels.c:45'
}

@test "who waits on a condition variable has two mutexes, of which the other one is needed" {
    first_cause quiesce
    has 'cause: waits with a lock held: thread 0 waits on condition variable 3 `paused_changed` and still holds mutex '
    has 'reconfigure quiesce.c:87'
    has 'answer quiesce.c:26'
}

# bats test_tags=long
@test "a condition_variable_any waits with a mutex of its own: the lock of its user counts" {
    first_cause cvshared 1000
    has 'cause: lost wake-up: thread 3 signals condition variable '
    has 'configuration::get(std::string const&) cvshared.cc:3'
    has 'configuration::complete() cvshared.cc:33'
}

@test "one of a group is woken: that an earlier section did not signal is not to blame" {
    first_cause groupcommit
    has 'cause: the signal woke one of several: thread '
    has 'lead groupcommit.c:51'
}

@test "what only came of another pair of steps stands behind it" {
    local seed
    # Of which seed's failure both pairs are named, compilers differ in.
    for seed in 1 11 21 31 41 51 61 71; do
        first_cause poolidle "$seed" --memory=atomics
        [[ $output != *'thread_pool::wait_idle() '*'or: '*'total::add(int) '* ]] || break
    done
    has 'total::add(int) poolidle.cc:88'
    output=${output%%$'\n'or: *}
    lacks 'total::add(int)'
    has 'cause: atomicity violation: '
    has 'thread_pool::work() poolidle.cc:5'
    has 'thread_pool::wait_idle() poolidle.cc:4'
    has 'thread_pool::work() poolidle.cc:65'
    has 'tried       with this in between the run fails, and without it passes'
}

@test "a child process waits for a lock that another thread had at the fork" {
    first_cause forklock
    has 'cause: held at a fork: thread 0 forks (step '
    has 'while thread 1 holds mutex 1 `log_lock`, since step '
    has 'log_line forklock.c:22'
    has 'main forklock.c:65'
}

@test "of many looks at what is not there yet, the last is the one that fails" {
    first_cause batch 101 # a run of calls alone
    has 'cause: atomicity violation: '
    has 'take batch.c:49'
    has 'wait_all batch.c:95'
    has 'tried       with this in between the run fails, and without it passes'
}

@test "fields have names in programs of clang, too, which writes where variables are in a table of its own" {
    compiler=$(command -v clang) || skip 'no clang'
    "$compiler" -O1 -g -gdwarf-5 -pthread -w -o pipeline "$root/bench/desk/pipeline.c"
    "$pct" run -q -n 100 -s 1 --trace trace -- ./pipeline || true
    run "$pct" report trace
    has "waits for semaphore 1 \`ring.free_slots\`"
}

@test "two halves under two locks, and who sees one of them" {
    first_cause bank
    has 'cause: atomicity violation: '
    has 'withdraw bank.c:'
    has 'audit bank.c:'
    has 'deposit bank.c:'
}

@test "a barrier is missing between two accessor functions that all threads call" {
    first_cause phases
    has 'cause: order violation: thread '
    has 'cell_set phases.c:31 < simulate phases.c:45'
    has 'cell_get phases.c:23 < simulate phases.c:40'
}

@test "accessor functions without frame pointers: the unwind tables tell who called them" {
    "$cc" -g -fomit-frame-pointer -pthread -o phases "$root/bench/desk/phases.c"
    first_cause ./phases
    has 'cause: order violation: thread '
    has 'cell_set phases.c:31 < simulate phases.c:45'
    has 'cell_get phases.c:23 < simulate phases.c:40'
}

@test "locks of Rust, all of which are taken in one function of its library, in patched code" {
    command -v rustc > /dev/null || skip 'no rustc'
    rustc -g -o mailroom "$root/bench/desk/mailroom.rs"
    first_cause ./mailroom 1001
    has 'cause: atomicity violation: '
    has 'mailroom::System::send mailroom.rs:40'
    has 'mailroom::System::run mailroom.rs:68'
    lacks 'core::sync' # nor with Debian's compiler, whose library has another path
}

# bats test_tags=long
@test "what Rust's library does to its own variables, and behind a panic, does not stand between two steps" {
    command -v rustc > /dev/null || skip 'no rustc'
    rustc -g -o undo "$root/bench/desk/undo.rs"
    first_cause ./undo 20001
    has 'cause: atomicity violation: '
    has 'undo::History::record undo.rs:2'
    has 'undo::History::undo undo.rs:33'
}

@test "who finds a lock taken leaves it to one who has looked already" {
    first_cause flushskip
    has 'cause: atomicity violation: '
    has 'take flushskip.c:27'
    has 'put flushskip.c:19'
    has 'flush flushskip.c:54'
}

@test "an answer to who has gone, as in every run whose deadlines come in their order" {
    first_cause request
    has 'cause: a wait that timed out: '
    has 'ask request.c:69'
    has 'serve request.c:45'
}

@test "a look before a sleep and a change behind it: runs whose deadlines come out of their order pass" {
    first_cause chessclock
    has 'cause: atomicity violation: what thread 1 does at '
    has 'chess_clock::tick() chessclock.cc:43'
    has 'chess_clock::add(int) chessclock.cc:34'
    has 'chess_clock::tick() chessclock.cc:45'
    lacks 'every run fails'
}

@test "a permit that is given back twice on an error path" {
    first_cause quota
    has 'cause: a post too many: thread '
    has 'transfer quota.c:50'
    has 'client quota.c:64'
}

@test "who would signal was stopped too early" {
    first_cause shutdown
    has 'cause: who would signal has ended: thread '
    has 'log_stop shutdown.c:60'
}

# bats test_tags=long
@test "two threads that make the same, behind std::mutex, which is not inlined" {
    first_cause singleton
    has 'cause: atomicity violation: what thread ' # "done twice" alone is not enough: of a run that shows accesses
    has 'Service::instance() singleton.cc:20'
    has 'Service::instance() singleton.cc:29'
}

@test "a run that is killed before pct can record how: what its steps tell" {
    cat > killed.c << 'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void *user(void *unused)
{
    if (destroyed)
        return unused;
    pthread_mutex_lock(&mutex);
    if (destroyed)
        kill(getpid(), SIGKILL);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, user, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    destroyed = 1;
    pthread_join(thread, NULL);
    return 0;
}
C
    "$cc" -g -pthread -o killed killed.c
    run "$pct" run -n 1000 -s 1 --state none -- ./killed
    has 'killed by signal 9'
    has 'cause: use after destroy: thread 0 destroys mutex 1 (step '
    token=$(grep -o "pct1:[^' ]*" <<< "$output" | tail -n 1)
    run "$pct" explain "$token" -- ./killed
    is "$status" 0
    has 'cause: use after destroy: thread 0 destroys mutex 1 (step '
}

@test "of a small program, what tells all schedules that fail from all that pass" {
    cat > small.c << 'C'
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static int get(void)
{
    pthread_mutex_lock(&mutex);
    int n = balance;
    pthread_mutex_unlock(&mutex);
    return n;
}

static void set(int n)
{
    pthread_mutex_lock(&mutex);
    balance = n;
    pthread_mutex_unlock(&mutex);
}

static void *deposit(void *unused)
{
    set(get() + 10);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, deposit, NULL);
    pthread_create(&b, NULL, deposit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(balance == 20);
    return 0;
}
C
    "$cc" -g -pthread -o small small.c
    token=$("$pct" run -q --brief -n 100 -s 1 --state none -- ./small 2>&1 | grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --seconds 1000000 "$token" -- ./small
    is "$status" 0
    has 'cause: atomicity violation: '
    has 'All classes of schedules were explored, of which `pct explore` says:'
    has '  cause, exact: each class that fails so (4) has all of these orderings, and none that passes (2):'
    has 'get small.c:9 < deposit small.c:24'
    # Where accesses to memory are points, too, its classes are others.
    token=$("$pct" run -q --brief -n 100 -s 1 --state none --memory=globals -- ./small 2>&1 |
        grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --seconds 1000000 "$token" -- ./small
    has 'cause: '
    [[ $output != *'cause, exact'* ]]
}

@test "the first screen makes no others where the failing run alone decides, pct explain does" {
    cat > counted.c << 'C'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *argument)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return argument;
}
int main(void)
{
    pthread_t thread;
    if (write(open("runs", O_WRONLY | O_APPEND | O_CREAT, 0600), "r", 1) != 1)
        return 2;
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return pthread_join(thread, NULL);
}
C
    "$cc" -g -pthread -o counted counted.c
    run "$pct" run -n 100 -s 1 --state none --epoch 1700000000 -- ./counted
    has 'cause: wait cycle: '
    local made token
    made=$(grep -o '^pct: [0-9]* runs\? in' <<< "$output" | grep -o '[0-9]*')
    # Again for the steps, for the stacks, and one that has begun meanwhile.
    [ "$(stat -c %s runs)" -le $((made + 3)) ]
    token=$(grep -o "pct1:[^' ]*" <<< "$output" | tail -n 1)
    rm runs
    "$pct" explain --seconds 1000000 "$token" -- ./counted
    [ "$(stat -c %s runs)" -gt 20 ]
}

@test "of one thread, which has one schedule, no others are made: no ordering is to blame" {
    cat > alone.c << 'C'
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    return write(open("runs", O_WRONLY | O_APPEND | O_CREAT, 0600), "r", 1) == 1 ? 7 : 2;
}
C
    "$cc" -o alone alone.c
    run "$pct" campaign -n 1 -s 1 -k 10 -- ./alone
    has 'replayed 10 times: 10 failed the same way; 10 identical'
    [ "$(stat -c %s runs)" -lt 20 ]
    token=$(grep -o "pct1:[^' ]*" <<< "$output" | tail -n 1)
    rm runs
    run "$pct" explain "$token" -- ./alone
    is "$status" 0
    has 'no cause: the run has one thread, and so one schedule: no ordering is to blame. '
    [ "$(stat -c %s runs)" -lt 10 ]
    "$pct" explain --json "$token" -- ./alone > json
    is "$(jq -c .diagnoses json)" '[]'
    # What somebody else, or the time, decides may come otherwise: others are made.
    sed 's/return write/usleep(1);\n    return write/' alone.c > slept.c
    "$cc" -o slept slept.c
    rm runs
    "$pct" campaign -q -n 1 -s 1 -k 10 --db slept.db -- ./slept || is $? 1
    [ "$(stat -c %s runs)" -gt 60 ]
}

@test "what is said to come between is tried, both ways" {
    "$cc" -g -pthread -o cfgpair "$root/bench/desk/cfgpair.c"
    token=$("$pct" run -q --brief -n 100 -s 1 --state none --epoch 1700000000 -- ./cfgpair 2>&1 |
        grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --seconds 1000000 "$token" -- ./cfgpair
    is "$status" 0
    has 'cause: atomicity violation: '
    has 'config_host cfgpair.c:'
    has 'config_load cfgpair.c:'
    has 'config_port cfgpair.c:'
    has 'tried       with this in between the run fails, and without it passes'
    "$pct" explain --seconds 1000000 --json "$token" -- ./cfgpair 2> /dev/null | grep -q '"tried": *true'
}

@test "where every run with the same random numbers fails, no order is to blame" {
    "$cc" -g -O1 -pthread -I"$root/include" -o drawn "$root/tests/cli/packets.c"
    run "$pct" run -n 100 -s 1 --state none -- ./drawn
    is "$status" 134
    has 'no cause: every run with the same random numbers fails ('
    lacks 'cause: atomicity violation'
    first_cause "$PWD/drawn"
    has 'no cause: every run with the same random numbers fails ('
    lacks 'passes is the same'
}

# bats test_tags=long
@test "runs that got other numbers from pct_choose() do not tell of an order; with the same ones they do" {
    cat >order.c <<'C'
#include <pct/script.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tasks = 6, done;
static int get(int *number)
{
    pthread_mutex_lock(&lock);
    int is = number == &tasks && tasks ? tasks-- : *number;
    pthread_mutex_unlock(&lock);
    return is;
}
static void *work(void *unused)
{
    while (get(&tasks)) {
        pct_choose(3);
        int before = get(&done);
        pthread_mutex_lock(&lock);
        done = before + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pct_assert(done == 6);
    return 0;
}
C
    "$cc" -g -O1 -pthread -I "$root/include" -DCHOOSE -o number "$root/tests/cli/packets.c"
    "$cc" -g -O1 -pthread -I "$root/include" -o order order.c
    first_cause "$PWD/number"
    has 'runs that pass, 0 got the same numbers from pct_choose(), too few to blame an ordering'
    lacks 'passes is the same'
    run "$pct" run -n 100 -s 1 --state none -- ./number
    is "$status" 134
    lacks 'atomicity violation'
    has '0 got the same numbers from pct_choose()'
    first_cause "$PWD/order"
    has 'cause: atomicity violation'
    has 'get order.c:7 < work order.c:16'
}

@test "variables that share eight bytes are two objects: a neighbour is not to blame" {
    cat > pair.c << 'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
_Alignas(8) static atomic_int tickets;
static atomic_int innocent;
static void *sell(void *unused)
{
    int seen = tickets;
    tickets = seen + 1;
    return unused;
}
static void *count(void *unused)
{
    for (int i = 0; i < 4; i++)
        innocent = innocent + 1;
    return unused;
}
int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, sell, NULL);
    pthread_create(&t[1], NULL, sell, NULL);
    pthread_create(&t[2], NULL, count, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(tickets == 2);
    return 0;
}
C
    "$cc" -g -O0 -pthread -o pair pair.c
    tickets=$(nm pair | sed -n 's/ b tickets$//p') innocent=$(nm pair | sed -n 's/ b innocent$//p')
    [ $((16#$innocent - 16#$tickets)) = 4 ] || skip "the two do not share eight bytes"
    token=$("$pct" run -q --brief -n 500 -s 1 --state none --memory=atomics -- ./pair 2>&1 |
        grep -o "pct1:[^' ]*" | tail -n 1)
    run "$pct" explain --all "$token" -- ./pair
    is "$status" 0
    has 'cause: atomicity violation'
    has 'sell pair.c:8'
    lacks 'count pair.c'
}

@test "a failure that no order decides: no search for one" {
    cat > always.c << 'END'
#include <assert.h>
#include <pthread.h>
static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *unused)
{
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    assert(sum == 17);
}
END
    "$cc" -g -pthread -o always always.c
    first_cause ./always
    has 'no cause: every run fails (201 of 201)'
    lacks 'No ordering is needed'
}
