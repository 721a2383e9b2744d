#!/usr/bin/env bats
# Campaigns in the formats of other programs (`pct campaign report --format`, `pct campaign --report`), and --each-test.
# What they say is compared with what the campaign file has; SARIF with its schema.
load common

setup_file()
{
    compile_targets
    # One campaign with a finding, and a clean one, for all tests.
    cd "$BATS_FILE_TMPDIR" || return
    export XDG_STATE_HOME=$BATS_FILE_TMPDIR/state
    "$pct" campaign -q -n 60 -s 1 -d 2 --db bad.db -- ./target abba > /dev/null || [ $? = 1 ]
    "$pct" campaign -q -n 20 -s 1 -d 2 --db good.db -- ./target exit 0
}

setup()
{
    enter
    cp "$BATS_FILE_TMPDIR/bad.db" "$BATS_FILE_TMPDIR/good.db" .
    unset GITHUB_STEP_SUMMARY
}

# Python with what the suite installs from Debian, and words for the tests. Reads its program from standard input.
python()
{
    {
        cat << 'PYTHON'
import html.parser, json, os, re, sqlite3, sys
import xml.etree.ElementTree as xml
def rows(file, query):
    database = sqlite3.connect(file)
    database.row_factory = sqlite3.Row
    return [dict(row) for row in database.execute(query)]
def text(file):
    return open(file, encoding="utf-8").read()
PYTHON
        cat
    } > program.py
    /usr/bin/python3 program.py "$@"
}

# export DB: in all formats.
export_all()
{
    local format
    for format in junit sarif github gitlab json html; do
        GITHUB_STEP_SUMMARY=summary.md run "$pct" campaign report --format "$format" -o "out.$format" "$1"
        is "$status" "$2"
        is "$output" ""
    done
}

@test "every format says what the campaign file has" {
    export_all bad.db 1
    python << 'PYTHON'
[finding] = rows("bad.db", "select * from findings")
[[count]] = [list(row.values()) for row in rows("bad.db", "select count(*) from runs where finding = 1")]
place = finding["file"] + ":" + str(finding["line"])
assert finding["file"].endswith("tests/cli/target.c") and finding["same"] == 10, finding

suite = xml.parse("out.junit").getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
[case] = suite
assert case.get("name") == finding["title"] and case.get("classname") == "./target abba"
assert case.get("line") == str(finding["line"])
assert finding["token"] in case[0].text and "the cycle:" in case[0].text and case[0].get("type") == "deadlock"

[issue] = json.loads(text("out.gitlab"))
assert issue["check_name"] == "pct/deadlock" and issue["fingerprint"] == finding["signature"], issue
assert issue["location"]["lines"]["begin"] == finding["line"] and issue["severity"] == "critical"

campaign = json.loads(text("out.json"))
[one] = campaign["findings"]
assert campaign["runs"] == 60 and campaign["failures"] == count == one["runs"]
assert one["token"] == finding["token"] and one["signature"] == finding["signature"]
# Below these, libc's frames have names only where its debug information is installed.
own = [[f for f in stack["frames"] if f["module"] == "target"] for stack in one["stacks"]]
assert [len(frames) for frames in own] == [2, 2], one["stacks"]
last = campaign["curve"][-1]
assert (last["runs"], last["failures"], last["findings"]) == (60, count, 1), last
assert last["schedules"] == campaign["schedules"] == rows("bad.db", "select count(distinct hash) n from runs")[0]["n"]
assert last["pairs"] == campaign["pairs"] == rows("bad.db", "select count(*) n from coverage")[0]["n"]

lines = text("out.github").splitlines()
assert len(lines) == 1 and lines[0].startswith("::error file="), lines
assert ",line=%d,title=pct%%3A deadlock::" % finding["line"] in lines[0] and "%0Apct replay 'pct1:" in lines[0]
summary = text("summary.md")
assert "| finding | place | failing runs | replays |" in summary and "10 of 10 replays" in summary
assert finding["token"] in summary and "</summary>\n\n<pre>" in summary

page = text("out.html")
assert finding["token"] in page and "10 of 10 replays" in page
PYTHON
}

@test "the command of the page that keeps a schedule works" {
    export_all bad.db 1
    python << 'PYTHON'
[command] = re.findall(r'<details class="keep">.*?<pre>(.*?)</pre>', text("out.html"), re.DOTALL)
open("command", "w", encoding="utf-8").write(command)
PYTHON
    pct()
    {
        "$pct" "$@"
    }
    run eval "$(cat command)"
    is "$status" 0
    has "pct.schedules now holds this schedule (deadlock)"
}

@test "lines for editors: every one is read by the problem matcher, the first says the finding" {
    run "$pct" campaign report --format lines -o out.lines --source-root "$root" bad.db
    is "$status" 1
    python "$root/packaging/editors/vscode-tasks.json" << 'PYTHON'
matcher = json.loads(text(sys.argv[1]))["tasks"][0]["problemMatcher"]["pattern"]
found = [re.fullmatch(matcher["regexp"], line) for line in text("out.lines").splitlines()]
assert len(found) > 3 and all(found), text("out.lines")
[finding] = rows("bad.db", "select * from findings")
read = [{key: match[matcher[key]] for key in ("file", "line", "severity", "message")} for match in found]
assert read[0] == {"file": "tests/cli/target.c", "line": str(finding["line"]), "severity": "error",
                   "message": "pct: " + finding["title"]}, read[0]
assert all(item["severity"] == "note" for item in read[1:])
assert read[-1]["message"].startswith("this replays it: pct replay ") and finding["token"] in read[-1]["message"]
assert {"thread 1", "thread 2"} <= {item["message"].split(":")[0] for item in read[1:-1]}
PYTHON
    run "$pct" campaign report --format lines good.db
    is "$status" 0
    is "$output" ''
}

@test "lines for editors: Emacs goes to findings and their notes, and to nothing else that a campaign prints" {
    command -v emacs > /dev/null || skip "no Emacs"
    run "$pct" campaign report --format lines -o out.lines bad.db
    "$pct" campaign report bad.db > whole || true
    cat out.lines >> whole
    cat > read.el << 'LISP'
(load (expand-file-name "packaging/editors/pct.el" (getenv "ROOT")))
(insert-file-contents "whole")
(pct-mode)
(compilation--ensure-parse (point-max))
(while (not (eobp))
  (let ((message (get-text-property (point) 'compilation-message)))
    (when message
      (princ (format "%s %s\n" (compilation--message->type message)
                     (buffer-substring (line-beginning-position) (line-end-position))))))
  (forward-line 1))
LISP
    ROOT=$root emacs -Q -batch -l read.el > read
    is "$(cut -d ' ' -f 2- read)" "$(cat out.lines)"
    is "$(grep -c '^2 ' read)" 1
    is "$(grep -c '^0 ' read)" "$(grep -c ': note: ' out.lines)"
}

@test "SARIF is valid against its schema, with places and stacks" {
    export_all bad.db 1
    python "$root/tests/schemas/sarif-2.1.0-rtm.5.json" << 'PYTHON'
import jsonschema
schema, log = json.loads(text(sys.argv[1])), json.loads(text("out.sarif"))
jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)
[finding] = rows("bad.db", "select * from findings")
[run] = log["runs"]
[result] = run["results"]
assert log["version"] == "2.1.0"
assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "pct/deadlock"
assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == finding["line"]
assert len(result["stacks"]) == 2 and len(result["relatedLocations"]) == 1
assert result["partialFingerprints"]["pctSignature/v1"] == finding["signature"]
assert result["properties"]["token"] == finding["token"]
PYTHON
}

@test "a clean campaign passes everywhere, and says what it is worth" {
    export_all good.db 0
    python "$root/tests/schemas/sarif-2.1.0-rtm.5.json" << 'PYTHON'
import jsonschema
suite = xml.parse("out.junit").getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
assert "which has one schedule" in suite[0].find("system-out").text
log = json.loads(text("out.sarif"))
jsonschema.Draft4Validator(json.loads(text(sys.argv[1]))).validate(log)
assert log["runs"][0]["results"] == []
assert json.loads(text("out.gitlab")) == []
assert "which has one schedule" in json.loads(text("out.json"))["guarantee"]
assert text("out.github").startswith("::notice title=pct::20 runs, no failure%0A")
assert len(text("out.github").splitlines()) == 1
assert "which has one schedule" in text("summary.md") and "which has one schedule" in text("out.html")
PYTHON
}

@test "names and output with every kind of character stay what they are" {
    python << 'PYTHON'
database = sqlite3.connect("bad.db")
odd = "a <b>&amp; \"q\" | `x` 100%, c:d ::error::\n</script></pre>]]> {0} [l](u) \u00e4\u20ac\U0001f642"
database.execute("update findings set title = ?, message = ?, report = ?, verdict = ?, file = ?",
                 (odd, odd, odd, "odd,:", "/src/a b%.c"))
database.execute("update findings set output = cast(x'fffe00801b5b6d' as blob), uncontrolled = cast(x'c3280a' as text)")
database.execute("update frames set function = ?, file = '', doing = ?", (odd, odd))
database.commit()
PYTHON
    export_all bad.db 1
    python "$root/tests/schemas/sarif-2.1.0-rtm.5.json" << 'PYTHON'
import jsonschema
title = rows("bad.db", "select title from findings")[0]["title"]
flat = " ".join(title.split())
case = xml.parse("out.junit").getroot().find("testsuite")[0]
assert " ".join(case.get("name").split()) == flat, case.get("name")
assert "\ufffd" in case[0].text and "\x1b" not in case[0].text
log = json.loads(text("out.sarif"))
jsonschema.Draft4Validator(json.loads(text(sys.argv[1])), format_checker=jsonschema.FormatChecker()).validate(log)
assert log["runs"][0]["results"][0]["message"]["text"].startswith(title)
place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
assert place["artifactLocation"] == {"uri": "file:///src/a%20b%25.c"}, place
assert json.loads(text("out.json"))["findings"][0]["title"] == title
assert json.loads(text("out.gitlab"))[0]["location"]["path"] == "/src/a b%.c"
line = text("out.github")
assert line.count("\n") == 1 and "file=/src/a b%25.c,line=" in line and "title=pct%3A odd%2C%3A::a <b>" in line, line
assert "<b>" not in text("summary.md")

class Page(html.parser.HTMLParser):
    stack, heading, seen = [], False, ""
    def handle_starttag(self, tag, attributes):
        assert "src" not in dict(attributes) and "href" not in dict(attributes), (tag, attributes)
        if tag not in ("meta", "path", "circle"):
            self.stack.append(tag)
        self.heading = tag == "h3"
    def handle_endtag(self, tag):
        if tag not in ("path", "circle"):
            assert self.stack.pop() == tag, (tag, self.stack, self.getpos())
        self.heading = False
    def handle_data(self, data):
        self.seen += data if self.heading else ""
page = Page()
page.feed(text("out.html"))
page.close()
assert not page.stack and " ".join(page.seen.split()) == flat, (page.stack, page.seen)
PYTHON
}

@test "paths are relative to the root of the sources" {
    root_of()
    {
        "$pct" campaign report --format json --source-root "$1" bad.db |
            /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["findings"][0]["file"])'
    }
    run root_of "$root"
    is "$output" tests/cli/target.c
    run root_of "$root/tests/cli/"
    is "$output" target.c
    run root_of "$root/man"
    is "$output" "$root/tests/cli/target.c"
    # As `pct` shows it below the current directory, too.
    mkdir -p src
    cp "$root/tests/cli/target.c" src/own.c
    "$cc" -g -O1 -pthread -o own src/own.c
    run "$pct" campaign -q -n 60 -s 1 -d 2 --db bad.db --fresh -- ./own abba
    is "$status" 1
    run root_of .
    is "$output" src/own.c
    run root_of src
    is "$output" own.c
    run "$pct" campaign report --format json --source-root nowhere bad.db
    is "$status" 2
    has "nowhere: No such file or directory"
}

@test "a campaign writes its reports by itself" {
    run "$pct" campaign -q -n 60 -s 1 -d 2 --report junit:junit.xml --report=json:all.json --report github -- ./target \
        abba
    is "$status" 1
    has "::error file="
    python << 'PYTHON'
assert xml.parse("junit.xml").getroot().get("failures") == "1"
assert json.loads(text("all.json"))["runs"] == 60
PYTHON
    # All runs are done: the reports once more, the old files replaced.
    echo old > junit.xml
    run "$pct" campaign -q -n 60 -s 1 -d 2 \
        --epoch "$(python <<< 'print(rows("pct-campaign.db", "select value from facts where '\
'key=\"epoch\"")[0]["value"])')" \
        --report junit:junit.xml -- ./target abba
    is "$status" 1
    run head -n 1 junit.xml
    has "<?xml"
}

@test "bad names of formats and files are named" {
    run "$pct" campaign report --format sariv bad.db
    is "$status" 2
    has "--format: there is no format 'sariv'; did you mean sarif?"
    run "$pct" campaign --report yaml:x -- ./target exit 0
    is "$status" 2
    has "--report: there is no format 'yaml'; there are: junit sarif github gitlab lines json html"
    run "$pct" campaign report --format junit -o no/such/place bad.db
    is "$status" 2
    has "no/such/place: No such file or directory"
    run "$pct" campaign report -o no/such/place bad.db
    is "$status" 2
    has "--output=no/such/place: No such file or directory"
    GITHUB_STEP_SUMMARY=no/such/place run "$pct" campaign report --format github bad.db
    is "$status" 1
    has 'there will be no job summary'
    has '::error file='
}

# A script that lists and runs its tests as GoogleTest does.
make_gtest()
{
    cat > tests << 'SCRIPT'
#!/bin/sh
case "$*" in
*--gtest_list_tests*)
    printf 'Running main() from x.cc\nA.\n  One\n  Two  # GetParam() = 3\n  DISABLED_Three\n'
    printf 'B/0.  # TypeParam = int\n  Four\n'
    ;;
*--gtest_filter=A.Two) exec ./target exit 3 ;;
*--gtest_filter=*) exec ./target exit 0 ;;
*) exit 99 ;;
esac
SCRIPT
    chmod +x tests
}

@test "seeds of more bits than some readers keep" {
    local seed=9007199254740993
    run "$pct" campaign -q -n 1 -s "$seed" --db large.db -- ./target exit 3
    is "$status" 1
    run "$pct" campaign report --format html -o out.html large.db
    grep -q "first seed $seed</footer>" out.html
    run "$pct" campaign report --format json -o out.json large.db
    run "$pct" coverage -n 1 -s "$seed" --json -- ./target abba
    has "\"first_seed_text\": \"$seed\""
    python << 'PYTHON'
# As a reader with 53 bits has it.
campaign = json.loads(text("out.json"), parse_int=float)
[one] = campaign["findings"]
assert campaign["seed"] == one["seed"] == 2**53
assert campaign["seed_text"] == one["seed_text"] == str(2**53 + 1)
PYTHON
}

@test "each test case is a target of its own" {
    make_gtest
    run "$pct" run --each-test=gtest -q -s 1 --trace 'of {test}' -- ./tests word
    is "$status" 3
    has "test 1 of 3: A.One"
    has "A.Two FAILED (status 3)"
    has "-- ./tests word '--gtest_filter=A.Two'"
    has "test 3 of 3: B/0.Four"
    has "3 test cases: 1 failed"
    [ -e 'of A.One' ]
    [ -e 'of B-0.Four' ]
    run "$pct" campaign --each-test=gtest -q -n 3 -s 1 --report 'junit:{test}.xml' -- ./tests
    is "$status" 1
    has "3 test cases: 1 failed"
    [ -e pct-campaign-B-0.Four.db ]
    python << 'PYTHON'
assert xml.parse("A.One.xml").getroot().get("failures") == "0"
assert xml.parse("A.Two.xml").getroot().get("failures") == "1"
PYTHON
    run "$pct" campaign --each-test=gtest --db one.db -- ./tests
    is "$status" 2
    has "--db 'one.db-{test}'"
}

@test "Catch2 in its third version, which lists its tests by other options" {
    cat > tests << 'SCRIPT'
#!/bin/sh
# Like a program with Catch2 v3.
case "$*" in
'--list-tests --verbosity quiet') printf 'adds\nsubtracts, and more\n' ;;
'subtracts\, and more') exec ./target exit 3 ;;
adds) exec ./target exit 0 ;;
*) exit 99 ;;
esac
SCRIPT
    chmod +x tests
    run "$pct" run --each-test -q -s 1 -- ./tests
    is "$status" 3
    has "test 1 of 2: adds"
    has "subtracts, and more FAILED (status 3)"
    has "2 test cases: 1 failed"
}

@test "what has no test cases is told so" {
    make_gtest
    run "$pct" run --each-test -- ./target
    is "$status" 2
    has "is made with none of GoogleTest, Catch2 and Rust's libtest, as far as can be seen; if it is, say \
--each-test=gtest"
    run "$pct" run --each-test=junit -- ./tests
    is "$status" 2
    has "'junit' is not one of gtest, catch2 and libtest"
    run "$pct" run --each-test=gtest -- ./target exit 0
    is "$status" 2
    has "named no test case (status 0)"
    run -127 "$pct" run --each-test=gtest -- ./gone
    is "$status" 127
    # What would stop every test case stops at the first, but for a target that ends with 2 itself, as Catch2's may.
    sed -i 's/One\\n/Zero\\n  One\\n/; s/^\*--gtest_filter=A.Two/*--gtest_filter=A.Zero) exec .\/target exit 2 ;;\n&/' \
        tests
    run "$pct" run --each-test=gtest -q -s 1 -- ./tests
    is "$status" 2
    has 'A.Zero FAILED (status 2)'
    has '4 test cases: 2 failed'
    # So it is with whatever else says of pct that it could not go on.
    for code in 123 125 126 127 129 130 143; do
        sed "s/exit 2 ;;/exit $code ;;/" tests > other
        chmod +x other
        run -"$code" "$pct" run --each-test=gtest -q -s 1 -- ./other
        has "A.Zero FAILED (status $code)"
        has '4 test cases: 2 failed'
    done
    sed 's/exec .\/target exit 2 ;;/kill $$ ;;/' tests > other
    run "$pct" run --each-test=gtest -q -s 1 -- ./other
    is "$status" 143
    has '4 test cases: 2 failed'
    # But what ends pct itself ends all.
    sed 's/exec .\/target exit 2 ;;/touch runs; while :; do :; done ;;/' tests > other
    "$pct" run --each-test=gtest -q -s 1 --timeout 60 -- ./other 2> said &
    until [ -e runs ]; do :; done
    pkill -TERM -P $!
    wait $! && false || is $? 143
    run cat said
    has 'test 1 of 4'
    lacks 'test 2 of 4'
    run "$pct" run --each-test=gtest -S nonsense -- ./tests
    is "$status" 2
    has "test 1 of 4"
    lacks "test 2 of 4"
}
