#!/usr/bin/env bats
# Help, and what is said about mistakes: status 2, "did you mean", and the target is not started.
load common

setup_file()
{
    compile_targets
}

setup()
{
    enter
}

# wrong TEXT ARGUMENT...: this is refused with status 2 and TEXT, and starts nothing.
wrong()
{
    local text=$1
    shift
    run "$pct" "$@"
    is "$status" 2
    has "$text"
    [ ! -e started ]
}

@test "help, of the command and of each sub-command" {
    for arguments in help --help -h; do
        run "$pct" $arguments
        is "$status" 0
        has "Usage: pct COMMAND"
    done
    for command in run campaign replay report strategies doctor; do
        run "$pct" $command --help
        is "$status" 0
        has "Usage: pct $command"
        run "$pct" help $command
        is "$status" 0
        has "Usage: pct $command"
        run "$pct" help
        has "  $command"
    done
}

# What argp does not fold well: a text that fills its line gets an empty one, a long option moves its text, a heading
# comes twice.
badly_folded()
{
    awk 'length > 79 || / $/ || (/^ [A-Z]/ && seen[$0]++) { print }
        /^ +-/ && length > 30 && (substr($0, 29, 1) != " " || substr($0, 30, 1) == " ") { print }'
}

@test "help fits a terminal of 80 columns" {
    is "$("$pct" help | badly_folded)" ''
    for command in $("$pct" help | awk '/^  [a-z]/ { print $1 }'); do
        is "$(COLUMNS=80 "$pct" help "$command" | badly_folded)" ''
    done
}

@test "help fits a narrow terminal, and the target has the environment that it was to have" {
    for command in '' run campaign demon; do
        run script -qec "stty cols 40; $pct $command --help" /dev/null
        is "$(tr -d '\r' <<< "$output" | awk 'length > 39')" ''
    done
    run script -qec "stty cols 40; $pct run -q -s 1 -- /usr/bin/env" /dev/null
    has "PATH="
    lacks "ARGP"
}

@test "version" {
    run "$pct" version
    is "$status" 0
    has "pct "
    version=$output
    run "$pct" --version
    is "$output" "$version"
}

@test "no command, an unknown command" {
    wrong "Usage: pct COMMAND"
    wrong "did you mean 'run'?" rnu -- touch started
    wrong "did you mean 'replay'?" rplay
    wrong "unknown command 'xyzzy'" xyzzy
    wrong "did you mean 'doctor'?" help docter
}

@test "what was meant: a program, a token, a command without a token" {
    wrong './target is a program, not a command of pct: pct run -n 1000 -- ./target' ./target
    wrong 'pct replay TOKEN -- COMMAND' pct1:pct,depth=3:1 -- ./target
    for command in replay minimize explain add; do
        wrong "pct $command TOKEN -- COMMAND" "$command" -- ./target touch started
    done
    wrong "'five' is not a whole number" run -n five -- ./target touch started
    echo text > text.c
    wrong './text.c: is there, but cannot be executed' ./text.c
    for command in replay minimize explain; do
        wrong './target is a program; the token, or the trace, stands before it' "$command" ./target
    done
}

@test "a directory is called one" {
    mkdir folder
    wrong './folder: it is a directory' ./folder
    for command in replay minimize explain; do
        wrong 'folder: Is a directory' "$command" folder
    done
    wrong 'folder: Is a directory' script folder -- ./target touch started
    wrong 'folder: Is a directory' demon --spec folder -- ./target touch started
    run "$pct" doctor ./folder
    is "$status" 126
    has './folder: it is a directory'
}

@test "what cannot be run: 126, and why" {
    mkdir folder
    touch plain
    run "$pct" run -- ./folder
    is "$status" 126
    has 'it is a directory'
    run "$pct" run -- ./plain
    is "$status" 126
    has 'cannot be executed'
    run -127 "$pct" run -- ./none
    has 'command not found'
}

@test "a mistyped long option is named with its closest; the target's own options are the target's" {
    wrong "unknown option --stratgy; did you mean --strategy? \`pct run --help\` lists all" run --stratgy pct -- touch \
        started
    wrong "did you mean --keep-going?" run -n 3 -s 1 --save traces --kep-going touch started
    wrong "did you mean --timeout?" replay --timeot=3 pct1:x -- touch started
    wrong "did you mean --format?" trace --fromat=text file
    wrong "did you mean --format?" campaign report --fromat json
    wrong "did you mean --version?" strategies pct --vresion
    wrong "unrecognized option '--mistake'" run --mistake -- touch started
    wrong "option '--st' is ambiguous" run --st pct -- touch started
    run "$pct" run --state none -- printf '%s\n' --stratgy
    [ "$status" = 0 ]
    [ "${lines[0]}" = --stratgy ]
    wrong "damaged or cut short" replay pct1:x touch started --stratgy
}

@test "missing arguments" {
    wrong "no command is given" run
    wrong "no command is given" run -n 5
    wrong "no token" replay
    wrong "no command is given" replay pct1:pct:1:0:-:0000
    wrong "no trace" report
    wrong "no program" doctor
}

@test "unknown options" {
    wrong "unrecognized option" run --mistaken 3 -- touch started
    wrong "unrecognized option" report --mistaken file
}

@test "unknown strategies and parameters" {
    wrong "unknown strategy 'ptc'; did you mean 'pct'?" run -S ptc -- touch started
    wrong "did you mean 'random-walk'?" run -S random-wlak -- touch started
    wrong "did you mean 'depth'?" run -S pct,dpeth=3 -- touch started
    wrong "has no parameter" run -S random-walk,depth=3 -- touch started
    wrong "the strategy random-walk has no depth, and no guarantee" run -S random-walk -d 3 -- touch started
    wrong "given twice" run -S pct,depth=3 -d 4 -- touch started
    wrong "cannot load the strategy" run -S ./no.so -- touch started
    wrong "cannot load the strategy" run -S ./target -- touch started
    wrong "even must be even" run -S ./lowest.so,even=3 -- touch started
}

@test "numbers out of range, or none" {
    wrong "--runs" run -n 0 -- touch started
    wrong "--runs" run -n many -- touch started
    wrong "--seed" run -s 1x -- touch started
    wrong "--jobs" run -j 0 -- touch started
    wrong "depth" run -d 1000 -- touch started
    wrong "--timeout" run --timeout 0 -- touch started
    wrong "--timeout" run --timeout soon -- touch started
    wrong "--time" run --time fake -- touch started
    wrong "--ok-status" run --ok-status 256 -- touch started
    wrong "--last" report --last x "$BATS_TEST_FILENAME"
}

@test "unknown variables" {
    PCT_SEDE=3 wrong "unknown variable PCT_SEDE in the environment; did you mean PCT_SEED?" run -- touch started
    PCT_XYZZY=3 wrong "unknown variable PCT_XYZZY" run -- touch started
    PCT_SEED=x wrong "PCT_SEED" run -- touch started
    PCT_TIME=fake wrong "PCT_TIME" run -- touch started
}

@test "a library that is not there" {
    wrong "no-such.so" run --lib no-such.so -- touch started
}

@test "places that cannot be written" {
    echo precious > file
    wrong "would be overwritten" run -t file -- touch started
    wrong "not a regular file" run -t . -- touch started
    wrong "No such file or directory" run -t no/such/place -- touch started
    wrong "not a directory" run --save file -- touch started
    is "$(cat file)" precious
}

@test "strategies are listed and described" {
    run "$pct" strategies
    is "$status" 0
    for name in pct tapct pctcp pct-large pos urw surw delay-bound preemption-bound portfolio random-walk random-delay \
        round-robin none; do
        is "$(printf '%s\n' "$output" | grep -cx -- $name)" 1
    done
    has "depth=N  (default auto, 1 to 64, or auto)"
    run "$pct" strategies pct
    is "$status" 0
    has "source: "
    lacks random-walk
    run "$pct" strategies ./lowest.so
    is "$status" 0
    has "the enabled thread with the lowest id"
    wrong "did you mean 'round-robin'?" strategies round-robni
}

@test "scripts/check-distros makes nothing for names that it does not know" {
    local script=$BATS_TEST_DIRNAME/../../scripts/check-distros
    run "$script" --help
    is "$status" 0
    has 'SUITE[:COMPILER[:PART...]]'
    for arguments in -x '' sid: sid:tcc sid::unit sid:gcc:nothing 'sid:gcc:unit sim' enter 'enter nowhere'; do
        # shellcheck disable=SC2086 # two words
        DISTRO_ROOTS=$PWD/roots run "$script" ${arguments:-""}
        is "$status" 2
        has 'there is no'
        has 'SUITE[:COMPILER[:PART...]]'
        [ ! -e roots ]
    done
}

# fake NAME TEXT: a command that does TEXT, found before the system's.
fake()
{
    mkdir -p fakes
    printf '#!/bin/bash\n%s\n' "$2" > "fakes/$1"
    chmod +x "fakes/$1"
}

# A system of which everything is feigned but the script's own part: two of the sources' commits pass while it is at
# work.
feign_system()
{
    mkdir -p roots/sid/usr/bin roots/sid/src
    ln -s /bin/true roots/sid/usr/bin/make
    fake id 'echo 0'
    fake unshare 'shift; exec "$@"'
    fake mount ''
    fake git "case \$1 in ls-files) printf 'README.md\\0' ;; describe) cat '$PWD/commit' ;; esac"
    fake chroot "case \$* in
        *'tests/run planted') echo 'skipped planted: one (no source)'; echo '2 skipped'; echo '0 passed, 0 failed' ;;
        *'tests/run unit') echo '1 skipped'; echo '7 passed, 0 failed'; echo later > '$PWD/commit' ;;
        *'tests/run sim') echo 'FAILED sim: it'; echo '6 passed, 1 failed'; exit 1 ;;
    esac"
    echo first > commit
}

@test "scripts/check-distros says what passed, failed and was skipped of each part, and of which commit" {
    feign_system
    PATH=$PWD/fakes:$PATH DISTRO_ROOTS=$PWD/roots run "$BATS_TEST_DIRNAME/../../scripts/check-distros" \
        sid:gcc:unit:planted:sim:demo
    is "$status" 1
    has 'ok 5 - sid gcc: unit
ok 6 - sid gcc: planted # SKIP skipped planted: one (no source)
not ok 7 - sid gcc: sim
#   FAILED sim: it'
    has '
ok 8 - sid gcc: demo
1..8
# sid        gcc    unit       first  7 passed, 0 failed, 1 skipped
# sid        gcc    planted    first  0 passed, 0 failed, 2 skipped
# sid        gcc    sim        first  6 passed, 1 failed
# sid        gcc    demo       first  passed'
}

@test "two calls of scripts/check-distros are not at work in one system" {
    feign_system
    fake chroot "touch '$PWD/entered'"
    exec {lock}> roots/sid.lock
    flock "$lock"
    PATH=$PWD/fakes:$PATH DISTRO_ROOTS=$PWD/roots run "$BATS_TEST_DIRNAME/../../scripts/check-distros" sid:gcc:unit
    exec {lock}>&-
    is "$status" 1
    has 'not ok 1 - sid: nobody else is in there
#   another call of this script is at work in'
    [ ! -e entered ]
}

@test "colours: on terminals, when asked for, and never with NO_COLOR" {
    local escape=$'\033['
    wrong "'sometimes' is not one of auto, always and never" run --color sometimes -- touch started
    run "$pct" run --state none -s 1 -S pct,depth=2 -n 500 -- ./target abba
    lacks "$escape"
    run "$pct" run --state none --color=always -s 1 -S pct,depth=2 -n 500 -- ./target abba
    is "$status" 120
    has "${escape}1;31mdeadlock"
    has "${escape}36m$pct replay "
    command -v script > /dev/null || skip "no script(1)"
    line="'$pct' run --state none -s 1 -S pct,depth=2 -n 500 -- ./target abba"
    TERM=xterm run script -qc "$line" /dev/null
    has "${escape}1;31mdeadlock"
    TERM=xterm NO_COLOR=1 run script -qc "$line" /dev/null
    lacks "${escape}1;31m"
    TERM=xterm run script -qc "${line/run/run --color=never}" /dev/null
    lacks "${escape}1;31m"
    # Emacs's shows what would clear a line of progress elsewhere.
    TERM=dumb run script -qc "$line" /dev/null
    lacks "$escape"
}

@test "frames of libraries are shown when asked for" {
    cat > invoked.cc << 'EOF'
#include <mutex>
#include <thread>
static std::mutex a, b;
static void take(std::mutex &first, std::mutex &second)
{
    std::lock_guard<std::mutex> one(first);
    std::lock_guard<std::mutex> other(second);
}
int main()
{
    std::thread x([] { take(a, b); }), y([] { take(b, a); });
    x.join();
    y.join();
}
EOF
    "${CXX:-g++}" -g -O0 -pthread -o invoked invoked.cc
    run "$pct" run --state none -s 1 -n 500 -S pct,depth=2,k=20 -- ./invoked
    is "$status" 120
    has "(without frames of libraries: --all-frames shows them)"
    has "take(std::mutex&, std::mutex&)  at "
    [[ $output =~ "waits for mutex "[0-9]" \`"[ab]"\` (lock), held by thread" ]]
    lacks "__invoke"
    run "$pct" run --state none --all-frames -s 1 -n 500 -S pct,depth=2,k=20 -- ./invoked
    has "__invoke"
    # The program's own, too, behind those that stand before it.
    [[ $output =~ cause:.*"std::mutex::lock()"[^$'\n']*"take(std::mutex&, std::mutex&) invoked.cc:" ]]
}

@test "what belongs to others, or everybody can write to, is run when it is trusted" {
    cp -L lowest.so open.so
    chmod o+w open.so
    wrong "./open.so can be written by everybody, and pct would run what is in it: check it, and give --trust" run \
        -S ./open.so -- touch started
    run -0 "$pct" run --trust --state none -s 1 -S ./open.so -- touch started
    run --separate-stderr "$pct" run --state none -n 500 -s 1 -S pct,depth=2,k=20 -- ./target abba
    run -0 "$pct" add "$(replay_token)" -- ./target abba
    chmod o+w pct.schedules
    run -2 "$pct" check
    has "pct.schedules can be written by everybody"
    run -120 "$pct" check --trust --near 0
}

@test "the user's home is never made" {
    run -0 env -u XDG_STATE_HOME -u XDG_CACHE_HOME HOME="$PWD/home/user" "$pct" run -n 3 -s 1 -- ./target exit 0
    [ ! -e home ]
    lacks "what was learned is not kept"
    mkdir -p home/user
    run -0 env -u XDG_STATE_HOME -u XDG_CACHE_HOME HOME="$PWD/home/user" "$pct" run -n 3 -s 1 -- ./target exit 0
    [ -d home/user/.cache/pct/plans ]
}
