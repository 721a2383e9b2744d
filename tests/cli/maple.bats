#!/usr/bin/env bats
# The strategy maple: profile runs, and runs that force what they have predicted.
# shellcheck disable=SC2154 # variables that bats and common.bash set
load common

setup_file()
{
    compile_targets
    for program in reorder twostage; do
        "$build/pct-cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/$program" "$root/bench/scale/$program.c"
        "$build/pct-cc" -DFIXED -O1 -g -pthread -o "$BATS_FILE_TMPDIR/$program-fixed" "$root/bench/scale/$program.c"
    done
}

setup()
{
    enter
    reorder=$BATS_FILE_TMPDIR/reorder
    twostage=$BATS_FILE_TMPDIR/twostage
}

# The runs that it took until the first failure.
runs()
{
    printf '%s\n' "$output" | sed -n 's/^pct: \([0-9]*\) runs\{0,1\} in .*/\1/p'
}

# How many runs had other scheduling points than the rest: what the campaign says of them.
other_points()
{
    local number
    number=$(printf '%s\n' "$output" | sed -n 's/^pct: \([0-9]*\) of these runs had other scheduling points .*/\1/p')
    echo "${number:-0}"
}

@test "maple: few runs, however many threads there are; the token replays without the profile" {
    for threads in 3 30; do
        run "$pct" run -S maple -n 40 --seed 1 --state none -- "$reorder" "$threads"
        [ "$status" -eq 134 ]
        [ "$(runs)" -le 12 ]
        run "$pct" run -S maple -n 60 --seed 1 --state none -- "$twostage" "$threads"
        [ "$status" -eq 134 ]
        [ "$(runs)" -le 30 ]
    done
    has "directed ones; of "
    replay=$(printf '%s\n' "$output" | grep -o "replay 'pct1:maple[^']*'" | cut -d"'" -f2)
    for _ in 1 2 3; do
        run "$pct" replay "$replay" -- "$twostage" 30
        [ "$status" -eq 134 ]
        lacks "diverge"
    done
    idiom=${replay#*iroot=}
    run "$pct" explain "$replay" -- "$twostage" 30
    [ "$status" -eq 0 ]
    has "maple was to force this iRoot: ${idiom%%-*}  "
    # The second store, or its lock, where the thread still stands.
    [[ $output == *twostage.c:3[67]* ]]
}

@test "maple: what a run is does not depend on --jobs; programs without the bug pass" {
    run "$pct" run -S maple -n 40 -g --seed 1 --state none -- "$twostage" 5
    one=$(printf '%s\n' "$output" | grep -e 'iRoots that were predicted' -e 'runs in' | sed 's/ in .*seeds/ seeds/')
    run "$pct" run -S maple -n 40 -g -j 2 --seed 1 --state none -- "$twostage" 5
    [ "$(printf '%s\n' "$output" | grep -e 'iRoots that were predicted' -e 'runs in' | sed 's/ in .*seeds/ seeds/')" = \
        "$one" ]
    for program in reorder twostage; do
        run "$pct" run -S maple -n 60 --seed 1 --state none -- "$BATS_FILE_TMPDIR/$program-fixed" 4
        [ "$status" -eq 0 ]
        has "iRoots that were predicted"
    done
}

@test "iRoots: a campaign of any strategy counts them with --sites, and goes on with it; a memo takes these" {
    options=(-S random-walk --seed 1 --epoch 1700000000)
    "$pct" campaign "${options[@]}" -n 40 --sites --db whole.db -- "$twostage-fixed" 3
    "$pct" campaign "${options[@]}" -n 9 --sites --db parts.db -- "$twostage-fixed" 3
    "$pct" campaign "${options[@]}" -n 40 --sites --db parts.db -- "$twostage-fixed" 3
    for table in runs coverage iroots iroot_places; do
        [ "$(sqlite3 whole.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
    done
    # Those that pct coverage finds in the same runs, by instruction instead of line; nothing was directed.
    run "$pct" campaign report whole.db
    [[ $output =~ iRoots:\ ([0-9]+)\ exposed,\ the\ last\ new\ one\ in\ run\ ([0-9]+)\ of\ 40\; ]]
    exposed=${BASH_REMATCH[1]} last=${BASH_REMATCH[2]}
    lacks 'combined'
    run "$pct" coverage -S random-walk --seed 1 -n 40 -- "$twostage-fixed" 3
    has "pct: exposed iRoots: $exposed ("
    has "the last new one in run $last"
    # What the pairs say stands in every report.
    newest=$(sqlite3 whole.db 'select count(*) from runs where seed <= (select max(seed) from coverage)')
    "$pct" campaign "${options[@]}" -n 40 --db plain.db -- "$twostage-fixed" 3 > report
    grep -q "^coverage: .* ordered pairs of operations, the last new one in run $newest of 40$" report
    run ! grep -q iRoots report
    [ "$(sqlite3 whole.db 'select hash from runs')" = "$(sqlite3 plain.db 'select hash from runs')" ]
    # Of all runs, or of none.
    run "$pct" campaign "${options[@]}" -n 41 --sites --db plain.db -- "$twostage-fixed" 3
    [ "$status" -eq 2 ]
    has "plain.db is of another campaign: its --sites is '', not 'on'"
    # Its runs have tried nothing.
    run "$pct" campaign -S maple --seed 1 -n 20 --memo whole.db --db memo.db -- "$twostage-fixed" 3
    has "--memo=whole.db: $exposed iRoots are known, and not tried again"
    # Shards make one campaign, which can go on.
    for shard in 1 2; do
        "$pct" campaign "${options[@]}" -n 40 --shard $shard/2 --sites --db $shard.db -- "$twostage-fixed" 3
    done
    "$pct" campaign merge both.db 1.db 2.db
    [ "$("$pct" campaign report both.db | grep -c "^iRoots: $exposed exposed, the last new one in run $last of 40;")" \
        -eq 1 ]
    run "$pct" campaign "${options[@]}" -n 41 --sites --db both.db -- "$twostage-fixed" 3
    [ "$status" -eq 0 ]
    has "both.db: 40 of 41 runs are done; going on"
}

@test "maple: a campaign that is resumed goes on with what it knows" {
    run "$pct" campaign -S maple -n 30 --seed 1 --epoch 1700000000 --db whole.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    has "iRoots that were predicted"
    run "$pct" campaign -S maple -n 12 --seed 1 --epoch 1700000000 --db parts.db -- "$twostage" 4
    run "$pct" campaign -S maple -n 30 --seed 1 --epoch 1700000000 --db parts.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    [ "$(sqlite3 whole.db 'select count(*) > 0 from iroot_chances')" -eq 1 ]
    for table in runs iroots iroot_places iroot_chances; do
        [ "$(sqlite3 whole.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
    done
    [ "$(sqlite3 whole.db 'select count(*) > 0 from iroots where predicted and exposed')" -eq 1 ]
    # What an earlier version wrote lacks the chances, and goes on without.
    cp parts.db old.db
    sqlite3 old.db "delete from facts where key = 'checksum'" 'drop table iroot_chances'
    run "$pct" campaign -S maple -n 34 --db old.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    lacks "another version"
    # What it cannot know of it, it says.
    sqlite3 old.db "delete from facts where key = 'checksum'" "update facts set value = 4 where key = 'tries'"
    run "$pct" campaign -S maple -n 36 --db old.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    has "old.db: another version of pct has begun it: what its runs have tried is known in part"
    "$pct" campaign merge one.db parts.db
    run "$pct" campaign -S maple -n 31 --db one.db -- "$twostage" 4
    lacks "another version"
    for wrong in 'number = 4711' 'run = 4711' 'thread0 = 99999' 'first = 2'; do
        cp parts.db wrong.db
        sqlite3 wrong.db "delete from facts where key = 'checksum'" "update or replace iroot_chances set $wrong"
        run "$pct" campaign -S maple -n 34 --db wrong.db -- "$twostage" 4
        [ "$status" -eq 2 ]
        has "the file is damaged"
    done
    sqlite3 parts.db "delete from facts where key = 'checksum'" 'update iroots set predicted = 4711'
    run "$pct" campaign -S maple -n 40 --db parts.db -- "$twostage" 4
    [ "$status" -eq 2 ]
    has "the file is damaged"
}

# bats test_tags=long
@test "maple: when nothing is left to try, runs go on to force what is known: bugs that no iRoot is the whole of" {
    three=$BATS_FILE_TMPDIR/three
    "$build/pct-cc" -O1 -g -pthread -o "$three" "$root/bench/bugs/producer-consumer.c"
    options=(-S maple --seed 1 --epoch 1700000000)
    run "$pct" campaign "${options[@]}" -n 120 --db whole.db -- "$three"
    [ "$status" -eq 1 ]
    # Most runs force one, though none is left that was tried less than six times; the others may predict more.
    directed=$(printf '%s\n' "$output" | sed -n 's/.* profile runs, \([0-9]*\) directed ones.*/\1/p')
    [ "$directed" -gt 80 ]
    [ "$directed" -lt 110 ]
    # Combined patterns are forced, too: one of them is the bug, and its token needs nothing but the program.
    has "pct: then "
    has " combined patterns, of which "
    token=
    while [ -z "$token" ] && read -r iroot; do
        run "$pct" run -n 1 -s 1 -S "maple,order=2,iroot=$iroot" -- "$three"
        token=$(printf '%s\n' "$output" | grep -o "pct1:maple,order=2,iroot=[^']*'" | tr -d "'") || true
    done < <(sqlite3 whole.db "select printf('%d-%d.%08x-%d.%08x-%d.%08x-%d.%08x', idiom, p.op, p.code, q.op, q.code,
        r.op, r.code, s.op, s.code) from iroot_further, iroot_places p, iroot_places q, iroot_places r, iroot_places s
        where p.number = a and q.number = b and r.number = c and s.number = d order by predicted")
    [ -n "$token" ]
    for _ in 1 2; do
        run "$pct" replay "$token" -- "$three"
        [ "$status" -eq 134 ]
        lacks "diverge"
    done
    run "$pct" explain "$token" -- "$three"
    [ "$status" -eq 0 ]
    has "maple was to force this combined pattern: "
    has "producer-consumer.c:3"
    has "by a third "
    run "$pct" explain --json "$token" -- "$three"
    printf '%s\n' "$output" | jq -e '.iroot.idiom > 6 and (.iroot.places | length) == 4'
    run "$pct" campaign "${options[@]}" -n 80 --db parts.db -- "$three"
    run "$pct" campaign "${options[@]}" -n 120 --db parts.db -- "$three"
    for table in runs iroot_further; do
        [ "$(sqlite3 whole.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
    done
    # What an earlier version wrote has none; what contradicts itself is refused.
    sqlite3 whole.db "delete from facts where key = 'checksum'" '.backup old.db' '.backup wrong.db'
    sqlite3 old.db 'drop table iroot_further'
    run "$pct" campaign "${options[@]}" -n 122 --db old.db -- "$three"
    [ "$status" -eq 1 ]
    sqlite3 wrong.db 'update iroot_further set idiom = 11 where idiom = 7'
    run "$pct" campaign "${options[@]}" -n 122 --db wrong.db -- "$three"
    [ "$status" -eq 2 ]
    has "the file is damaged"
}

@test "maple: a program without shared memory is told what to do; what is no iRoot is refused" {
    run "$pct" run -S maple -n 3 -- true
    [ "$status" -eq 0 ]
    has "try a test that has several threads"
    for wrong in 6-1.00000000 1-1.0000000g-1.00000000 1-1.00000000 1-1.00000000-1.00000000-1.00000000 x; do
        run "$pct" run -S "maple,iroot=$wrong" -- true
        [ "$status" -eq 2 ]
        has "iroot is an idiom"
    done
}

# The seeds of the runs that have exposed something first, and what that is.
exposed()
{
    sqlite3 "$1" "with numbered as (select row_number() over (order by seed) n, seed from runs),
        at as (select number, op || ' ' || printf('%08x', code) || ' ' || file || ':' || line place from iroot_places)
        select seed, idiom, (select place from at where number = a), (select place from at where number = b),
            (select place from at where number = c), (select place from at where number = d)
        from iroots join numbered on n = exposed order by 1, 2, 3, 4, 5, 6"
}

@test "maple: the report says what was exposed and predicted, and when the last new one came" {
    run "$pct" campaign -S maple -n 24 --seed 1 --epoch 1700000000 --db it.db -- "$twostage" 4
    [ "$status" -eq 1 ]
    exposed=$(sqlite3 it.db 'select count(*) from iroots where exposed > 0')
    newest=$(sqlite3 it.db 'select max(exposed) from iroots')
    predicted=$(sqlite3 it.db 'select count(*) from iroots where predicted > 0')
    combined=$(sqlite3 it.db 'select count(*) from iroot_further where exposed > 0 and idiom > 6')
    [ "$exposed" -gt 3 ] && [ "$combined" -gt 3 ]
    run "$pct" campaign report it.db
    has "iRoots: $exposed exposed, the last new one in run $newest of 24; $predicted predicted, "
    left=$(printf '%s\n' "$output" | sed -n \
        's/^iRoots: .* predicted, \([0-9]*\) of them not exposed; '"$combined"' combined patterns exposed$/\1/p')
    "$pct" campaign report --format json it.db > it.json || [ $? -eq 1 ]
    jq -e "(.iroots == {exposed: $exposed, last_new: $newest, predicted: $predicted, predicted_not_exposed: $left,
        combined: $combined, memo: 0, saturated: false}) and
        (.curve[-1].iroots == $exposed) and (.curve[$newest - 1].iroots == $exposed) and
        (.curve[$newest - 2].iroots < $exposed)" it.json
    "$pct" campaign report --format html it.db > it.html || [ $? -eq 1 ]
    grep -q "iRoots exposed: $exposed after 24 runs" it.html
    # Others do not look at interleavings, and say nothing of them.
    run "$pct" campaign -n 4 --seed 1 --db other.db -- true
    [ "$status" -eq 0 ]
    lacks "iRoots"
    run "$pct" campaign report --format html other.db
    lacks "iRoots"
}

@test "maple: --until-saturated ends when nothing is new and nothing is left to try, whatever --jobs; it resumes" {
    for jobs in 1 2; do
        run "$pct" campaign -S maple -n 400 --seed 1 --epoch 1700000000 --until-saturated=12 -j $jobs --db $jobs.db -- \
            "$twostage" 4
        [ "$status" -eq 1 ]
        runs=$(sqlite3 $jobs.db 'select count(*) from runs')
        newest=$(sqlite3 $jobs.db 'select max(exposed) from iroots')
        [ "$runs" -lt 400 ]
        [ $((runs - newest)) -ge 12 ]
        has "$runs of 400 runs in "
        has "run $newest of $runs; "
        has "; saturated: $((runs - newest)) runs without a new one, and nothing predicted is left to try"
        has "iRoots that were predicted"
    done
    # In two parts, of which the first ends by itself, the same; and again, no run is made.
    run "$pct" campaign -S maple -n 11 --seed 1 --epoch 1700000000 --until-saturated=12 --db parts.db -- "$twostage" 4
    has "it is not saturated yet: the same command with a larger -n goes on"
    lacks "; saturated"
    for _ in 1 2; do
        run "$pct" campaign -S maple -n 400 --until-saturated=12 --db parts.db -- "$twostage" 4
        has "; saturated: $((runs - newest)) runs"
        for table in runs iroots iroot_places; do
            [ "$(sqlite3 1.db "select * from $table")" = "$(sqlite3 2.db "select * from $table")" ]
            [ "$(sqlite3 1.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
        done
    done
    has "$runs of 400 runs are done; it is saturated; a larger --until-saturated adds more"
    lacks "not saturated yet"
    lacks "no run used memory"
    "$pct" campaign report --format json 1.db > it.json || [ $? -eq 1 ]
    jq -e .iroots.saturated it.json
    "$pct" campaign report --format html 1.db > it.html || [ $? -eq 1 ]
    grep -q '<p id="iroots">iRoots: .* and nothing predicted is left to try</p>' it.html
    # Runs behind that are no end of it any more.
    run "$pct" campaign -S maple -n $((runs + 2)) --db 1.db -- "$twostage" 4
    has "$((runs + 2)) of $((runs + 2)) runs in "
    lacks "; saturated"
    # Others cannot tell, and leave what is there.
    for wrong in '-S pct' '-S maple,iroot=1-75.00000001-75.00000001' ''; do
        # shellcheck disable=SC2086 # several words
        run "$pct" campaign $wrong --fresh --until-saturated --db 2.db -- "$twostage" 4
        [ "$status" -eq 2 ]
        has "--until-saturated: only campaigns of maple look at interleavings; give -S maple"
        [ -e 2.db ]
    done
    for wrong in 0 x ''; do
        run "$pct" campaign -S maple --until-saturated=$wrong --db new.db -- "$twostage" 4
        [ "$status" -eq 2 ]
        has "--until-saturated"
    done
    # A merged file is saturated if all of which it is made are; 1.db has gone on.
    "$pct" campaign -S maple -n 400 --seed 1000 --epoch 1700000000 --until-saturated=12 --db other.db -- "$twostage" \
        4 ||
        [ $? -eq 1 ]
    for first in 2 1; do
        "$pct" campaign merge with-$first.db $first.db other.db
    done
    run "$pct" campaign report with-2.db
    has "; saturated: "
    run "$pct" campaign report with-1.db
    has "iRoots: "
    lacks "; saturated"
}

# A build of one program, in a directory of its own: look() adds $2 to what it reads, and what stands in $3 is in front.
compile_build()
{
    mkdir -p "$1"
    cat > "$1/it.c" << END
#include <pthread.h>
$3
static int counter, seen;
static void *add(void *unused)
{
    counter++;
    return unused;
}
static void *look(void *unused)
{
    seen = counter + $2;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, i < 2 ? add : look, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return argc > 2 && argv[0][0] == 0;
}
END
    "$build/pct-cc" -O0 -g -pthread -o "$1/it" "$1/it.c"
}

# The iRoots that a file's campaign has exposed or that its memo has; all, or those whose code is in no function $2.
known()
{
    sqlite3 "$1" "select count(*) from iroots where exposed > 0 and not exists (select 1 from iroot_places
        where function = '$2' and number in (a, b, c, d))"
}

@test "maple: --memo keeps what is known of functions that have not changed, over builds, inputs and campaigns" {
    compile_build first 0 ''
    compile_build moved 0 'int other(int x) { return x * 3 + 1; }'
    compile_build changed 7 ''
    options=(-S maple -n 60 --seed 1 --epoch 1700000000 --until-saturated=8)
    run "$pct" campaign "${options[@]}" --db first.db -- first/it
    [ "$status" -eq 0 ]
    all=$(known first.db)
    part=$(known first.db look)
    [ "$part" -gt 0 ] && [ "$all" -gt "$part" ]
    # All code lies elsewhere, and is the same: nothing is left to try, with other inputs, too.
    run "$pct" campaign "${options[@]}" --memo first.db --db moved.db -- moved/it 3
    [ "$status" -eq 0 ]
    has "--memo=first.db: "
    lacks "are forgotten"
    memo=$(sqlite3 moved.db 'select count(*) from iroot_memo')
    [ "$memo" -ge "$all" ]
    has "; $memo known by --memo; saturated"
    has " profile runs, 0 directed ones; of "
    # A file of an earlier version does not say where the code is.
    cp first.db old.db
    sqlite3 old.db "delete from facts where key = 'checksum'" 'drop table iroot_code; drop table iroot_memo'
    run "$pct" campaign -S maple -n 1 --memo old.db --db new.db -- moved/it
    has " iRoots are forgotten: this file was written before campaigns kept where the code of their places is; begin"
    lacks "have changed"
    # So it goes on; and from there to one with another function, by a copy that cannot be written to.
    run "$pct" campaign merge copy.db moved.db
    [ "$status" -eq 0 ]
    chmod a-w copy.db
    run "$pct" campaign "${options[@]}" --memo copy.db --db changed.db -- changed/it
    [ "$status" -eq 0 ]
    has " iRoots are forgotten, as their functions have changed"
    [ "$(sqlite3 changed.db "select count(*) from iroot_memo")" -ge "$part" ]
    [ "$(sqlite3 changed.db "select count(*) from iroot_memo")" -lt "$memo" ]
    [ "$(sqlite3 changed.db "select count(*) from iroot_memo join iroot_places on instr(iroot, printf('.%08x', code))
        where function = 'look'")" -eq 0 ]
    # A campaign in parts, by several workers, is the same.
    run "$pct" campaign "${options[@]}" -n 7 -j 2 --memo copy.db --db parts.db -- changed/it
    run "$pct" campaign "${options[@]}" --db parts.db -- changed/it
    for table in runs iroots iroot_places iroot_code iroot_memo; do
        [ "$(sqlite3 changed.db "select * from $table")" = "$(sqlite3 parts.db "select * from $table")" ]
    done
    # Without symbols, it is all of the file that counts.
    mkdir bare other
    strip -o bare/it first/it
    strip -o other/it moved/it
    "$pct" campaign "${options[@]}" --db bare.db -- bare/it
    run "$pct" campaign "${options[@]}" --memo bare.db --db again.db -- bare/it 3
    lacks "are forgotten"
    has " profile runs, 0 directed ones"
    run "$pct" campaign "${options[@]}" --memo bare.db --db other.db -- other/it
    has "--memo=bare.db: 0 iRoots are known"
}

@test "maple: a --memo that is something else is refused before the first run" {
    compile_build first 0 ''
    "$pct" campaign -S maple -n 4 --seed 1 --db first.db -- first/it
    "$pct" campaign -n 2 --seed 1 -S mixture --db plain.db -- first/it
    sqlite3 first.db '.backup newer.db' '.backup damaged.db' '.backup wrong.db'
    cp first.db flipped.db
    # One bit of the name of a function: `mook`.
    at=$(grep -obUa 'look' flipped.db | head -n 1 | cut -d: -f1)
    printf 'm' | dd of=flipped.db bs=1 seek="$at" conv=notrunc status=none
    for changed in damaged wrong; do
        sqlite3 $changed.db "delete from facts where key = 'checksum'"
    done
    sqlite3 newer.db 'pragma user_version = 9'
    sqlite3 damaged.db "insert into iroot_memo values('1-99999.00000001')"
    sqlite3 wrong.db 'update iroots set exposed = 4711'
    echo text > text.db
    for wrong in "plain.db: this campaign has not looked at interleavings" \
        "newer.db: a newer version of pct made this" \
        "flipped.db: the file is damaged (its checksum is of other contents); it was left as it is; name another file" \
        "damaged.db: the file is damaged" "wrong.db: the file is damaged" "text.db: " ".: "; do
        run "$pct" campaign -S maple -n 2 --memo "${wrong%%:*}" --db new.db -- first/it
        [ "$status" -eq 2 ]
        has "--memo=$wrong"
        [ "${#lines[@]}" -eq 1 ]
        [ ! -e new.db ]
    done
    run "$pct" campaign -S maple -n 2 --memo first.db --db new.db -- true
    [ "$status" -eq 2 ]
    has "--memo=first.db: it is of another program: 'it', not 'true'"
    run "$pct" campaign -n 2 --memo first.db --db new.db -- first/it
    [ "$status" -eq 2 ]
    has "--memo: only campaigns of maple look at interleavings; give -S maple"
    ln -s first.db link.db
    for name in first.db ./first.db link.db; do
        run "$pct" campaign -S maple -n 2 --memo "$name" --fresh --db first.db -- first/it
        [ "$status" -eq 2 ]
        has "with --fresh, the old one is first.db.old"
        [ ! -e first.db.old ]
    done
    run "$pct" campaign -S maple -n 2 --memo '' --db new.db -- first/it
    [ "$status" -eq 2 ]
    has "--memo: the name of the file is empty"
    mkfifo fifo
    sqlite3 first.db '.backup pipe.db'
    sqlite3 pipe.db "delete from facts where key = 'checksum'" "update iroot_code set module = '$PWD/fifo'"
    run timeout 20 "$pct" campaign -S maple -n 2 --memo pipe.db --db pipes.db -- first/it
    [ "$status" -eq 0 ]
    has "--memo=pipe.db: 0 iRoots are known"
    for _ in 1 2; do
        run "$pct" campaign -S maple -n 8 --seed 1 --fresh --memo night.db.old --db night.db -- first/it
        [ "$status" -eq 0 ]
    done
    has "--memo=night.db.old: "
    has " known by --memo"
    # The first of many nights has none; what a campaign began with stays.
    run "$pct" campaign -S maple -n 2 --memo none.db --db new.db -- first/it
    [ "$status" -eq 0 ]
    has "--memo=none.db: there is no such file yet: all iRoots are tried"
    run "$pct" campaign -S maple -n 3 --memo first.db --db new.db -- first/it
    [ "$status" -eq 2 ]
    has "new.db is of another campaign: its --memo is 'none.db', not 'first.db'"
}

# bats test_tags=long
@test "maple: the --memo of a campaign that runs at the same time; two campaigns with one --memo, and with one --db" {
    mkfifo fifo
    cat > it.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char byte;
    return argc > 1 && read(open(argv[1], O_RDONLY), &byte, 1) != 1;
}
END
    cc -o it it.c
    "$pct" campaign -S maple -n 1 --seed 1 --timeout 300 --db runs.db -- ./it fifo 3>&- &
    first=$!
    until [ -e runs.db ]; do
        sleep 0.05
    done
    run "$pct" campaign -S maple -n 2 --memo runs.db --db new.db -- ./it
    has "--memo=runs.db: there are no runs in it yet: all iRoots are tried"
    lacks "has not looked at interleavings"
    run "$pct" coverage report runs.db
    [ "$status" -eq 2 ]
    has "runs.db: there are no runs in it yet"
    echo > fifo
    wait "$first"

    "$pct" campaign -S maple -n 40 --seed 1 --db known.db -- "$BATS_FILE_TMPDIR/reorder-fixed" 3
    for i in 1 2; do
        "$pct" campaign -S maple -n 20 --seed 1 --memo known.db --db "both$i.db" -- "$BATS_FILE_TMPDIR/reorder-fixed" \
            4 \
            > "said$i" 2>&1 3>&- &
        pid[i]=$!
    done
    wait "${pid[1]}"
    wait "${pid[2]}"
    grep -q 'known.db: [1-9][0-9]* iRoots are known' said1
    diff <(grep memo said1) <(grep memo said2)
    diff <(sqlite3 both1.db 'select seed, hash from runs') <(sqlite3 both2.db 'select seed, hash from runs')

    # Of two that have one file, one may be too late; it writes nothing.
    for i in 1 2; do
        "$pct" campaign -S maple -n 100 --seed 1 --memo known.db --db one.db -- "$BATS_FILE_TMPDIR/reorder-fixed" 4 \
            > "said$i" 2>&1 3>&- &
        pid[i]=$!
    done
    failed=0
    for i in 1 2; do
        wait "${pid[i]}" || {
            failed=$((failed + 1))
            grep -q 'another campaign ' "said$i"
        }
    done
    [ "$failed" -le 1 ]
    [ "$(sqlite3 one.db 'select count(*), count(distinct seed) from runs')" = '100|100' ]
    run "$pct" campaign -S maple -n 110 --seed 1 --memo known.db --db one.db -- "$BATS_FILE_TMPDIR/reorder-fixed" 4
    [ "$status" -eq 0 ]
}

@test "maple: bugs of its paper, written anew, are found; without them the programs never fail" {
    local found=0
    while IFS=$'\t' read -r -u 4 program _ _ _ verdict; do
        "$build/pct-cc" -O1 -g -pthread -o buggy "$root/bench/maple/$program.c"
        "$build/pct-cc" -DFIXED -O1 -g -pthread -o fixed "$root/bench/maple/$program.c"
        run "$pct" run -S maple -n 20 --seed 1 --state none -- ./buggy
        [ "$status" -ne 0 ]
        has "1 failed (1 $verdict)"
        run "$pct" run -S maple -n 20 --seed 1 --state none -- ./fixed
        is "$status" 0
        found=$((found + 1))
    done 4< <(tail -n +2 "$root/bench/maple/manifest.tsv")
    is "$found" 4
}

@test "maple: a file that may only be read is read; where a campaign has to write, it is refused" {
    local unprivileged=()
    [ "$(id -u)" != 0 ] || unprivileged=(setpriv "--bounding-set=-dac_override,-dac_read_search")
    run "$pct" campaign -S maple -n 20 --seed 1 --db known.db -- "$BATS_FILE_TMPDIR/reorder-fixed" 3
    is "$status" 0
    mkdir kept
    mv known.db kept
    chmod 444 kept/known.db
    chmod 555 kept
    run "${unprivileged[@]}" "$pct" campaign -S maple -n 20 --seed 1 --db kept/known.db \
        -- "$BATS_FILE_TMPDIR/reorder-fixed" 3
    is "$status" 2
    has "cannot be written to"
    run "${unprivileged[@]}" "$pct" campaign -S maple -n 20 --seed 1 --memo kept/known.db \
        -- "$BATS_FILE_TMPDIR/reorder-fixed" 3
    is "$status" 0
    has "are known, and not tried again"
    run "${unprivileged[@]}" "$pct" campaign report kept/known.db
    is "$status" 0
    chmod 755 kept
}

@test "maple: merged files have the iRoots of all, in the order of their runs; several do not go on" {
    for part in 1 2; do
        "$pct" campaign -S maple -n 16 --seed 1 --epoch 1700000000 --shard $part/2 --db $part.db -- "$twostage" 4 ||
            true
    done
    run "$pct" campaign merge both.db 2.db 1.db
    [ "$status" -eq 0 ]
    # Each iRoot once, with the first of the runs of both that has exposed it.
    { exposed 1.db && exposed 2.db; } | sort -t '|' -k 1n |
        awk -F '|' '{ key = $2 FS $3 FS $4 FS $5 FS $6 } !had[key]++' |
        sort > expected
    diff <(exposed both.db | sort) expected
    [ "$(sqlite3 both.db 'select count(distinct number) = max(number) from iroots where predicted > 0')" -eq 1 ]
    run "$pct" campaign report both.db
    has "iRoots: $(wc -l < expected) exposed, the last new one in run "
    run "$pct" campaign -S maple -n 20 --seed 1 --epoch 1700000000 --db both.db -- "$twostage" 4
    [ "$status" -eq 2 ]
    has "campaigns that have each directed their runs by what they knew"
    # One alone is what it was, and goes on.
    "$pct" campaign -S maple -n 8 --seed 1 --epoch 1700000000 --db one.db -- "$twostage" 4 || true
    run "$pct" campaign merge same.db one.db
    [ "$status" -eq 0 ]
    for table in iroots iroot_places iroot_chances; do
        [ "$(sqlite3 one.db "select * from $table")" = "$(sqlite3 same.db "select * from $table")" ]
    done
    run "$pct" campaign -S maple -n 10 --seed 1 --epoch 1700000000 --db same.db -- "$twostage" 4
    has "10 of 10 runs"
    # Runs with one seed in two files are none the worse for being others.
    run "$pct" campaign merge overlap.db one.db both.db
    [ "$status" -eq 0 ]
    lacks "something besides the schedule decides"
    sqlite3 one.db "delete from facts where key = 'checksum'" 'update iroots set exposed = 4711'
    run "$pct" campaign merge damaged.db 1.db one.db
    [ "$status" -eq 2 ]
    has "its iRoots contradict each other"
    [ ! -e damaged.db ]
}

@test "without a strategy, one run in five is directed where memory is seen, in the same runs whatever --jobs" {
    unset PCT_STRATEGY
    "$build/pct-cc" -O1 -g -pthread -o peterson "$root/bench/bugs-memory/peterson.c"
    "$build/pct-cc" -DFIXED -O1 -g -pthread -o fixed "$root/bench/bugs-memory/peterson.c"
    run "$pct" run -n 200 --seed 1 --state none -- ./peterson
    [ "$status" -eq 134 ]
    local directed='runs were directed at [0-9]+ patterns of accesses, of which [0-9]+ (was|were) exposed'
    [[ $output =~ $directed ]]
    [ "$(runs)" -le 40 ]
    replay=$(printf '%s\n' "$output" | grep -o "replay 'pct1:maple[^']*'" | cut -d"'" -f2)
    run "$pct" replay "$replay" -- ./peterson
    [ "$status" -eq 134 ]
    has "replayed identically"
    options=(-n 90 --seed 1 --epoch 1700000000)
    "$pct" campaign "${options[@]}" --db one.db -- ./fixed
    "$pct" campaign "${options[@]}" -j 3 --db three.db -- ./fixed
    "$pct" campaign "${options[@]}" --engine=restore --db restored.db -- ./fixed
    [ "$(sqlite3 one.db 'select count(*) from runs where complete & 16')" -gt 10 ]
    for table in runs coverage iroots iroot_places; do
        for other in three restored; do
            [ "$(sqlite3 one.db "select * from $table")" = "$(sqlite3 $other.db "select * from $table")" ]
        done
    done
    run "$pct" coverage report one.db
    [ "$status" -eq 0 ]
    has "predicted and not exposed: "
}

@test "directed runs take none from the guarantee, and their length is said" {
    unset PCT_STRATEGY
    "$build/pct-cc" -DFIXED -O1 -g -pthread -o fixed "$root/bench/bugs-memory/peterson.c"
    # So few that the systematic runs are over soon: where directed ones take their turns, they go on for longer, and
    # what they take from the guarantee comes later. k is given: which runs are drawn decides which is the longest.
    options=(-n 150 --seed 1 -k 200 --epoch 1700000000 --state none)
    run "$pct" run "${options[@]}" --sites -- ./fixed
    [ "$status" -eq 0 ]
    has "n = 3 threads, k = 200 points, 20 runs: a bug of depth 1 "
    lacks "directed"
    run "$pct" run "${options[@]}" -- ./fixed
    [ "$status" -eq 0 ]
    has "n = 3 threads, k = 200 points, 20 runs: a bug of depth 1 "
    has "directed runs, in which threads poll for what others are kept from, took up to "
    "$pct" campaign -n 60 --seed 1 --epoch 1700000000 --db part.db -- ./fixed
    "$pct" campaign -n 200 --seed 1 --epoch 1700000000 --db part.db -- ./fixed > resumed
    "$pct" campaign -n 200 --seed 1 --epoch 1700000000 --db whole.db -- ./fixed > whole
    [ "$(grep -o '[0-9]* of [0-9]* runs count' resumed)" = "$(grep -o '[0-9]* of [0-9]* runs count' whole)" ]
    [ "$(grep 'directed runs, in which' resumed)" = "$(grep 'directed runs, in which' whole)" ]
}

@test "the claim of a campaign with directed runs is the arithmetic of its runs of pct alone" {
    unset PCT_STRATEGY
    for runs in 60 200; do
        run "$pct" campaign --explore=0 -n "$runs" --seed 1 -k 60 --fresh --db claim.db -- \
            "$BATS_FILE_TMPDIR/reorder-fixed" 2
        [ "$status" -eq 0 ]
        directed=$(sqlite3 claim.db 'select count(*) from runs where complete & 16')
        [ "$directed" -gt $((runs / 20)) ]
        local said='n = 3 threads, k = 60 points, ([0-9]+) runs: a bug of depth 1 .* at most ([0-9.]+); depth 2'
        [[ $output =~ $said ]]
        own=${BASH_REMATCH[1]} miss=${BASH_REMATCH[2]}
        # Four seeds of twenty are those of pct, and of these some are for runs of other parts.
        [ "$own" -gt 0 ] && [ "$own" -le $((runs / 5)) ]
        has "$own of $((runs - $(other_points))) runs are those of pct, which alone has a guarantee"
        # Each finds it with at least 1/(n k^(d-1)), theorem 9, where it has drawn the depth d: 1 to 5.
        is "$(awk -v own="$own" 'BEGIN {
            q = (1 / 8 + 1 / 4 / 60 + 1 / 4 / 60 ^ 2 + 1 / 4 / 60 ^ 3 + 1 / 8 / 60 ^ 4) / 3
            miss = (1 - q) ^ own * 100
            printf "%.2f", (int(miss) + (int(miss) < miss)) / 100 }')" "$miss"
    done
}

@test "a directed part goes on where it was; shards have it once, and a merged file goes on without" {
    unset PCT_STRATEGY
    "$build/pct-cc" -DFIXED -O1 -g -pthread -o fixed "$root/bench/bugs-memory/peterson.c"
    options=(--seed 1 --epoch 1700000000)
    "$pct" campaign "${options[@]}" -n 60 --db whole.db -- ./fixed
    sqlite3 whole.db "select value from facts where key = 'directed'" | grep -qx 8
    "$pct" campaign merge same.db whole.db
    for file in whole same; do
        "$pct" campaign "${options[@]}" -n 90 --db $file.db -- ./fixed
    done
    [ "$(sqlite3 whole.db 'select * from runs')" = "$(sqlite3 same.db 'select * from runs')" ]
    # Where nothing new is predicted for long, fewer are looked at, the same whatever --jobs.
    for jobs in 1 3; do
        "$pct" campaign "${options[@]}" --engine=restore -j $jobs -n 700 --db jobs-$jobs.db -- ./fixed
    done
    for table in runs iroots iroot_places; do
        [ "$(sqlite3 jobs-1.db "select * from $table")" = "$(sqlite3 jobs-3.db "select * from $table")" ]
    done
    # One of another version goes on without, and says so.
    sqlite3 same.db "delete from facts where key = 'checksum'" "update facts set value = 4 where key = 'directed'"
    before=$(sqlite3 same.db 'select count(*) from runs where complete & 16')
    run "$pct" campaign "${options[@]}" -n 120 --db same.db -- ./fixed
    [ "$status" -eq 0 ]
    has "same.db: another version of pct has begun it, so that no further run is directed"
    [ "$(sqlite3 same.db 'select count(*) from runs where complete & 16')" -eq "$before" ]
    for shard in 1 2; do
        "$pct" campaign "${options[@]}" -n 80 --shard $shard/2 --db $shard.db -- ./fixed
    done
    [ "$(sqlite3 1.db 'select count(*) from runs where complete & 16')" -ge 5 ]
    [ "$(sqlite3 2.db 'select count(*) from runs where complete & 16')" -eq 0 ]
    "$pct" campaign merge both.db 2.db 1.db
    before=$(sqlite3 both.db 'select count(*) from runs where complete & 16')
    run "$pct" campaign "${options[@]}" -n 100 --db both.db -- ./fixed
    [ "$status" -eq 0 ]
    has "100 of 100 runs"
    [ "$(sqlite3 both.db 'select count(*) from runs where complete & 16')" -eq "$before" ]
    run "$pct" coverage report both.db
    [ "$status" -eq 0 ]
}

@test "cycles of locks are learned from drawn runs: where some are directed, a campaign goes on as one made at once" {
    unset PCT_STRATEGY
    # Which accesses come first decides whether locks are nested: a directed run shows other cycles than a drawn one.
    cat > nested.c <<'END'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y, seen;
static void *one(void *u)
{
    x = 1;
    if (y) seen++;
    pthread_mutex_lock(&a);
    if (x == 1 && y != 2) { pthread_mutex_lock(&b); seen++; pthread_mutex_unlock(&b); }
    pthread_mutex_unlock(&a);
    y = 3;
    return u;
}
static void *two(void *u)
{
    y = 2;
    pthread_mutex_lock(&b);
    if (x == 1 && y == 2) { pthread_mutex_lock(&a); seen++; pthread_mutex_unlock(&a); }
    pthread_mutex_unlock(&b);
    x = 4;
    return u;
}
int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
END
    "$build/pct-cc" -O1 -g -pthread -o nested nested.c
    options=(-q --explore=0 --seed 21 --epoch 1)
    "$pct" campaign "${options[@]}" -n 60 --db whole.db -- ./nested || [ $? = 1 ]
    [ "$(sqlite3 whole.db 'select count(*) from runs where complete & 16 and seed < 35')" -gt 0 ]
    for runs in 14 60; do
        "$pct" campaign "${options[@]}" -n $runs --db parts.db -- ./nested || [ $? = 1 ]
    done
    [ "$(sqlite3 whole.db 'select * from runs')" = "$(sqlite3 parts.db 'select * from runs')" ]
}

@test "a program whose memory is not seen has no directed runs" {
    unset PCT_STRATEGY
    run "$pct" campaign -n 20 --seed 1 -- ./target race 0
    lacks "directed"
    ! sqlite3 pct-campaign.db .tables | grep iroots
}
