#!/bin/sh
# A campaign in shards, by GNU parallel: on this machine, or on others by ssh.
#     parallel.sh SHARDS DIRECTORY RUNS SEED COMMAND [ARGUMENT...]
# DIRECTORY gets a file for each shard, and all.db, which is the whole campaign. After an interruption the same command
# goes on.
# For other machines: PARALLEL='--sshlogin host1,host2 --workdir .' (see parallel(1)); DIRECTORY, pct and the command
# must be there under the same names, as on a network file system. CAMPAIGN_PCT names the pct to use, CAMPAIGN_OPTIONS
# further options of `pct campaign`, CAMPAIGN_JOBS how many shards run at a time on a machine (default: one for each
# CPU).
# The exit status is that of `pct campaign report`: 1 if there are findings.
set -eu
if [ $# -lt 5 ]; then
    sed -n 's/^#     /usage: /p' "$0" >&2
    exit 2
fi
shards=$1 directory=$2 runs=$3 seed=$4
shift 4
pct=${CAMPAIGN_PCT:-pct}
mkdir -p "$directory"
# The time at which virtual time begins is part of the campaign: the same for all shards, and when it goes on.
[ -e "$directory/epoch" ] || date +%s > "$directory/epoch"

# 1 means that a shard has findings; anything else that it did not get to its end.
# shellcheck disable=SC2016,SC2086 # the shell of the job expands these; options are words
seq "$shards" | parallel --will-cite --quote --jobs "${CAMPAIGN_JOBS:-100%}" sh -c \
    '"$@"; status=$?; [ $status -le 1 ] || exit $status' shard \
    "$pct" campaign -q -j 1 -n "$runs" -s "$seed" --epoch "$(cat "$directory/epoch")" ${CAMPAIGN_OPTIONS:-} \
    --shard "{}/$shards" --db "$directory/shard-{}.db" -- "$@" > "$directory/log"

rm -f "$directory/all.db"
"$pct" campaign merge "$directory/all.db" "$directory"/shard-*.db
exec "$pct" campaign report "$directory/all.db"
