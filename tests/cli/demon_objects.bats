#!/usr/bin/env bats
# Objects that no parameter of the test and no shared variable is, but that members of these lead to.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS WHICH PLACE PATH [FLAG...]: `pct demon` of the program that uses this account; PATH: what the rely
# names.
judges()
{
    printf '%s\n' 'test pay(b)' \
        "  rely locked: holds(b.lock) implies unchanged(b.first) and unchanged($4.balance)" \
        'proc debit(account, n)' '  require enough: account.balance >= n' 'proc empty(account)' \
        '  ensure none: account.balance = 0' 'proc clear(other)' '  ensure less: other.unlike = 0' \
        'proc open_first(b)' '  ensure open: b.first != null' > spec.demon
    "$cc" -g -pthread -DWHICH="$2" -DPLACE="$3" "${@:5}" -o program "$root/tests/cli/demon_objects.c"
    run --separate-stderr timeout 120 "$pct" demon --depth "${depth-1}" --spec spec.demon -- ./program
    is "$status" "$1"
}

# finds PATH WHICH PLACE
finds()
{
    judges 1 "$2" "$3" "$1" -O0
    has "another thread calls empty($1)"
    has "      $1.balance: 100 -> 0"
    has 'confirmed by a real schedule of two threads'
    replays
    judges 0 "$2" "$3" "$1" -O2 -DFIXED
    has 'no interference found'
}

@test "an object behind a pointer; the correction is stable" {
    finds b.first 'b->first' bank.first
    has '1 proven stable'
}
@test "an object that is an element of an array" { finds 'b.own[1]' '(&b->own[1])' bank.any; }
@test "an object at the end of a list" {
    finds b.list.next.next.account 'b->list.next->next->account' 'entries[1].account'
}

@test "an object behind a pointer to void is what the test passes it as" {
    judges 1 '((struct account *)b->any)' bank.any b.first -O2
    has 'another thread calls empty(b.any)'
}

@test "--emit-test goes the same way to the object" {
    local flags=(-O0 -g -pthread -DWHICH='(&b->list.next->next->account[0])' -DPLACE='entries[1].account')
    "$cc" "${flags[@]}" -o program "$root/tests/cli/demon_objects.c"
    printf '%s\n' 'test pay(b)' 'proc debit(account, n) require enough: account.balance >= n' \
        'proc empty(account) ensure none: account.balance = 0' > spec.demon
    run --separate-stderr timeout 120 "$pct" demon --emit-test test.c --spec spec.demon -- ./program
    is "$status" 1
    "$cc" -Wall -Wextra -Werror "${flags[@]}" -o demon-test "$root/tests/cli/demon_objects.c" test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
}

@test "--depth 2: an object that there is only behind a call of others" {
    depth=2 judges 1 'b->first' 'HIDDEN(bank)' b.first -O0
    has 'another thread calls open_first(b); later, where pay enters debit'
    has 'another thread calls empty(b.first)'
    depth=2 judges 0 'b->first' 'HIDDEN(bank)' b.first -O0 -DFIXED
    has 'no interference found'
}

@test "an object that nothing that can be followed leads to is said to have been left out" {
    judges 0 'HIDDEN(*b)' 'HIDDEN(bank)' b.first -O0
    has 'account of debit: no call of others can name this object, so none was tried on it; make it a parameter of '\
'pay, or '
}

@test "calls that do something else than their contracts say are told of" {
    printf '%s\n' 'shared bank' 'test pay(b)' 'proc debit(account, n) require first: bank.paid < 9' \
        'proc open_first(b) ensure more: b.paid >= old b.paid' > spec.demon
    "$cc" -O0 -g -pthread -DWHICH='b->first' -DPLACE=bank.first -o program "$root/tests/cli/demon_objects.c"
    run --separate-stderr timeout 120 "$pct" demon --bound 1 --spec spec.demon -- ./program
    is "$status" 0
    has 'in 2 of these the calls did something else than the solver took from their `ensure`: say there exactly what '\
'they do'
}

@test "contracts that follow members, and what they cannot follow" {
    local say='that array has 3 elements'
    for member in 'own[3].balance' 'paid.balance' 'hidden.balance' 'paid[1]' 'any[1].balance' 'own[b].balance' \
        'own[1'; do
        judges 2 'b->first' bank.first "${member/#/b.}" -O0
        [[ $stderr == "pct: spec.demon:2: "*"$say"* ]]
        say=
    done
}

@test "objects that were left out, as there are too many, are named" {
    printf '%s\n' '#include <assert.h>' 'struct account { int balance; }; struct bank { struct account a[9]; } b;' \
        'void debit(struct account *a) { assert(a->balance >= 0); }' \
        'void clear(struct account *a) { a->balance = 0; }' \
        'void take(struct bank *b) { debit(&b->a[0]); }' 'int main(void) { take(&b); return 0; }' > p.c
    printf '%s\n' 'test take(b)' 'proc debit(a) require some: a.balance >= 0' \
        'proc clear(a) ensure none: a.balance = 0' > spec.demon
    "$cc" -O0 -g -pthread -o program p.c
    run --separate-stderr timeout 120 "$pct" demon --spec spec.demon -- ./program
    is "$status" 0
    has 'no call was tried on b.a[5] and other objects that members lead to: make those that count parameters of '\
'take, or shared variables'
}
