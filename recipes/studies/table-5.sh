#!/usr/bin/env bash
# Table 5, ROC half: our models beside the published metrics on the 400 rated stories.
# (The rated WritingPrompts stories of the paper's other half are not part of the shared data.)
source "$(dirname "$0")/scores.sh"
[ $# -ge 1 ] || usage "NAME=MODEL..."
rated "$work/roc"
score_all "$work/roc/metric_output" "$@"
"$storymeter" meta union "$work/roc" --show table-5 | section "Table 5: correlation with human judgments (ROCStories)"
