#!/usr/bin/env bash
# Figure 2: correlation on biased samples of the rated stories, from mostly bad (#1) to mostly good
# (#8) ones.
source "$(dirname "$0")/scores.sh"
[ $# -ge 1 ] || usage "NAME=MODEL..."
rated "$work/roc"
score_all "$work/roc/metric_output" "$@"
"$storymeter" meta union "$work/roc" --show figure-2 |
    section "Figure 2: generalisation over story quality"
