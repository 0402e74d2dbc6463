#!/usr/bin/env bash
# Trains the models of the studies and scores the rated stories with them.
#
#   recipes/studies/runs.sh RUNS [NAME...]
#
# RUNS is the folder of the runs. Without names, all runs are made, in the order of the list below.
# A run that is finished is skipped, so the script can be stopped and started again. Each run gets a
# folder with the log of its training and the scores; KEEP=1 keeps the model too.
#
#   STORYMETER     the program (target/release/storymeter)
#   SHARED         the folder of the shared data (../shared)
#   ENCODER        the folder of MPNet-base
#   SMALL_ENCODER  the folder of MiniLM-L6
#   LANGUAGE_MODEL the file of SmolLM2-135M (GGUF), or the folder of another causal model
#   DEVICE         cpu or cuda (cuda)
#   JOBS           how many runs share the device (1)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
storymeter=${STORYMETER:-$root/target/release/storymeter}
shared=$(realpath "${SHARED:-$root/../shared}")
device=${DEVICE:-cuda}
[ $# -ge 1 ] || { echo "usage: $0 RUNS [NAME...]" >&2; exit 2; }
mkdir -p "$1"
runs=$(realpath "$1")
shift

all=(
    conceptnet-{1,2,3} wordnet-{1,2,3}
    no-recon without-{repetition,substitution,reordering,negation}
    long long-no-recon disscore disscore-long ruber ruber-long language-model language-model-long
    bleu moverscore bleurt
    names-kept minilm fresh-negatives
    base base-own base-changed-10 base-lambda-1 base-dense base-epochs-3
    released-code
)

# options NAME: prints the options of `storymeter train` for a run, one per line.
options() {
    local lexicon=$shared/data/lexicon
    local conceptnet=(--antonyms "$lexicon/conceptnet_antonym.txt" --keywords "$lexicon/entity_vocab_roc.txt")
    local roc=(--stories "$shared/data/roc/stories.tsv.gz")
    local paper=(--preset paper --init "$ENCODER")
    # settings LINE...: a file of settings.
    settings() { printf '%s\n' "$@" > "$folder/settings.toml"; printf '%s\n' --config "$folder/settings.toml"; }
    print() { printf '%s\n' "$@"; }
    long() { python3 "$here/long_stories.py" "$shared/data/long/stories.jsonl.gz" "$@" > "$folder/stories.jsonl"; }
    machine() { python3 "$here/machine_stories.py" "$shared/data/generated/stories.jsonl.gz" "$1" > "$folder/machine.jsonl"; }
    case $1 in
        conceptnet-*) print "${roc[@]}" "${paper[@]}" "${conceptnet[@]}" --seed "${1##*-}" ;;
        wordnet-*) print "${roc[@]}" "${paper[@]}" --seed "${1##*-}" ;;
        no-recon) print "${roc[@]}" "${paper[@]}" "${conceptnet[@]}" --without-reconstruction ;;
        without-*) print "${roc[@]}" "${paper[@]}" "${conceptnet[@]}" --without-technique "${1#without-}" ;;
        long | long-no-recon)
            long
            gunzip -c "$lexicon/entity_vocab_wp.txt.gz" > "$folder/keywords.txt"
            print --stories "$folder/stories.jsonl" "${paper[@]}" "${conceptnet[@]:0:2}" --keywords "$folder/keywords.txt"
            [ "$1" = long ] || print --without-reconstruction ;;
        disscore)
            machine roc
            print --kind disscore "${roc[@]}" --machine "$folder/machine.jsonl" --init "$ENCODER" ;;
        disscore-long)
            long
            machine wp
            print --kind disscore --stories "$folder/stories.jsonl" --machine "$folder/machine.jsonl" --init "$ENCODER" ;;
        ruber) print --kind ruber "${roc[@]}" --init "$ENCODER" ;;
        ruber-long)
            long --prompts
            print --kind ruber --stories "$folder/stories.jsonl" --init "$ENCODER" ;;
        language-model)
            print --kind language-model "${roc[@]}" --init "$LANGUAGE_MODEL"
            settings "delexicalise = true" "epochs = 2" "stories_a_batch = 64" ;;
        language-model-long)
            long
            print --kind language-model --stories "$folder/stories.jsonl" --init "$LANGUAGE_MODEL"
            settings "delexicalise = true" "epochs = 2" "stories_a_batch = 64" ;;
        bleurt)
            # The paper's other rated stories were not released, so the even lines take their place.
            awk 'NR % 2 == 1' "$folder/continued.jsonl" > "$folder/even.jsonl"
            print --kind bleurt --rated "$folder/even.jsonl" --init "$SMALL_ENCODER" ;;
        bleu | moverscore) print none ;;
        names-kept) print "${roc[@]}" "${paper[@]}" "${conceptnet[@]}"; settings "delexicalise = 0.0" ;;
        minilm) print "${roc[@]}" --preset paper --init "$SMALL_ENCODER" "${conceptnet[@]}" ;;
        fresh-negatives) print "${roc[@]}" "${paper[@]}" "${conceptnet[@]}"; settings "fresh_negatives = true" ;;
        base*)
            cp "$root/recipes/union-base.toml" "$folder/settings.toml"
            case $1 in
                base-own) sed -i 's/^reconstruction = .*/reconstruction = "own"/' "$folder/settings.toml" ;;
                base-dense) sed -i 's/^reconstruction = .*/reconstruction = "dense"/' "$folder/settings.toml" ;;
                base-changed-10) sed -i '1i changed_weight = 10.0' "$folder/settings.toml" ;;
                base-lambda-1) sed -i 's/^reconstruction_weight = .*/reconstruction_weight = 1.0/' "$folder/settings.toml" ;;
                base-epochs-3) sed -i 's/^epochs = .*/epochs = 3/' "$folder/settings.toml" ;;
            esac
            print "${roc[@]}" --init "$ENCODER" --config "$folder/settings.toml" ;;
        released-code) print "${roc[@]}" --preset released-code --init "$ENCODER" "${conceptnet[@]}" ;;
        *) echo "$0: there is no run $1" >&2; return 2 ;;
    esac
}

# score NAME STORIES OUT: the scores of a file of stories, in full and as columns of numbers.
score() {
    local metric=union
    case $1 in
        disscore*) metric=disscore ;;
        ruber*) metric=ruber ;;
        language-model*) metric=perplexity ;;
        bleu) metric=bleu ;;
        moverscore) metric=moverscore:v1 ;;
        bleurt) metric=bleurt ;;
    esac
    local weights=$folder/model
    [ "$1" != moverscore ] || weights=$ENCODER
    "$storymeter" score "$2" --metric "$metric" --weights "${metric%:*}=$weights" --device "$device" \
        --precision f32 --quiet --no-progress -o "$3.jsonl" > "$3.table"
    python3 -c 'import json, sys
for line in open(sys.argv[1]):
    print(*json.loads(line)["scores"].values())' "$3.jsonl" > "$3.txt"
}

# one NAME: trains and scores one run.
one() {
    local name=$1
    local folder=$runs/$name
    [ ! -e "$folder/finished" ] || { echo "$name: finished before"; return; }
    mkdir -p "$folder"
    local resume=()
    if [ -e "$folder/model/training.safetensors" ]; then resume=(--resume); elif [ -d "$folder/model" ]; then resume=(--overwrite); fi
    python3 "$here/rated_stories.py" "$shared/data/annotated/union_roc" "$folder"
    local given
    mapfile -t given < <(options "$name")
    [ ${#given[@]} -gt 0 ] || return 2
    [ "${given[0]}" = none ] || "$storymeter" train "${given[@]}" "${resume[@]}" --device "$device" --log "$folder/train.jsonl" \
        -o "$folder/model" --no-progress > "$folder/train.txt" 2>&1
    case $name in
        ruber* | bleu* | moverscore) score "$name" "$folder/continued.jsonl" "$folder/roc" ;;
        *) score "$name" "$folder/whole.jsonl" "$folder/roc" ;;
    esac
    case $name in
        conceptnet-* | no-recon | long* | disscore* | ruber* | language-model*)
            mkdir -p "$folder/long"
            python3 "$here/long_sets.py" "$shared/data/annotated" "$folder/long"
            for set in "$folder"/long/*.jsonl; do
                score "$name" "$set" "${set%.jsonl}-scores"
            done ;;
    esac
    case $name in
        no-recon | long-no-recon | disscore* | ruber* | language-model* | bleu* | moverscore) ;;
        *)
            "$storymeter" score "$folder/whole.jsonl" --model "$folder/model" --explain \
                --device "$device" --precision f32 --format jsonl --quiet --no-progress \
                > "$folder/edits.jsonl" ;;
    esac
    rm -f "$folder"/model/training.safetensors "$folder"/{stories,machine,whole,continued,even}.jsonl "$folder/keywords.txt"
    [ -n "${KEEP:-}" ] || rm -rf "$folder/model"
    touch "$folder/finished"
    echo "$name: done"
}

if [ "${ONE:-}" ]; then
    one "$ONE"
    exit
fi
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=("${all[@]}")
printf '%s\n' "${wanted[@]}" | xargs -P "${JOBS:-1}" -I{} env ONE={} "$0" "$runs"
