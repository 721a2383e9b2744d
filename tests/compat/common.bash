# The programs of tests/compat/programs: the table, and one run of one of them, with or without pct. Sourced by
# tests/compat/run, bench/programs and bench/slowdown behind tests/programs/common.bash, at the top of the repository.
# Those set
#     program, limit, jobs    the one at hand; the seconds that a run of it may take; how many run at a time
#     logs, work              directories: for what is to stay, for what is not
# shellcheck shell=bash disable=SC2154

export here=$PWD/tests/compat # for the fields of the table
pct=$(realpath "$pct")
# shellcheck disable=SC2034 # for the scripts
cpu=$(taskset -cp $$ | sed 's/.*[: ]//; s/[-,].*//')
# What the programs do must not depend on who runs them.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

programs=()
declare -A fields # by PROGRAM.FIELD

# read_table: tests/compat/programs into `programs` and `fields`.
read_table()
{
    local line name='' field=''
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        ' '*) fields[$name.$field]+=$line ;;
        *)
            field=${line%%:*}
            [ "$field" != Program ] || name=${line#*: }
            fields[$name.$field]=${line#*: }
            [ "$field" != Program ] || programs+=("$name")
            ;;
        esac
    done < tests/compat/programs
}

# field NAME [DEFAULT]: of the program at hand.
field()
{
    printf '%s' "${fields[$program.$1]:-${2:-}}"
}

# missing_package: the first that the program needs and that is not installed, if any.
missing_package()
{
    local package
    for package in $(field Packages); do
        if ! dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null | grep -q -x installed; then
            echo "$package"
            return
        fi
    done
}

# listening PORT
listening()
{
    grep -qE "$(printf ':%04X 0+:0000 0A' "$1")" /proc/net/tcp /proc/net/tcp6
}

# free_port: one below those that the kernel gives away itself.
free_port()
{
    local candidate=$((20000 + RANDOM % 10000))
    while listening $candidate; do
        candidate=$((candidate + 1))
    done
    echo $candidate
}

# drive_native COMMAND...: what `pct run --ready --drive` does, without pct. Returns the status of the server.
drive_native()
{
    local pid
    "$@" &
    pid=$!
    while ! listening "$port" && kill -0 $pid 2> /dev/null; do
        sleep 0.01
    done
    timeout "$limit" sh -c "$client"
    # The server is the child of timeout.
    pkill -TERM -P $pid
    wait $pid
}

# execute DIRECTORY COMMAND...: one run of the program behind COMMAND (of pct, or what runs it natively), in a fresh
# copy of what Prepare made, as DIRECTORY/run. Leaves its result in DIRECTORY/result, messages in DIRECTORY/said, how
# long it took in DIRECTORY/seconds, the processor time of all that ran in DIRECTORY/cpu. Returns its status.
execute()
(
    local directory=$1 status target began client command=("${@:2}")
    rm -rf "$directory/run"
    cp -a "$work/base" "$directory/run"
    cd "$directory/run" || exit 1
    export HOME=$PWD port
    eval "target=($(field Target))"
    client=$(field Client)
    client=${client:+"{ $client; } > ../result"}
    if [ "${command[0]}" = "$pct" ]; then
        # To end may take as long as all of it: that the run is over its limit is said in one place.
        [ -z "$client" ] || command+=(--ready "port:$port" --drive "$client" --stop-timeout "$limit")
        command+=(--)
    elif [ -n "$client" ]; then
        command=(drive_native "${command[@]}")
    fi
    : > ../result
    began=$EPOCHREALTIME
    if [ -n "$client" ]; then
        "${command[@]}" "${target[@]}" > ../server 2> ../said < /dev/null
    else
        "${command[@]}" "${target[@]}" > ../result 2> ../said < /dev/null
    fi
    status=$?
    awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' > ../seconds
    times > ../times
    awk -F '[ms ]' 'END { print $1 * 60 + $2 + $4 * 60 + $5 }' ../times > ../cpu
    eval "$(field Result)" >> ../result 2>&1
    exit $status
)

# prepare: what all runs of the program begin with, in $work/base, and a port for each worker.
prepare()
{
    local number
    rm -rf "${work:?}"/*
    mkdir "$work/base"
    (cd "$work/base" && HOME=$PWD && eval "$(field Prepare)") > "$logs/$program.prepare.log" 2>&1 < /dev/null || return
    ports=()
    for ((number = 0; number <= jobs; number++)); do
        mkdir "$work/$number"
        ports+=("$(free_port)")
    done
}

# middle: the median of the numbers on standard input.
middle()
{
    sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# side_by_side RUNS OPTION...: the seconds of a run without pct on one CPU, and of one by `pct run OPTION...`, then
# their processor times: four numbers, medians of RUNS each, made by turns. Fails, and prints nothing, if one of them
# does.
side_by_side()
{
    # shellcheck disable=SC2034 # for execute
    local count=$1 port=${ports[0]} seed
    rm -f "$work"/{native,pct}.{seconds,cpu}
    for ((seed = 1; seed <= count; seed++)); do
        execute "$work/0" timeout "$limit" taskset -c "$cpu" || return
        cat "$work/0/seconds" >> "$work/native.seconds"
        cat "$work/0/cpu" >> "$work/native.cpu"
        execute "$work/0" "$pct" run -s $seed --epoch "$epoch" --timeout "$limit" "${@:2}" || return
        cat "$work/0/seconds" >> "$work/pct.seconds"
        cat "$work/0/cpu" >> "$work/pct.cpu"
    done
    echo "$(middle < "$work/native.seconds") $(middle < "$work/pct.seconds")" \
        "$(middle < "$work/native.cpu") $(middle < "$work/pct.cpu")"
}
