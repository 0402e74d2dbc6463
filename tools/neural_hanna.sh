#!/usr/bin/env bash
# Scores HANNA's stories with the neural metrics whose weights are on the package index, and prints
# their agreement with the readers beside that of the published columns (docs/neural.md).
#
#     tools/neural_hanna.sh DATA WEIGHTS OUT
#
# DATA is the shared data (annotated/hanna and s3), WEIGHTS the folder of tools/test_weights.py, OUT
# a folder for the results. A file of scores that is complete is not computed again.
# STORYMETER is the program, target/release/storymeter by default.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,10s/^# \?//p' "$0" >&2; exit 2; }
data=$1 weights=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
storymeter=${STORYMETER:-$here/../target/release/storymeter}
hanna=$data/annotated/hanna/stories_first48.jsonl.gz
mkdir -p "$out"
[ -e "$out/stories.jsonl" ] || python3 "$here/neural_hanna.py" stories "$hanna" "$out/stories.jsonl"

# score NAME METRICS [OPTION...]
score() {
    local name=$1 metrics=$2
    shift 2
    # The header is written last, so it says that the scores are complete.
    [ -e "$out/$name.jsonl.meta.json" ] ||
        "$storymeter" score "$out/stories.jsonl" --metric "$metrics" "$@" -o "$out/$name.jsonl"
}

for model in minilm:4 mpnet:8; do
    name=${model%:*} layer=${model#*:}
    folder=$weights/$name
    score "$name" "bertscore:layer-$layer,moverscore:stop,baryscore,depthscore,supert" \
        --precision f32 \
        --weights "bertscore=$folder" --weights "moverscore=$folder" \
        --weights "baryscore=$folder" --weights "depthscore=$folder" --weights "supert=$folder"
done
score glove rouge-we-3,s3 --weights "word-vectors=$weights/glove/glove.6B.50d.txt" \
    --weights "s3-tables=$data/s3"
score smollm2 perplexity --precision f32 --weights "perplexity=$(echo "$weights"/smollm2/*.gguf)"

joined=()
for name in minilm mpnet glove smollm2; do joined+=("$name=$out/$name.jsonl"); done
python3 "$here/neural_hanna.py" join "$hanna" "$out/all.jsonl" "${joined[@]}"
mapfile -t directions < <(python3 "$here/neural_hanna.py" directions "$out/all.jsonl")
"$storymeter" meta table "$out/all.jsonl" --without Human "${directions[@]}" -o "$out/study" \
    --show against-story-spearman,against-system-spearman
