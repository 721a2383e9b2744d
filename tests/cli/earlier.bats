# What earlier versions of pct have written is read, or pct says what it is and what to do: earlier/README.md.
load common

setup()
{
    enter
    cp "$build/bugs/fig1c-deadlock" "$build/bugs/fig1c-deadlock-fixed" .
    mkdir there
    cd there
    earlier=$root/tests/cli/earlier
}

# campaign NAME PROGRAM: NAME.db as an earlier version left it, of this build of the program.
campaign()
{
    gunzip -c "$earlier/$1.sql.gz" | sqlite3 "$1.db" > made
    "$pct" campaign -q -n 1 --db fresh.db -- "../$2" > made 2>&1 || true
    sqlite3 "$1.db" "update facts set value = '$(sqlite3 fresh.db "select value from facts where key = 'binary'")'
        where key = 'binary'"
}

@test "tokens of earlier versions replay" {
    count=0
    while read -r token; do
        run "$pct" replay -q "$token" -- ../fig1c-deadlock
        has "replayed identically"
        count=$((count + 1))
    done < "$earlier/tokens"
    is "$count" "$(wc -l < "$earlier/tokens")"
    [ "$count" -gt 40 ]
}

@test "options of earlier versions mean what they meant" {
    count=0
    while read -r line; do
        options=${line%% => *}
        # shellcheck disable=SC2086 # words
        run -0 "$pct" run -q -s 3 --epoch 1700000000 --state none -t trace $options -- ../fig1c-deadlock-fixed
        run -0 "$pct" report trace
        token=$(grep -o 'pct1:[^:]*:3:6553f100:' <<< "$output" | head -n 1)
        # What has another default since is in the token; no option of theirs said it.
        token=$(sed -e 's/,end=drawn//' -e 's/,strings=all//' <<< "$token")
        is "$token" "pct1:${line#* => }:3:6553f100:"
        count=$((count + 1))
    done < "$earlier/options"
    [ "$count" -gt 30 ]
}

@test "a token whose strategy has changed since does not replay, and the report says why" {
    run -122 "$pct" replay pct1:surw,among=3,n=100:3:6553f100:8e09b1415382e4a0:26b4 -- ../fig1c-deadlock
    has "did NOT replay: "
    has "nor which version of pct made it: CHANGELOG.md says which changes break schedules"
}

@test "traces of earlier versions are read and replayed" {
    for one in first second third; do
        gunzip -c "$earlier/$one.trace.gz" > trace
        run -0 "$pct" report trace
        has "deadlock: no thread can go on"
        has "thread 1 waits for mutex 2"
        run -0 "$pct" trace -f schedule trace
        has "$(printf "\nswitch ")"
        run -120 "$pct" replay trace -- ../fig1c-deadlock
        has "replayed identically"
        run -0 "$pct" explain trace -- ../fig1c-deadlock
        has "wait cycle"
    done
}

@test "schedules that earlier versions kept are run" {
    cp "$earlier/pct.schedules" .
    run -120 "$pct" check
    has "pct.schedules:3: FAILED: deadlock; it was found with deadlock"
    run -120 "$pct" replay "$earlier/min.schedule" -- ../fig1c-deadlock
    has "deadlock: no thread can go on"
}

@test "a campaign of an earlier version is printed, and goes on with the strategy that it has" {
    campaign portfolio fig1c-deadlock
    run -1 "$pct" campaign report portfolio.db
    has "12 of 12 runs"
    has "1 finding"
    run -2 "$pct" campaign -n 16 -s 1 --db portfolio.db -- ../fig1c-deadlock
    has "portfolio.db is of another campaign: its strategy is 'portfolio,depth=auto,"
    has "or go on with it by --strategy portfolio, which may have been the default of an earlier version"
    run -1 "$pct" campaign -n 16 -s 1 -S portfolio --db portfolio.db -- ../fig1c-deadlock
    has "16 of 16 runs"
    run -0 "$pct" campaign merge merged.db portfolio.db
    has "merged.db: merged"
}

@test "what an earlier campaign knows of interleavings is used" {
    campaign maple fig1c-deadlock
    run -0 "$pct" coverage report maple.db
    has "exposed iRoots: 2 "
    run "$pct" campaign -n 16 -s 1 -S maple --db maple.db -- ../fig1c-deadlock
    has "16 of 16 runs"
    run "$pct" campaign -n 4 -s 1 -S maple --memo maple.db --db new.db -- ../fig1c-deadlock
    has "4 of 4 runs"
}

@test "an exploration of an earlier version is printed, and does not go on" {
    campaign explored fig1c-deadlock-fixed
    run -0 "$pct" campaign report explored.db
    has "verified at calls: all 2 classes of schedules pass"
    run -2 "$pct" explore --resume --db explored.db -- ../fig1c-deadlock-fixed
    has "one of an earlier pct does not go on: begin anew with --fresh"
}

@test "what an earlier version has learned of a command is left alone" {
    cp "$earlier/state" kept
    run -0 "$pct" run -n 2 --state kept -- ../fig1c-deadlock-fixed
    has "kept is not used, and left as it is: it is of other options, another directory or an earlier version of pct;"
    cmp "$earlier/state" kept
}
