#!/usr/bin/env bash
# Trains the embedded model for six criteria, and makes the files by which it is judged.
#
#     train.sh OUT
#
# - STORYMETER: the program (default: target/release/storymeter)
# - SHARED: the folder of the rated sets' data (default: ../shared)
# - ENCODER: the folder of all-mpnet-base-v2; SENTENCES: that of all-MiniLM-L6-v2
# - DEVICE: cuda or cpu (default: cuda); JOBS: how many runs share the device (default: 8)
#
# OUT gets `criteria.smq`, the folder `held-out` with the predictions of cross-validation (8 folds
# of prompts, two seeds) and `left-out` with those of leave-one-set-out (nine sets, two seeds).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$1
: "${STORYMETER:=$root/target/release/storymeter}" "${SHARED:=$root/../shared}"
: "${ENCODER:?the folder of all-mpnet-base-v2}" "${SENTENCES:?the folder of all-MiniLM-L6-v2}"
: "${DEVICE:=cuda}" "${JOBS:=8}"
export STORYMETER ENCODER SENTENCES DEVICE here out

mkdir -p "$out/sets" "$out/runs" "$out/held-out" "$out/left-out"
[ -s "$out/sets/scratchplot.jsonl" ] || python3 "$here/rated_sets.py" "$SHARED/data" "$out/sets"

# run NAME SEED [OPTIONS]: trains one model in the folder runs/NAME.
run() {
  name=$1 seed=$2
  shift 2
  # HANNA comes first, because the heads are in the order of its criteria.
  "$STORYMETER" train --rated "$out/sets/hanna.jsonl" \
    $(ls "$out"/sets/*.jsonl | grep -v /hanna.jsonl) \
    --criteria "$here/map.toml" --init "$ENCODER" --sentences "$SENTENCES" \
    --config "$here/criteria.toml" --seed "$seed" --device "$DEVICE" "$@" \
    -o "$out/runs/$name" --overwrite --quiet > "$out/runs/$name.txt" 2>&1 ||
    { cat "$out/runs/$name.txt" >&2; exit 1; }
  case $name in
    fold-*) mv "$out/runs/$name/held-out.jsonl" "$out/held-out/$name.jsonl" && rm -r "$out/runs/$name" ;;
    set-*) mv "$out/runs/$name/held-out.jsonl" "$out/left-out/$name.jsonl" && rm -r "$out/runs/$name" ;;
  esac
}
export -f run

jobs() {
  for seed in 1 2 3; do echo "all-$seed $seed"; done
  for seed in 1 2; do
    for fold in 1 2 3 4 5 6 7 8; do echo "fold-$fold-$seed $seed --fold $fold/8"; done
    for set in "$out"/sets/*.jsonl; do
      set=$(basename "$set" .jsonl)
      echo "set-$set-$seed $seed --leave-out $set"
    done
  done
}
jobs | xargs -P "$JOBS" -L 1 bash -c 'run "$@"' run

"$STORYMETER" model average "$out"/runs/all-1 "$out"/runs/all-2 "$out"/runs/all-3 -o "$out/model"
# The predictions are meant for stories of machines, so these alone are calibrated on.
cat "$out"/held-out/*.jsonl | grep -v '"system":"Human"' > "$out/machine-stories.jsonl"
"$STORYMETER" model pack "$out/model" --calibrate-ratings "$out/machine-stories.jsonl" \
  --calibrate-set hanna --scale 1,5 -o "$out/criteria.smq"
