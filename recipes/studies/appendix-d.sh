#!/usr/bin/env bash
# Appendix D: do stories that the reconstruction head would edit get lower human scores?
source "$(dirname "$0")/scores.sh"
[ $# -eq 1 ] || usage "MODEL"
rated "$work/roc"
"$storymeter" score "$union_roc/ant_data.txt" --model "$1" --explain --format jsonl --quiet |
    python3 -c 'import json, sys
for line in sys.stdin:
    print(int(bool(json.loads(line)["explanation"]["edits"])))' > "$work/roc/edits.txt"
"$storymeter" meta union "$work/roc" --show appendix-d |
    section "Appendix D: editing behaviour against human judgments"
