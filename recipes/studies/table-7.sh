#!/usr/bin/env bash
# Table 7: models that were trained without one technique, by error type.
# `storymeter train --without-technique T` makes them; everything else is equal.
source "$(dirname "$0")/scores.sh"
[ $# -ge 2 ] || usage "full=MODEL without-repetition=MODEL ..."
mkdir -p "$work/roc/metric_output"
ln -s "$union_roc"/ant_data.txt "$union_roc"/ant_data_all.txt "$work/roc"
score_all "$work/roc/metric_output" "$@"
"$storymeter" meta union "$work/roc" --show table-7 |
    section "Table 7: one technique left out at a time"
