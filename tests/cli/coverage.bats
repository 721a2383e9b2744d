#!/usr/bin/env bats
# `pct coverage`: in which ways threads have come in between each other.
# shellcheck disable=SC2154 # variables that bats and common.bash set
load common

setup_file()
{
    compile_targets
    "$build/pct-cc" -O1 -g -pthread -o "$BATS_FILE_TMPDIR/reorder" "$root/bench/scale/reorder.c"
}

setup()
{
    enter
    reorder=$BATS_FILE_TMPDIR/reorder
}

@test "coverage: what was exposed, with lines on both sides; a failure ends with what replays it" {
    run "$pct" coverage --seed 1 -n 40 -- "$reorder" 3
    [ "$status" -eq 1 ]
    has "reorder.c:26 => atomic load in check at "
    has "exposed iRoots: "
    has "rf  atomic store in set at "
    has "rf  what was there before => atomic load in check at "
    lacks " => load in main at" # memory of one thread
    has "pct: reads-from pairs: 3; the last new one in run "
    [[ $output =~ "6, 0, 0, "[0-9]+", 0, "[0-9]+") in 40 runs; the last new one in run "([0-9]+) ]]
    newest=${BASH_REMATCH[1]}
    has " of the runs failed, the first with seed "
    # `first` is not `second`, though they are in the same eight bytes
    lacks "atomic store in set at bench/scale/reorder.c:26 => atomic store in set at bench/scale/reorder.c:27"
    replay=$(printf '%s\n' "$output" | grep -o "replay 'pct1:[^']*'" | cut -d"'" -f2)
    run "$pct" replay "$replay" -- "$reorder" 3
    [ "$status" -eq 134 ]
    run "$pct" coverage --seed 1 -n "$newest" -- "$reorder" 3
    has "pct: new iRoots came up to run $newest of $newest: more runs may expose more, such as -n ${newest}0"
}

@test "coverage: the same seeds expose the same, whatever --jobs says" {
    run --separate-stderr "$pct" coverage --seed 1 -n 30 --json -- "$reorder" 3
    [ "$status" -eq 1 ]
    one=$output
    run --separate-stderr "$pct" coverage --seed 1 -n 30 --json -j 2 -- "$reorder" 3
    [ "$status" -eq 1 ]
    [ "$output" = "$one" ]
    printf '%s\n' "$one" > one.json
    follows_schema coverage one.json
    printf '%s\n' "$one" | jq -e '.runs == 30 and .failed > 0 and .last_new <= 30 and .complete and
        .reads_from_last_new <= 30 and any(.reads_from[]; .write == null and .read.function == "check") and
        any(.reads_from[]; .write.line == 26 and .read.line == 36 and .read.operation == "atomic load" and
            .runs > 0) and
        all(.exposed[]; (.places | length) == ([2, 3, 4, 4, 4, 4][.idiom - 1]) and .runs > 0 and .places[0].line > 0)'
}

@test "coverage: of maple, what tries have missed and what was guessed, with lines on both sides" {
    cat > handed.c << 'END'
#include <pthread.h>
static int ready, value, seen;
static void *give(void *unused)
{
    value = 1;
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    return unused;
}
static void *take(void *unused)
{
    if (__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
        seen = value; /* never before it is written */
    return unused;
}
int main(void)
{
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, give, NULL);
    pthread_create(&thread[1], NULL, take, NULL);
    return pthread_join(thread[0], NULL) || pthread_join(thread[1], NULL);
}
END
    "$build/pct-cc" -O0 -g -pthread -o handed handed.c
    run "$pct" coverage -S maple --seed 1 -n 40 --html page.html -- ./handed
    [ "$status" -eq 0 ]
    has "1  load in take at handed.c:12 => store in give at handed.c:5  [predicted, not exposed in 6 tries]"
    has "pct: of these, not exposed in 6 tries: 2 (1, 0, 0, 0, 1, 0)"
    has "nothing that was predicted is left to try"
    [ "$(grep -c '<td class="dim" colspan="2">predicted, not exposed in 6 tries</td>' page.html)" -eq 2 ]
    run --separate-stderr "$pct" coverage -S maple --seed 1 -n 40 --json -- ./handed
    printf '%s\n' "$output" | jq -e '(.missed | length) == 2 and all(.missed[]; .places[-1].line > 0) and
        .missed[0].places[1].function == "give" and .missed - .predicted == []'
    # Fewer tries say nothing yet.
    run "$pct" coverage -S maple --seed 1 -n 12 -- ./handed
    lacks "[predicted, not exposed in"
    has "pct: of these, not exposed in 6 tries: 0 "
    run "$pct" coverage -S maple --seed 1 -n 2 -- true
    [ "$(grep -c 'no run used memory or locks.*try a test that has several threads$' <<< "$output")" -eq 1 ]
    # Of three threads.
    run --separate-stderr "$pct" coverage -S maple --seed 1 -n 60 --ok-status any --html page.html \
        --json -- "$reorder" 4
    combined=$(printf '%s\n' "$output" | jq '[.guessed[] | select(.idiom > 6)] | length')
    [ "$combined" -gt 0 ]
    [ "$(grep -o 'Combined, [0-9]*:' page.html | wc -l)" -eq \
        "$(printf '%s\n' "$output" | jq '[.guessed[].idiom | select(. > 6)] | unique | length')" ]
    printf '%s\n' "$output" | jq -e 'all(.guessed[]; .places[0].line > 0 and (.exposed == (.runs > 0)))'
    printf '%s\n' "$output" > coverage.json
    follows_schema coverage coverage.json
    # A campaign that is kept says the same of them, and so does what was written of it.
    guessed='[.guessed[] | [.idiom, .exposed, .places]] | sort'
    printf '%s\n' "$output" | jq "$guessed" > coverage.json
    "$pct" campaign -S maple --seed 1 -n 60 --ok-status any --db it.db -- "$reorder" 4 > out 2>&1 || [ $? -eq 1 ]
    run "$pct" coverage report it.db
    [ "$(grep -c 'by a third .*first in run [0-9]*]$' <<< "$output")" \
        -eq "$(jq '[.[] | select(.[1])] | length' coverage.json)" ]
    has "pct: guessed and tried: $(jq length coverage.json), of which $(jq '[.[] | select(.[1])] | length' \
        coverage.json) were exposed"
    for file in it.db it.json; do
        "$pct" coverage report --json $file > it.json.new
        follows_schema coverage it.json.new
        jq "$guessed" it.json.new | diff coverage.json -
        mv it.json.new it.json
    done
    jq '.guessed[0].idiom = 11' it.json > bad.json
    run "$pct" coverage report bad.json
    [ "$status" -eq 2 ]
}

# Two tests of one counter: the second one has a reader, too.
compile_tests()
{
    cat > tests.c << 'END'
#include <pthread.h>
#include <stdlib.h>
static int counter, seen;
static void *add(void *unused)
{
    counter++;
    return unused;
}
static void *look(void *unused)
{
    seen = counter;
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread[3];
    int count = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < count; i++)
        pthread_create(&thread[i], NULL, i < 2 ? add : look, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    return seen > 2;
}
END
    "$build/pct-cc" "$@" -O0 -g -pthread -o tests tests.c
}

@test "coverage: what a new test adds, from JSON and from campaigns' files" {
    compile_tests
    for test in 2 3; do
        "$pct" coverage --seed 1 -n 12 --json -- ./tests $test > $test.json
        "$pct" campaign -S maple --seed 1 -n 12 --db $test.db -- ./tests $test
    done
    for kind in json db; do
        run --separate-stderr "$pct" coverage diff 2.$kind 3.$kind
        [ "$status" -eq 0 ]
        printf '%s\n' "$output" | grep -qx '+ 1  store in add at .*tests.c:6 => load in look at .*tests.c:11'
        lacks $'\n- ' # the old test's are all among them,
        has "2.$kind: "
        has ", 0 by it alone (-); the last new one in run "
        # and each of these lines has what only the new one does.
        printf '%s\n' "$output" | grep -q . && ! printf '%s\n' "$output" | grep -v 'in look at '
        added=$(printf '%s\n' "$output" | grep -c '^+ [1-5]')
        pairs=$(printf '%s\n' "$output" | grep -c '^+ rf' || true)
        case $kind in
        json) printf '%s\n' "$output" | grep -qx '+ rf  store in add at .*tests.c:6 => load in look at .*tests.c:11' ;;
        db) [ "$pairs" -eq 0 ] && has "reads-from pairs are not compared" ;;
        esac
        run --separate-stderr "$pct" coverage diff --json 2.$kind 3.$kind
        [ "$status" -eq 0 ]
        printf '%s\n' "$output" > diff.json
        follows_schema coverage diff.json
        printf '%s\n' "$output" | jq -e "(.old.alone == []) and (.new.alone | length == $added) and .new.runs == 12 and
            .new.exposed - .old.exposed == $added and .new.complete and .new.window == 40 and
            any(.new.alone[]; .idiom == 1 and .places[1].function == \"look\" and .places[1].line == 11) and
            (.new.reads_from_alone // [] | length == $pairs) and (.old.reads_from_alone // [] == [])"
        run --separate-stderr "$pct" coverage diff 3.$kind 3.$kind
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
    # What an earlier version did not look for is not new.
    jq 'del(.idioms)' 3.json > before.json
    jq '.exposed += [.exposed[0] | .idiom = 6 | .places = [.places[], .places[]][:4]]' 3.json > after.json
    run --separate-stderr "$pct" coverage diff 3.json after.json
    [ "${#lines[@]}" -eq 1 ]
    run --separate-stderr "$pct" coverage diff before.json after.json
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    has "before.json: an earlier version made it, which looked for idioms 1 to 5: others are not compared"
    # Another build has other instructions, and the same lines.
    compile_tests -fno-omit-frame-pointer -DOTHER -falign-functions=128
    "$pct" campaign -S maple --seed 1 -n 12 --db other.db -- ./tests 3
    run --separate-stderr "$pct" coverage diff 3.db other.db
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    # Lines that came in above functions change nothing but where these are said to be; in a function, what is behind.
    sed -i -e '1i // one' -e '1i // two' -e 's/^static void \*look/\n&/' tests.c
    "$build/pct-cc" -O0 -g -pthread -o tests tests.c
    "$pct" campaign -S maple --seed 1 -n 12 --db moved.db -- ./tests 3
    "$pct" coverage --seed 1 -n 12 --json -- ./tests 3 > moved.json
    for files in "3.db moved.db" "moved.db 3.db" "3.json moved.json" "3.db moved.json"; do
        run --separate-stderr "$pct" coverage diff $files
        [ "$status" -eq 0 ]
        [ -z "$output" ]
    done
    run --separate-stderr "$pct" coverage diff 2.json moved.json
    printf '%s\n' "$output" | grep -qx '+ 1  store in add at .*tests.c:8 => load in look at .*tests.c:14'
    sed -i 's/^    seen = counter/    ;\n&/' tests.c
    "$build/pct-cc" -O0 -g -pthread -o tests tests.c
    "$pct" coverage --seed 1 -n 12 --json -- ./tests 3 > within.json
    run --separate-stderr "$pct" coverage diff moved.json within.json
    printf '%s\n' "$output" | grep -qx -e '- 1  store in add at .*tests.c:8 => load in look at .*tests.c:14'
    printf '%s\n' "$output" | grep -q . && ! printf '%s\n' "$output" | grep -v 'in look at '
    # Files of earlier versions do not say where functions begin: then places are lines.
    jq 'del(.. | .function_line?)' 3.json > lines.json
    run --separate-stderr "$pct" coverage diff lines.json moved.json
    printf '%s\n' "$output" | grep -qx '+ 1  store in add at .*tests.c:8 => load in look at .*tests.c:14'
}

@test "coverage report: of a kept campaign, what coverage lists of the same runs; of its JSON likewise" {
    "$build/pct-cc" -DFIXED -O1 -g -pthread -o tests "$root/bench/bugs-memory/treiber-aba.c"
    run --separate-stderr "$pct" coverage -S maple --seed 1 -n 300 --predicted -- ./tests
    live=$(printf '%s\n' "$output" | sed -n 's/  \[\([0-9]* runs\{0,1\}\|first\)[^]]*\]$//; /^[1-6] /p' | sort)
    [[ $live == *"[predicted, not exposed"* ]]
    printf '%s\n' "$stderr" | grep -e 'exposed iRoots' -e '^pct: predicted and not' -e 'of these' > live.said
    "$pct" campaign -S maple --seed 1 -n 300 --db kept.db -- ./tests
    mv tests gone # nothing is run
    run --separate-stderr "$pct" coverage report --predicted kept.db
    [ "$status" -eq 0 ]
    [[ $output == *"  [first in run "* ]]
    [ "$(printf '%s\n' "$output" | sed 's/  \[first[^]]*\]$//' | sort)" = "$live" ]
    [ "$(printf '%s\n' "$stderr" | grep -v 'guessed and tried')" = "$(< live.said)" ]
    "$pct" coverage report --json kept.db > kept.json
    run --separate-stderr "$pct" coverage report --predicted kept.json
    [ "$status" -eq 0 ]
    [ "$(printf '%s\n' "$output" | sort)" = "$live" ]
    [ "$(printf '%s\n' "$stderr" | grep -v 'guessed and tried')" = "$(< live.said)" ]
    run --separate-stderr "$pct" coverage diff kept.db kept.json
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    "$pct" campaign --seed 1 -n 2 --db pct-campaign.db -- true
    run "$pct" coverage report
    [ "$status" -eq 2 ]
    has "pct-campaign.db: this campaign has not looked at interleavings"
    run "$pct" coverage report nothing.db
    [ "$status" -eq 2 ]
    has "nothing.db: No such file"
    run "$pct" coverage report kept.db kept.db
    [ "$status" -eq 2 ]
    has "one file at a time"
    chmod a-w kept.db
    run "$pct" coverage report kept.db
    [ "$status" -eq 0 ]
}

@test "coverage diff: files that are something else are refused, whatever they are" {
    "$pct" coverage --seed 1 -n 2 --json -- ./target race 0 > it.json || true
    "$pct" campaign --seed 1 -n 2 --db other.db -- true
    "$pct" campaign -S maple --seed 1 -n 2 --db maple.db -- true
    run "$pct" coverage diff it.json other.db
    [ "$status" -eq 2 ]
    has "other.db: this campaign has not looked at interleavings"
    run "$pct" coverage diff nothing.json it.json
    [ "$status" -eq 2 ]
    has "nothing.json: No such file"
    printf '{"runs":1,"last_new":1,"window":40,"complete":true,"exposed":[{"idiom":1,"places":[%s]}]}' \
        '{"operation":"no such thing","function":"","file":"","line":1},{}' > operation.json
    printf '{"runs":1,"last_new":2,"window":40,"complete":true,"exposed":[]}' > newest.json
    printf '{"runs":1,"last_new":1,"window":40,"complete":true,"exposed":[null,7]}' > null.json
    sed 's/"reads_from": *\[/&7,/' it.json > pair.json
    printf '{"runs":1,' > half.json
    : > empty.json
    for wrong in operation.json newest.json null.json pair.json half.json empty.json /dev/zero .; do
        run timeout 20 "$pct" coverage diff it.json "$wrong"
        [ "$status" -eq 2 ]
        has "$wrong: this is neither what"
    done
    sqlite3 maple.db "delete from facts where key = 'checksum'" "insert into iroots values(1, 7, 8, 0, 0, 1, 1, 1)"
    run "$pct" coverage diff maple.db it.json
    [ "$status" -eq 2 ]
    has "maple.db: the file is damaged (its iRoots contradict each other)"
    sqlite3 maple.db "pragma user_version = 9"
    run "$pct" coverage diff maple.db it.json
    [ "$status" -eq 2 ]
    has "maple.db: a newer version of pct made this"
    for wrong in '' it.json 'it.json it.json it.json'; do
        # shellcheck disable=SC2086 # several words
        run "$pct" coverage diff $wrong
        [ "$status" -eq 2 ]
        has "two files"
    done
    # Behind options it would be a program of this name.
    for words in "coverage --json diff it.json it.json" "coverage -n 1 report" "campaign -q report it.json"; do
        # shellcheck disable=SC2086 # several words
        run "$pct" $words
        [ "$status" -eq 2 ]
        [[ $output == "pct: options stand behind it: pct "*" [OPTION...]; a program of this name stands behind --" ]]
    done
    run "$pct" coverage --seed 1 -n 1 -- diff it.json it.json
    [ "$status" -eq 0 ]
    [[ $("$pct" coverage --help) == *$'\n  or:  pct coverage diff [OPTION...] OLD-FILE NEW-FILE\n'* ]]
    # A pipe is a file, too; and another window is said.
    run "$pct" coverage diff <(cat it.json) it.json
    [ "$status" -eq 0 ]
    sed 's/"window": *40/"window": 20/' it.json > window.json
    run "$pct" coverage diff it.json window.json
    has "--window=40 and 20, so idioms 2 to 6 cannot be compared"
}

@test "coverage: the page has all that the JSON has, and no markup of others" {
    compile_tests
    mv tests.c '<i>&.c'
    "$build/pct-cc" -O0 -g -pthread -o tests '<i>&.c'
    run --separate-stderr "$pct" coverage --seed 1 -n 12 --json --html page.html -- ./tests 3 '<script>"' $'\e[1m'
    [ "$status" -eq 0 ]
    for members in "exposed predicted" reads_from; do
        for member in $members; do
            printf '%s\n' "$output" | jq ".$member | length"
        done
    done | awk '{ sum += $1 } END { print sum }' > rows
    [ "$(grep -c '^<tr><td>\|^<tr><td class="dim">' page.html)" -eq "$(cat rows)" ]
    # Each element ends, what others wrote is text, and the curves end where the totals are.
    python3 - page.html "$(printf '%s\n' "$output" | jq '.exposed | length')" << 'END'
import html.parser, sys
class Page(html.parser.HTMLParser):
    open, text, tags, curves = [], "", set(), {}
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "svg":
            self.curves[dict(attributes)["aria-label"].split(":")[0]] = dict(attributes)["data-points"].split()[-1]
        if tag not in ("meta", "br"):
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())
    def handle_data(self, data):
        self.text += data
page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
assert not page.open, page.open
assert "i" not in page.tags and "tests 3 '<script>\"'" in page.text and "<i>&.c:11" in page.text, page.text
assert "\x1b" not in page.text
assert page.curves["iRoots exposed"].split(",")[2:] == ["12", sys.argv[2]], page.curves
END
    grep -q '<h2>Idiom 1: A &rArr; B</h2>' page.html
    # Where there is no place for it, nothing is run.
    for wrong in nowhere/page.html . - ''; do
        run "$pct" coverage --html "$wrong" -- sh -c 'touch was-run'
        [ "$status" -eq 2 ]
        [ ! -e was-run ]
        [ "${#lines[@]}" -eq 1 ]
    done
}

@test "coverage: each screen breaks at the terminal's width, and its end says what to do next" {
    compile_tests
    # What is predicted and not exposed: by a command that can be typed, with the options that it takes, too.
    run "$pct" coverage --seed 1 -n 1 --ok-status 3 --memory-points=all --html page.html -- ./tests 3 'a b'
    [ "$status" -eq 0 ]
    next=$(grep -A1 'pct: to try what is predicted and not exposed:' <<< "$output" | tail -n 1)
    [ "$next" = "$pct campaign -S maple --until-saturated --ok-status 3 --memory-points all -- ./tests 3 'a b'" ]
    grep -q "predicted and not exposed: <code>$pct campaign -S maple .* &#39;a b&#39;</code>\|-- ./tests 3 'a \
b'</code>" page.html
    "$pct" coverage --seed 1 -n 1 --json -- ./tests 2 > old.json
    "$pct" coverage --seed 1 -n 2 --json -- ./tests 3 > new.json
    run "$pct" coverage diff old.json new.json
    has "pct: old.json: new ones came up to run 1 of 1: make it again with more runs, such as -n 10, "
    # One thread has nobody who could come in between.
    run "$pct" coverage --seed 1 -n 2 -- ./tests 1
    has "no two threads could come in between each other"
    run eval "$next --seed 1 --db next.db > /dev/null"
    [ "$status" -eq 0 ]
    command -v script > /dev/null || skip "no script(1)"
    for screen in "--seed 1 -n 1 --predicted -- ./tests 3" "diff old.json new.json"; do
        run script -qec "stty cols 40; NO_COLOR=1 $pct coverage $screen" /dev/null
        has "=> "
        long=$(printf '%s\n' "$output" | sed 's/.*\x1b\[K//; s/\r//' | grep -v ' campaign ' | grep '[^ ] *  *[^ ]' |
            grep -c '^.\{41,\}$') || true
        [ "$long" -eq 0 ]
    done
}

@test "coverage: ends when it is saturated; a program without shared memory is told what to do" {
    run "$pct" coverage --seed 1 --until-saturated 3 -- true
    [ "$status" -eq 0 ]
    has "exposed iRoots: 0 (idioms 1 to 6: 0, 0, 0, 0, 0, 0) in 3 runs"
    has "try a test that has several threads"
    printf '%s\n' '#include <pthread.h>' 'static void *idle(void *x) { return x; }' 'int main(void) {' \
        '    pthread_t t; return pthread_create(&t, 0, idle, 0) || pthread_join(t, 0); }' > apart.c
    "$cc" -pthread -o apart apart.c
    run "$pct" coverage -n 1 -- ./apart
    has "as far as pct sees: build the program with pct-cc, or say --memory=globals"
    run "$pct" coverage -S maple -n 1 --memory=globals -- ./apart
    has "as far as pct sees: build the program with pct-cc, or say --memory=all"
    run "$pct" coverage -n 1 --memory=all -- ./apart
    has "as far as pct sees: try a test whose threads share some"
    run "$pct" coverage
    [ "$status" -eq 2 ]
    run "$pct" coverage --window 0 -- true
    [ "$status" -eq 2 ]
}
