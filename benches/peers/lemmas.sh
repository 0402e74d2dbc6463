#!/bin/sh
# Times how fast lemminflect and ours find the bases of the 3,000 verb forms of the fixture.
#
#   pip install lemminflect==0.2.3
#   benches/peers/lemmas.sh [PYTHON]
#
# Prints forms per second (theirs by processor time, ours in the fastest of many rounds) and the
# ratio.
set -eu
cd "$(dirname "$0")/../.."
python=${1:-python3}
fixture=crates/storymeter-text/tests/fixtures/verb_forms.tsv

cargo build --quiet --release -p storymeter-text --example lemma_speed
ours=$(target/release/examples/lemma_speed "$fixture")
theirs=$("$python" - "$fixture" <<'PYTHON'
import sys, time
from lemminflect.core.Lemmatizer import Lemmatizer

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1]) if not line.startswith("#")]
forms = [cell.split("/")[0] for row in rows for cell in row]
lemmatizer = Lemmatizer()
lemmatizer.getLemma("warmed", "VERB")
rounds = 20
start = time.process_time()
for _ in range(rounds):
    for form in forms:
        lemmatizer.getLemma(form, "VERB")
print(f"{rounds * len(forms) / (time.process_time() - start):.0f}")
PYTHON
)
awk -v ours="$ours" -v theirs="$theirs" 'BEGIN {
    printf "lemminflect  %12d forms per second\n", theirs
    printf "storymeter   %12d forms per second (%.1f times)\n", ours, ours / theirs
}'
