# What the scripts of this directory share: where things are, results as TAP, and reading what pct says. Sourced by each
# of them, at the top of the repository.
# shellcheck shell=bash

build=${PCT_BUILD:-build}
# shellcheck disable=SC2034 # for the scripts
jobs=${PCT_TEST_JOBS:-$(nproc)}
# These name the build and the load, to these scripts; to pct they would be mistyped variables.
for variable in ${!PCT_*}; do
    unset "$variable"
done
pct=$build/pct
output=$build/test-output/programs
mkdir -p "$output" || exit 1
# What pct learns from these runs is not to change the next ones, nor the user's own.
rm -rf "$output/state"
XDG_STATE_HOME=$(realpath -m "$output/state")
export XDG_STATE_HOME
export LC_ALL=C
ulimit -c 0 # many of these programs crash, and nobody reads the dumps

# The time of day in all runs, so that nothing can depend on when the suite runs.
# shellcheck disable=SC2034 # for the scripts
epoch=1700000000

tap_number=0 tap_status=0

# often FULL FEW: how many times, with FULL=1 (`make check-full`) and in the suite.
often()
{
    if [ "${FULL:-}" = 1 ]; then echo "$1"; else echo "$2"; fi
}

# tap_result NAME PROBLEM [REPEAT]: one result. PROBLEM is empty for a test that passed, or says in lines what is wrong;
# REPEAT is the command that shows it.
tap_result()
{
    tap_number=$((tap_number + 1))
    if [ -z "$2" ]; then
        echo "ok $tap_number - $1"
        return
    fi
    tap_status=1
    echo "not ok $tap_number - $1"
    [ -z "${3:-}" ] || echo "# repeat: $3"
    printf '%s\n' "$2" | sed 's/^/# /'
}

# tap_skip NAME WHY: the test has nothing to say here.
tap_skip()
{
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

# tap_end: the plan, and the exit status of the script.
tap_end()
{
    echo "1..$tap_number"
    exit "$tap_status"
}

# quoted WORD...: as they can be pasted into a shell.
quoted()
{
    local line
    printf -v line '%q ' "$@"
    echo "${line% }"
}

# campaign FILE OPTION... -- COMMAND...: `pct run` with its messages in FILE. Sets
#     command    the command, to paste         status     its exit status
#     runs       how many it did               failures   how many of them failed
#     endings    how, as "14 crash"            first      the first seed that failed, or -
#     threads    n, the most of any run        steps      k, the most of any run
# All are empty, except for command and status, if pct did not come to its summary. What it says of a failure is the
# bare minimum: what is counted here is how often.
campaign()
{
    local file=$1 line pattern
    shift
    # shellcheck disable=SC2034
    command=$(quoted "$pct" run --state none "$@")
    "$pct" run --brief --state none "$@" > "$file" 2>&1 < /dev/null
    # shellcheck disable=SC2034
    status=$?
    runs='' failures='' endings='' first='' threads='' steps=''
    line=$(grep '; at most n=' "$file" | tail -n 1)
    pattern='^pct: ([0-9]+) runs? in .*: (no failure|([0-9]+) failed \((.*)\)); at most n=([0-9]+), k=([0-9]+)$'
    [[ $line =~ $pattern ]] || return
    # shellcheck disable=SC2034
    runs=${BASH_REMATCH[1]} failures=${BASH_REMATCH[3]:-0} endings=${BASH_REMATCH[4]}
    # shellcheck disable=SC2034
    threads=${BASH_REMATCH[5]} steps=${BASH_REMATCH[6]}
    # shellcheck disable=SC2034
    first=$(sed -n 's/^pct: seed \([0-9]*\): .*/\1/p' "$file" | tail -n 1)
    first=${first:--}
}
