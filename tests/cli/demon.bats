#!/usr/bin/env bats
# `pct demon`: the eight bugs of bench/demon and their corrections, the three grades, and what is refused.
load common
load demon

setup()
{
    enter_demon || return
}

compile()
{
    "$cc" -O0 -g -pthread "${@:2}" -o program "$root/bench/demon/$1.c"
}

demon()
{
    run --separate-stderr timeout 120 "$pct" demon "$@"
}

confirms()
{
    compile "$1"
    demon --spec "$root/bench/demon/$1.demon" -- ./program
    is "$status" 1
    has "another thread calls $2"
    has 'confirmed by a real schedule of two threads'
    replays
    compile "$1" -DFIXED
    demon --spec "$root/bench/demon/$1.demon" -- ./program
    is "$status" 0
    has 'no interference found'
}

@test "Apache 21285: an object is ejected before it is inserted again" { confirms apache-21285 'eject(cache)'; }
@test "Apache 25520: another line comes into the buffer" { confirms apache-25520 'other_writer(log, '; }
@test "Apache 45605: another takes the idle worker" { confirms apache-45605 'take_idler(queue)'; }
@test "MySQL 169: a row is inserted between the change and its log entry" { confirms mysql-169 'insert_row(table)'; }
@test "MySQL 644: a field is added behind the count" { confirms mysql-644 'fix_fields(field, 7)'; }
@test "MySQL 791: the log is closed behind the question" { confirms mysql-791 'log_close(log)'; }
@test "pbzip2: the queue is deleted before the unlock" { confirms pbzip2 'queue_delete(queue)'; }
@test "Vector: all is removed behind the question for the size" { confirms vector 'remove_all(vector)'; }

@test "what the program does not mind is the contract's alone" {
    sed 's/assert(queue->idlers > 0);//' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    demon --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" 3
    has 'only the contract is broken'
    lacks 'confirmed'
}

@test "ghosts: what contracts alone speak of is followed through the run" {
    printf '%s\n' 'ghost logged' 'test delete_all(table)' \
        'rely locked: holds(table.data) implies unchanged(table.changes) and unchanged(logged)' \
        'proc change_rows(table)' \
        'proc write_log(table, change) require in_order: logged = change - 1 ensure written: logged = change' \
        'proc insert_row(table) ensure one_more: table.changes = old table.changes + 1 in_log: logged = old '\
'table.changes + 1' \
        > ghost.demon
    compile mysql-169
    demon --spec ghost.demon -- ./program
    is "$status" 1
    has 'another thread calls insert_row(table)'
    has '      logged: 0 -> 2'
    compile mysql-169 -DFIXED
    demon --spec ghost.demon -- ./program
    is "$status" 0
    sed -i 's/^ghost logged/ghost logged, changes/; s/ in_log: logged = .*/ in_log: logged = old changes + 1/' \
        ghost.demon
    demon --list --spec ghost.demon -- ./program
    is "$status" 0
    has 'proc insert_row (mysql-169.c:38), which others may call; it changes table.changes, logged'
    has 'proc write_log (mysql-169.c:11)'
    lacks 'write_log (mysql-169.c:11), which'
}

@test "--list: procedures, what they change, and points" {
    compile apache-45605
    demon --list --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" 0
    has 'proc take_idler (apache-45605.c:'
    has 'which others may call; it changes queue.idlers'
    has '2  enters decrement'
}

# refuses TEXT MESSAGE: contracts that are not fit.
refuses()
{
    printf '%s\n' "$1" > bad.demon
    demon --spec bad.demon -- ./program
    is "$status" 2
    [[ $stderr == *"$2"* ]]
}

@test "contracts and programs that are not fit are refused, and it is said why" {
    compile apache-45605
    refuses 'test wait_for_idlr(queue)' 'has no function wait_for_idlr'
    refuses 'test wait_for_idler(q)' 'is called queue in the program, not q'
    refuses 'test wait_for_idler(queue) rely a: queue.idler > 0' 'did you mean idlers?'
    refuses 'test wait_for_idler(queue) rely a: queue.idlers > 0 b: queue.idlers = 0' 'contradict each other'
    refuses 'test wait_for_idler(queue) proc decrement(queue) require a: queue.idlers > 1' 'without any interference'
    refuses 'test wait_for_idler(queue) shared none' 'has no global variable none'
    "$cc" -O0 -pthread -o program "$root/bench/demon/apache-45605.c"
    refuses 'test wait_for_idler(queue)' 'has no debug information'
    "$cc" -O2 -g -pthread -o program "$root/bench/demon/apache-45605.c"
    refuses 'test wait_for_idler(queue) proc decrement(queue)' 'inlined'
    sed 's/wait_for_idler(&queue);/wait_for_idler(\&queue); assert(0);/' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    refuses 'test wait_for_idler(queue)' 'fails by itself'
    demon --spec nothing.demon -- ./program
    is "$status" 2
    run --separate-stderr "$pct" replay --demon "$root/README.md" pct1:x -- ./program
    is "$status" 2
    printf 'PCTDEM3\0' > old.plan
    run --separate-stderr "$pct" run -n 1 --demon old.plan -- ./program
    is "$status" 2
    is "$stderr" 'pct: --demon: old.plan is another version of pct'"'"'s: `pct demon` makes it again'
}

# The same findings in each format, in the files out.*, and as python's `log`, `runs`, `suite`.
reports()
{
    demon --report json:out.json --report sarif:out.sarif \
        --report=junit:out.xml --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" "$1"
    /usr/bin/python3 - "$root/tests/schemas/sarif-2.1.0-rtm.5.json" "$root/docs/demon.schema.json" << PYTHON
import json, sys, jsonschema
import xml.etree.ElementTree as xml
log, sarif = json.load(open("out.json")), json.load(open("out.sarif"))
jsonschema.Draft4Validator(json.load(open(sys.argv[1])), format_checker=jsonschema.FormatChecker()).validate(sarif)
jsonschema.Draft7Validator(json.load(open(sys.argv[2]))).validate(log)
[run] = sarif["runs"]
suite = xml.parse("out.xml").getroot().find("testsuite")
assert (log["format"], log["version"], log["test"]) == ("pct-demon", 1, "wait_for_idler")
$(cat)
PYTHON
}

@test "--report: a confirmed finding is an error, and replays from what the report says" {
    compile apache-45605
    reports 1 << 'PYTHON'
assert (log["verdict"], log["contract_only"]) == ("confirmed", [])
[f] = log["confirmed"]
assert (f["point"], f["enters"], f["calls"], f["goal"]) == (2, "decrement", ["take_idler(queue)"], "decrement")
assert f["changes"] == [{"place": "queue.idlers", "before": 1, "after": 0}] and f["not_held"] == ["queue.mutex"]
assert f["requires"] == [{"tag": "non_zero", "condition": "queue.idlers > 0", "line": 4}]
assert f["file"].endswith("/bench/demon/apache-45605.c") and f["verdict"].startswith("assertion")
assert f["plan"] == "apache-45605.demon.plan" and f["token"] in f["replay"]
open("replay.sh", "w").write(f["replay"])
[r] = run["results"]
assert (r["ruleId"], r["level"]) == ("pct/demon/confirmed", "error") and r["properties"]["token"] == f["token"]
assert r["locations"][0]["physicalLocation"]["region"]["startLine"] == f["line"] == 11
assert (suite.get("failures"), suite.get("errors"), suite[0].find("failure").get("type")) == ("1", "0", "confirmed")
PYTHON
    run --separate-stderr bash replay.sh
    is "$status" 134
}

@test "--report: what the program does not mind is no error of it; what a run refutes is neither" {
    sed 's/assert(queue->idlers > 0);//' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    reports 3 << 'PYTHON'
assert (log["verdict"], log["confirmed"], len(log["contract_only"])) == ("contract_only", [], len(run["results"]))
assert log["contract_only"][0]["file"] == "p.c" and "token" not in log["contract_only"][0]
assert {(r["ruleId"], r["level"]) for r in run["results"]} == {("pct/demon/contract-only", "warning")}
assert suite.get("failures") == "0" and suite.get("errors") == suite.get("tests") == str(len(suite))
assert {case.find("error").get("type") for case in suite} == {"contract-only"}
PYTHON
    compile apache-45605 -DFIXED
    reports 0 << 'PYTHON'
assert (log["verdict"], log["confirmed"], log["contract_only"], run["results"]) == ("none", [], [], [])
assert (suite.get("tests"), suite.get("failures"), len(suite[0])) == ("1", "0", 0)
# At the entry, and before the lock.
assert all(f["calls"] == ["take_idler(queue)"] for f in log["refuted"]) and len(log["refuted"]) == 2
PYTHON
}

@test "--report: to standard output alone; formats and files that there are not" {
    compile apache-45605
    demon --report json --spec "$root/bench/demon/apache-45605.demon" -- ./program
    is "$status" 1
    /usr/bin/python3 -c 'import json, sys; assert json.loads(sys.argv[1])["verdict"] == "confirmed"' "$output"
    [[ $stderr == *'confirmed by a real schedule'* ]]
    for wrong in xml json: json:none/out ''; do
        demon --report "$wrong" --spec "$root/bench/demon/apache-45605.demon" -- ./program
        is "$status" 2
        is "$output" ''
        [ -n "$stderr" ]
    done
    [[ $stderr == *'json sarif junit'* ]]
}

# commented SED...: ./program from bench/demon/apache-45605.c with its contracts in comments, as commented.c.
commented()
{
    sed -e 's|^static void decrement|/*@demon require non_zero: queue.idlers > 0 */\n&|' \
        -e 's|^__attribute__((used)) static void take_idler|/*@demon\n * proc\n *   require some: queue.idlers > 0\n '\
'*   ensure less: queue.idlers = old queue.idlers\n *       - 1 -- they are unsigned; never }\n */\n/* Not; this one. '\
'*/\n&|' \
        -e 's|^static int wait_for_idler|/*@demon test\n     rely locked: holds(queue.mutex) implies '\
'unchanged(queue.idlers) */\n&|' \
        "$@" "$root/bench/demon/apache-45605.c" > commented.c
    "$cc" -O0 -g -pthread -o program commented.c
}

@test "contracts in comments above functions are as good as those in a file" {
    commented
    demon -- ./program
    is "$status" 1
    has 'another thread calls take_idler(queue)'
    has ' replay --demon wait_for_idler.plan '
    [ -e wait_for_idler.plan ]
    commented -e 's/^#ifdef FIXED/#if 1/'
    demon -- ./program
    is "$status" 0
    has 'no interference found'
    demon --list -- ./program
    has 'ensure less: queue.idlers = old queue.idlers'
    # Clang names the first file in another way.
    if [ -x "$(command -v clang)" ]; then
        clang -O0 -gdwarf-5 -pthread -w -o program commented.c
        demon --list -- ./program
        has 'test wait_for_idler (commented.c:'
    fi
    # A file adds to them, and its test goes first.
    printf 'test take_idler(queue)\n' > more.demon
    demon --spec more.demon -- ./program
    is "$status" 2
    [[ $stderr == *commented.c:*': take_idler is there already (more.demon:1)'* ]]
    printf 'proc main()\n' > more.demon
    demon --list --spec more.demon -- ./program
    is "$status" 0
    has 'test wait_for_idler'
    has 'proc main'
}

# rejects MESSAGE
rejects()
{
    demon "${@:2}" -- ./program
    is "$status" 2
    [[ $stderr == *"$1"* ]] || { echo "$stderr"; false; }
}

@test "what is wrong with a contract in a comment is said with its file and line" {
    commented -e 's/queue.idlers > 0 \*/queue.idler > 0 */'
    rejects "$PWD/commented.c:11: queue.idler: struct queue_info has no member 'idler'; did you mean idlers?"
    commented -e 's/@demon require/@demon\n * reqire/'
    rejects "$PWD/commented.c:12: unknown word reqire; did you mean require?"
    commented -e 's/non_zero: queue.idlers > 0/non_zero: queue.idlers >/'
    rejects "$PWD/commented.c:11: the name of a parameter or shared variable is expected, not the end of the comment"
    commented -e 's/@demon require/@demon test wait_for_idler require/'
    rejects "commented.c:11: shared, ghost, test, proc, or a clause (require, ensure, modifies, rely, guarantee, \
invariant, wait, assert, array, object) is expected, not wait_for_idler"
    commented -e 's/@demon require non_zero/@demon test require non_zero/'
    rejects "wait_for_idler is a test, too, as decrement is ($PWD/commented.c:11): --test=wait_for_idler takes this one"
    rejects 'commented.c:' --test=wait_for_idlers
    [[ $stderr == *'--test=wait_for_idlers: no comment that begins with /*@demon test stands above a function of this '\
'name' ]]
    demon --list --test=wait_for_idler -- ./program
    is "$status" 0
    has 'test wait_for_idler'
    commented -e 's|^int main|/*@demon require a: 1 = 1 */ int other;\n&|'
    rejects 'this contract stands above no function that the program has'
    commented -e 's|^int main|/*@demon require a: 1 = 1 */\nstatic inline void none(void) {}\n&|'
    rejects 'this contract stands above no function that the program has'
    commented
    sed -i '1i /* A line more. */' commented.c
    rejects 'the source has changed since the program was built'
    # In literals and in other comments there are none; nor where the source is no more.
    commented -e 's|^int main|// /*@demon require a:\n/* /*@demon require a: */\nstatic const char *s = "\\"/*@demon '\
'/*@demon\\"";\n&|' \
        -e 's|wait_for_idler(&queue);|& (void)s;|'
    demon -- ./program
    is "$status" 1
    rm commented.c
    rejects 'no contracts are given: --spec FILE, or comments that begin with /*@demon above functions of ./program'
}

@test "an invariant keeps others from what it forbids; the test must keep to it, and to its guarantee" {
    sed 's/decrement(queue);/& take_idler(queue);/; s/idlers = 1,/idlers = 3,/' "$root/bench/demon/apache-45605.c" > p.c
    "$cc" -O0 -g -pthread -o program p.c
    local procs='proc decrement(queue) require non_zero: queue.idlers > 0
        proc take_idler(queue) require some: queue.idlers > 0 ensure less: queue.idlers = old queue.idlers - 1'
    # Points: the test with 3 idlers, decrement with 3, take_idler with 2.
    printf '%s\n' 'test wait_for_idler(queue) invariant two: queue.idlers >= 2' "$procs" > spec.demon
    demon --spec spec.demon -- ./program
    is "$status" 0
    has 'no interference found'
    # Two calls, and what the test itself takes before it enters take_idler.
    printf '%s\n' 'test wait_for_idler(queue) invariant some: queue.idlers > 0' "$procs" > spec.demon
    demon --spec spec.demon --bound 2 -- ./program
    is "$status" 3
    has 'another thread calls take_idler(queue), then take_idler(queue)'
    has "then \`require some: queue.idlers > 0\` of take_idler does not hold"
    printf '%s\n' 'test wait_for_idler(queue) invariant sane: queue.idlers <= 3' "$procs" > spec.demon
    demon --spec spec.demon -- ./program
    is "$status" 1
    has 'another thread calls take_idler(queue), then take_idler(queue)'
    refuses "test wait_for_idler(queue) invariant three: queue.idlers = 3 $procs" \
        'does not hold where it enters take_idler, without any interference'
    printf '%s\n' "test wait_for_idler(queue) guarantee fewer: queue.idlers <= old queue.idlers $procs" > spec.demon
    demon --list --spec spec.demon -- ./program
    is "$status" 0
    has 'guarantee fewer: queue.idlers <= old queue.idlers'
    refuses "test wait_for_idler(queue) guarantee same: unchanged(queue.idlers) $procs" \
        'does not hold from point 2, where it enters decrement, to point 3, where it enters take_idler, without any '\
'interference'
}
