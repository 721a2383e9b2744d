#!/usr/bin/env bats
# What is said of a routine that is right, and of its twin that is not.
load common
load demon

setup()
{
    enter_demon || return
    cat > list.c << 'END'
#include <assert.h>
#include <pthread.h>
struct block {
    struct block *next;
};
static struct block last, first = { &last };
struct block *list = &first;
static unsigned limit = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void take_first(struct block **from)
{
    assert(*from && limit);
    *from = (*from)->next;
}
__attribute__((used)) static void take_all(void)
{
    pthread_mutex_lock(&lock);
    list = 0;
    pthread_mutex_unlock(&lock);
}
static void take(void)
{
#ifdef BUG
    if (!list)
        return;
    pthread_mutex_lock(&lock);
    take_first(&list);
#else
    pthread_mutex_lock(&lock);
    if (list)
        take_first(&list);
#endif
    pthread_mutex_unlock(&lock);
}
int main(void)
{
    take();
    return 0;
}
END
    printf '%s\n' 'test take()' '  rely locked: holds(lock) implies unchanged(list)' 'shared lock, list, limit' \
        'proc take_first(from)' '  require some: from[0] != null' '  require any: limit > 0' \
        'proc take_all()' '  ensure none: list = null' > list.demon
}

# judges STATUS FLAG...: `pct demon` of it, built so.
judges()
{
    "$cc" -O0 -g -pthread "${flags[@]}" -o program list.c
    run --separate-stderr timeout 120 "$pct" demon "${@:2}" --spec list.demon -- ./program
    is "$status" "$1"
}

@test "a free list: stable by its global mutex, whatever the rely leaves open; its twin before the lock" {
    flags=()
    judges 0
    has '4 points, 3 pairs of points: 1 proven stable'
    flags=(-DBUG)
    judges 0 --points calls
    has 'between these the test makes 1 operation on locks: --points=locks lets others in before each'
    judges 1 --points locks
    has 'where take is about to lock mutex (list.c:26): another thread calls take_all()'
    grep -qx '      list: 0x[0-9a-f]* -> null' <<< "$output"
    has 'lock is not held there'
}

@test "what nothing leads to any more behind a call has no value there" {
    sed -i 's/^  ensure none.*/  ensure none: list = null and list.next = null/' list.demon
    flags=(-DBUG)
    judges 1 --points locks
    has '-> null'
    lacks 'list.next:'
}

# other STATUS SPEC... < SOURCE: `pct demon` of another program.
other()
{
    cat > p.c
    printf '%s\n' "${@:2}" > spec.demon
    "$cc" -O0 "${flag:--g}" -pthread -o program p.c
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon -- ./program
    is "$status" "$1"
}

@test "a call that changes a part of what is required, by another type" {
    other 1 'test use(p, q)' 'proc need(p) require some: p.v > 0' 'proc clear(q) ensure none: q.w[0] = 0' << 'END'
#include <assert.h>
struct a { int v; };
struct b { char w[4]; };
union { struct a a; struct b b; } both = { { 1 } };
void need(struct a *p) { assert(p->v > 0); }
void clear(struct b *q) { q->w[0] = 0; }
void use(struct a *p, struct b *q) { if (p->v && q) need(p); }
int main(void) { use(&both.a, &both.b); return 0; }
END
    has 'another thread calls clear(q)'
}

@test "what contracts cannot speak of is said: unions, variables of each thread, -g1" {
    local program='union u { int i; }; struct s { union u u; } s; _Thread_local int each;
        void need(struct s *s) { (void)s; } int main(void) { need(&s); return each; }'
    other 2 'test need(s) require some: s.u.i > 0' <<< "$program"
    is "$stderr" 'pct: spec.demon:1: s.u.i: what stands before .i is a union, which contracts cannot speak of'
    other 2 'shared each' 'test need(s) require some: each > 0' <<< "$program"
    is "$stderr" 'pct: spec.demon:1: each thread has a variable each of its own, which others do not share'
    flag=-g1 other 2 'test need(s)' <<< "$program"
    [[ $stderr == *'says nothing of parameters and types, as that of -g1: build with -g' ]]
}
