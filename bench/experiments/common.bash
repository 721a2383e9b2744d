# What the parts of the experiments share: where things are, campaigns that can be interrupted, and progress. Sourced by
# each of them, at the top of the repository.
# shellcheck shell=bash
#
# Environment:
#     PCT_BUILD  the build directory (default: build)
#     OUT        where the tables and plots go (default: docs/experiments)
#     LEDGER     what was measured so far (default: $PCT_BUILD/experiments); remove it to begin anew
#     RUNS       runs of each campaign, at most; the default is the part's
#     HITS       a campaign ends when it has this many failures (default: 0, it does all its runs); see bugs for its own
#     JOBS       runs at a time (default: 1); under stress they are each other's load, too
#     LOAD       busy processes beside each run under the operating system's scheduler (default: two for each CPU)
#
# Everything is resumable: each campaign has a file in the ledger, to which a line is added for each chunk of seeds.
# Interrupted and started again, or started again with a larger RUNS, a campaign goes on with the next seed. A program
# or library that was rebuilt with a difference is measured from the first seed.

build=${PCT_BUILD:-build}
for variable in ${!PCT_*}; do
    unset "$variable"
done
export LC_ALL=C
ulimit -c 0
pct=$build/pct
out=${OUT:-docs/experiments}
ledger=${LEDGER:-$build/experiments}
# shellcheck disable=SC2034 # for the parts
jobs=${JOBS:-1} load=${LOAD:-$((2 * $(nproc)))} header_rate='runs,hits,rate,rate_low,rate_high' ways=()
script=${0##*/}
# Functions for the programs of awk that begin with them.
rates=$(< bench/experiments/rates.awk) || exit 1
mkdir -p "$out" "$ledger" || exit 1

fail()
{
    echo "bench/experiments/$script: $1" >&2
    exit 1
}

for file in "$pct" "$build/libpct.so"; do
    [ -e "$file" ] || fail "there is no $file: run make, or set PCT_BUILD"
done
library=$(cksum < "$build/libpct.so") || exit 1
scratch=$(mktemp -d) || exit 1
noise=()
end()
{
    [ ${#noise[@]} = 0 ] || kill "${noise[@]}" 2> /dev/null
    rm -rf "$scratch"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- Progress
# ----------------------------------------------------------------------------------------------------------- announce
# COUNT: this many campaigns will follow.
announce()
{
    campaigns=$1 campaign=0 fresh=0 began=$SECONDS
}

# show_progress NAME FRESH: after each. FRESH is 0 if nothing had to be run for it. The estimate takes the campaigns
# that are left to be like those that were measured in this session.
show_progress()
{
    local left=$((campaigns - campaign)) text=''
    fresh=$((fresh + $2))
    [ "$fresh" = 0 ] || [ "$left" = 0 ] ||
        text=$(awk -v s=$(((SECONDS - began) * left / fresh)) 'BEGIN {
            printf ", about " (s < 120 ? "%d s" : s < 7200 ? "%.0f min" : "%.1f h") " left",
                s < 120 ? s : s < 7200 ? s / 60 : s / 3600 }')
    echo "[$campaign of $campaigns] $1: $hits of $runs failed$text" >&2
}

# --- Campaigns
# ---------------------------------------------------------------------------------------------------------- make_noise:
# keep the machine busy until quiet; for stress tests.
make_noise()
{
    local i j
    for ((i = 0; i < load; i++)); do
        # It ends with this script, whatever ends that.
        (while [ -e /proc/$$ ]; do for ((j = 0; j < 100000; j++)); do :; done; done) &
        noise+=($!)
    done
}

quiet()
{
    [ ${#noise[@]} = 0 ] || kill "${noise[@]}"
    wait "${noise[@]}" 2> /dev/null
    noise=()
}

# are_the_bug SPEC WANTED ENDINGS: whether failures like "3 assertion, 1 crash" can only be the program's bug. Where the
# operating system decides, deadlocks are timeouts, and memory that was given back too early may crash anywhere.
are_the_bug()
{
    local ending also='^$'
    [ "$1" != none ] || also='^(assertion|crash|timeout)$'
    while read -r _ ending; do
        [ "$ending" = "$2" ] || [[ $ending =~ $also ]] || return 1
    done <<< "${3//, /$'\n'}"
}

# chunk SPEC SEED COUNT WANTED COMMAND...: seeds SEED to SEED+COUNT-1. Prints "SEED COUNT HITS FIRST N K". WANTED is how
# the program's bug shows; a run that ends in any other way would be counted as something that it is not. ${ways[@]}:
# options that say how runs are made.
chunk()
{
    local spec=$1 seed=$2 count=$3 wanted=$4 line pattern hits=0 first=-
    shift 4
    "$pct" run --brief "${ways[@]}" -g -j "$jobs" -n "$count" -s "$seed" -S "$spec" --state none --timeout 20 -- "$@" \
        > "$scratch/log" 2>&1 < /dev/null
    line=$(grep '; at most n=' "$scratch/log" | tail -n 1)
    pattern='^pct: ([0-9]+) runs? in .*: (no failure|([0-9]+) failed \((.*)\)); at most n=([0-9]+), k=([0-9]+)$'
    [[ $line =~ $pattern && ${BASH_REMATCH[1]} = "$count" ]] || fail "$* under $spec: $(tail -n 1 "$scratch/log")"
    local n=${BASH_REMATCH[5]} k=${BASH_REMATCH[6]} endings=${BASH_REMATCH[4]} failed=${BASH_REMATCH[3]:-0}
    if [ "$failed" != 0 ]; then
        are_the_bug "$spec" "$wanted" "$endings" ||
            fail "$* under $spec: $failed failed ($endings), and not all by the bug, which is $wanted; see a run's \
report: $pct run -n $count -s $seed -S $spec -- $*"
        hits=$failed
        first=$(sed -n 's/^pct: seed \([0-9]*\): .*/\1/p' "$scratch/log" | tail -n 1)
    fi
    echo "$seed $count $hits $first $n $k"
}

# measure NAME SPEC RUNS HITS WANTED COMMAND...: RUNS runs of the command under this strategy with the seeds from 1, or
# fewer if HITS (when not 0) have failed. Adds to the ledger's file NAME. Sets runs, hits, first (or empty), n and k
# (the most of any run).
measure()
{
    local name=$1 spec=$2 limit=$3 enough=$4 wanted=$5 identity file size was_fresh=0
    shift 5
    file=$ledger/$name
    mkdir -p "${file%/*}" || exit 1
    identity="$spec $* $(cksum < "$1") $library" || exit 1
    [ "$(head -n 1 "$file" 2> /dev/null)" = "$identity" ] || echo "$identity" > "$file"
    while :; do
        # A line that was cut off by an interruption has fewer fields.
        read -r runs hits first n k < <(awk 'NR > 1 && NF == 6 && $1 == runs + 1 {
                runs += $2; hits += $3; if ($4 != "-" && first == "") first = $4
                n = $5 > n ? $5 : n; k = $6 > k ? $6 : k }
            END { print runs + 0, hits + 0, first == "" ? "-" : first, n + 0, k + 0 }' "$file")
        if [ "$runs" -ge "$limit" ] || { [ "$enough" != 0 ] && [ "$hits" -ge "$enough" ]; }; then
            break
        fi
        size=$((runs < 100 ? 100 : runs > 2000 ? 2000 : runs))
        size=$((size > limit - runs ? limit - runs : size))
        chunk "$spec" $((runs + 1)) "$size" "$wanted" "$@" >> "$file" || exit 1
        was_fresh=1
    done
    [ "$first" != - ] || first=''
    campaign=$((campaign + 1))
    show_progress "$name" $was_fresh
}

# has_parameter STRATEGY NAME
has_parameter()
{
    "$pct" strategies "$1" | grep -q "^    $2="
}

# learned_k SPEC COMMAND...: what pct learns k to be, for strategies that count fewer steps than there are.
learned_k()
{
    local spec=$1 k
    shift
    "$pct" run --brief -g -n 64 -s 1 -S "$spec" --state none --timeout 20 -- "$@" > "$scratch/log" 2>&1 < /dev/null
    k=$(sed -n 's/^pct: k=\([0-9]*\), learned.*/\1/p' "$scratch/log")
    [ -n "$k" ] || fail "$* under $spec: $(tail -n 1 "$scratch/log")"
    echo "$k"
}

# specification STRATEGY DEPTH K COMMAND...: with the parameters that it has, and no chance to have others.
specification()
{
    local strategy=$1 depth=$2 k=$3 text=$1
    shift 3
    ! has_parameter "$strategy" depth || text+=",depth=$depth"
    # It counts operations on shared objects only.
    [ "$strategy" != tapct ] || k=$(learned_k "$text" "$@") || exit 1
    ! has_parameter "$strategy" k || text+=",k=$k"
    echo "$text"
}

# list_strategies: those that decide by themselves; not those that follow a list which they are given.
list_strategies()
{
    "$pct" strategies | awk '
        /^[a-z]/ { if (name != "") print name; name = $1 }
        /^    [a-z-]*=LIST/ { name = "" }
        END { if (name != "") print name }'
}

# list_programs: NAME DEPTH VERDICT THREADS STEPS COMMAND... of all programs with known bugs; "-" where it has to be
# measured. Those of bench/paper are called paper/NAME.
list_programs()
{
    awk -F '\t' -v bin="$build/bugs/" 'FNR == 1 { next } NR == FNR { n[$1] = $3; k[$1] = $4; next }
        { print $1, $3, $5, n[$1], k[$1], bin $1, $6 == "-" ? "" : $6 }' tests/programs/bugs.tsv bench/bugs/manifest.tsv
    awk -F '\t' -v bin="$build/paper/" 'NR > 1 { print "paper/" $1, $2, $3, $6, "-", bin $1, $4 == "-" ? "" : $4 }' \
        bench/paper/manifest.tsv
}

# rate RUNS HITS: "rate,low,high": the rate, and its interval by Wilson, 95 %.
rate()
{
    awk -v runs="$1" -v hits="$2" "$rates"'BEGIN {
        printf "%.4g,%.4g,%.4g\n", runs ? hits / runs : 0, wilson(runs, hits, -1), wilson(runs, hits, 1) }'
}

# guarantee N K DEPTH: theorem 9.
guarantee()
{
    awk -v n="$1" -v k="$2" -v d="$3" 'BEGIN { printf "%.3g", 1 / (n * k ^ (d - 1)) }'
}

# describe_machine: a line for this part in machine.csv: when it was last run, of which commit, and where.
describe_machine()
{
    local model commit
    commit=$(git rev-parse --short=8 HEAD 2> /dev/null)
    model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 | tr -s ' ,' ' ')
    {
        echo 'part,date,commit,cpus,cpu,system,load_average,jobs,busy'
        grep -sv -e "^$script," -e '^part,' "$out/machine.csv"
        echo "$script,$(date +%F),${commit:--},$(nproc),${model:-unknown},$(uname -sr |
            cut -d . -f 1,2),$(cut -d ' ' -f 2 /proc/loadavg),$jobs,$load"
    } | keep machine.csv
}

# keep FILE: what comes in becomes this file of the output, if it came whole.
keep()
{
    cat > "$scratch/keep" && mv "$scratch/keep" "$out/$1"
}
