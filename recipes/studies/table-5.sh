#!/usr/bin/env bash
# The ROC half of Table 5: our models beside the published metrics, on the 400 rated stories.
# The other half needs rated WritingPrompts stories, which are not part of the shared data.
source "$(dirname "$0")/scores.sh"
[ $# -ge 1 ] || usage "NAME=MODEL..."
rated "$work/roc"
score_all "$work/roc/metric_output" "$@"
"$storymeter" meta union "$work/roc" --show table-5 |
    section "Table 5: correlation with human judgments (ROCStories)"
