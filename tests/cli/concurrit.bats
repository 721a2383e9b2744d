#!/usr/bin/env bats
# The programs and scripts of table 1 of the Concurrit paper (bench/concurrit): each exact script reaches its schedule,
# each time; the mended program cannot follow it; each search finds the bug.
# shellcheck disable=SC2154,SC2030,SC2031 # variables that bats and common.bash set
load common

setup_file()
{
    for source in "$root"/bench/concurrit/*.c; do
        name=$(basename "$source" .c)
        "$build/pct-cc" -O1 -g -pthread -I "$root/include" -o "$BATS_FILE_TMPDIR/$name" "$source"
        "$build/pct-cc" -O1 -g -pthread -I "$root/include" -DFIXED -o "$BATS_FILE_TMPDIR/$name-fixed" "$source"
    done
}

setup()
{
    cd "$BATS_FILE_TMPDIR" || return
    scripts=$root/bench/concurrit
}

# exact NAME STATUS
exact()
{
    local times=${FULL:+20} # `make concurrit` makes a thousand runs of each
    for ((i = 0; i < ${times:-5}; i++)); do
        run timeout 60 "$pct" script -q "$scripts/$1-exact.lua" -- "./$1"
        is "$status" "$2"
    done
    run --separate-stderr "$pct" script "$scripts/$1-exact.lua" -- "./$1"
    line=$(replay_line)
    run --separate-stderr bash -c "$line"
    is "$status" "$2"
    has 'replayed identically'
    run timeout 60 "$pct" script -q "$scripts/$1-exact.lua" -- "./$1-fixed"
    is "$status" 117
}

@test "exact scripts reach their schedules, and the mended programs cannot follow them" {
    exact bzip2 134
    exact ctrace 134
    exact pbzip2 139
    exact pfscan 134
    exact dedup 134
    exact streamcluster 134
    exact mozilla-nspr2 120
    exact spidermonkey2 134
    exact memcached 134
    run "$pct" script "$scripts/bzip2-exact.lua" -- ./bzip2
    has 'bzip2-exact.lua: reached line 6, and wants thread 1 to go on until it ends; the program: assertion'
}

# search SCRIPT MOST: the bug is found within this many runs. Of those that search among accesses, how many compilers
# make of a line counts, too: 55 by gcc 12 are 67 by gcc 16.
search()
{
    run timeout 120 "$pct" script -q --all --first "$scripts/$1.lua" -- "./${1%-*}"
    is "$status" 1
    [[ $output =~ $1\.lua:\ ([0-9]+)\ runs,\ not\ all\ choices\ made\;\ 1\ fails ]]
    [ "${BASH_REMATCH[1]}" -le "$2" ]
}

@test "searches come to their bugs within this many schedules" {
    search bbuf-functions2 2
    search bzip2-function 70
    search bzip2-steps 160
    search pfscan-steps 3
    search dedup-function 3
    search streamcluster-steps 3
    search ctrace-steps 3
    search mozilla-nspr1-bounded 8
    search mozilla-nspr2-bounded 5
    search spidermonkey1-functions 6
    search memcached-steps 3
    search apache-httpd-steps 3
    search mysql-server-steps 3
}

@test "the rows of the table are there" {
    while IFS=$'\t' read -r program _ script _; do
        [[ $program = \#* ]] || { [ -e "$scripts/$program.c" ] && [ -e "$scripts/$script.lua" ]; }
    done < "$scripts/manifest.tsv"
    is "$(grep -c -v '^#' "$scripts/manifest.tsv")" 38
}
