#!/usr/bin/env bats
# `pct script`: that the schedule that a script says is reached, what is said where it cannot be, and that tokens replay
# without the script.
load common
load script

setup_file()
{
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/script" "$root/tests/cli/script.c"
    "$build/pct-cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/told" "$root/tests/cli/script.c"
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/processes" "$root/tests/cli/script_processes.c"
    cp "$BATS_FILE_TMPDIR/processes" "$BATS_FILE_TMPDIR/another"
    "$cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/talk" "$root/tests/cli/script_talk.c"
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    times=${FULL:+100} # each exact script; `make concurrit` makes a thousand runs
    ln -sf "$BATS_FILE_TMPDIR/script" "$BATS_FILE_TMPDIR/told" .
    cp "$BATS_FILE_TMPDIR/processes" "$BATS_FILE_TMPDIR/another" .
}

deadlock='local a, b = thread "forwards", thread "backwards"
run(a, locks "second")
run(b, locks "first")'

@test "a deadlock by its exact schedule, each time" {
    printf '%s\n' "$deadlock" > test.lua
    for ((i = 0; i < ${times:-20}; i++)); do
        run timeout 60 "$pct" script -q test.lua -- ./script deadlock
        is "$status" 120
    done
    script "$deadlock" ./script deadlock
    is "$status" 120
    has 'the program: deadlock'
    has '         2  4-5          1        run(a, locks "second")'
    replays 120
}

lost='local a, b = thread "count", thread "count"
run(a, writes "counter")
run(b, ends)
run(a, done)'

@test "a lost update between memory accesses, each time" {
    printf '%s\n' "$lost" > test.lua
    for ((i = 0; i < ${times:-20}; i++)); do
        run timeout 60 "$pct" script -q test.lua -- ./told counter
        is "$status" 134
    done
    script "$lost" ./told counter
    is "$status" 134
    has 'test.lua: ended after'
    replays 134
}

# bats test_tags=long
@test "where functions begin and return, in a program as it is, whatever it was optimised for" {
    local script='local a, b = thread "withdraw", thread "withdraw"
run(a, calls "set_balance")
run(b, ends)
run(a, done)'
    for level in 0 1 2 3 s; do
        "$cc" -O$level -g -pthread -o optimised "$root/tests/cli/script.c"
        script "$script" ./optimised balance
        is "$status" 134
        lacks 'no jump fits'
        replays 134
    done
    "$cc" -O2 -g -pthread -o optimised "$root/tests/cli/script.c"
    script 'local a, b = thread "withdraw", thread "withdraw"
run(a, returns "get_balance")
assert(value "balance" == 100)
run(b, ends)
run(a, returns "set_balance")
assert(value "balance" == 70)
expect(a, returns - enters)' ./optimised balance
    is "$status" 134
    replays 134
    script 'thread(enters "balance")' ./optimised balance
    is "$status" 2
    has "test.lua:1: ./optimised and its libraries have no function with code of its own"
    script 'local t = thread(0) run(t, enters "set_balance")' ./optimised balance
    is "$status" 117
}

# bats test_tags=long
@test "threads of std::thread, of std::async and of Rust by the function that they are given" {
    cat > library.cc << 'EOF'
#include <future>
#include <thread>
int counter;
struct account { void deposit(int n) { counter += n; } virtual void close() { counter *= 2; } };
static void add(int n) { counter += n; }
static int later() { return counter += 4; }
int main()
{
    account one;
    std::thread a(add, 1), b(&account::deposit, &one, 2), c(&account::close, &one), d([] { add(3); });
    auto e = std::async(std::launch::async, later);
    a.join(), b.join(), c.join(), d.join(), e.get();
    return counter != 16;
}
EOF
    local level
    for level in -O0 -O2; do
        "${CXX:-g++}" "$level" -g -pthread -o library library.cc
        script 'local first, second = thread "add", thread "add"
local deposit, close, later = thread "account::deposit", thread "account::close", thread "later"
assert(first.id == 1 and deposit.id == 2 and close.id == 3 and second.id == 4 and later.id == 5)
finish(deposit, first, later, second) assert(value "counter" == 10)
finish(close) assert(value "counter" == 20)' ./library
        is "$status" 1
        replays 1
    done
    [ -x "$(command -v rustc)" ] || return 0
    cat > library.rs << 'EOF'
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
static SUM: AtomicU32 = AtomicU32::new(1);
fn worker(n: u32) { let sum = SUM.load(SeqCst); SUM.store(sum * n + 1, SeqCst); }
fn main() {
    let t: Vec<_> = (2..4).map(|n| std::thread::spawn(move || worker(n))).collect();
    for t in t { t.join().unwrap(); }
    std::process::exit(SUM.load(SeqCst) as i32);
}
EOF
    for level in 0 3; do
        rustc -g -C opt-level="$level" -o library library.rs
        script 'local a, b = thread "library::worker", thread "library::worker"  finish(b) finish(a)' ./library
        is "$status" 9 # and not (1 * 2 + 1) * 3 + 1
    done
}

@test "a function that cannot be patched: its caller or callee that can be is named" {
    cat > tight.c << 'EOF'
#include <pthread.h>
int total;
__attribute__((naked, noinline)) void inner(void) { __asm__("incl total(%rip)\n ret"); }
__attribute__((naked, noinline)) void tight(void) { __asm__("push %rbx\n call inner\n pop %rbx\n ret"); }
__attribute__((naked, noinline)) void handler(void) { __asm__("push %rbx\n call inner\n pop %rbx\n ret"); }
void (*volatile handle)(void) = handler;
static inline __attribute__((always_inline)) void within(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void caller(void) { total += 2; tight(); total += 3; handle(); within(); }
static void *go(void *unused) { caller(); return unused; }
int main(void) { pthread_t t; pthread_create(&t, 0, go, 0); pthread_join(t, 0); return total == 7 ? 0 : 1; }
EOF
    "$cc" -O1 -g -pthread -o tight tight.c
    script 'run(thread "go", enters "tight")' ./tight
    is "$status" 2
    has 'no jump fits where function tight begins'
    has 'name `caller`, which calls it, or build it with -O0'
    script 'run(thread "go", enters "caller")' ./tight
    is "$status" 0
    script 'run(thread "go", enters "within")' ./tight
    is "$status" 2
    has "no function with code of its own 'within': all its calls were inlined; name a function that calls it"
    script 'run(thread "go", enters "handler")' ./tight
    is "$status" 2
    has 'name `inner`, which it calls, or build it with -O0'
    script 'run(thread "go", enters "inner")' ./tight
    is "$status" 0
}

@test "inside a function: from before its entry until it has returned, deep in it, and left by longjmp" {
    script 'local t = thread "visitor"
run(t, inside "visit" * -enters "visit")             -- the innermost one has been called
assert(stands(t, accesses "visits"))
assert(value "visits" == 1)
run(t, returns "visit") expect(t, inside "visit")    -- three returns
run(t, returns "visit") run(t, returns "visit")
expect(t, inside "visit")
run(t, done)
expect(t, -inside "visit") expect(t, writes "visits")
run(t, accesses "visits" * inside "jump")
run(t, -inside "jump") expect(t, writes "visits") assert(value "visits" == 3)
run(t, enters "visit") expect(t, inside "visit")
run(t, -inside "visit") expect(t, writes "visits")
finish(t)' ./told visits
    is "$status" 0
    script 'run(thread(0), inside "vizit")' ./told visits
    is "$status" 2
    has "did you mean 'visit'?"
    cat > thrown.cc << 'EOF'
#include <pthread.h>
pthread_mutex_t in = PTHREAD_MUTEX_INITIALIZER, out = PTHREAD_MUTEX_INITIALIZER;
static void use(pthread_mutex_t *m) { pthread_mutex_lock(m); pthread_mutex_unlock(m); }
__attribute__((noinline)) void inner(int i) { use(&in); if (i < 2) throw i; }
__attribute__((noinline)) void outer(int i) { volatile int n = i; inner(n); use(&in); }
namespace deep { __attribute__((used)) void far(int) {} }
static void *go(void *unused) { for (int i = 0; i < 2; i++)
    try { outer(i); } catch (int) { use(&out); } return unused; }
int main() { pthread_t t; pthread_create(&t, nullptr, go, nullptr); pthread_join(t, nullptr); }
EOF
    "${CXX:-g++}" -O1 -g -pthread -o thrown thrown.cc
    script 'local t = thread "go"
for i = 1, 2 do
    run(t, locks) expect(t, inside "inner" * inside "outer" * locks "in")
    run(t, locks) expect(t, locks "out" - inside "inner" - inside "outer")
end
finish(t)' ./thrown
    is "$status" 0
    script 'thread(enters "far")' ./thrown
    is "$status" 2
    has "did you mean '*::far'?"
}

@test "what a script waits for is found at the first step where it is so, though others tell nothing" {
    script 'local t = thread(named "mover")
expect(t, locks "first")
run(t, locks "shelf->lock") expect(t, locks "new_shelf.lock")
run(t, unlocks "shelf->lock") run(t, done) expect(t, ends)
local b = thread "backwards" run(b, locks "first")
local f = thread "forwards" run(f, blocked_by(b)) expect(f, locks "second")' ./script mover
    is "$status" 120
    script 'local t = thread "move"
local n = 0
run(t, locks * function() n = n + 1 return n == 3 end) expect(t, locks "old_shelf.lock")
run(t, locks * at "script.c:'"$(grep -n 'the last' "$root/tests/cli/script.c" |
    cut -d: -f1)"'") expect(t, locks "new_shelf.lock")' ./script mover
    is "$status" 0
}

@test "functions of an event: what they call, ask for and change is kept to, though they are seldom called" {
    cat > again.c << 'EOF'
#include <pthread.h>
int count;
int main(void)
{
    pthread_mutex_t m;
    for (; count < 4; count++) {
        pthread_mutex_init(&m, 0);
        for (int i = 0; i < 3; i++)
            pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
        pthread_mutex_destroy(&m);
    }
    return 0;
}
EOF
    gcc -g -pthread -o again again.c
    # The same address is another object; a variable has changed; a function that counts is called at each step.
    script 'local main = thread(0)
run(main, locks)
local first = event(main).object
run(main, locks * function(e) return e.object ~= first end) assert(value "count" == 1)
run(main, locks * function(e) return string.sub(e.operation, 1, 4) == "lock" and value "count" == 2 end)
assert(value "count" == 2)
local n = 0
local function counts() n = n + 1 return n == 4 end
run(main, locks * function() return counts() end) assert(value "count" == 3)
run(main, locks * function(e) return e.operation:len() == 4 and math.max(e.thread, 1) == 1 end)
assert(n == 4 and value "count" == 3)' ./again
    is "$status" 0
}

# Counting makes it one that is called at each step.
@test "functions of a script that ask for other threads: as if they were called at each step" {
    cat > others.c << 'EOF'
#include <pthread.h>
#include <stdlib.h>
struct box { int count; struct box *next; } *box;
pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int n;
static void use(pthread_mutex_t *m) { pthread_mutex_lock(m), n++, pthread_mutex_unlock(m); }
static void *a(void *unused)
{
    for (int i = 0; i < 6; i++)
        use(&first), box->next->count++;
    use(&second), use(&first), use(&second), use(&first);
    return unused;
}
static void *b(void *unused) { use(&second), use(&second), use(&first); return unused; }
int main(void)
{
    pthread_t t[2];
    box = calloc(1, sizeof *box), box->next = box;
    pthread_create(&t[0], NULL, a, NULL), pthread_create(&t[1], NULL, b, NULL);
    pthread_join(t[0], NULL), pthread_join(t[1], NULL);
    return 0;
}
EOF
    gcc -g -pthread -o others others.c
    cat > lines.lua << 'EOF'
local a, b = thread "a", thread "b"
run(a, locks) run(b, locks)
run(a, F(function() return value "box->next->count" == 3 end) * locks) assert(value "n" == 3)
run(a, F(function() return event(b).operation == "lock" and value "n" == 5 end)) assert(event(a).operation == "unlock")
run(a, F(function(e) return true end) * locks - locks "first") assert(value "n" == 6)
run(a, F(function(e) return stands(a, unlocks) and stands(b, locks "second") and event(b).blocked end))
run(a, F(function(e) return not event(b).blocked and stands(a, locks "second") end)) assert(value "n" == 8)
run(b, F(function(e) return event(a).blocked and event(a).holder == e.thread end))
assert(event(b).operation == "unlock")
finish(b) run(a, F(function() return ended(b) end)) assert(value "n" == 12)
EOF
    for f in 'return f' 'local n = 0 return function(e) n = n + 1 return f(e) end'; do
        { echo "local function F(f) $f end" && cat lines.lua; } > test.lua
        run "$pct" script test.lua -- ./others
        has 'test.lua: ended after '
        grep -v replay <<< "$output" > said
        [ ! -f before ] || diff before said
        mv said before
    done
}

@test "a lock behind two pointers: each of them may change, and point to what is not there" {
    cat > way.c << 'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
struct node { pthread_mutex_t lock; };
struct queue { struct node *head; } *queue;
int n;
static void use(struct node *a) { pthread_mutex_lock(&a->lock), pthread_mutex_unlock(&a->lock), n++; }
static void *thread(void *unused) { return unused; }
int main(void)
{
    pthread_t t;
    struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    struct queue *mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&t, 0, thread, 0), pthread_join(t, 0);
    queue = calloc(1, sizeof *queue), queue->head = a;
    use(b), use(a);                                            // 1
    queue->head = b, use(a), use(b), use(a);                   // 3
    queue->head = NULL, use(b);
    mapped->head = a, queue = mapped, use(b), use(a);          // 7
    munmap(mapped, 4096), use(a);
    queue = (void *)8, use(a);
    queue = (void *)((char *)a + (1 << 28)), use(a);
    queue = calloc(1, sizeof *queue), queue->head = b, use(b); // 11
    return 0;
}
EOF
    gcc -g -pthread -o way way.c
    script 'local m = thread(0)
for _, step in ipairs { 1, 3, 7, 11 } do run(m, locks "queue->head->lock") assert(value "n" == step) end

run(m, locks "queue->head->lock")' ./way
    is "$status" 117
    has 'test.lua:4: did not fit: the script wants thread 0 to go on until it locks queue->head->lock, but'
}

@test "who holds what a thread waits for, and stands behind a child process: a token, and the smallest schedule" {
    cat > behind.c << 'EOF'
#include <pthread.h>
#include <stdlib.h>
int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void take(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
static void *a(void *unused) { take(); system("exit 3"); x = 1; take(); x -= x == 1; return unused; }
static void *b(void *unused) { take(); if (x == 1) x = 2; take(); return unused; }
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, a, NULL), pthread_create(&t[1], NULL, b, NULL);
    pthread_join(t[0], NULL), pthread_join(t[1], NULL);
    return x == 2 ? 3 : 0;
}
EOF
    gcc -g -pthread -o behind behind.c
    script 'local a, b = thread "a", thread "b"
run(a, does "fork") run(b, unlocks) step(a) run(a, locks)
step(a)' ./behind
    is "$status" 117
    has 'it waits for: lock mutex 1, held by thread 2, which stands since line 2'
    script 'local a, b = thread "a", thread "b"
run(a, does "fork") step(a) run(a, locks)
finish(b) finish(a)' ./behind
    is "$status" 3
    has 'switches=1.4.a1-1.5.b2,'
    token=$(grep -o "pct1:[^']*" <<< "$stderr" | head -n 1)
    replays 3
    run --separate-stderr "$pct" minimize --no-depth "$token" -- ./behind
    is "$status" 0
    grep -q 'fork, behind.c:6 (a): thread 1 is awaited' <<< "$output$stderr"
    grep -q 'where thread 1 is back from outside: thread 2 goes on' <<< "$output$stderr"
}

@test "a script that fits, and a program that passes" {
    script 'local a, b = thread "forwards", thread "backwards"
finish(b) assert(value "total" == 1)
finish(a) assert(value "total" == 2)' ./script deadlock
    is "$status" 0
    has 'test.lua: ended after'
    replays 0
    options=-q script 'finish(thread "forwards")' ./script deadlock
    is "$status" 0
    is "$stderr" ''
}

@test "threads by order, by id, by name; run_all, step, expect, from and at" {
    script 'local t = threads(3, "note")
for i = 3, 1, -1 do finish(t[i]) end' ./script order
    is "$status" 3
    script 'local a, b, c = thread(1), thread(2), thread(3)
finish(c, b) finish(a)' ./script order
    is "$status" 3
    script 'local a, b = thread(named "worker-0" * locks), thread(locks "first" * named "worker-1")
finish(thread(named "worker-2" * locks), b)' ./script order
    is "$status" 3
    script 'local t = threads(2, starts)
run_all(t, locks)
expect(t[1], locks "first" * from "both")
expect(t[1], at "script.c:27")
step(t[1])
expect(t[1], locks "second")
assert(event(t[1]).operation == "lock" and not event(t[1]).blocked)
expect(t[1], locks - locks "first")
expect(t[1], function(e) return e.thread == t[1].id end)
expect(t[1], -unlocks + ends)
finish(t[1])
assert(ended(t[1]) and not ended(t[2]))' ./script deadlock
    is "$status" 0
}

@test "condition variables, semaphores, the main thread" {
    script 'local taker, giver = thread "take", thread "give"
run(taker, waits "filled")
step(taker)
run(giver, signals "filled")
assert(value "items" == 1)
run(giver, posts "posted")
finish(taker)
assert(value "items" == 0)
expect(giver, posts)' ./script queue
    is "$status" 0
    script 'local m = thread(0 == 0 and creates)
step(m)
expect(m, creates)
run(m, joins)' ./script queue
    is "$status" 0
}

# bats test_tags=long
@test "a thread waits for what only the outside can do while others stand: ten times the same, and the same token" {
    local text='local s, w = thread "backwards", thread "waits"
run(s, locks "first")
run(w, locks "first")
run(w, locks "second")' what runs
    for what in waitpid system popen pipe alarm; do
        runs=2
        [ $what != waitpid ] || runs=10
        for _ in $(seq $runs); do
            script "$text" ./script outside $what
            is "$status" 120
            # But for the day and the checksum of both.
            sed -E "s/:[0-9a-f]+:([0-9a-f]{16}):[0-9a-f]+'/:\1'/" <<< "$stderr" > said
            has 'the program: deadlock'
            [ -e "$what" ] || cp said "$what"
            diff said "$what"
        done
        replays 120
    done
    # From beyond the family: how long that took is no matter of the schedule, and no token says it.
    script "$text" ./script outside input <<< x
    is "$status" 120
    has 'test.lua: ended after '
}

@test "what a script waits for while the process waits for input is said" {
    cat > input.c << 'EOF'
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
sem_t s;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *reads(void *c) { read(0, c, 1), sem_post(&s); return c; }
static void *stands(void *unused) { pthread_mutex_lock(&m), pthread_mutex_unlock(&m); return unused; }
static void *waits(void *unused) { sem_wait(&s); return unused; }
int main(void)
{
    char c;
    pthread_t t[3];
    pthread_create(&t[0], NULL, reads, &c);
    pthread_create(&t[1], NULL, stands, NULL), pthread_create(&t[2], NULL, waits, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
EOF
    gcc -g -pthread -o input input.c
    mkfifo fifo
    : > said
    echo 'local s, w = thread "stands", thread "waits"
run(s, unlocks) finish(w) finish(s)' > test.lua
    "$pct" script test.lua -- ./input < fifo 2> said &
    exec 5> fifo
    tail -f -n +1 --pid=$! said | grep -m 1 -q 'waiting for what is outside'
    echo x >&5
    wait $!
    exec 5>&-
    grep -q 'wants thread 3 to go on until it has ended, but it waits for: sem wait semaphore ' said
    grep -q '; the outside may let others go on: thread 1 waits for: read descriptor 0$' said
    grep -q 'ended after' said
    # Also where it has not named any thread.
    : > said
    echo 'thread(9)' > test.lua
    "$pct" script test.lua -- ./input < fifo 2> said &
    exec 5> fifo
    tail -f -n +1 --pid=$! said | grep -m 1 -q 'test.lua:1: waiting for what is outside: the script wants a thread'
    echo x >&5
    wait $! || is $? 117
    exec 5>&-
}

@test "a thread that sleeps goes on when no other can" {
    script 'local s, f = thread "sleeper", thread "forwards"
finish(s)
assert(value "counter" == 1)
assert(value "total" == 0)' ./script sleep
    is "$status" 0
    replays 0
}

@test "fields, elements of arrays, and what pointers point to" {
    local name
    for name in 'binlog.state' 'table[2].in.total'; do
        script "local a, b = thread \"write_log\", thread \"write_log\"
run(a, writes \"$name\") run(b, ends) run(a, done) assert(value \"$name\" == 1)" ./told log
        is "$status" 134
        replays 134
    done
    script 'assert(value "head->next->pad" == nil)
local a, b = thread "write_log", thread "write_log"
run(a, writes "head->in.cells[1][1]") assert(value "head->in.cells[1][1]" == 0)
run(b, locks "head->lock") expect(b, locks "head->lock" - locks "binlog.lock")
step(a) assert(value "head->in.cells[1][1]" == 1)
finish(a) run(b, unlocks "head->lock")' ./told log
    is "$status" 0
    while IFS='|' read -r name message; do
        script "run(thread(1), writes \"$name\")" ./told log
        is "$status" 2
        has "$message"
    done <<- 'end'
		head.pad|test.lua:1: head.pad: a pointer has no field 'pad': write -> for what it points to
		table[4].pad|test.lua:1: table[4].pad: the array is shorter
		binlog.stat|test.lua:1: binlog.stat: its structure has no field 'stat'
		binlog.state.x|test.lua:1: binlog.state.x: there is no structure that could have a field 'x'
		binlo.state|test.lua:1: ./told and its libraries have no variable 'binlo'; did you mean 'binlog'?
		binlog->state|there is no pointer
		binlog[x]|an index is wanted
		counter+x|is not VARIABLE
	end
    script 'run(thread(1), writes "head->next->pad")' ./told log
    is "$status" 117
    strip --strip-debug -o bare told
    script 'run(thread(1), writes "binlog.state")' ./bare log
    is "$status" 2
    has 'only debug information has members: build with -g'
}

@test "once: behind the step; others: the threads that no line names" {
    script 'local a = thread "count" run(a, writes "counter" * once) assert(value "counter" == 1)' ./told counter
    is "$status" 0
    script 'run(thread "count", writes + reads * once)' ./told counter
    is "$status" 2
    has 'once goes with all of a predicate'
    script 'local s = thread "sleeper"
others "held" run(s, ends) assert(value "total" == 0)
others "free" finish(thread "forwards") assert(value "total" == 1)' ./script sleep
    is "$status" 0
    replays 0
    script 'local t = thread "take"
others "held"
finish(t)' ./script queue
    is "$status" 117
    has 'test.lua:3: did not fit: the script wants thread 1 to go on until it has ended, but it waits for: cond wait'
    script 'others(3)' ./script queue
    is "$status" 2
    has 'test.lua:1: others: "free" or "held" is wanted'
}

@test "did not fit: the line, the thread, what it waits for and who holds that" {
    script 'local a, b = thread "forwards", thread "forwards"
run(a, unlocks)
run(b, locks "second")' ./script deadlock
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants a thread that starts with forwards, but no thread can go on: '\
'thread 0 waits for: join thread 1, thread 1 stands before: start since line 1'
    script 'local a, b = thread "forwards", thread "backwards"
run(b, unlocks "first")

run(a, ends)' ./script deadlock
    is "$status" 117
    has 'test.lua:4: did not fit: the script wants thread 1 to go on until it ends, but it waits for: lock mutex 3, '\
'held by thread 2, which stands since line 2'
    replays 0
    script 'run(thread "forwards", posts)' ./script deadlock
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants thread 1 to go on until it posts, but it has ended'
    # A line about a thread that an earlier one has ended says what it wants itself.
    for line in 'run(a, locks)' 'run(a, done)' 'step(a)' 'in_order({ a, locks })' 'run_all({ a }, locks)'; do
        script "local a = thread(1) finish(a)
$line" ./script counter
        is "$status" 117
        has 'test.lua:2: did not fit: the script wants '
        lacks 'until it has ended'
        has ' ended'
    done
    script 'local a = thread(1) finish(a) finish(a)
choose_thread { a }' ./script counter
    is "$status" 117
    has 'test.lua:2: did not fit: the script wants one of 1 threads to be chosen, but all have ended'
    script 'local a = thread(1) finish(a) expect(a, locks)' ./script counter
    is "$status" 116
    has 'thread 1 was expected before an operation that locks, and has ended'
    script 'thread "count"' ./script deadlock
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants a thread that starts with count, but the program has ended'
    script 'finish(thread "spinner")' ./script spin
    is "$status" 0
    script 'thread "setter" finish(thread "spinner")' ./script spin
    is "$status" 117
    has 'did not fit: the script wants thread 1 to go on until it has ended, but'
}

@test "a thread in a loop on plain memory stands before what comes behind the loop" {
    cat > behind.c <<'PROGRAM'
#include <pthread.h>
static volatile int flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *setter(void *unused)
{
    pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
    flag = 1;
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, setter, NULL);
    while (!flag)
        ;
    pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
    return pthread_join(thread, NULL);
}
PROGRAM
    "$cc" -g -O1 -pthread -o behind behind.c
    script 'local t = thread(0)
run(t, locks "lock")
expect(t, locks "lock")
run(t, joins)' ./behind
    is "$status" 0
    has 'test.lua: ended after '
    replays 0
}

@test "a thread in a loop on plain memory, while the script keeps the one that would end it" {
    local line
    line=$(grep -n 'volatile int \*)&plain' "$root/tests/cli/script.c" | cut -d: -f1)
    script 'local w, l = thread "writer", thread "looker"
run(l, ends)' ./script plain
    is "$status" 117
    has "test.lua:2: did not fit: the script wants thread 1 to go on until it ends, but thread 1 goes round a loop at \
script.c:$line for 2 s that only others can end; meanwhile thread 2 stands before: start since line 1; let another go \
on first"
    replays 0
    script 'local w, l = thread "writer", thread "looker"
run(w, ends) run(l, ends)' ./script plain
    is "$status" 0
    options=--memory=all script 'local w, l = thread "writer", thread "looker"
run(l, ends)' ./script plain
    is "$status" 117
    has 'has only yielded, slept, and looked at what nobody changes, for a million steps; meanwhile thread 2 stands '\
'before: start since line 1; let another go on first'
}

@test "a thread that computes for seconds is none that did not fit" {
    script 'local w, c = thread "writer", thread "counts"
run(c, ends) run(w, ends)' ./script counts
    is "$status" 0
    has 'test.lua: ended after'
    PCT_WATCHDOG=50 script 'local w, c = thread "writer", thread "counts"
run(c, ends) run(w, ends)' ./script counts
    is "$status" 117
    has 's of CPU time without a scheduling point, and is at script.c:'
    has 'a larger PCT_WATCHDOG (milliseconds) gives it time'
}

@test "an assertion of the script, and one that the program fails behind it" {
    script 'local a = thread "forwards"
expect(a, ends)' ./script deadlock
    is "$status" 116
    has 'test.lua:2: assertion of the script: thread 1 was expected before an operation that ends, and stands before: '\
'start'
    replays 0
    script 'assert(value "total" == 7, "total is " .. value "total")' ./script deadlock
    is "$status" 116
    has 'test.lua:1: assertion of the script: total is 0'
}

@test "what is wrong with a script is one line, and never a hang" {
    local body
    script 'local a = = 3' ./script deadlock
    is "$status" 2
    is "$stderr" "pct: test.lua:1: unexpected symbol near '='"
    script 'while true do end' ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: the script loops: 20000000 instructions, and no thread has '\
'gone on'
    for body in 'local x = string.rep("x", 4000)' 'table.sort(t)' 'table.insert(t, 1, 1) table.remove(t, 1)' \
        'local x = tonumber(s)' 'local x = string.format("%d", z)' 'local x = z:rep(z)' 'local x = math.abs(z)' \
        'pcall(math.abs, a)' 'local x = ("x"):sub(z)' 'table.concat(t, "", z, 2)' 'table.unpack(t, z, 2)'; do
        script "local t, s, z, a = {}, string.rep('1', 4000), string.rep('0', 3900) .. 1, string.rep('a', 4000)
for i = 1, 50000 do t[i] = -i end
while true do $body end" ./script deadlock
        is "$status" 2
        is "$stderr" 'pct: test.lua:3: the script loops: 20000000 instructions, and no thread '\
'has gone on'
    done
    script 'local x = string.rep("0", 4000) & 1' ./script deadlock
    is "$stderr" "pct: test.lua:1: attempt to perform bitwise operation on a string value"
    script 'local s = string.rep("1", 5000)' ./script deadlock
    is "$stderr" 'pct: test.lua:1: not enough memory'
    script 'while true do pcall(function() while true do end end) end' ./script deadlock
    is "$status" 2
    has 'the script loops'
    script 'local a = thread "forwards"
run(a, function(e) while true do end end)' ./script deadlock
    is "$status" 2
    has 'test.lua:2: the script loops'
    script 'local a = thread "forwards"
run(a, function(e) run(a, ends) end)' ./script deadlock
    is "$status" 2
    has 'pct: test.lua:2: a function that is asked of an event cannot let threads go on'
    script 'error({})' ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: an error that is no text'
    script 'assert(string.rep("", 1 << 60) == "" and ("a"):rep(2, "-") == "a-a")' ./script deadlock
    is "$status" 0
    script 'local s = "x" while true do s = s .. s end' ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: not enough memory'
    script 'local function f() return f() + 1 end f()' ./script deadlock
    is "$status" 2
    has 'test.lua:1: not enough memory'
    script "local a = $(printf '{%.0s' {1..180})$(printf '}%.0s' {1..180})" ./script deadlock
    is "$status" 0
    script "local a = $(printf '{%.0s' {1..300})$(printf '}%.0s' {1..300})" ./script deadlock
    is "$status" 2
    has 'pct: test.lua'
    script 'local function f(n) pcall(f, n + 1) end f(0)' ./script deadlock
    is "$status" 0
    script 'thread "forward"' ./script deadlock
    is "$status" 2
    has "no function 'forward'; did you mean 'forwards'?"
    script '
run(thread(1), locks "third")' ./script deadlock
    is "$status" 2
    has "test.lua:2: "
    has "no variable 'third'"
    script 'local v = "first" run(thread(1), locks(v))' ./script deadlock
    is "$status" 2
    has "test.lua:1: the variable 'first' must stand in the script as a word in quotes"
    script 'run(thread(1), at "script.c:1")' ./script deadlock
    is "$status" 2
    has 'test.lua:1: line 1 of script.c has no code in'
    script 'thread(inside())' ./script deadlock
    is "$status" 2
    has 'test.lua:1: inside: a text is wanted, not nil'
    # Of what has no value nothing would be waited for.
    script 'local a, b = thread "forwards" finish(b)' ./script deadlock
    is "$status" 2
    has 'test.lua:1: finish: a thread is wanted, as thread() returns one, not nil'
    script 'local a = thread "forwards" finish(a, aa)' ./script deadlock
    is "$status" 2
    has "test.lua:1: nothing has the name 'aa' here"
    script 'thread(7.5)' ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: thread: a whole number from 0 on is wanted, not 7.5'
    script 'run(thread(1), 3)' ./script deadlock
    is "$status" 2
    has 'test.lua:1: a predicate is wanted'
    script 'choose(3)' ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: test.lua:1: choose: a list is wanted, not a number'
    script 'run(1, ends)' ./script deadlock
    is "$status" 2
    has 'test.lua:1: run: a thread is wanted'
    script 'does "nonsense"' ./script deadlock
    is "$status" 2
    has "test.lua:1: there is no operation 'nonsense'"
    for name in io os require load print coroutine debug pairs xpcall; do
        script "assert($name == nil)" ./script deadlock
        is "$status" 2
        is "$stderr" "pct: test.lua:1: scripts have no '$name': pct-script(1) says what they have"
    done
}

@test "files that are no scripts, and options that make no sense" {
    run --separate-stderr "$pct" script none.lua -- ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: none.lua: No such file or directory'
    printf 'a\0b' > zero.lua
    run --separate-stderr "$pct" script zero.lua -- ./script deadlock
    is "$status" 2
    has 'zero.lua: not a text file'
    run --separate-stderr "$pct" script / -- ./script deadlock
    is "$status" 2
    has '/: Is a directory'
    printf '\033Lua' > compiled.lua
    run --separate-stderr "$pct" script compiled.lua -- ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: compiled.lua: not a text file: it is compiled'
    printf '\357\273\277#!a line for others\n+' > mark.lua
    run --separate-stderr "$pct" script mark.lua -- ./script deadlock
    is "$status" 2
    is "$stderr" "pct: mark.lua:2: unexpected symbol near '+'"
    mkfifo pipe.lua
    run --separate-stderr timeout 10 "$pct" script pipe.lua -- ./script deadlock
    is "$status" 2
    has 'a script is a file'
    truncate -s 10M large.lua
    run --separate-stderr "$pct" script large.lua -- ./script deadlock
    is "$status" 2
    is "$stderr" 'pct: large.lua: a script is a file of at most 1 MiB'
    touch empty.lua
    run --separate-stderr "$pct" script empty.lua -- ./script deadlock
    is "$status" 0
    run --separate-stderr "$pct" script
    is "$status" 2
    has 'no script is given'
    run --separate-stderr "$pct" script empty.lua
    is "$status" 2
    has 'no command is given'
    run --separate-stderr "$pct" script -S pct empty.lua -- ./script deadlock
    is "$status" 2
    run --separate-stderr "$pct" script --first empty.lua -- ./script deadlock
    is "$status" 2
    strip -o stripped script
    options=--max-steps=50000 script 'local s, w = thread "setter", thread "spinner" finish(w)' ./told spin
    is "$status" 117
    has 'to go on until it has ended, but the run was ended: livelock'
    script 'run(thread(1), writes)' ./script counter
    is "$status" 117
    has './script tells nothing of its accesses to memory, for which the script waits: build it with pct-cc'
    script 'thread "forwards"' ./stripped deadlock
    is "$status" 2
    has "no function 'forwards' (a stripped file has no names)"
    script 'finish(thread(1))' ./stripped deadlock
    is "$status" 0
}

@test "--all: each way that the choices can go, once" {
    options=--all script 'local t = threads(3, starts)
while not all_ended(t) do finish(choose_thread(t)) end' ./script order
    is "$status" 1
    has 'test.lua: 6 runs, all choices made; 1 fails, 0 did not fit'
    options='--all -q' script 'interleave_bounded(threads(2, starts), locks + ends, 2)' ./script deadlock
    is "$status" 1
    has 'fail'
    has 'all choices made'
    options='--all -n 2' script 'choose { 1, 2 } choose { 1, 2 }' ./script deadlock
    is "$status" 0
    has 'test.lua: 2 runs, not all choices made'
    options='--all --first' script 'interleave(threads(2, "count"), accesses "counter" + ends)' ./told counter
    is "$status" 1
    has 'not all choices made; 1 fails'
    options=--all script 'run(thread(1), locks(choose { "first", "second" }))' ./script deadlock
    is "$status" 2
}

@test "--all: orders, several runs at a time, and the same ones again" {
    local order jobs all='local t = threads(3, starts)
while not all_ended(t) do finish(choose_thread(t)) end'
    for order in depth breadth random; do
        for jobs in 1 2; do
            options="--all=$order -j $jobs -s 7" script "$all" ./script order
            is "$status" 1
            has 'test.lua: 6 runs, all choices made; 1 fails, 0 did not fit'
            has "switches=0.4.3-3.4.2"
            has 'pct: choices: 3 of 3, 2 of 2, 1 of 1'
            has '         1  1-4          1,2,3    local t = threads(3, starts)  (3 times)'
        done
    done
    for order in breadth random; do
        options="--all=$order -j 2 -s 5 -n 4 --epoch=1700000000" script "$all" ./script order
        has '4 runs, not all choices made'
        first=$stderr
        options="--all=$order -j 2 -s 5 -n 4 --epoch=1700000000" script "$all" ./script order
        is "$(grep -v " left$" <<< "$stderr")" "$(grep -v " left$" <<< "$first")"
    done
    has 'not all choices made (seed 5)'
    options=--all=wide script "$all" ./script order
    is "$status" 2
    has "not by 'wide'"
    options='-j 2' script "$all" ./script order
    is "$status" 2
}

@test "a script that waits at the end of the program: the handlers of exit are under control" {
    script 'local a = thread "forwards" finish(a) thread "forwards"' ./script handler
    is "$status" 117
    has 'wants a thread that starts with forwards, but the program has ended'
    replays 0
}

# bats test_tags=long
@test "a program that goes on for ever after the script did not fit is ended" {
    mkfifo input
    exec 5<> input
    # What the thread that reads might do cannot let anybody have a lock whose holder stands.
    script 'local a, b = thread "forwards", thread "backwards"
run(b, unlocks "first")
run(a, ends)' ./script listen < input
    is "$status" 117
    has 'test.lua:3: did not fit: the script wants thread 2 to go on until it ends, but it waits for: lock mutex'
    has ', held by thread 3, which stands since line 2'
    has 'the program went on without the script, and was ended'
    exec 5>&-
}

# both TEXT RUNS FEWER COMMAND...: how many runs it takes by depth and by dpor, alone and with others made ahead; what
# is found is the same.
both()
{
    local text=$1 runs=$2 fewer=$3 order
    shift 3
    for order in depth 'dpor -j 3' dpor; do
        options="--all=$order --epoch=0" script "$text" "$@"
        order=${order% -j*}
        { grep -o 'the program: .*\|did not fit: .*\|assertion of the script: .*' <<< "$stderr" || true; } |
            sort -u > "$order"
        [ -s "$order" ]
        lacks 'went another way'
        lacks 'was another one'
        if [ $order = depth ]; then has " $runs, all choices made;"; else has " $fewer, all choices made but for"; fi
    done
    diff depth dpor
}

@test "--all=dpor: fewer runs than --all, and the same is found" {
    both 'interleave(threads(2, "count"), accesses "counter" + ends)' '20 runs' '4 runs' ./told counter
    stderr=$(grep -A 1 'this replays it' <<< "$stderr") replays 134
    both 'interleave(threads(2, starts), locks + ends)' '14 runs' '3 runs' ./told deadlock
    stderr=$(grep -A 1 'this replays it' <<< "$stderr") replays 120
    both 'local t = threads(2, starts)
if choose { true, false } then run(t[2], locks) end
interleave(t, locks + ends)
assert(choose { true, false }, "a choice behind it")' '33 runs' '10 runs' ./told deadlock
    has 'assertion of the script: a choice behind it'
    options='--all=dpor -q' script 'interleave(threads(2, starts), accesses + locks + ends)' ./told spin
    is "$status" 0
    has '4 runs (3 of them like others), all choices made but for what commutes; 0 fail, 0 did not fit'
}

@test "--all=dpor: where threads go on that no line names" {
    local rest='local main = thread(0) run(main, joins)'
    both "local a, b = thread \"asks\", thread \"listens\" $rest interleave({ b, a }, posts + reads \"answer\" + \
ends)" \
        '5 runs' '4 runs' ./told ask
    has 'the program: assertion'
    options=--all=dpor script "local t = { thread \"setter\", thread \"forwards\" } $rest interleave(t, locks + ends)" \
        ./told loop
    is "$status" 117
    has 'because of: a loop that waits for memory beside the turns of an interleave (name its thread there, or take '\
'--all)'
}

@test "--all=dpor: random scripts of random programs come to what all choices come to, with several jobs, too" {
    PCT_BUILD=$build "$root/tests/explored/scripts" 206 1 220 1 241 1
}

@test "--all=dpor: choices that each way is gone of, and what it is refused for" {
    local t='local t = threads(2, "count")'
    both "$t run(t[1], accesses) interleave(t, accesses + ends, function() return true end)" '10 runs' '10 runs' \
        ./told counter
    has 'all were tried of the choices of an interleave with a function that says when it is over'
    both "$t run(t[1], accesses) interleave(t, accesses * -blocked_by(t[1]) + ends)" '10 runs' '10 runs' ./told counter
    has 'or depends on other threads'
    both "$t interleave_bounded(t, accesses \"counter\" + ends, 2)" '24 runs' '24 runs' ./told counter
    has 'choices of threads, beside interleave'
    options=--all=dpor script "$t interleave(t, ends)" ./script counter
    is "$status" 2
    has 'has to see all accesses to memory'
    options='--all=dpor --bound 1' script "$t interleave(t, ends)" ./told counter
    is "$status" 2
    options='--all=dpor --focus=count' script "$t interleave(t, ends)" ./told counter
    is "$status" 2
    options=--all=dpor script 'interleave(threads(2, "count"), ends)' ./told fork
    is "$status" 117
    has 'may differ from what was run, because of: an unknown operation (wait for child); child proc'
}

@test "--bound: the ways with this many preemptions, as a script counts them" {
    local bound kept all='interleave(threads(2, "count"), accesses "counter" + ends)'
    for bound in 0 1 2 3; do
        options="--all -q" script 'local t, last, preemptions = threads(2, "count"), nil, 0
while not all_ended(t) do
    local able, could = {}, false
    for _, u in ipairs(t) do
        if not ended(u) and not event(u).blocked then
            able[#able + 1] = u
            could = could or u == last
        end
    end
    local u = choose(able)
    preemptions = preemptions + (could and u ~= last and 1 or 0)
    if preemptions > '$bound' then choose_thread {} end
    last = u
    run(u, accesses "counter" + ends)
    if stands(u, ends) then finish(u) end
end' ./told counter
        [[ $stderr =~ :\ ([0-9]+)\ runs,\ all\ choices\ made\;\ ([0-9]+)\ fails?,\ ([0-9]+)\ did ]]
        kept="$((BASH_REMATCH[1] - BASH_REMATCH[3])) runs, all choices made; ${BASH_REMATCH[2]} fail"
        options="--all -q --bound $bound" script "$all" ./told counter
        has "$kept"
    done
    options='--all=random --bound 1 -j 2' script "$all" ./told counter
    has ': 6 runs, all choices made; 2 fail'
    options='--bound 1' script 'interleave(threads(2, "count"), ends)' ./told counter
    is "$status" 2
}

@test "--all: a program that does not do the same again; stopped" {
    "$cc" -O1 -g -pthread -I "$root/include" -o counting "$root/tests/cli/counting.c"
    options='--all -j 2' script 'interleave(threads(2, starts), locks + ends)' ./counting runs
    is "$status" 117
    has 'not all choices made'
    has 'run 2 was to begin with the choices of an earlier one, and made others'
    echo 'for i = 1, 20 do choose { 1, 2, 3 } end' > long.lua
    "$pct" script --all -q --teardown='echo >> ended' long.lua -- ./script order 2> said &
    child=$!
    while [ ! -s ended ]; do
        sleep 0.1
    done
    kill -INT $child
    status=0
    wait $child || status=$?
    is "$status" 130
    grep -q 'not all choices made; 0 fail, 0 did not fit' said
}

@test "a program behind another one: refused, with the way out" {
    local behind
    printf '#!/bin/sh\n./script deadlock\n' > behind
    chmod +x behind
    for behind in 'sh -c "./script deadlock"' 'env A=1 ./script deadlock' ./behind; do
        eval "script 'run(thread(1), ends)' $behind"
        is "$status" 2
        has "pct: ${behind%% *} starts other programs, and a script is for the first process: give the program itself"
        is "$(wc -l <<< "$stderr")" 1
    done
    script 'process("script", function() run(thread(1), ends) end)' sh -c './script counter; true'
    is "$status" 0
}

@test "ten thousand threads; a child process" {
    script 'local t = threads(1000, "count")
finish(t[1000])' ./script many 10000
    is "$status" 0
    script "$deadlock" ./script fork
    is "$status" 120
}

# What each of two processes adds to is read by both before either writes it.
other_process='function()
    local t = thread(0)
    run(t, unlocks) run(t, locks)
    board.post("has read", 7)
    board.wait "has written"
end)'
first_process='local t = thread(0)
run(t, locks "writing")
assert(board.wait "has read" == 7)
run(t, does "wait for child")
board.post "has written"'

@test "what a script says is one line, and tells a terminal nothing" {
    script 'assert(false, "first\nsecond\27[31m\ttab\r")' ./script counter
    is "$status" 116
    is "${stderr_lines[0]}" 'pct: test.lua:1: assertion of the script: first\nsecond\x1b[31m\ttab\r'
    script 'error("one\ntwo")' ./script counter
    is "$status" 2
    is "${stderr_lines[0]}" 'pct: test.lua:1: one\ntwo'
    script 'thread(named "a\nb")' ./script counter
    is "$status" 117
    is "${stderr_lines[0]}" \
        'pct: test.lua:1: did not fit: the script wants a thread that is named a\nb, but the program has ended'
    script 'process("bin/worker", function() end)' ./script counter
    is "$status" 2
    is "${stderr_lines[0]}" \
        "pct: test.lua:1: bad argument #1 to 'process' (programs have names without directories)"
}

@test "several processes: by number and by program, with a board between them" {
    for _ in {1..10}; do
        script "process(1, $other_process
$first_process" ./processes fork
        is "$status" 3
    done
    has 'test.lua: ended after 6 steps of the first process and 2 of 1 other; the program: exit status 3'
    has '         9                        assert(board.wait "has read" == 7)'
    replays 3
    script "process(1, $other_process
$first_process" ./processes spawn ./processes add
    is "$status" 3
    script "process(2, $other_process
process(\"another\", $other_process
$first_process" ./processes spawn ./another add
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants a process 2, but there was none'
    script "process(\"another\", $other_process
$first_process" ./processes spawn ./another add
    is "$status" 3
    # Children that no line names go on freely; alone, nothing is lost.
    script 'process("nothing", function() board.wait "for ever" end)
run(thread(0), locks "writing")' ./processes fork
    is "$status" 117
    has 'a process to run nothing, but there was none'
    # One that two lines are for
    script 'process(1, function() end)
process(1, function() end)' ./processes fork
    is "$status" 2
    has 'test.lua:2: process: line 1 is for that one already'
    script 'process(1, function() end)
process("processes", function() end)' ./processes fork
    is "$status" 117
    has 'wants a process to run processes, but line 1 was for that one, and a process has one line'
    script 'process(4294967297, function() end)' ./processes fork
    is "$status" 2
    has 'a number from 1 on'
}

@test "several processes: tokens replay what all did, without the script" {
    local how which token count=${times:-3}
    for how in fork fails killed 'spawn ./another add' 'exec ./processes add'; do
        which=1
        [[ $how != spawn* ]] || which='"another"'
        # shellcheck disable=SC2086 # words
        script "process($which, $other_process
$first_process" ./processes $how
        is "$status" 3
        token=$(replay_token)
        rm test.lua
        # shellcheck disable=SC2086 # words
        run --separate-stderr "$pct" replay -n "$count" "$token" -- ./processes $how
        is "$status" 3
        has "replayed identically $count times of $count"
    done
    run --separate-stderr "$pct" replay "$token" -- ./processes exec ./processes fork
    is "$status" 122
    has 'did NOT replay: child process '
    has ' left the recorded schedule at its end: it took other steps than under the script'
    run --separate-stderr "$pct" replay "$token" -- ./processes exec ./nothing
    is "$status" 122
    has 'did NOT replay: at its end: a process, or a program that one became, that the script had lines for never began'
    run --separate-stderr "$pct" minimize "$token" -- ./processes exec ./processes add
    is "$status" 2
    has 'this is the schedule of several processes'
    run --separate-stderr "$pct" replay -t one.trace "$token" -- ./processes exec ./processes add
    is "$status" 3
    run --separate-stderr "$pct" replay one.trace -- ./processes exec ./processes add
    is "$status" 3
    has 'replayed identically'
}

@test "several processes: what they say by sockets, files, pipes and signals comes in the same order each time" {
    local first
    ln -s "$BATS_FILE_TMPDIR/talk" .
    for _ in 1 2 3 4 5; do
        script 'process(2, function()
    local x, y = thread "ask", thread "ask"
    run(y, does "read")
    run(x, does "read")
end)
process(1, function()
    local a, b = thread "ask", thread "ask"
    run(b, ends)
    run(a, ends)
end)
local one = thread "serve"
run(one, does "write")
local two = thread "serve"
run(two, does "write" * once)
finish(one)' ./talk
        is "$status" 0
        first=${first:-$(replay_token)}
        is "$(replay_token | grep -o 'orders=[^,]*')" "$(grep -o 'orders=[^,]*' <<< "$first")"
        is "$(cat notes)" 'b*yx**Ba*AXY!'
    done
    rm test.lua
    run --separate-stderr "$pct" replay -n "${times:-5}" "$first" -- ./talk
    is "$status" 0
    has "replayed identically ${times:-5} times of ${times:-5}"
}

@test "several processes: one that looks for what another one does again and again is not waited for" {
    ln -s "$BATS_FILE_TMPDIR/talk" .
    script 'process(1, function() thread(0) end)
thread(0)' ./talk yield
    is "$status" 0
    has 'a process computed, or looked for something again and again, for more than 2 seconds while others could have'
}

@test "several processes: a loop on memory that is shared with one that the script keeps" {
    cat > shared.c <<'PROGRAM'
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static void *stand(void *unused) { return unused; }
int main(void)
{
    pthread_t thread;
    volatile int *flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pid_t child = fork();
    pthread_mutex_lock(&lock);
    *flag |= !child;
    pthread_create(&thread, NULL, stand, NULL);
    while (!*flag)
        ;
    pthread_mutex_unlock(&lock);
    return 0;
}
PROGRAM
    "$cc" -g -O1 -pthread -o shared shared.c
    script 'process(1, function() thread(0) board.wait "never" end)
run(thread(0), unlocks)' ./shared
    is "$status" 117
    has 'test.lua:2: did not fit: the script wants thread 0 to go on until it unlocks, but thread 0 goes round a loop '\
'at shared.c:14 for 2 s'
    # The other one waits no longer, and both end.
    lacks 'was ended'
    replays 0
}

@test "several processes: the first is one thread, and looks at shared memory for what the script keeps" {
    cat > alone.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *stand(void *unused) { return unused; }
static volatile unsigned long rounds;
int main(int argc, char **argv)
{
    pthread_t thread;
    int helper = argc > 1 && atoi(argv[1]), counts = argc > 2;
    volatile int *flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pid_t child = fork();
    if (helper && (pthread_create(&thread, NULL, stand, NULL) || pthread_join(thread, NULL)))
        return 1;
    pthread_mutex_lock(&lock);
    *flag |= !child;
    while (counts && !*flag)
        rounds++;
    while (!*flag)
        ;
    pthread_mutex_unlock(&lock);
    return child && waitpid(child, NULL, 0) != child;
}
PROGRAM
    "$cc" -g -O1 -pthread -o alone alone.c
    local line
    line=$(grep -n '^    while (!.flag)' alone.c | cut -d: -f1)
    # Alone from the beginning, and after its helper has ended.
    for helper in 0 ${FULL:+1}; do
        script 'process(1, function() thread(0) board.wait "go" end)
run(thread(0), unlocks) board.post "go"' ./alone $helper
        is "$status" 117
        has "test.lua:2: did not fit: the script wants thread 0 to go on until it unlocks, but thread 0 goes round a \
loop at alone.c:$line for 2 s that only others can end"
        lacks 'was ended'
        replays 0
    done
    # The child does that, and the first process stands.
    sed 's/|= !child/|= !!child/' alone.c > child.c
    "$cc" -g -O1 -pthread -o child child.c
    script 'process(1, function() run(thread(0), unlocks) board.post "go" end)
run(thread(0), locks) board.wait "go"' ./child
    is "$status" 117
    has "thread 0 goes round a loop at child.c:$line for 2 s that only others can end"
    replays 0
    # What writes may compute.
    export PCT_WATCHDOG=200
    script 'process(1, function() thread(0) board.wait "go" end)
run(thread(0), unlocks) board.post "go"' ./alone 0 counts
    is "$status" 117
    has 's of CPU time without a scheduling point'
    replays 0
}

@test "several processes: what nobody can post is awaited no longer than that is so" {
    # The first process has nothing more to say, and goes on for as long as the other one keeps it.
    script 'process(1, function() thread(0) board.wait "never" end)
run(thread(0), locks "writing")' ./processes fork
    is "$status" 117
    has "test.lua:1: process 1: did not fit: the script wants 'never' to stand on the board, but no other process can \
post that"
    replays 0
}

@test "several processes: who waits in vain is not said, but who did not come to where it posts" {
    script 'process(1, function() thread(0) board.wait "has read" end)
run(thread(0), posts)
board.post "has read"' ./processes fork
    is "$status" 117
    has 'test.lua:2: did not fit: the script wants thread 0 to go on until it'
    has 'that did not come, and another process waits for it'
    replays 0
}

@test "several processes: tokens of those that others than the first one make" {
    local last='local t = thread(0) run(t, locks "writing")' token
    script "process(2, function() $last end)" ./processes deep 2
    is "$status" 0
    token=$(replay_token)
    rm test.lua
    run --separate-stderr "$pct" replay "$token" -- ./processes deep 2
    is "$status" 0
    has 'replayed identically'
    # The first one does the same, and the next has no lines.
    run --separate-stderr "$pct" replay "$token" -- ./processes deep 1
    is "$status" 122
    has 'that the script had lines for never began'
    options='-t deep.trace' script "process(25, function() $last end)" ./processes deep 25
    is "$status" 0
    has 'deep.trace has the steps of the first process and of 1 other; a process is too many forks away from the '\
'first one'
    lacks 'replays it'
}

@test "the end of main()'s thread is that of the process" {
    script 'run(thread(0), ends)' ./processes nobody
    is "$status" 117
    has 'the thread of main() does not end where it ends the process: that is does "exit", of _exit() does "exit now"'
    script 'run(thread(0), does "exit")' ./processes nobody
    is "$status" 0
    script 'process(2, function() run(thread(0), ends) end)' ./processes deep 2
    has 'of _exit() does "exit now"'
    script 'process(2, function() run(thread(0), does "exit") end)' ./processes deep 2
    is "$status" 0
    lacks 'did not fit'
}

@test "several processes: a post that nobody can make, an error in one, names of another program" {
    script 'process(1, function() board.wait "a" end)
run(thread(0), locks "writing")
board.wait "b"' ./processes fork
    is "$status" 117
    has "test.lua:3: did not fit: the script wants 'b' to stand on the board, but no other process can post that"
    run --separate-stderr bash -c "$(replay_line)" # they write without order: status 0 or 3
    has 'replayed identically'
    # The other one waits for a lock that the first holds while it stands.
    script 'process(1, function() run(thread(0), locks "writing") board.post "a" end)
run(thread(0), locks "writing")
board.wait "a"' ./processes locked
    is "$status" 117
    has "test.lua:3: did not fit: the script wants 'a'"
    script 'process(1, function() end)
run(thread(0), locks "writing")
board.wait "a"' ./processes fork
    is "$status" 117
    script 'thread(0) board.wait "a"' ./processes nobody
    is "$status" 117
    # Whom the first one waits for is said.
    script 'process(3, function() board.post "a" end)
run(thread(0), locks "writing")
board.wait "a"' ./processes fork
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants a process 3, but there was none'
    script 'process(1, function() board.post "a" end)
run(thread(0), locks "writing")
board.wait "a"' ./processes traps
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants a process 1, but that one came to no scheduling point'
    script 'process(1, function() run(thread(0), joins) board.post "a" end)
run(thread(0), locks "writing")
board.wait "a"' ./processes fork
    is "$status" 117
    has 'test.lua:1: process 1: did not fit: the script wants thread 0 to go on until it joins a thread, but that did'
    script 'process(1, function() run(thread(0), locks "writing") assert(false, "here") end)' ./processes fork
    is "$status" 116
    has 'test.lua:1: process 1: assertion of the script: here'
    run --separate-stderr bash -c "$(replay_line)"
    has 'replayed identically'
    script 'process(1, function() thread(7) end)' ./processes fork
    is "$status" 117
    has 'test.lua:1: process 1: did not fit: the script wants a thread that is thread 7, but'
    script 'process(1, function() run(thread(0), locks "writing") end)' ./processes spawn ./another add
    is "$status" 2
    has "process 1: 'writing' is of the first process's program, and this process runs another one"
    script 'thread(0) process(1, function() end)' ./processes fork
    is "$status" 2
    has 'lines for other processes come before the first'
    script 'board.post "a" board.post "a"' ./processes nobody
    is "$status" 2
    has "'a' has been posted already"
}

@test "several processes: the trace has the first one's steps, and what the others do in a replay" {
    options='-t several.trace' script "process(1, $other_process
$first_process" ./processes fork
    is "$status" 3
    has 'several.trace has the steps of the first process and of 1 other, and what all are to do in a replay'
    for command in minimize explain; do
        run --separate-stderr "$pct" $command several.trace -- ./processes fork
        is "$status" 2
        has 'the trace has the steps of the first of several processes that a script ordered; this makes them again:'
        has 'script test.lua -- ./processes fork'
    done
    run --separate-stderr "$pct" report several.trace
    is "$status" 0
    [[ $output == *'replay several.trace -- ./processes fork'* ]]
    rm test.lua
    run --separate-stderr "$pct" replay several.trace -- ./processes fork
    is "$status" 3
    has 'replayed identically'
    # Longer than a token was, once.
    options='-t long.trace' script "process(1, $other_process
for i = 1, 60 do board.post('post ' .. i) end
$first_process" ./processes fork
    is "$status" 3
    replays 3
    run --separate-stderr "$pct" replay -n 3 long.trace -- ./processes fork
    is "$status" 3
    has 'replayed identically 3 times of 3'
}

# 300 threads in an order that nothing tells in short, the last one first.
queue='local t, x = threads(300, "come"), 1
local function number(n) x = (x * 1103515245 + 12345) % 2147483648 return x // 65536 % n + 1 end
for i = 299, 2, -1 do local j = number(i) t[i], t[j] = t[j], t[i] end
run(t[300], unlocks "first" * once)
for i = 1, 299 do run(t[i], unlocks "first" * once) end'

@test "the cause of a long schedule has names" {
    "$cc" -O1 -g -pthread -o turns "$root/tests/cli/script_turns.c"
    script 'local t, left, x = { thread(1), thread(2) }, { 1200, 1200 }, 1
local function coin() x = (x * 1103515245 + 12345) % 2147483648 return x // 65536 % 2 + 1 end
while left[1] + left[2] > 0 do
    local one = coin()
    if left[one] == 0 then one = 3 - one end
    run(t[one], unlocks "first" * once)
    left[one] = left[one] - 1
end' ./turns
    is "$status" 120
    local token
    token=$(replay_token)
    ((${#token} > 512))
    # They come from the last run by its list, which must be there until then: freed memory is filled.
    run --separate-stderr env MALLOC_PERTURB_=165 "$pct" explain --seconds 60 "$token" -- ./turns
    is "$status" 0
    [[ $output == *"cause: a thread ends with a lock held"*"take script_turns.c:"* ]]
}

@test "a long schedule has a token, which all commands take that take tokens" {
    script "$queue" ./script "queue up" 300
    is "$status" 134
    local token
    token=$(replay_token)
    ((${#token} > 512))
    rm test.lua
    run --separate-stderr "$pct" replay -n 3 "$token" -- ./script "queue up" 300
    is "$status" 134
    has 'replayed identically 3 times of 3'
    run --separate-stderr "$pct" add "$token" -- ./script "queue up" 300
    is "$status" 0
    run --separate-stderr "$pct" check
    is "$status" 134
    [[ $output$stderr == *"replay '${token}'"* ]]
    run --separate-stderr "$pct" explain --seconds 2 "$token" -- ./script "queue up" 300
    is "$status" 0
    run --separate-stderr "$pct" minimize --seconds 5 -o small "$token" -- ./script "queue up" 300
    is "$status" 0
    run --separate-stderr "$pct" replay small -- ./script "queue up" 300
    is "$status" 134
    for bad in "${token/=Z/=Zq}" "${token%?????}:0000" "${token::600}"; do
        run --separate-stderr "$pct" replay "$bad" -- ./script "queue up" 300
        is "$status" 2
        has 'is damaged or cut short'
    done
    run --separate-stderr "$pct" replay --gdb "$token" -- ./script "queue up" 300
    is "$status" 2
    has "too long for a debugger's environment"
    run --separate-stderr env PCT_TOKEN="$token" LD_PRELOAD="$build/libpct.so" ./script "queue up" 300
    is "$status" 2
    has 'too long for a target: `pct replay` gives it one'
}

@test "a schedule that is too long for any token is kept by --trace" {
    options="-t long.trace" script 'local a, b = thread "posts", thread "posts"
for i = 1, 33000 do step(a) step(b) end' ./script posts
    is "$status" 0
    has 'its schedule is too long for a token; --trace keeps it in a file, which `pct replay` follows'
    rm test.lua
    run --separate-stderr "$pct" replay long.trace -- ./script posts
    is "$status" 0
    has 'replayed identically'
}

@test "several processes: each way of the choices of all" {
    options='--all -q' script 'process(1, function() board.wait "go" end)
local t = thread(0)
run(t, choose { locks "reading", does "wait for child" })
board.post "go"' ./processes fork
    is "$status" 0
    options=--all script "process(1, $other_process
local t = thread(0)
run(t, locks \"writing\")
board.wait \"has read\"
if choose { true, false } then run(t, does \"wait for child\") end
board.post \"has written\"" ./processes fork
    is "$status" 1
    has '2 runs'
    for options in --all '--all=random -j 2'; do
        script 'process(1, function()
    local t = thread(0)
    run(t, choose { locks "reading", locks "writing", ends })
    board.post("how", choose { 1, 2 })
    choose { 1, 2 }
end)
run(thread(0), locks "writing")
local how = board.wait "how"
if how == 2 then choose { 1, 2, 3 } end
choose { 1, 2 }' ./processes fork
        has ': 18 runs, all choices made; '
        has ', 2 did not fit'
        lacks 'and made others'
    done
    options=--all=dpor script 'process(1, function() end)' ./processes fork
    is "$status" 2
}

@test "the trace of a script's run replays, and its timeline has the script" {
    options='-q -t run.trace' script "$deadlock" ./script deadlock
    is "$status" 120
    run --separate-stderr "$pct" replay -q run.trace -- ./script deadlock
    is "$status" 120
    has 'replayed identically'
    run "$pct" trace run.trace
    grep -A 2 '^ *5  ' <<< "$output" | grep -qF 'line 2 done: run(a, locks "second")'
    "$pct" trace run.trace -o run.html
    grep -qF '"script":{"name":"test.lua","lines":{"1":"local a, b = ' run.html
    grep -qF '"notes":[[1,2],[1,3],[2,5],[3,7]]' run.html
    options='-q -t run.trace' script 'finish(thread "forwards")' ./script deadlock
    is "$status" 0
    run "$pct" report run.trace
    has "replay run.trace -- ./script deadlock"
    local token
    token=$(sed -n 's/^token: //p' <<< "$output")
    for command in replay explain minimize; do
        run "$pct" $command "$token" -- ./script deadlock
        is "$status" 2
        has "the schedule of this run was a script's"
    done
    "$pct" trace run.trace -o run.html
    grep -qF '"script":{"name":"test.lua","lines":{"1":"finish(thread' run.html
}

@test "the trace of a run of several processes has each one's steps and lines" {
    options='-t run.trace' script "process(1, $other_process
$first_process" ./processes fork
    is "$status" 3
    has 'process 1:
      line  steps        threads
         2               0        local t = thread(0)
         3  1-2          0        run(t, unlocks) run(t, locks)  (2 times)
         5                        board.wait "has written"'
    has 'run.trace has the steps of the first process and of 1 other, and what all are to do in a replay'
    run "$pct" trace run.trace
    is "$(grep -c '^command: ./processes fork' <<< "$output")" 2
    grep -A 20 '^process 1:' <<< "$output" | grep -A 2 '^ *2  unlock mutex' |
        grep -qF 'line 5 done: board.wait "has written"'
    run "$pct" trace --process 1 run.trace
    is "${lines[0]}" 'process 1:'
    run --separate-stderr "$pct" trace --process 0 --last 1 run.trace
    lacks 'process 1:'
    has '9  exit'
    run "$pct" trace --process 1 -f jsonl run.trace
    has '"text":"exit now"'
    run "$pct" trace --process 2 run.trace
    is "$status" 2
    is "$output" 'pct: run.trace has no process 2'
    "$pct" trace run.trace -o run.html
    grep -qF '"processes":[0,1]' run.html
    grep -qF 'id="columns-1"' run.html
    is "$(grep -c '"notes":\[\[2,0\],\[3,1\],\[3,2\],\[5,2\]\]' run.html)" 1
    run --separate-stderr "$pct" replay -q run.trace -- ./processes fork
    is "$status" 3
    has 'replayed identically'
    # Of one that becomes another program, that program's.
    options='-t run.trace' script "process(1, $other_process
$first_process" ./processes exec ./processes add
    has 'process 1, as another program:'
    run "$pct" trace --process 1 run.trace
    has 'command: ./processes add'
    has 'line 5 done: board.wait "has written"'
    # A process that is killed leaves nothing.
    options='-t run.trace' script "process(1, $other_process
$first_process" ./processes killed
    has 'run.trace has the steps of the first process and of 0 others, and what all are to do in a replay'
    has 'process 1 was killed, or went on: its steps are not kept; all its lines were done'
    run "$pct" trace --process 1 run.trace
    is "$output" 'pct: process 1 was killed, or went on: its steps are not kept'
}

@test "points that the program names, and numbers that it asks for" {
    "$cc" -O1 -g -pthread -I "$root/include" -o account "$root/examples/interleaving/account.c"
    run ./account # natively: one of the two is refused, or a schedule that nobody asked for
    cp "$root/examples/interleaving/account.lua" .
    run --separate-stderr "$pct" script account.lua -- ./account
    is "$status" 134
    has 'point checked'
    replays 134
    "$cc" -O1 -g -pthread -DFIXED -I "$root/include" -o account "$root/examples/interleaving/account.c"
    run "$pct" script -q "$root/examples/interleaving/account.lua" -- ./account
    is "$status" 117
    has 'account.lua:4: did not fit'
    script 'run(thread(1), point "betwen")' ./account
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants thread 1 to go on until it is at point betwen'
    "$cc" -O1 -g -pthread -no-pie -fno-pic -I "$root/include" -o choices "$root/tests/cli/choices.c"
    run ./choices
    is "$status" 0
    options='--all -q' script 'run(thread(2), locks)' ./choices
    is "$status" 0
    has '18 runs, all choices made; 0 fail'
    options=--all script 'run(thread(2), locks)' ./choices 17
    is "$status" 1
    has '18 runs, all choices made; 1 fails'
    run "$pct" explore -- ./choices
    is "$status" 0
    has 'all 36 classes of schedules pass'
    run --separate-stderr "$pct" run -n 1000 -s 1 --state none -- ./choices 17
    is "$status" 134
    has 'choice 2'
    replays 134
}

@test "scripts that stand in the program" {
    "$cc" -O1 -g -pthread -I "$root/include" -o own "$root/tests/cli/own_script.c"
    run ./own --gtest_list_tests
    is "$status" 0
    run --separate-stderr "$pct" script --test -- ./own
    is "$status" 3
    has 'pct_script: ended after'
    replays 3
    run --separate-stderr "$pct" script --each-test=gtest -- ./own
    is "$status" 1
    has 'Order.Turned: ended after'
    has 'Order.Kept: no script, not run'
    has 'Order.Wrong:2: unexpected symbol near'
    has 'Order.Two FAILED (status 2)'
    has '4 test cases: 3 failed'
    has 'this replays it:'
    run --separate-stderr "$pct" script --test=Order.Two -- ./own --gtest_filter=Order.Two
    is "$status" 2
    replays 2
    run --separate-stderr "$pct" script --each-test=gtest -S pct -- ./own
    is "$status" 2
    lacks 'test 2 of 4'
    run --separate-stderr "$pct" script --test=Order.Turned -- ./own --gtest_filter=Order.Turned
    is "$status" 1
    run --separate-stderr "$pct" script --test=Order.Wrong -- ./own
    is "$status" 2
    is "$stderr" "pct: Order.Wrong:2: unexpected symbol near '='"
    run --separate-stderr "$pct" script --test=Order.Kept -- ./own
    is "$status" 2
    has "has no script for a test 'Order.Kept'"
    for option in --test --each-test; do
        run --separate-stderr "$pct" script $option -- ./script
        is "$status" 2
        has 'has no script: pct_script() and PCT_TEST() of <pct/script.h> make some'
    done
    run --separate-stderr "$pct" script --test
    is "$status" 2
    run --separate-stderr "$pct" script --test -- ./none
    is "$status" 127
}

@test "without a script nothing of Lua is in the process" {
    run "$pct" run -n 1 -s 1 -- grep -c -e libpct-script -e liblua /proc/self/maps
    has 0
}

@test "the examples" {
    run "$pct" script "$root/examples/script/deadlock.lua" -- "$build/bugs/fig1c-deadlock"
    is "$status" 120
    run "$pct" script "$root/examples/script/deadlock.lua" -- "$build/bugs/fig1c-deadlock-fixed"
    is "$status" 117
    run "$pct" script --all "$root/examples/script/all-orders.lua" -- "$build/bugs/philosophers"
    is "$status" 0
    has '6 runs, all choices made; 0 fail, 0 did not fit'
    run "$pct" script --all -q "$root/examples/script/two-turns.lua" -- "$build/bugs/fig1c-deadlock"
    is "$status" 1
    "$build/pct-cc" -O1 -g -pthread -o lost-update "$root/bench/bugs-memory/lost-update.c"
    run "$pct" script "$root/examples/script/lost-update.lua" -- ./lost-update
    is "$status" 134
}

@test "a script in the file of schedules: that it passes, fails, and cannot go on are told apart" {
    local bug=$build/bugs/fig1c-deadlock
    cp "$bug" program
    cp "$root/examples/script/deadlock.lua" 'dead lock.lua'
    run "$pct" add -m 'two locks' --script 'dead lock.lua' -- ./program
    is "$status" 0
    has 'pct.schedules now holds this script (deadlock'
    has 'commit both'
    grep -qx "Schedule: script 'dead lock.lua'" pct.schedules
    run "$pct" check
    is "$status" 120
    has 'pct.schedules:3: FAILED: deadlock'
    has 'note: two locks'
    has 'this replays it'
    cp "$bug-fixed" program
    run "$pct" check --junit checked.xml
    is "$status" 117
    has 'pct.schedules:3: DID NOT FIT: cannot go on at line '
    has ': the script wants thread '
    has '--ok-unfit'
    has '0 failed, 0 not checked, 1 did not fit'
    lacks 'outcome:'
    is "$(grep -c '<failure' checked.xml)" 1
    # The repair has made it impossible: that is right, until the bug is back.
    sed -i "s/script '/script --ok-unfit '/" pct.schedules
    run "$pct" check
    is "$status" 0
    has 'pct.schedules:3: passed: cannot go on at line '
    cp "$bug" program
    run "$pct" check
    is "$status" 120
    has 'FAILED: deadlock'
}

@test "a script that does not fail is kept by force; one that is wrong, never; nor are options that it cannot have" {
    cp "$build/bugs/fig1c-deadlock" program
    echo 'finish(thread(1))' > pass.lua
    run "$pct" add --script pass.lua -- ./program
    is "$status" 2
    has 'does not fail as this script has it (the script ended after'
    [ ! -e pct.schedules ]
    run "$pct" add --force --script pass.lua -- ./program
    is "$status" 0
    has 'which does not fail'
    run "$pct" check
    is "$status" 0
    has 'passed: the script ended after'
    echo 'assert(false, "never")' > pass.lua
    run "$pct" check -q
    is "$status" 116
    has 'FAILED: assertion of the script in line 1: never'
    echo 'finish(' > pass.lua
    run "$pct" check
    is "$status" 2
    has 'NOT CHECKED: pct script could not do it (status 2)'
    has 'pass.lua:2: '
    run "$pct" add -f other --force --script pass.lua -- ./program
    is "$status" 2
    [ ! -e other ]
    run "$pct" add --expect pass.lua --script pass.lua -- ./program
    is "$status" 2
    has 'a script takes no --near, --expect and --oracle'
}

@test "--all and --test in the file of schedules: pct check says what came of them, and a stranger's script may run" {
    cp "$build/bugs/fig1c-deadlock" program
    echo 'finish(choose { thread(1), thread(2) })' > all.lua
    run "$pct" add 'script --all=breadth -n 5 all.lua' -- ./program
    is "$status" 2
    has 'does not fail as this script has it (2 runs, all choices made; 0 fail, 0 did not fit)'
    echo 'local a, b = thread(1), thread(2) step(choose { a, b }, 2) step(b, 2)' > all.lua
    run "$pct" add 'script --all=breadth -n 5 all.lua' -- ./program
    is "$status" 0
    grep -qx 'Schedule: script --all=breadth -n 5 all.lua' pct.schedules
    chmod a+w all.lua
    run "$pct" check
    is "$status" 1
    has 'pct.schedules:3: FAILED: 2 runs, all choices made; 1 fails, 0 did not fit'
    echo 'finish(choose { thread(3), thread(4) })' > all.lua
    run "$pct" check
    is "$status" 117
    has 'pct.schedules:3: DID NOT FIT: 1 run, all choices made; 0 fail, 1 did not fit'
    has '0 failed, 0 not checked, 1 did not fit'
    sed -i 's/--all/--ok-unfit --all/' pct.schedules
    run "$pct" check
    is "$status" 0
    has 'pct.schedules:3: passed: 1 run, all choices made; 0 fail, 1 did not fit'
    "$cc" -O1 -g -pthread -I "$root/include" -o own "$root/tests/cli/own_script.c"
    run "$pct" add -f own.schedules 'script --test' -- ./own
    is "$status" 0
    run "$pct" add -f own.schedules 'script --ok-status=1 --test=Order.Turned' -- ./own --gtest_filter=Order.Turned
    is "$status" 2
    has 'does not fail'
    run "$pct" check own.schedules
    is "$status" 3
    has 'own.schedules:3: FAILED: exit status 3'
    # The schedule is none any more, and the program fails all the same.
    echo 'local a, b = thread(1), thread(2) choose { 1, 2 } finish(b) run(a, locks)' > all.lua
    run "$pct" script -q --ok-unfit --all all.lua -- ./own
    is "$status" 1
    has '2 runs, all choices made; 2 fail, 2 did not fit'
    run "$pct" script -q --all all.lua -- ./own
    is "$status" 117
}

@test "from a finding to a script: a call that was inlined, of an object without a name" {
    cat > inlined.c << 'EOF'
#include <pthread.h>
#include <stdlib.h>
struct box { pthread_mutex_t lock; int value; };
static inline __attribute__((always_inline)) void set(struct box *b, int value)
{
    pthread_mutex_lock(&b->lock), b->value = value, pthread_mutex_unlock(&b->lock);
}
static void *add(void *box) { set(box, ((struct box *)box)->value + 1); return box; }
int main(void)
{
    pthread_t t;
    struct box *b = calloc(1, sizeof *b);
    pthread_create(&t, NULL, add, b);
    set(b, 5);
    pthread_join(t, NULL);
    return b->value == 5;
}
EOF
    gcc -g -O1 -pthread -o inlined inlined.c
    token=$("$pct" run -n 500 -s 1 -- ./inlined 2>&1 | grep -a -o "pct1:[^']*" | head -n 1)
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- ./inlined
    is "$status" 0
    grep -q '{ main, [a-z]* \* from "main"' found.lua
    run "$pct" script -q found.lua -- ./inlined
    is "$status" 1
}

@test "of a process that is killed no steps are kept, and that is said" {
    cat > killed.c << 'EOF'
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pid_t child = fork();
    if (!child) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        raise(SIGKILL);
    }
    pthread_mutex_lock(&k);
    return waitpid(child, NULL, 0) != child;
}
EOF
    "$cc" -g -O1 -pthread -o killed killed.c
    options='-t killed.trace' script 'process(1, function() run(thread(0), unlocks "m") board.post "has" end)
run(thread(0), locks "k")
board.wait "has"' ./killed
    is "$status" 0
    has 'process 1 was killed, or went on: its steps are not kept; all its lines were done'
    run --separate-stderr "$pct" trace killed.trace
    is "$status" 0
    has 'lock mutex'
    has 'process 1 was killed, or went on: its steps are not kept'
    run --separate-stderr "$pct" trace --process 1 killed.trace
    is "$status" 2
    lacks 'has no process'
    run --separate-stderr "$pct" trace --process 0 killed.trace
    lacks 'was killed'
}

@test "who holds a lock for reading" {
    cat > readers.c << 'EOF'
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *reads(void *unused)
{
    pthread_rwlock_rdlock(&l);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_rwlock_unlock(&l);
    return unused;
}
static void *writes(void *unused)
{
    pthread_rwlock_wrlock(&l);
    pthread_rwlock_unlock(&l);
    return unused;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i < 3 ? reads : writes, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
EOF
    "$cc" -g -O1 -pthread -o readers readers.c
    script 'local a, b, c = thread(1), thread(2), thread(3)
run(a, locks "m")
run(b, locks "m")
finish(c)
run(thread "writes", ends)' ./readers
    is "$status" 117
    has 'thread 4 to go on until it ends, but it waits for: write lock rwlock 1, held by thread 1, which stands since '\
'line 2, and by thread 2, which stands since line 3'
    script 'local a, b, c = thread(1), thread(2), thread(3)
run(b, locks "m")
local w = thread "writes"
run(w, blocked_by(b))
assert(event(w).holder == 2)
finish(a)
assert(not stands(w, blocked_by(a)))
run(c, locks "m")
assert(stands(w, blocked_by(c)) and stands(w, blocked_by(b)))
finish(b)
assert(not stands(w, blocked_by(b)))
finish(c, w)' ./readers
    is "$status" 0
    replays 0
}

@test "from a finding to a script: what the program chooses" {
    cat > chooses.c << 'EOF'
#include <assert.h>
#include <pct/script.h>
#include <pthread.h>
static int set, bad;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
    unsigned of = pct_choose(1) + pct_choose(3);
    pthread_mutex_lock(&m);
    bad |= of == 2 && set;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *other(void *unused)
{
    pthread_mutex_lock(&m);
    set = 1;
    pthread_mutex_unlock(&m);
    return unused;
}
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, work, NULL), pthread_create(&u, NULL, other, NULL);
    pthread_join(t, NULL), pthread_join(u, NULL);
    assert(!bad);
}
EOF
    compile() { "$cc" -g -O1 -pthread -I "$root/include" -o chooses chooses.c; }
    compile
    local token
    token=$("$pct" run -n 500 -s 1 -- ./chooses 2>&1 | grep -a -o "pct1:[^']*" | head -n 1)
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- ./chooses
    is "$status" 0
    grep -q '^chooses(1, 0, 2)$' found.lua
    run "$pct" add --script found.lua -- ./chooses
    is "$status" 0
    # Another lock, and lines in front.
    sed -i '1i// changed\n\n' chooses.c
    sed -i 's/^    set = 1;/    set = 1, pthread_mutex_unlock(\&m), pthread_mutex_lock(\&m);/' chooses.c
    compile
    run "$pct" check
    has 'FAILED: assertion'
    sed -i 's/of == 2/of > 2/' chooses.c
    compile
    run "$pct" check
    is "$status" 0
    sed -i 's/pct_choose(3)/pct_choose(2)/' chooses.c
    compile
    run "$pct" check
    is "$status" 117
    has "DID NOT FIT: cannot go on at line 3: the script wants thread 1 to choose 2, but it calls pct_choose(2)"
    script 'local t = thread "work"
chooses(t, 0, 1) finish(thread "other")
run(t, done)' ./chooses
    is "$status" 0
    replays 0
    # One that is never asked for, by this thread or by another.
    script 'local t = thread "work"
chooses(t, 0, 1, 1) finish(t)' ./chooses
    is "$status" 117
    has 'test.lua:2: did not fit: the script wants thread 1 to choose 1, but the program has ended'
    script 'chooses(2, 0) finish(thread "work")' ./chooses
    is "$status" 117
    has 'test.lua:1: did not fit: the script wants thread 2 to choose 0, but the program has ended'
    script 'chooses(0, -1)' ./chooses
    is "$status" 2
    script 'for i = 1, 2000 do chooses(0, 1) end' ./chooses
    is "$status" 2
    has 'chooses: there is room for 1024 numbers'
}

@test "a finding of threads that a library starts: the script names them as people do" {
    cat > shop.cc << 'EOF'
#include <cassert>
#include <pthread.h>
#include <thread>
namespace shop {
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int left = 1;
__attribute__((noinline)) int add(int n) { pthread_mutex_lock(&m); n = left += n; pthread_mutex_unlock(&m); return n; }
__attribute__((noinline)) void buy() { if (add(0) > 0) add(-1); }
namespace { __attribute__((noinline)) void looks(int n) { add(n); } }
}
int main()
{
    std::thread a([] { shop::buy(); }), b(shop::buy), c([] { shop::looks(0); });
    a.join(), b.join(), c.join();
    assert(shop::left == 0);
}
EOF
    "${CXX:-g++}" -g -O1 -pthread -o shop shop.cc
    script 'local a, b = thread(1), thread(2) finish(thread "*::bye")' ./shop
    has "no function '*::bye'"
    script 'finish(thread "buy")' ./shop
    has "did you mean '*::buy'?"
    script 'finish(thread "looks")' ./shop # in a namespace without a name
    is "$status" 0
    script 'run(thread(1), locks "basket->lock")' ./shop
    has "no variable 'basket'; for what a local variable points to, say where: locks * from"
    script 'local a, b = thread "shop::buy", thread "shop::buy" run(a, unlocks) step(a) finish(b) finish(a)' ./shop
    is "$status" 134
    token=$(grep -o "pct1:[^']*" <<< "$stderr" | head -n 1)
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- ./shop
    is "$status" 0
    [ "$(grep -c 'thread "shop::buy"$' found.lua)" = 2 ]
    grep -q 'from "shop::add"' found.lua
}

@test "in_order: operations come in the order that the script says, and threads go on by themselves" {
    script 'local a, b = thread "forwards", thread "backwards"
in_order(
    { b, locks "second" * once },
    { a, locks "first" * once },
    { a, locks "second" },
    { b, locks "first" }
)' ./script deadlock
    is "$status" 120
    replays 120
    script 'local a, b = thread "forwards", thread "backwards"
in_order({ b, unlocks * once, 2 }, { a, locks "first" })' ./script deadlock
    is "$status" 0
    script 'local a, b = thread "forwards", thread "backwards"
in_order({ b, locks "second" * once, 2 }, { a, locks "first" })' ./script deadlock
    is "$status" 117
    has 'test.lua:2: did not fit: the script wants thread 2 to go on until it locks second'
    script 'in_order(3)' ./script deadlock
    is "$status" 2
    has 'test.lua:1: in_order: { thread, predicate } is wanted, not a number'
}

@test "a finding becomes a script, which fails in the same way, and no longer once the program is right" {
    local token bug=$build/bugs/fig1c-deadlock
    token=$("$pct" run -q --brief -n 500 -s 1 -S pct,depth=2 -- "$bug" 2>&1 < /dev/null |
        grep -o "pct1:[^ ']*" | tail -n 1)
    echo old > real.lua
    ln -s real.lua found.lua
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- "$bug"
    is "$status" 0
    [ -L found.lua ]
    has "pct script found.lua -- $bug"
    # clang has inlined update().
    grep -q '{ t1, locks "a"\( \* from "update"\)\? \* once }' found.lua
    run "$pct" script found.lua -- "$bug"
    is "$status" 120
    run "$pct" script found.lua -- "$bug-fixed"
    is "$status" 117
    has 'did not fit'
    # No orderings alone make this one fail.
    bug=$build/bugs/producer-consumer
    token=$("$pct" run -q --brief --state none -n 500 -s 1 -- "$bug" 2>&1 < /dev/null |
        grep -o "pct1:[^ ']*" | tail -n 1)
    run "$pct" explain --seconds 1000000 --script found.lua "$token" -- "$bug"
    is "$status" 0
    has 'the smallest schedule, turn by turn'
    grep -q '^in_order({ t1, waits "cond_var" \* once })' found.lua
    run "$pct" script found.lua -- "$bug"
    is "$status" 134
    run "$pct" script found.lua -- "$bug-fixed"
    is "$status" 0
    run "$pct" explain --script nowhere/found.lua "$token" -- "$bug"
    is "$status" 2
    has 'nowhere/found.lua: No such file or directory'
}

@test "the tutorial of docs/SCRIPTS.md, as it stands there" {
    PATH=$build:$PATH
    sed -n '/#include <assert/,/^    }/s/^    //p' "$root/docs/SCRIPTS.md" > counter.c
    sed -n '/^    local a, b/,/^    run(a, done)/s/^    //p' "$root/docs/SCRIPTS.md" > lost.lua
    pct-cc -g -pthread -o counter counter.c
    run --separate-stderr pct script lost.lua -- ./counter
    is "$status" 134
    has 'pct: lost.lua: ended after 8 steps; the program: assertion'
    run pct add -m 'a count is missing' --script lost.lua -- ./counter
    is "$status" 0
    run pct check
    is "$status" 134
    has 'pct.schedules:3: FAILED: assertion'
    sed -e 's/counter++;/pthread_mutex_lock(\&m); counter++; pthread_mutex_unlock(\&m);/' \
        -e 's/^static int counter;/& static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;/' counter.c > mended.c
    pct-cc -g -pthread -o counter mended.c
    run pct check
    is "$status" 117
    has 'pct.schedules:3: DID NOT FIT: cannot go on at line 3: the script wants thread 2 to go on until it ends, but '
    sed -i 's/script /script --ok-unfit /' pct.schedules
    run pct check
    is "$status" 0
    pct-cc -g -pthread -o counter counter.c
    run pct check
    is "$status" 134
}

@test "a run that somebody ends says where the script was" {
    cat > waits.c <<'PROGRAM'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static void *first(void *unused)
{
    close(open("there", O_CREAT | O_WRONLY, 0600));
    pause();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_join(thread, NULL);
}
PROGRAM
    "$cc" -g -pthread -o waits waits.c
    interrupted() # SCRIPT
    {
        printf '%s\n' "$1" > test.lua
        rm -f there
        "$pct" script test.lua -- ./waits > /dev/null 2> said &
        child=$!
        until [ -e there ]; do sleep 0.05; done
        kill -INT $child
        status=0
        wait $child || status=$?
        is "$status" 130
    }
    interrupted 'local t = thread "first"
run(t, ends)'
    is "$(cat said)" "pct: interrupted at test.lua:2, where the script wants thread 1 to go on until it ends"
    interrupted 'process(2, function() end)
thread "first"'
    is "$(cat said)" "pct: interrupted at test.lua:1, where the script wants a process 2"
    interrupted 'thread "first"'
    is "$(cat said)" "pct: interrupted: test.lua had ended after 1 step, and the program went on"
}
