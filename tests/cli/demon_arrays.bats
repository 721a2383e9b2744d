#!/usr/bin/env bats
# What others reach along arrays, whose length contracts say, and along pointers to pointers; and paths there.
load common
load demon

setup()
{
    enter_demon || return
}

# judges STATUS BODY CONTRACT...: `pct demon` of the routine that does this.
judges()
{
    printf '%s\n' 'test use(t)' "${@:3}" > spec.demon
    # shellcheck disable=SC2086 # none, or one
    "$cc" -g -O0 -pthread -DBODY="$2" ${flag-} -o program "$root/tests/cli/demon_arrays.c"
    run --separate-stderr timeout 120 "$pct" demon --bound 1 --emit-test test.c --spec spec.demon -- ./program
    is "$status" "$1"
}

debits=('proc debit(a, n) require enough: a.balance >= n' 'proc empty(a) ensure none: a.balance = 0')
unlinks=('proc unlink_first(head) require some: head[0] != null' 'proc clear(head) ensure none: head[0] = null')

@test "an array whose length a member says: what it points to, pointers there, and elements of its own" {
    for place in 't->slot[1]' '&t->flat[2]' '&t->own[1]'; do
        name=${place//[&>]/} member=${name#*-}
        length=t.size
        [ "$member" = "${member#own}" ] || length=t.used
        judges 1 "if (covers($place, 60)) debit($place, 60)" " array t.${member%%[*} has $length" "${debits[@]}"
        has "another thread calls empty(t.$member)"
        has "      t.$member.balance: 100 -> 0"
    done
    "$cc" -Wall -Wextra -Werror -g -O0 -pthread -DBODY="if (covers($place, 60)) debit($place, 60)" -o demon-test \
        "$root/tests/cli/demon_arrays.c" test.c
    run --separate-stderr bash -c "$(tail -n 1 <<< "$output")"
    is "$status" 134
    has 'replayed identically'
}

@test "an array: its correction is proven stable, and elements behind its length are not there" {
    flag=-DFIXED judges 0 'if (covers(t->slot[1], 60)) debit(t->slot[1], 60)' ' array t.slot has 2' \
        ' rely locked: holds(t.lock) implies unchanged(t.slot) and unchanged(t.slot[1]) and '\
'unchanged(t.slot[1].balance)' "${debits[@]}"
    has '1 proven stable'
    has 'no interference found'
    judges 0 'if (covers(&t->flat[2], 60)) debit(&t->flat[2], 60)' ' array t.flat has 2' "${debits[@]}"
    has 'a of debit: no call of others can name this object'
}

@test "an element that no array leads to is not proven to stay, and is named" {
    judges 0 'if (covers(&t->flat[2], 60)) debit(&t->flat[2], 60)' ' rely any: t.flat[2].balance >= 0' "${debits[@]}"
    has '2 points, 2 pairs of points: 0 proven stable'
    has 'a of debit: no call of others can name this object'
}

@test "the address of a pointer: a member's, and a shared variable's" {
    judges 1 'if (t->head) unlink_first(&t->head)' "${unlinks[@]}"
    has 'another thread calls clear(&t.head)'
    grep -q '      t.head: 0x[0-9a-f]* -> null' <<< "$output"
    judges 1 'if (list) unlink_first(&list)' 'shared list' "${unlinks[@]}"
    has 'another thread calls clear(&list)'
    grep -qx '    clear(list);' test.c
    flag=-DFIXED judges 0 'if (list) unlink_first(&list)' '  rely locked: holds(t.lock) implies unchanged(list)' \
        'shared list' \
        "${unlinks[@]}"
    has '1 proven stable'
}

@test "arrays that are none are refused by name" {
    local say
    while IFS=: read -r array say; do
        judges 2 'covers(t->flat, 1)' "  array $array"
        is "$stderr" "pct: spec.demon:$say"
    done << 'END'
t.slot:3: 'has' is expected, not the end of the file
t.slot has t.sise:2: t.sise: struct table has no member 'sise'; did you mean size?
t.slot has t.head:2: array t.slot: t.head is no number
t.slot has u.size:2: use has no parameter 'u', and it is not shared
t.numbers has t.size:2: array t.numbers: it is no array of structures or of pointers to such, and points to none
t.own has t.head.size:2: array t.own: t.head.size is no member of the same structure
t has 3:2: array t: a member is expected, as in array q.items has q.size
END
    printf '%s\n' 'array t.slot has 2' > spec.demon
    run --separate-stderr "$pct" demon --spec spec.demon -- ./program
    is "$stderr" "pct: spec.demon:1: 'array' stands below no proc or test"
}

@test "a shared array, and a pointer to numbers" {
    judges 1 'if (covers(&accounts[1], 60)) debit(&accounts[1], 60)' 'shared accounts' "${debits[@]}"
    has 'another thread calls empty(accounts[1])'
    judges 0 'if (t->numbers[0]) take(t->numbers, 1)' 'proc take(number, n) require enough: number[0] >= n' \
        'proc spend(number, a) ensure none: number[0] = 0'
    has 'number of take: no call of others can name this object'
}
