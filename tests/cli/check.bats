#!/usr/bin/env bats
# `pct add` and `pct check`: failing schedules kept in a file of the project, and run again.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

# A deadlock of ./target abba: $token. Its strategy has one change point: four neighbours within two steps.
find_deadlock()
{
    run --separate-stderr "$pct" run -n 500 -s 1 -d 2 -- ./target abba
    is "$status" 120
    token=$(replay_token)
}

@test "a failing schedule is added, checked, and passes once the program is repaired" {
    find_deadlock
    run "$pct" add -m 'transfer locks in two orders' "$token" -- ./target abba
    is "$status" 0
    has "pct.schedules now holds this schedule (deadlock)"
    run cat pct.schedules
    has "Schedule: $token"
    has "Command: ./target abba"
    has "Found: deadlock"
    has "Note: transfer locks in two orders"
    run --separate-stderr "$pct" check
    is "$status" 120
    has "pct.schedules:3: FAILED: deadlock; it was found with deadlock"
    has "of 5 runs failed, the first with the schedule itself"
    has "the cycle:"
    has "pct replay '$token' -- ./target abba"
    has "1 schedule, 5 runs in "
    expected=$(printf '%s\n' "$stderr" | grep -v 'runs in')
    run --separate-stderr "$pct" check -j 3
    is "$status" 120
    is "$(printf '%s\n' "$stderr" | grep -v 'runs in')" "$expected"
    # The repaired program is another one.
    sed -i 's/target abba/target exit 0/' pct.schedules
    run "$pct" check
    is "$status" 0
    has "pct.schedules:3: passed: 5 runs, "
    has "the program makes other steps than when it failed"
}

@test "schedules of every strategy have neighbours: the switches of what has none of its own are moved" {
    for strategy in surw-one surw hold pos urw random-walk portfolio; do
        run --separate-stderr "$pct" run -n 500 -s 1 -S "$strategy" -- ./target abba
        is "$status" 120
        run "$pct" add -f "$strategy" "$(replay_token)" -- ./target abba
        is "$status" 0
        run --separate-stderr "$pct" check "$strategy"
        is "$status" 120
        [[ $stderr =~ ([0-9]+)" of "([0-9]+)" runs failed, the first with the schedule itself" ]]
        [ "${BASH_REMATCH[2]}" -ge 5 ]
        run "$pct" check --near 0 "$strategy"
        has "1 of 1 runs failed"
        sed -i 's/target abba/target race 0/' "$strategy"
        run "$pct" check -j 2 "$strategy"
        is "$status" 0
    done
}

@test "neighbours are forked from a program that is loaded once" {
    cat > counted.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long ask(long number, long a, long b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}
/* Each time that the program is loaded: a byte. By system calls that pct does not see, or it would fork before. */
__attribute__((constructor)) static void count(void)
{
    long fd = ask(SYS_open, (long)"loads", O_WRONLY | O_APPEND | O_CREAT, 0600);
    ask(SYS_write, fd, (long)".", 1);
    ask(SYS_close, fd, 0, 0);
}
static void *lock(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, lock, NULL);
    lock(NULL);
    return pthread_join(thread, NULL);
}
C
    "$cc" -pthread -o counted counted.c
    find_deadlock
    "$pct" add "$token" -- ./target abba
    sed -i 's/target abba/counted/' pct.schedules
    run "$pct" check
    is "$status" 0
    has "passed: 5 runs"
    # By exec: the schedule itself, the server, and at most each second one of the four neighbours, to see which is
    # faster.
    [ "$(wc -c < loads)" -lt 5 ]
}

@test "a schedule is added once, and only if it fails" {
    find_deadlock
    "$pct" add "$token" -- ./target abba
    run "$pct" add "$token" -- ./target abba
    is "$status" 0
    has "pct.schedules:3 has this schedule already"
    run "$pct" add -f other "$token" -- ./target exit 0
    is "$status" 2
    has "this schedule does not fail (exit status 0), so it is not kept"
    [ ! -e other ]
    run "$pct" add --force -f other "$token" -- ./target exit 0
    is "$status" 0
    run grep -c ^Found other
    is "$output" 0
    run "$pct" check other
    is "$status" 0
}

@test "options of the target go into the file, and from there into the check" {
    run --separate-stderr "$pct" run -s 1 -d 2 -- ./target exit 3
    is "$status" 3
    token=$(replay_token)
    run "$pct" add --ok-status 3 "$token" -- ./target exit 3
    is "$status" 2
    run "$pct" add --near 1 --children all --timeout 50 "$token" -- ./target exit 3
    is "$status" 0
    run grep ^Options pct.schedules
    is "$output" "Options: --children=all --timeout 50 --near 1"
    run "$pct" check
    is "$status" 3
    has "3 of 3 runs failed"
    sed -i 's/^Options: /&--ok-status 3 /' pct.schedules
    run "$pct" check --near 0
    is "$status" 0
    has "passed: 1 run, 1 different schedule; the schedule itself makes the same steps as when it failed"
}

@test "a neighbour that fails is named by a token of its own" {
    find_deadlock
    # The same schedule but with its change point one step later passes; it was one step earlier that it failed.
    spec=$(printf '%s' "$token" | cut -d : -f 2)
    seed=$(printf '%s' "$token" | cut -d : -f 3)
    run --separate-stderr "$pct" run -S "$spec,later=1" -s "$seed" -- ./target abba
    is "$status" 0
    moved=$(printf '%s\n' "$stderr" | sed -n 's/^pct: token //p')
    case $moved in *,later=1,*) ;; *) false ;; esac
    printf 'Schedule: %s\nCommand: ./target abba\n' "$moved" > moved
    run "$pct" check --near 0 moved
    is "$status" 0
    run "$pct" check --near 1 moved
    is "$status" 120
    has "1 of 3 runs failed, the first with all change points 1 step earlier"
    has "pct replay '${token%:*:*:*}:"
}

@test "output and a command of the user's can make a failure" {
    echo 'something else' > want
    run --separate-stderr "$pct" run -s 1 -d 2 -- ./target abba
    token=$(printf '%s\n' "$stderr" | sed -n 's/^pct: token //p')
    run "$pct" add "$token" -- ./target abba
    is "$status" 2
    run "$pct" add --near 0 --expect want "$token" -- ./target abba
    is "$status" 0
    run "$pct" add --near 0 -f oracle --oracle 'grep -q fine' "$token" -- ./target abba
    is "$status" 0
    run grep ^Options pct.schedules oracle
    has "pct.schedules:Options: --expect want --near 0"
    has "oracle:Options: --oracle 'grep -q fine' --near 0"
    run "$pct" check
    is "$status" 1
    has "FAILED: wrong output"
    run "$pct" check oracle
    is "$status" 1
    has "FAILED: oracle"
    printf 'abba begins\nabba ends\n' > want
    run "$pct" check
    is "$status" 0
    sed -i 's/q fine/q ends/' oracle
    run "$pct" check oracle
    is "$status" 0
    rm want
    run "$pct" check
    is "$status" 2
    has "--expect=want: No such file or directory"
    has "pct.schedules:3: this is about its Options"
}

@test "runs with moved change points give no guarantee" {
    run "$pct" run -S pct,depth=2,k=9,later=1 -n 3 -s 1 -- ./target exit 0
    is "$status" 0
    has "no guarantee about the bugs that these runs may have missed: later= and earlier= leave some steps without \
change points"
}

@test "many schedules are checked by as many processes as one" {
    find_deadlock
    cat > depth <<'END'
pid=$$ count=0
while [ "$pid" -gt 1 ]; do
    read -r _ name _ pid _ < "/proc/$pid/stat"
    [ "$name" = "(pct)" ] && count=$((count + 1))
done
echo "$count" >> depths
END
    for note in 1 2 3; do
        printf 'Schedule: %s\nCommand: sh depth\nNote: %s\n\n' "$token" $note
    done > pct.schedules
    run "$pct" check --near 0
    is "$status" 0
    is "$(cat depths)" $'2\n2\n2'
}

@test "JUnit XML has a case for each schedule" {
    find_deadlock
    "$pct" add -m 'a < b & "c"' "$token" -- ./target abba
    printf '\nSchedule: %s\nCommand: ./target exit 0\n' "$token" >> pct.schedules
    printf '\nSchedule: %s\nCommand: ./gone\n' "$token" >> pct.schedules
    run --separate-stderr "$pct" check --junit out.xml
    is "$status" 120
    has "pct.schedules:11: NOT CHECKED: its command could not be run (status 127): ./gone"
    has "3 schedules, 10 runs in "
    python3 - << 'PYTHON'
import xml.etree.ElementTree as xml
suite = xml.parse('out.xml').getroot().find('testsuite')
assert (suite.get('tests'), suite.get('failures'), suite.get('errors')) == ('3', '1', '1'), suite.attrib
first, second, third = suite.findall('testcase')
assert first.get('name').startswith('a < b & "c" [pct1:'), first.attrib
assert (first.get('file'), first.get('line')) == ('pct.schedules', '3'), first.attrib
assert first.find('failure').get('message') == 'deadlock'
assert 'pct replay' in first.find('failure').text
assert len(second) == 0
assert third.find('error') is not None
PYTHON
    run --separate-stderr "$pct" check --junit -
    is "$(printf '%s\n' "$output" | head -n 1)" '<?xml version="1.0" encoding="UTF-8"?>'
}

@test "interrupted, it says and writes what there is" {
    find_deadlock
    mkfifo hold
    printf 'Schedule: %s\nCommand: %s\n\n' "$token" './target abba' "$token" 'sh -c "touch began; read x < hold"' \
        "$token" './target exit 0' > pct.schedules
    "$pct" check --near 0 --junit out.xml > out 2>&1 &
    child=$!
    for _ in $(seq 600); do
        [ -e began ] && break
        sleep 0.1
    done
    kill -INT $child
    status=0
    wait $child || status=$?
    is "$status" 130
    grep -q 'pct: 3 schedules, 1 run in .*: 1 failed, 2 not checked$' out
    python3 - << 'PYTHON'
import xml.etree.ElementTree as xml
suite = xml.parse('out.xml').getroot().find('testsuite')
assert (suite.get('tests'), suite.get('failures'), suite.get('errors')) == ('3', '1', '2'), suite.attrib
first, second, third = suite.findall('testcase')
assert first.find('failure').get('message') == 'deadlock'
assert second.find('error').get('message') == third.find('error').get('message') == 'interrupted'
PYTHON
}

@test "what cannot be read is refused before anything runs" {
    run "$pct" check
    is "$status" 2
    has 'pct.schedules: No such file or directory; `pct add TOKEN -- COMMAND`'
    : > none
    run "$pct" check --junit /dev/full none
    is "$status" 125
    : > empty
    run "$pct" check empty
    is "$status" 0
    has "empty holds no schedules"
    for command in "check --trust /dev/zero" "run --suppressions=/dev/zero --races=fail -- true"; do
        run bash -c "ulimit -v 4000000; timeout 20 '$pct' $command"
        is "$status" 2
        has "/dev/zero: it is no text"
    done
    # Nor is a line for which there is no memory the end of the file.
    printf '# ' > large
    head -c 300000000 /dev/zero >> large
    run bash -c "ulimit -v 200000; '$pct' check large"
    is "$status" 2
    has "large: Cannot allocate memory"
    rm large
    find_deadlock
    printf 'Schedule: %s\nCommand: touch began\n\nSchedule: %sx\nCommand: ./target\n' "$token" "$token" > bad
    run "$pct" check bad
    is "$status" 2
    has "bad:4: Schedule: token "
    has "is damaged"
    refuse()
    {
        printf 'Schedule: %s\nCommand: touch began\n\nSchedule: %s\n%s\n' "$token" "$token" "$1" > bad
        run "$pct" check bad
        is "$status" 2
        has "$2"
        [ ! -e began ]
    }
    # shellcheck disable=SC2016 # not for this shell
    {
        refuse 'Command: $NO_SUCH_VARIABLE/x' 'bad:4: Command: a variable in `$NO_SUCH_VARIABLE/x` is not set'
        refuse 'Command: $(touch began)' 'bad:4: Command: $(...) and `...` are not done here'
    }
    refuse 'Command: a | b' 'bad:4: Command: one of | & ;'
    refuse "Command: 'a" "bad:4: Command: a quote is not closed"
    refuse $'Command: a\nOptions: --no-such' "bad:4: Options: not among the options of \`pct add\`"
    refuse $'Command: a\nOptions: --timeout x' "bad:4: --timeout: 'x' is not a number of seconds above 0"
    refuse $'Command: a\nOptions: --children=x' "bad:4: --children: 'x' is not one of stuck, all and none"
    refuse $'Command: a\nOptions: word' "bad:4: Options: not among"
    refuse $'Command: a\nOptions: --stop TERM' "--drive and --stop need --ready"
    # What a sub-command runs is read before, too.
    # shellcheck disable=SC2016 # not for this shell
    printf 'Schedule: %s\nCommand: touch began\n\nSchedule: explore\nCommand: $NO_SUCH_VARIABLE/x\n' "$token" > bad
    run "$pct" check bad
    is "$status" 2
    has 'bad:4: Command: a variable in `$NO_SUCH_VARIABLE/x` is not set'
    [ ! -e began ]
}

@test "variables of the environment stand for places that differ" {
    find_deadlock
    # shellcheck disable=SC2016 # for pct
    printf 'Schedule: %s\nCommand: $WHERE/target "exit" 0\n' "$token" > pct.schedules
    WHERE=. run "$pct" check -q
    is "$status" 0
    is "$output" ""
}

# The command of the file's only entry prints these arguments, and fails.
print_and_fail()
{
    {
        sed '/^Command: /d' pct.schedules
        printf "Command: sh -c 'printf \"<%%s>\" \"\$@\" > printed; exit 1' sh %s\\n" "$1"
    } > changed
    mv changed pct.schedules
}

@test "arguments that a terminal would obey are kept as they are" {
    find_deadlock
    # The target ignores what stands behind the name of its bug.
    run "$pct" add "$token" -- ./target abba $'a\033\'b\\' $'\xc2\x9b'
    is "$status" 0
    run cat pct.schedules
    has "Command: ./target abba \$'a\\033\\'b\\\\' \$'\\302\\233'"
    print_and_fail "\$'a\\033\\'b\\\\' \$'\\302\\233'"
    run --separate-stderr "$pct" check --near 0
    is "$(< printed)" $'<a\033\'b\\><\xc2\x9b>'
    # As a shell reads it: not inside of other quotes.
    print_and_fail "a\$'\\x41\\t\\1013' '\$' \"\$'b'\" \\\$'c'"
    run --separate-stderr "$pct" check --near 0
    is "$(< printed)" $'<aA\tA3><$><$\'b\'><$c>'
}

@test "what cannot be kept is refused" {
    run "$pct" add pct1:nonsense -- ./target
    is "$status" 2
    find_deadlock
    run "$pct" add "$token"
    is "$status" 2
    has "no command is given"
    run "$pct" add "$token" -- ./target abba $'a\nb'
    is "$status" 2
    has "has a line end in it"
    echo 'not such a file' > pct.schedules
    run "$pct" add "$token" -- ./target abba
    is "$status" 2
    has "pct.schedules:1: expected NAME: VALUE"
    is "$(cat pct.schedules)" 'not such a file'
    run "$pct" add "$token" -- ./gone
    is "$status" 2
}
