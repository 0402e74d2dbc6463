#!/usr/bin/env bash
# Repeats all studies of the UNION paper and prints the tables of docs/results.md.
#
#   recipes/studies/all.sh MODELS > tables.md
#
# MODELS is a folder with the trained models of the studies:
#   union-base, union-small      made with the released recipes
#   union-paper                  trained with --preset paper
#   union-paper-no-recon         trained with --preset paper --without-reconstruction
#   roc                          trained on ROCStories alone
#   long                         trained on long stories alone (long_stories.py)
#   full                         trained with union-small's recipe
#   without-{repetition,substitution,reordering,negation}
#                                trained with union-small's recipe, but without one technique
# The embedded model is always included. A study whose models are missing is named and left out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 MODELS" >&2; exit 2; }
models=$1

# have NAME...: prints those models that are there, as NAME=PATH.
have() {
    for name in "$@"; do
        for path in "$models/$name" "$models/$name.smq"; do
            if [ -e "$path" ]; then
                printf '%s=%s\n' "$name" "$path"
                break
            fi
        done
    done
}

missing() { printf '## %s\n\nNot run: %s.\n\n' "$1" "$2"; }

mapfile -t ours < <(have union-base union-small union-paper union-paper-no-recon)
ours+=(union-compact=union-compact)
"$here/table-5.sh" "${ours[@]}"
"$here/figure-2.sh" "${ours[@]}"
if [ "$(have roc long | wc -l)" -eq 2 ]; then
    "$here/table-6.sh" "$(have roc | cut -d= -f2-)" "$(have long | cut -d= -f2-)"
else
    missing "Table 6" "it needs the models roc and long"
fi
mapfile -t ablations < <(
    have full without-{repetition,substitution,reordering,negation}
)
if [ ${#ablations[@]} -ge 2 ]; then
    "$here/table-7.sh" "${ablations[@]}"
else
    missing "Table 7" "it needs the model full and models without one technique"
fi
# The first model that is there. The embedded model may have no reconstruction head.
edits=$(have union-base union-small | head -n 1 | cut -d= -f2-)
if [ -n "$edits" ]; then
    "$here/appendix-d.sh" "$edits"
else
    missing "Appendix D" "there is neither union-base nor union-small"
fi
