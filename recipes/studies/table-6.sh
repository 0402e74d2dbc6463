#!/usr/bin/env bash
# Table 6: a model trained on short stories scores long ones, and the other way round.
source "$(dirname "$0")/scores.sh"
[ $# -eq 2 ] || usage "MODEL_TRAINED_ON_ROC MODEL_TRAINED_ON_LONG_STORIES"
roc=$(realpath "$1")
long=$(realpath "$2")
mkdir -p "$work/roc/metric_output" "$work/roc/drift_output"
ln -s "$union_roc"/ant_data.txt "$union_roc"/ant_data_all.txt "$work/roc"
score "$union_roc/ant_data.txt" "$roc" "$work/roc/metric_output/union.txt"
score "$union_roc/ant_data.txt" "$long" "$work/roc/drift_output/union.txt"
"$storymeter" meta union "$work/roc" --show table-6 |
    section "Table 6: trained on long stories, scoring ROCStories"

# The paper's rated WritingPrompts stories are not part of the shared data. Rated long stories of
# other studies take their place.
python3 "$root/recipes/studies/long_sets.py" "$shared/data/annotated" "$work"
cd "$work"
for set in *.jsonl; do
    name=${set%.jsonl}
    "$storymeter" score "$set" --model "$long" --format jsonl --quiet > "$name.home"
    "$storymeter" score "$set" --model "$roc" --format jsonl --quiet > "$name.drift"
    "$storymeter" correlate --human "$set" --criterion overall \
        --scores "trained-on-long=$name.home#union" "trained-on-roc=$name.drift#union" \
        | section "Table 6: trained on ROCStories, scoring long stories ($name)"
done
