"""Writes scipy's correlations and p-values of UNION's score files, for storymeter-checks.

    python tools/union_fixture.py ../shared/data/annotated/union_roc \
        > crates/storymeter-checks/tests/fixtures/union_roc.json

The fixture holds numbers only.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

folder = Path(sys.argv[1])
lines = (folder / "ant_data.txt").read_text(encoding="utf-8").splitlines()
human = np.array([np.mean([int(r) for r in line.split("|||")[-1].split()]) for line in lines])
metrics = {}
for path in sorted((folder / "metric_output").glob("*.txt")):
    scores = np.loadtxt(path)
    if path.stem == "ppl":
        scores = -scores
    found = [f(scores, human) for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
    metrics[path.stem] = {
        "values": [float(one.statistic) for one in found],
        "p": [float(one.pvalue) for one in found],
    }
header = {
    "tool": f"scipy {scipy.__version__}, numpy {np.__version__}",
    "command": "python tools/union_fixture.py ../shared/data/annotated/union_roc",
}
json.dump({"made_by": header, "metrics": metrics}, sys.stdout, indent=1)
print()
