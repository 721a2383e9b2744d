# For the tests of `pct script`. Loaded by them behind common.bash.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables that bats and common.bash set

# script TEXT COMMAND...: run it, with the options in $options.
script()
{
    printf '%s\n' "$1" > test.lua
    shift
    # shellcheck disable=SC2086 # words
    run --separate-stderr timeout 60 "$pct" script ${options:-} test.lua -- "$@"
}

# replays STATUS: the token that was printed does: the same run, and the same status, without the script.
replays()
{
    local expected=$1 line
    rm -f test.lua
    line=$(replay_line)
    run --separate-stderr bash -c "$line"
    is "$status" "$expected"
    has 'replayed identically'
    lacks 'libpct-script'
}
