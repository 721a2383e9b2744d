#!/bin/bash
# The pages of two campaigns, one with a finding and one without, in Debian's chromium. Prints TAP; pictures of what the browser showed are in
# $PCT_BUILD/browser. Called by tests/run browser (`make check-browser`); the commands and the programs with known bugs must have been built.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${PCT_BUILD:-build}
for variable in ${!PCT_*}; do
    unset "$variable"
done
to=$build/browser
rm -rf "$to"
mkdir -p "$to" || exit 1
XDG_STATE_HOME=$(realpath "$to")/state
export XDG_STATE_HOME
number=0 failed=0
for program in fig1c-deadlock fig1c-deadlock-fixed; do
    "$build/pct" campaign -q -n 300 -s 1 --db "$to/$program.db" --report "html:$to/$program.html" \
        --report "json:$to/$program.json" -- "$build/bugs/$program" > "$to/$program.log" 2>&1
    # The numbers go on from one page to the next.
    while read -r line; do
        case $line in
        ok\ * | not\ ok\ *)
            number=$((number + 1))
            printf '%s%s - %s: %s\n' "${line%%ok *}ok " "$number" "$program" "${line#* - }"
            case $line in not*) failed=$((failed + 1)) ;; esac
            ;;
        \#*) echo "$line" ;;
        1..*) ended=1 ;;
        esac
    done < <(timeout 300 python3 tests/browser/campaign_page.py "$to/$program.html" "$to/$program.json" "$to/$program.png" 2> "$to/$program.err")
    if [ -z "${ended:-}" ]; then
        number=$((number + 1)) failed=$((failed + 1))
        echo "not ok $number - $program: the browser was asked all"
        tail -n 20 "$to/$program.err" | sed 's/^/# /'
    fi
    unset ended
done
echo "1..$number"
[ $failed = 0 ]
