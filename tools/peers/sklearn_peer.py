#!/usr/bin/env python3
"""The area under the ROC curve and the weighted F1, compared with scikit-learn."""

import random
import warnings

from common import Comparison, arguments, statistics
from sklearn.metrics import f1_score, roc_auc_score

warnings.filterwarnings("ignore")
options = arguments()
requests, theirs = [], []
for case in range(int(600 * options.scale)):
    draw = random.Random(options.seed * 100_000 + case)
    n = draw.choice([2, 3, 5, 10, 45, 200])
    ties = draw.random() < 0.5
    scores = [float(draw.randrange(4)) if ties else draw.gauss(0, 1) for _ in range(n)]
    labels = [int(draw.random() < draw.choice([0.1, 0.5])) for _ in range(n)]
    requests.append({"name": "auc", "x": scores, "y": labels})
    theirs.append(float(roc_auc_score(labels, scores)) if len(set(labels)) == 2 else None)
    classes = draw.choice([1, 2, 3, 6])
    truth, found = ([draw.randrange(classes) for _ in range(n)] for _ in range(2))
    requests.append({"name": "weighted-f1", "x": truth, "y": found})
    theirs.append(float(f1_score(truth, found, average="weighted", zero_division=0)))
comparison = Comparison("scikit-learn")
names = {"auc": "area under the ROC curve", "weighted-f1": "weighted F1"}
for n, (request, mine, their) in enumerate(zip(requests, statistics(options.statistics, requests), theirs)):
    comparison.values(names[request["name"]], n // 2, mine, [their])
comparison.finish()
