# For the tests of `pct demon`, which pct may have been built without. Loaded by them behind common.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables that bats and common.bash set

# For setup(): be in a directory of the test's own.
enter_demon()
{
    [ -x "$build/pct-demon" ] || skip 'built without Z3'
    cd "$BATS_TEST_TMPDIR" || return
}

# The finding that was just said replays, three times.
replays()
{
    local line
    line=$(grep ' replay --demon ' <<< "$output")
    for _ in 1 2 3; do
        run --separate-stderr bash -c "$line"
        is "$status" 134
        has 'replayed identically'
    done
}

# judge SOURCE OPTIONS STATUS FLAGS CONTRACT...: how `pct demon` with these options ends for this program of tests/cli,
# compiled with these flags.
judge()
{
    local compiler=$cc
    [[ $1 != *.cc ]] || compiler=${CXX:-c++}
    printf '%s\n' "${@:5}" > spec.demon
    # shellcheck disable=SC2086 # some, or none
    "$compiler" -g -O0 -pthread $4 -o program "$root/tests/cli/$1"
    # shellcheck disable=SC2086
    run --separate-stderr timeout 120 "$pct" demon $2 --spec spec.demon -- ./program
    is "$status" "$3"
}
