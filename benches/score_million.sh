#!/usr/bin/env bash
# Streams many short stories through `storymeter score` and prints how much memory it took.
#
#   benches/score_million.sh MODEL [STORIES]
#
# MODEL is a folder that `storymeter train` made, and STORIES a number (by default 1,000,000). The
# script needs Linux (/proc). The stories are made up here, one per line, and never touch the disk.
set -euo pipefail
model=$1
count=${2:-1000000}
storymeter=$(dirname "$0")/../target/release/storymeter
out=$(mktemp)
trap 'rm -f "$out"' EXIT

stories() {
    awk -v n="$count" 'BEGIN {
        split("Mira Ken Ana Tom Zoe Ben", who); split("kite drum lamp boat coat book", thing); split("barn shop garden school", place)
        for (i = 0; i < n; i++)
            printf "{\"id\": \"%d\", \"story\": \"%s lost a %s. It was in the %s. A friend found it on day %d.\"}\n",
                i, who[i % 6 + 1], thing[int(i / 6) % 6 + 1], place[int(i / 36) % 4 + 1], i
    }'
}

start=$(date +%s.%N)
"$storymeter" score - --input-format jsonl --model "$model" --metric union --resamples 1 --quiet -o "$out" --format jsonl > /dev/null < <(stories) &
scorer=$!
peak=0
while kill -0 "$scorer" 2> /dev/null; do
    now=$(awk '/^VmHWM/ { print $2 }' "/proc/$scorer/status" 2> /dev/null || true)
    peak=${now:-$peak}
    sleep 0.1
done
wait "$scorer"
seconds=$(echo "$(date +%s.%N) - $start" | bc)
printf '%s stories in %.0f s (%.0f per second), peak memory %s MiB\n' \
    "$(wc -l < "$out")" "$seconds" "$(echo "$count / $seconds" | bc)" "$((peak / 1024))"
