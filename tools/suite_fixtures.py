"""What metrics see in pairs of texts, by scipy and scikit-learn.

Writes crates/storymeter-meta/tests/fixtures/suite.json, which the tests of storymeter-meta compare
with. Everything is computed here from the definitions, without any code of ours:

- the area under the ROC curve of originals against twins (sklearn.metrics.roc_auc_score);
- the correlation of the score with the label and its p-value (scipy.stats.pearsonr, which must
  agree with scipy.stats.pointbiserialr);
- the shift with its percentile bootstrap interval (scipy.stats.bootstrap, which draws pairs or
  draws from both samples apart);
- the shares of pairs in the right order and of ties.

Each case has two readings: "pairs" is ours, and "compat" is OpenMEVA's, in which texts are two
samples. There the originals of the repetition aspects are all originals of the suite.

The scores are random numbers of this script. Run with numpy 2, scipy 1.17 and scikit-learn 1.9:
python tools/suite_fixtures.py
"""

import json
import math
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy import stats
from sklearn.metrics import roc_auc_score

TARGET = Path(__file__).parent.parent / "crates/storymeter-meta/tests/fixtures/suite.json"
RESAMPLES = 9_999
REPETITION = ("lexical repetition", "semantic repetition")
INVARIANCE = ("synonym", "paraphrase", "punctuation", "contraction", "typo")


def shift(originals, twins, axis=-1):
    spread = (np.var(originals, axis=axis) + np.var(twins, axis=axis)) / 2
    difference = np.mean(originals, axis=axis) - np.mean(twins, axis=axis)
    return difference / np.sqrt(spread)


def compare(originals, twins, sign, paired):
    """The numbers of one metric on one aspect. The scores are complete."""
    x, y = sign * np.asarray(originals), sign * np.asarray(twins)
    scores = np.concatenate([x, y])
    labels = np.concatenate([np.ones(len(x)), np.zeros(len(y))])
    r = stats.pearsonr(scores, labels)
    other = stats.pointbiserialr(labels, scores)
    assert math.isclose(r.statistic, other.statistic, rel_tol=1e-9, abs_tol=1e-12)
    drawn = stats.bootstrap(
        (x, y),
        shift,
        paired=paired,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(1),
        batch=1000,
    )
    low, high = drawn.confidence_interval
    return {
        "originals": len(x),
        "twins": len(y),
        "auc": roc_auc_score(labels, scores),
        "r": r.statistic,
        "p_r": r.pvalue,
        "shift": shift(x, y),
        "low": low,
        "high": high,
        "standard_error": drawn.standard_error,
        "right_order": float(np.mean(x > y)) if paired else None,
        "ties": float(np.mean(x == y)) if paired else None,
        "mean_original": float(np.mean(originals)),
        "mean_twin": float(np.mean(twins)),
        "sd": math.sqrt((np.var(x) + np.var(y)) / 2),
    }


def present(values):
    return [value for value in values if value is not None]


def case(aspect, direction, pairing, originals, twins, everything):
    """One aspect under one metric. `everything` is the scores of all originals of the suite."""
    sign = -1 if direction == "lower" else 1
    complete = [(x, y) for x, y in zip(originals, twins) if x is not None and y is not None]
    if pairing == "paired":
        x, y = zip(*complete)
        readings = {"pairs": compare(x, y, sign, True)}
    else:
        x, y = present(originals), present(twins)
        readings = {"pairs": compare(x, y, sign, False)}
    if pairing == "paired" and aspect not in INVARIANCE:
        x = present(everything if aspect in REPETITION else originals)
        y = present(twins)
    readings["compat"] = compare(x, y, sign, False)
    return {
        "aspect": aspect,
        "direction": direction,
        "pairing": pairing,
        "originals": originals,
        "twins": twins,
        "everything": everything,
        **readings,
    }


def main():
    rng = np.random.default_rng(20210801)

    def scores(n, level=0.0, spread=1.0):
        return np.round(level + spread * rng.normal(0, 1, n), 6).tolist()

    def twins(originals, change, noise):
        own = np.array([np.nan if x is None else x for x in originals])
        changed = np.round(own - change + noise * rng.normal(0, 1, len(own)), 6)
        return [None if np.isnan(x) else float(x) for x in changed]

    everything = scores(300)
    clear, faint = everything[:120], everything[120:180]
    holes = [None if at % 7 == 3 else x for at, x in enumerate(everything[:70])]
    gaps = [None if at % 11 == 5 else x for at, x in enumerate(twins(holes, 0.4, 0.3))]
    ratings = [float(x) for x in rng.integers(1, 6, 90)]
    coarse = [min(5.0, max(1.0, x - float(rng.integers(0, 2)))) for x in ratings]
    losses = (2.0 + np.abs(rng.normal(0, 1, 80))).round(6).tolist()
    cases = [
        case("lexical repetition", "higher", "paired", clear, twins(clear, 1.2, 0.5), everything),
        case("semantic repetition", "higher", "paired", holes, gaps, everything),
        case("cause", "higher", "paired", faint, twins(faint, 0.05, 0.2), everything),
        case("consistency", "higher", "paired", ratings, coarse, ratings),
        case("relatedness", "lower", "paired", losses, twins(losses, -0.6, 0.4), losses),
        case("character behaviour", "higher", "unpaired", scores(150, 0.8), scores(40), everything),
        case("typo", "higher", "paired", clear, twins(clear, 0.15, 0.1), everything),
        case("synonym", "higher", "paired", holes, gaps, everything),
        case("paraphrase", "lower", "paired", losses, twins(losses, 0.1, 0.2), losses),
    ]
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}"
    made_by = f"tools/suite_fixtures.py, {versions}, scikit-learn {sklearn.__version__}"
    fixture = {"made_by": made_by, "resamples": RESAMPLES, "cases": cases}
    TARGET.write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
