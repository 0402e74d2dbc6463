#!/usr/bin/env bash
# Scores a folder of story files with several processes at once, by GNU parallel or, where that is
# not installed, by xargs.
#
#   parallel.sh PROCESSES IN OUT [option of `storymeter score`]...
#
# On one machine a single `storymeter score` with threads is faster, because the model is in memory
# once. Processes are for several machines: GNU parallel starts them over SSH (--sshlogin).
set -euo pipefail
processes=$1
stories=$2
scores=$3
shift 3
jobs=${JOBS:-$processes}
command=(storymeter score "$stories" --out-dir "$scores" --resume --threads 1 "$@" --shard)
if command -v parallel > /dev/null && parallel --version 2> /dev/null | grep -q GNU; then
    seq 0 $((jobs - 1)) |
        parallel --quote --max-procs "$processes" "${command[@]}" "{}/$jobs"
else
    seq 0 $((jobs - 1)) |
        xargs --max-procs="$processes" -I '{}' "${command[@]}" "{}/$jobs"
fi
