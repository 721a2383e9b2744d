#!/bin/sh
# A campaign in shards, by a Slurm job array; waits for its end.
#     slurm.sh SHARDS DIRECTORY RUNS SEED COMMAND [ARGUMENT...]
# DIRECTORY, which all nodes see, gets a file for each shard, and all.db, which is the whole campaign. After an
# interruption the same command goes on. CAMPAIGN_PCT names the pct to use, CAMPAIGN_OPTIONS further options of `pct
# campaign`, SBATCH_OPTIONS those of sbatch. The exit status is that of `pct campaign report`: 1 if there are findings.
set -eu
if [ $# -lt 5 ]; then
    sed -n 's/^#     /usage: /p' "$0" >&2
    exit 2
fi
shards=$1 directory=$2 runs=$3 seed=$4
shift 4
mkdir -p "$directory"
CAMPAIGN_DIRECTORY=$(realpath "$directory") CAMPAIGN_RUNS=$runs CAMPAIGN_SEED=$seed CAMPAIGN_PCT=${CAMPAIGN_PCT:-pct}
export CAMPAIGN_DIRECTORY CAMPAIGN_RUNS CAMPAIGN_SEED CAMPAIGN_PCT
[ -e "$directory/epoch" ] || date +%s > "$directory/epoch"

# shellcheck disable=SC2086 # options are words
sbatch --wait --array="1-$shards" --output="$directory/log-%a" --export=ALL ${SBATCH_OPTIONS:-} \
    "$(dirname "$0")/shard.sbatch" "$@"

rm -f "$directory/all.db"
"$CAMPAIGN_PCT" campaign merge "$directory/all.db" "$directory"/shard-*.db
exec "$CAMPAIGN_PCT" campaign report "$directory/all.db"
