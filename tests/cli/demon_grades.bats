#!/usr/bin/env bats
# The grades of `pct demon`: what is confirmed, and which failures are not the contract's. Each test is a change to
# bench/demon/apache-45605.c.
load common
load demon

setup()
{
    enter_demon || return
    cat > spec.demon << 'SPEC'
test wait_for_idler(queue)
  rely locked: holds(queue.mutex) implies unchanged(queue.idlers)
proc decrement(queue)
  require non_zero: queue.idlers > 0
proc take_idler(queue)
  require some: queue.idlers > 0
  ensure less: queue.idlers = old queue.idlers - 1
SPEC
}

# judges STATUS TEXT: `pct demon` of ./program with spec.demon, where candidates are few.
judges()
{
    run --separate-stderr timeout 120 "$pct" demon --points calls --spec spec.demon --report json:out.json -- ./program
    is "$status" "$1"
    has "$2"
}

# changed FLAGS SED...
changed()
{
    sed "${@:2}" "$root/bench/demon/apache-45605.c" > p.c
    # shellcheck disable=SC2086 # several flags, or none
    "$cc" -O0 -g -pthread $1 -o program p.c
}

# graded GRADE=COUNT...: the report is what its schema says, too.
graded()
{
    /usr/bin/python3 - "$root/docs/demon.schema.json" "$@" << 'PYTHON'
import json, sys, jsonschema
log, schema = json.load(open("out.json")), json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(log)
for want in sys.argv[2:]:
    grade, count = want.split("=")
    assert len(log[grade]) == int(count), (want, log[grade])
PYTHON
}

no_assert='/assert(queue->idlers/d'
mutex_unlock_of_action='/^__attribute__/,/^}/s/pthread_mutex_unlock.*/;/'

@test "confirmed: the program fails behind the test, by what the broken contract has done" {
    changed '' -e "$no_assert" -e 's/ wait_for_idler(&queue);/& assert(queue.idlers < 100);/'
    judges 1 'then `require non_zero: queue.idlers > 0` of decrement does not hold'
    has 'the program: assertion failed in thread 0'
    graded confirmed=1 other_failure=0
}

@test "a failure of what checks the test's result is not the contract's, where none was broken" {
    changed -DFIXED -e 's/ wait_for_idler(&queue);/ assert(wait_for_idler(\&queue));/'
    judges 0 'in 1 of these the program failed, as it does when the calls come before wait_for_idler is entered; '\
'first by take_idler(queue)'
    has 'what checks the result of wait_for_idler does not allow for them: if others may make them, let it accept '\
'what they leave'
    graded confirmed=0 contract_only=0 other_failure=0 refuted=1
    grep -q '"reason": *"the program fails so, too, when these calls come before the test is entered"' out.json
}

@test "a failure that the same calls cause before the test is not the contract's, where one was broken" {
    changed '' -e "$no_assert" -e 's/^struct queue_info {/int taken;\n&/' \
        -e '/^__attribute__/,/^}/s/queue->idlers--/&, taken++/' \
        -e 's/ wait_for_idler(&queue);/& assert(!taken);/'
    judges 3 'the program fails so, too, when these calls come before the test is entered'
    graded confirmed=0
}

@test "a failure of the other thread in its call is not the contract's" {
    changed '' -e '/^__attribute__/,/^}/s/queue->idlers--/assert(!queue)/'
    judges 3 "a failure, but not the contract's: it is the other thread that failed, in its call"
    graded confirmed=0
}

@test "calls that did more than the rely lets others do confirm nothing" {
    sed -i -e 's/queue.idlers > 0$/queue.idlers > 4/' \
        -e 's/  rely .*/rely slowly: queue.idlers + 1 >= old queue.idlers/' spec.demon
    changed '' -e '/^__attribute__/,/^}/s/queue->idlers--/queue->idlers = 0/' -e 's/idlers = 1,/idlers = 5,/'
    judges 3 'what the calls really did is not what the rely and the invariant let others do'
    graded confirmed=0
}

@test "a call that came when its own contract did not hold confirms nothing" {
    sed -i 's/some: queue.idlers > 0/some: queue.idlers < 9/' spec.demon
    changed '' -e '/^__attribute__/,/^}/s/queue->idlers--/queue->idlers += 8/' -e 's/idlers = 1,/idlers = 2,/'
    judges 0 'no interference found'
    graded confirmed=0 contract_only=0 other_failure=0
}

@test "what is told of a call is what it did, not what its contract says" {
    changed '' -e '/^__attribute__/,/^}/s/queue->idlers--/queue->idlers = 0/' -e 's/idlers = 1,/idlers = 2,/'
    judges 1 'another thread calls take_idler(queue)'
    has '      queue.idlers: 2 -> 0'
    replays
}

@test "a test that waits for ever once the other thread has ended is no finding, be it for itself" {
    changed -DFIXED -e "$mutex_unlock_of_action"
    judges 0 'no interference found'
    changed -DFIXED -e 's/        decrement(queue);/&\n    else\n        pthread_mutex_lock(\&queue->mutex);/'
    judges 0 'no interference found'
    graded contract_only=0 other_failure=0 refuted=1
}

# What takes another lock around its own, and a program that takes them the other way round: there, a sed command.
crossed()
{
    sed -i -e 's/  rely .*//' -e 's/^  ensure .*/ensure less: queue.idlers = old queue.idlers - 1/' spec.demon
    changed -DFIXED -e 's/    pthread_mutex_t mutex;/&\n    pthread_mutex_t other;/' \
        -e '/^__attribute__/,/^}/s/    pthread_mutex_lock/    pthread_mutex_lock(\&queue->other);\n&/' -e "$1"
}

@test "a deadlock is confirmed where the test and a call wait for each other's locks, whatever the contracts say" {
    crossed 's/        decrement(queue);/&\n    pthread_mutex_lock(\&queue->other);/'
    judges 1 "then wait_for_idler and that call wait for each other's locks for ever, whatever the contracts say"
    has 'the program: deadlock: '
    lacks 'queue.idlers:'
    graded confirmed=1 other_failure=0
    /usr/bin/python3 -c 'import json; f = json.load(open("out.json"))["confirmed"][0]
assert f["deadlock"] and f["requires"] == f["changes"] == []'
    run --separate-stderr bash -c "$(grep ' replay --demon spec.demon.plan ' <<< "$output")"
    is "$status" 120
    has 'replayed identically'
}

@test "behind the test, threads that wait for each other are a failure of which no contract speaks" {
    crossed 's/ wait_for_idler(&queue);/& pthread_mutex_lock(\&queue.mutex), pthread_mutex_lock(\&queue.other);/'
    judges 3 "a failure, but not the contract's: threads wait for each other, of which no contract speaks"
    graded confirmed=0
}

@test "an action that blocks lets the test go on: refuted if that passes, and no confirmation if not" {
    sed -i -e 's/  rely .*//' spec.demon
    changed -DFIXED -e ''
    judges 0 'refuted by a real run'
    graded confirmed=0 contract_only=0
    changed -DFIXED -e '/^__attribute__/,/^}/s/queue->idlers > 0/1/' \
        -e 's/ wait_for_idler(&queue);/& usleep(1); assert(queue.idlers == 0);/' -e '1i #include <unistd.h>'
    judges 3 'the calls were not made in one go: the test went on between them'
    graded confirmed=0
}

@test "objects of one type are told apart, and numbers are what the contracts let them be" {
    printf '%s\n' '#include <assert.h>' 'struct list { int n; };' \
        'static void use(struct list *l) { assert(l->n > 0 && l->n <= 10); }' \
        '__attribute__((used)) static void add(struct list *l, int n) { l->n += n; }' \
        'static void move(struct list *from, struct list *to) { use(to), use(from); }' \
        'int main(void) { static struct list a = { 8 }, b = { 1 }; move(&a, &b); return 0; }' > p.c
    "$cc" -O0 -g -o program p.c
    printf '%s\n' 'test move(from, to)' 'proc use(l) require few: l.n <= 10' \
        'proc add(l, n) require some: n > 0 and n < 4 ensure more: l.n = old l.n + n' > spec.demon
    judges 1 'another thread calls add(from, 3)'
    has 'from.n: 8 -> 11'
}

@test "numbers that others pass are small where they can be, and large where a run refutes these" {
    local program='#include <assert.h>\nstruct list { unsigned n; };
        static void use(struct list *l) { assert(l->n < LIMIT); }
        __attribute__((used)) static void set(struct list *l, unsigned n) { l->n = n; }
        static struct list l;
        int main(void) { use(&l); return 0; }'
    printf '%b\n' "$program" > p.c
    "$cc" -O0 -g -DLIMIT=1 -o program p.c
    printf '%s\n' 'shared l' 'test main()' 'proc use(l) require few: l.n = 0' 'proc set(l, n) ensure set: l.n = n' \
        > spec.demon
    judges 1 'another thread calls set(&l, '
    [[ $output =~ set\(\&l,\ ([0-9]+)\) ]] && [ "${BASH_REMATCH[1]}" -le 16 ]
    # The contract is broken by any number, the program by large ones.
    "$cc" -O0 -g -DLIMIT=5000 -o program p.c
    judges 1 'another thread calls set(&l, '
    graded confirmed=1
    [[ $(grep 'calls set' <<< "$output" | tail -n 1) =~ set\(\&l,\ ([0-9]+)\) ]] && [ "${BASH_REMATCH[1]}" -gt 4999 ]
}

@test "the rely is of what the test was called with, also where the calls come as it is entered" {
    printf '%s\n' '#include <assert.h>' '#include <pthread.h>' 'struct list { int n; pthread_mutex_t m; };' \
        'static void use(struct list *l) { assert(l->n <= 10); }' \
        '__attribute__((used)) static void add(struct list *l) { pthread_mutex_lock(&l->m); l->n += 3; '\
'pthread_mutex_unlock(&l->m); }' \
        'static void move(struct list *from, struct list *to) { pthread_mutex_lock(&to->m); use(to); '\
'pthread_mutex_unlock(&to->m); from->n--; }' \
        'int main(void) { static struct list a, b = { 8, PTHREAD_MUTEX_INITIALIZER }; move(&a, &b); return 0; }' > p.c
    "$cc" -O0 -g -pthread -o program p.c
    printf '%s\n' 'test move(from, to)' 'rely mine: unchanged(from.n) locked: holds(to.m) implies unchanged(to.n)' \
        'proc use(l) require few: l.n <= 10' 'proc add(l) ensure more: l.n = old l.n + 3' > spec.demon
    judges 1 'interference where move enters move (p.c:6): another thread calls add(to)'
    graded confirmed=1
}

@test "only what is in the test's own frames is proven private: memory from the heap may be known to others" {
    printf '%s\n' 'test fill(box)' 'proc use(box, item) require heavy: item.weight > 0 and (box.item = null or 1 = 1)' \
        'proc lighten(item) ensure light: item.weight = 0' > spec.demon
    "$cc" -O0 -g -pthread -o program "$root/tests/cli/demon_heap.c"
    judges 0 '0 proven stable; of the others 1 without a sequence'
    "$cc" -O0 -g -pthread -DOWN -o program "$root/tests/cli/demon_heap.c"
    judges 0 '1 proven stable; of the others 0 without a sequence'
    for known in '-DHIDDEN=table[3]' '-DHIDDEN=*kept'; do
        "$cc" -O0 -g -pthread -DOWN "$known" -o program "$root/tests/cli/demon_heap.c"
        judges 0 '0 proven stable; of the others 1 without a sequence'
    done
    for whose in -DOWN -UOWN; do
        "$cc" -O0 -g -pthread -DKNOWN "$whose" -o program "$root/tests/cli/demon_heap.c"
        judges 1 'another thread calls lighten(box.item)'
    done
    sed -i 's/ensure light: .*/ensure light: item.weight < 0/' spec.demon
    judges 1 '      box.item.weight: 1 -> 0'
}

@test "only the contract is broken: one finding of each clause is shown, and how many more there are" {
    changed '' -e "$no_assert" -e 's/^    decrement(queue);/    pthread_mutex_lock(\&queue->mutex); '\
'pthread_mutex_unlock(\&queue->mutex);&/'
    run --separate-stderr timeout 60 "$pct" demon --spec spec.demon -- ./program
    is "$status" 3
    is "$(grep -c '^only the contract is broken' <<< "$output")" 1
    has '`non_zero: queue.idlers > 0` of decrement was broken so 3 more times, from other points or by other calls'
}
