#!/usr/bin/env bats
# Restored runs (--engine=restore): they are the runs that exec makes; where they would not be, runs are forked.
load common

setup_file()
{
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/kept" "$root/tests/cli/kept.c"
    "$cc" -O1 -o "$BATS_FILE_TMPDIR/deny" "$root/tests/cli/deny.c"
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/born" "$root/tests/cli/born.c"
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/contexts" "$root/tests/cli/contexts.c"
    "$cc" -g -O1 -pthread -o "$BATS_FILE_TMPDIR/stacks" "$root/tests/cli/stacks.c"
    # A handler ends by a call: who calls there is libc.
    "$cc" -g -O1 -foptimize-sibling-calls -pthread -o "$BATS_FILE_TMPDIR/middle" "$root/tests/cli/middle.c" -lm
}

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR/state PCT_WATCHDOG=off # nothing is long because the machine is busy
    ln -s "$BATS_FILE_TMPDIR/kept" "$BATS_FILE_TMPDIR/deny" "$BATS_FILE_TMPDIR/born" "$BATS_FILE_TMPDIR/contexts" \
        "$BATS_FILE_TMPDIR/stacks" "$BATS_FILE_TMPDIR/middle" .
}

fixed=(--epoch 1700000000 -s 1)

# rows FILE MODE...: a campaign, and what its file knows of its runs.
rows()
{
    local to=$1
    shift
    "$pct" campaign "${fixed[@]}" --explore=0 --db "$to.db" "$@" > "$to.said" 2>&1 || [ $? = 1 ] ||
        { cat "$to.said" && return 1; }
    query "$to.db" 'SELECT * FROM runs ORDER BY seed' -quote > "$to"
}

has_line()
{
    grep -F "$1" said
}

# say WHAT...: why runs of kept were not restored, with these options of pct, under this command.
options=() under=() runs=8
say()
{
    "${under[@]}" "$pct" run "${fixed[@]}" -g --state none -n "$runs" --ok-status 3 --engine=restore "${options[@]}" \
        -- \
        ./kept "$@" > said 2>&1 || :
    sed -n 's/^pct: from then on, runs were forked: //p; s/^pct: no run was restored: //p' said
}

@test "restored runs are those by exec: failing ones, too, with several workers, and what they print" {
    rows started -n 12 --exec -- "$build/bugs/bounded-buffer-fixed"
    rows restored -n 12 --engine=restore -j 1 -- "$build/bugs/bounded-buffer-fixed"
    cmp started restored
    grep -E '^pct: [1-9][0-9]* runs were restored; [1-9]' restored.said
    rows started -n 12 --exec --fresh -- "$build/bugs/abba3"
    rows restored -n 12 --engine=restore -j 2 --fresh -- "$build/bugs/abba3"
    cmp started restored
    grep -E '^pct: [1-9][0-9]* runs were restored; [1-9]' restored.said
    # Memory of all kinds: addresses, too, are those of the first run.
    rows restored -n 12 -j 1 --engine=restore --expect-same --fresh -- ./kept memory
    grep -E '^pct: ([4-9]|1[0-9]) runs were restored; 4 of them were made again, and were the same' restored.said
    rows started -n 12 --exec --expect-same --fresh -- ./kept memory
    cmp started restored
}

@test "code is patched anew in each run, and is what it was before main again" {
    for points in --memory=all ${FULL:+--memory=globals --focus=alternate,--memory=globals}; do
        rows restored -n 12 -j 1 --engine=restore -S mixture "${points%,*}" "${points#*,}" \
            --expect-same --fresh -- ./kept memory
        grep -E '^pct: ([4-9]|1[0-9]) runs were restored; 4 of them were made again, and were the same' restored.said
        rows started -n 12 --exec -S mixture "${points%,*}" "${points#*,}" --expect-same --fresh -- ./kept memory
        cmp started restored
    done
    # Not where the process began with others: one run in four has points at memory accesses, from the 17th on.
    options=(--functions=alternate)
    runs=150
    is "$(say race)" ""
    has_line "were not restored: runs have other points than the first"
}

# bats test_tags=long
@test "calls of memcpy are led elsewhere in each run, whether the loader has locked the table or binds them late" {
    local bound
    for bound in now lazy; do
        "$cc" -O1 -fno-builtin -pthread -Wl,-z,$bound -o called "$root/tests/cases/strings_patched.c"
        rows restored -n 12 -j 1 --engine=restore -S mixture --memory=globals --fresh -- ./called copy
        grep -E '^pct: [1-9][0-9]* runs were restored; [1-9]' restored.said
        rows started -n 12 --exec -S mixture --memory=globals --fresh -- ./called copy
        cmp started restored
    done
}

# learned NAME: what the campaign of this name has learned.
learned()
{
    for table in runs iroot_places iroots iroot_further iroot_code iroot_chances; do
        query "$1.db" "SELECT * FROM $table" -quote | sort
    done
}

# bats test_tags=long
@test "runs whose places are recorded: in a library that the run loads" {
    "$cc" -g -O1 -fPIC -shared -pthread -o loaded.so "$root/tests/cli/loads.c"
    "$cc" -g -O1 -pthread -o loads "$root/tests/cli/loads.c"
    for how in exec engine=fork engine=restore; do
        rows "$how" -n 12 "--$how" -j 1 -S maple --fresh -- ./loads ./loaded.so
        learned "$how" > "learned-$how"
        grep "'count_up','.*loads.c',12$" "learned-$how"
    done
    cmp learned-exec learned-engine=fork
    cmp learned-exec learned-engine=restore
}

# bats test_tags=long
@test "runs whose places are recorded: directed ones, and what the campaign has learned from them" {
    local how
    for how in --exec --engine=fork --engine=restore; do
        rows "runs$how" -n 60 "$how" -j 1 -S maple --memory=globals --fresh -- "$build/bugs/bounded-buffer-fixed"
        learned "runs$how" > "learned$how"
    done
    cmp learned--exec learned--engine=fork
    cmp learned--exec learned--engine=restore
    [ "$(wc -l < learned--exec)" -gt 100 ]
    grep -E '^pct: 5[0-9] runs were restored; 4 of them were made again, and were the same$' runs--engine=restore.said
    rows started -n 12 --exec --sites --fresh -- ./kept memory
    rows restored -n 12 -j 1 --engine=restore --sites --fresh -- ./kept memory
    cmp started restored
    grep -E '^pct: ([4-9]|1[0-9]) runs were restored; 4 of them were made again, and were the same' restored.said
}

@test "what a run leaves is undone, or it is forked, and it is said why" {
    is "$(say open)" "a system call is not undone (openat)"
    is "$(say proc)" "a system call is not undone (openat)"
    is "$(say trap)" "a system call is not undone (rt_sigaction)"
    is "$(say munmap)" "a system call is not undone (munmap)"
    is "$(say running)" ""
    grep -E '^pct: [4-7] runs were restored; 4 of them were made again, and were the same$' said
    is "$(say pending)" "a signal is pending"
    has_line "no failure"
    is "$(say child)" "a child process is left"
    is "$(say shrink)" "memory from before main is given back"
    # The 100 MB that nobody has touched are no memory, and stay none.
    is "$(say resident 50000)" ""
    grep -E '^pct: [4-7] runs were restored; 4' said
    # Undone: what a signal does, and files and pipes that nobody has closed.
    is "$(say leave)" ""
    grep -E '^pct: [4-7] runs were restored; 4 of them were made again, and were the same$' said
    is "$(say read)" ""
    grep -E '^pct: [4-7] runs were restored; 4 of them were made again, and were the same$' said
    for signals in handler sends; do
        is "$(say $signals)" ""
        grep -E '^pct: [4-7] runs were restored; 4 of them were made again, and were the same$' said
    done
    is "$(say pipe)" ""
    grep -E '^pct: [4-7] runs were restored; 4' said
}

@test "threads are made on the kernel threads of earlier runs, and find what new ones do" {
    local what
    for what in all ${FULL:+"many 80" others "many 5" "beside 90" pending}; do
        # shellcheck disable=SC2086 # two words
        rows started -n 40 --exec --memory=off --fresh -- ./born $what
        # shellcheck disable=SC2086
        rows restored -n 40 -j 1 --engine=restore --memory=off --fresh -- ./born $what
        cmp started restored
        grep -E '^pct: 3[0-9] runs were restored; 4 of them were made again, and were the same$' restored.said
    done
    # They are: what the kernel has counted of one shows it, and no run may say so.
    rows restored -n 40 -j 1 --engine=restore --memory=off --fresh -- ./born switches 30
    grep 'pct: no run was restored: a restored run differed' restored.said
    # Who asks for a thread that has ended is told the truth.
    for what in "gone tgkill" "file stat" ${FULL:+"policy sched_getscheduler" "folder stat"}; do
        rows started -n 12 --exec --memory=off --fresh -- ./born "${what% *}"
        rows restored -n 12 -j 1 --engine=restore --memory=off --fresh -- ./born "${what% *}"
        cmp started restored
        grep -F "no run was restored: a system call is not undone (${what#* })" restored.said
    done
    # Where only kept threads wait, the watchdog must come all the same.
    unset PCT_WATCHDOG
    rows restored -n 12 -j 1 --engine=restore --memory=off --fresh -- ./born spins
    grep 'no run was restored: pct watches long runs' restored.said
}

# bats test_tags=long
@test "threads are contexts, and have what is theirs; or kernel threads, if they ask the kernel for that" {
    local what
    for what in own holds cancels signal \
        ${FULL:+numbers clock-of robust folder clock usage alternate policy session inheriting kill name file}; do
        rows started -n 12 --exec --memory=off --expect-same --fresh -- ./contexts "$what"
        rows restored -n 12 -j 1 --engine=restore --memory=off --expect-same --fresh -- ./contexts "$what"
        cmp started restored
        grep -E '^pct: [89] runs were restored; 4 of them were made again, and were the same$|^pct: 1[01] runs' \
            restored.said
        "$pct" run -q "${fixed[@]}" -n 1 --state none --memory=off -- ./contexts "$what" > said
        run ! grep -E "ANOTHER|TWO|NOT" said
    done
    for what in exits leaves overflows; do
        rows started -n 12 --exec --memory=off --fresh -- ./contexts "$what"
        rows restored -n 12 -j 1 --engine=restore --memory=off --fresh -- ./contexts "$what"
        cmp started restored
    done
}

@test "a hundred threads are contexts; and those of a program that tells of its memory accesses" {
    local count
    for count in 100 3; do
        rows started -n 24 --exec -S pct --fresh -- "$build/scale/reorder" "$count"
        rows restored -n 24 -j 1 --engine=restore -S pct --fresh -- "$build/scale/reorder" "$count"
        cmp started restored
        grep -E '^pct: 22 runs were restored; [4-7] of them were made again, and were the same$' restored.said
    done
}

@test "stacks stay mapped from run to run, and a thread finds at the same place what it would in a new one" {
    local what
    for what in fresh early fewer faults ${FULL:+between many mine}; do
        rows started -n 24 --exec --memory=off --fresh -- ./stacks "$what"
        rows restored -n 24 -j 1 --engine=restore --memory=off --fresh -- ./stacks "$what"
        cmp started restored
        grep -E '^pct: (1[5-9]|2[0-4]) runs were restored; 4 of them were made again, and were the same' restored.said
        run ! grep -F 'from then on' restored.said
        # What it prints, addresses among it, is compared where a run is made again: the first three, and the last.
        "$pct" run "${fixed[@]}" -n 1 --state none --memory=off --exec -- ./stacks "$what" 2> said > exec
        ! grep -F 'another mask' exec
    done
    "$pct" run "${fixed[@]}" -n 1 --state none --memory=off --exec -- ./stacks early 2> said | grep -F '2 crashes'
}

@test "what a program had before main, and what the kernel does not do" {
    is "$(say shared)" "runs are not forked"
    is "$(say large)" "too much memory before main"
    under=(./deny 323)
    is "$(say none)" "the kernel does not tell what was written (userfaultfd)"
    under=(./deny 317)
    is "$(say none)" "system calls cannot be filtered (seccomp)"
    for few in 200 202; do
        under=(prlimit "--nofile=$few")
        is "$(say none)" "too few descriptors"
    done
}

@test "runs that are not for it: what was asked for, failures, long ones" {
    options=(--memory-limit=4G)
    is "$(say none)" "memory is limited (--memory-limit, ulimit -v)"
    for option in --scratch --setup=true --teardown=true; do
        options=("$option")
        is "$(say none)" "runs have --setup, --teardown or --scratch"
    done
    options=(--memory=globals --memory-points=learned)
    is "$(say none)" "runs learn (--memory-points=learned)"
    options=(--aslr)
    is "$(say none)" "runs are not forked"
    options=()
    runs=2
    is "$(say none)" "too few runs"
    runs=20
    is "$(say fail 8)" "too many runs fail"
    is "$(say killed 8)" "the restoring process has ended"
    unset PCT_WATCHDOG
    is "$(say long 8)" "pct watches long runs"
}

@test "an environment that grows, and a trace that has no room" {
    local settled=(-k 500 -S pct --slack 0 -j 1 --fresh)
    local room
    room=$(EXTRA=x "$pct" run -q -n 1 "${fixed[@]}" -k 500 -S pct --slack 0 --state none -- ./kept pad)
    EXTRA=$(printf '%*s' $((room + 1)) '') run "$pct" campaign -n 12 "${fixed[@]}" --engine=restore "${settled[@]}" \
        -- ./kept pad
    has "after 1 run the memory was not put back: the environment of the run has another size"
    # Each run has a new trace, for which its host, which alone has a descriptor of this number, gets no room.
    # shellcheck disable=SC2016
    run "$pct" campaign -n 12 "${fixed[@]}" --engine=restore "${settled[@]}" --oracle '
        for child in $(cat /proc/$PPID/task/$PPID/children); do
            [ -e /proc/$child/fd/200 ] && prlimit --pid $child --fsize=32768
        done
        rm -f $(readlink /proc/$PPID/fd/* | grep "/pct-[0-9]")' -- ./kept none
    has "no run was restored: no space for the trace"
}

@test "docs/FORKING.md has each reason" {
    texts=$(sed -n '/define PCT_HOST_REASONS/,/^enum/s/.*X(.*"\(.*\)").*/\1/p' "$root/common/host.h")
    [ "$(wc -l <<< "$texts")" -gt 20 ]
    while read -r text; do
        tr -s '\n ' ' ' < "$root/docs/FORKING.md" | grep -qF "$text" || { echo "not there: $text" && return 1; }
    done <<< "$texts"
}

@test "runs that fail are made again by exec, and one that differs ends it" {
    runs=16
    is "$(say status)" ""
    has_line "no failure"
    for what in switches crashes; do
        is "$(say "$what" 50)" "a restored run differed"
        has_line "16 runs in"
    done
    # Others were taken for what they said: all of it is done again.
    runs=60
    is "$(say switches 1000)" "a restored run differed"
    has_line "a restored run differed: all runs are made again, by fork"
    has_line "60 runs in"
    has_line "no failure"
}

@test "the last restored run is made again, too: nobody else sees that it is not the one that fork makes" {
    runs=24
    is "$(say tells 1000)" "a restored run differed"
    has_line "a restored run differed: all runs are made again, by fork"
    has_line "no failure"
}

@test "a late difference: what the campaign's file had before is there again, and goes on by fork" {
    rows forked -n 20 --fresh -- ./kept switches 1000
    cp forked.db restored.db
    rows forked -n 60 -- ./kept switches 1000
    rows restored -n 60 --engine=restore -j 1 -- ./kept switches 1000
    cmp forked restored
    grep -F "a restored run differed: all runs are made again, by fork" restored.said
    grep -F "pct: no run was restored: a restored run differed" restored.said
    python3 - << 'END'
import sqlite3
for table in "coverage", "uncontrolled", "findings":
    a, b = ([*sqlite3.connect(f"{name}.db").execute(f"SELECT * FROM {table}")] for name in ("forked", "restored"))
    assert a == b, table
assert [*sqlite3.connect("restored.db").execute("SELECT runs FROM sessions")] == [(20,), (40,)]
END
}

# explored FILE MODE...: likewise of an exploration: its runs and findings, and its last line without the time.
explored()
{
    local to=$1 status=0
    "$pct" explore --epoch 1700000000 --db "$to.db" "${@:2}" > "$to.said" 2>&1 || status=$?
    [[ $status =~ ^(0|1|119)$ ]] || { cat "$to.said" && return 1; } # verified, found, runs used up
    # Not the report: the time for the cause that it names is limited.
    query "$to.db" 'SELECT * FROM runs;
        SELECT signature, title, seed, token, output, line, replays, same, other FROM findings' -quote > "$to"
    tail -n 1 "$to.said" | sed 's/, [0-9.]* \(m\{0,1\}s\|min.*\))//' >> "$to"
}

@test "pct explore restores its runs: they are the forked ones, failing ones, too; where one differs it begins anew" {
    explored forked -n 12 -- ./kept none
    explored restored -n 12 --engine=restore -- ./kept none
    cmp forked restored
    grep -E '^pct: [1-9][0-9]* runs were restored; [1-9] of them were made again, and were the same(;|$)' restored.said
    explored forked --fresh -n 60 -- "$build/bugs/double-checked"
    explored restored --fresh -n 60 --engine=restore -- "$build/bugs/double-checked"
    cmp forked restored
    grep -E '^pct: [1-9][0-9]* runs were restored; [1-9] of them were made again, and were the same' restored.said
    explored forked --fresh -n 20 -- ./kept switches 1000
    cp forked.db restored.db
    explored forked -n 60 -- ./kept switches 1000
    explored restored -n 60 --engine=restore -- ./kept switches 1000
    cmp forked restored
    grep -F "a restored run differed: all runs are made again, by fork" restored.said
    grep -F "pct: no run was restored: a restored run differed" restored.said
}

@test "explored runs go on from the middle of those that begin alike, unless that cannot be put back" {
    local what
    for what in memory handler waiters file ${FULL:+none kernel numbers output gone}; do
        explored forked --fresh -n 150 -- ./middle $what
        explored restored --fresh -n 150 --engine=restore -- ./middle $what
        cmp forked restored
        grep -E '^pct: 14[0-9] runs were restored; [3-9] of them were made again, and were the same' restored.said
        case $what in
        file | gone) ! grep "went on" restored.said ;;
        *) grep -E '; 1[01][0-9] went on from the middle of an earlier one$' restored.said ;;
        esac
    done
    # Those that fail, too: each kind once by exec, and some by fork.
    for what in fails crashes ${FULL:+main blocks}; do
        explored forked --fresh -n 150 -- ./middle $what
        explored restored --fresh -n 150 --engine=restore -- ./middle $what
        cmp forked restored
        grep "^pct: found" forked
        grep -E '^pct: ([5-9][0-9]|14[0-9]) runs were restored; [4-9]' restored.said
        grep -E '; [1-9][0-9]+ went on from the middle of an earlier one$' restored.said
    done
    for what in exits aborts; do # the host of the latter ends by that signal
        explored forked --fresh -n 150 -- ./middle $what
        explored restored --fresh -n 150 --engine=restore -- ./middle $what
        cmp forked restored
        grep "^pct: found" forked
    done
    # Patched code is as it was at the point.
    for what in --memory=globals --memory=all; do
        explored forked --fresh -n 150 $what -- ./middle main
        explored restored --fresh -n 150 --engine=restore $what -- ./middle main
        cmp forked restored
        grep -E '; [1-9][0-9]+ went on from the middle of an earlier one$' restored.said
    done
    # Each worker has points of its own; what a killed one has made is kept.
    explored restored --fresh -n 150 -j 2 --engine=restore -- ./middle memory
    explored forked --fresh -n 150 -- ./middle memory
    cmp forked restored
    grep -E '; [1-9][0-9]* went on from the middle of an earlier one$' restored.said
}

# analysed TO COMMAND...: what it says, without times and what it says of restored runs, and its exit status.
analysed()
{
    local to=$1 status=0
    "$pct" "${@:2}" > "$to.said" 2>&1 || status=$?
    sed -E '/restored/d; s/[0-9.]+ m?s$//' "$to.said" > "$to"
    echo "$status" >> "$to"
}

@test "pct minimize and pct explain restore the runs that they try, and come to the same" {
    local token what
    for what in abba3 philosophers; do
        token=$("$pct" run "${fixed[@]}" -n 1000 --state none -- "$build/bugs/$what" 2>&1 |
            grep -o "pct1:[^ ']*" | head -n 1)
        for command in minimize "explain --search"; do
            # shellcheck disable=SC2086 # two words
            analysed forked $command -j 1 --seconds 1000 "$token" -- "$build/bugs/$what"
            # shellcheck disable=SC2086
            analysed restored $command -j 1 --seconds 1000 --engine=restore "$token" -- "$build/bugs/$what"
            cmp forked restored
            [ "$command" != minimize ] || grep -E '^pct: [1-9][0-9]+ runs were restored; [4-9] of them' restored.said
        done
    done
    run "$pct" minimize --engine=fast pct1: -- ./kept none
    is "$status" 2
}

@test "of random programs, restored runs find what forked ones do" {
    PCT_BUILD=$build "$root/tests/explored/restored" 8 3
}

@test "the engine has three names" {
    run "$pct" run --engine=fast -- ./kept none
    is "$status" 2
    has "--engine: 'fast' is not one of auto, fork and restore"
    run "$pct" explore --engine=fast -- ./kept none
    is "$status" 2
    for name in auto fork; do
        run "$pct" run "${fixed[@]}" -n 10 --engine=$name -- ./kept none
        is "$status" 0
        case $output in *restored*) return 1 ;; esac
    done
}

@test "two workers, whose runs crash: each run once, as by fork" {
    local i
    cat > crash.c << 'C'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long turns, last;
static void *work(void *me)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        turns += last != (long)me;
        last = (long)me;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(t + i, 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    if (turns == 6) *(volatile int *)8 = 1;
    return turns == 7 ? 3 : 0;
}
C
    "$cc" -O1 -g -pthread -o crash crash.c
    for i in fork restore restore restore restore restore restore; do
        rm -f found.db
        run timeout 60 "$pct" campaign -q -s 9 --epoch 1 -n 150 -j 2 --engine="$i" --db found.db -- ./crash
        is "$status" 1
        "$pct" campaign report --format json found.db | grep -e token -e identical > "$i.out"
        cmp fork.out "$i.out"
    done
}

@test "a run is watched for what it does between two steps: many steps are no hang" {
    cat > steps.c << 'C'
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument)
{
    for (int i = 0; i < 10000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(t + i, 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
C
    "$cc" -O1 -pthread -o steps steps.c
    unset PCT_WATCHDOG
    "$pct" run "${fixed[@]}" --state none -n 20 -j 1 --explore=0 --engine=restore -- ./steps > said 2>&1
    grep '^pct: 18 runs were restored; 4 of them were made again, and were the same$' said
}
