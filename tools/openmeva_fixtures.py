"""Rated stories in OpenMEVA's layout, and how metrics agree with people on them, by scipy.

Writes crates/storymeter-meta/tests/fixtures/openmeva.json, which the tests of storymeter-meta
compare with. The stories, the scores and the ratings are made up. The correlations are computed
here from the definitions with scipy, without any code of ours:

- the human score of a story is the mean of its ratings;
- a metric of which less is better is negated;
- a story has an error type if at least three raters name it, or a majority where there are fewer
  than five raters; it is reasonable if no rater names any type;
- a set has the stories of one type and the reasonable ones, or the stories of one generator;
- stories without a score or without a rating are left out.

Run with numpy 2 and scipy 1.17: python tools/openmeva_fixtures.py
"""

import json
import math
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

TARGET = Path(__file__).parent.parent / "crates/storymeter-meta/tests/fixtures/openmeva.json"
GENERATORS = ["s2s", "plan", "gpt"]
TYPES = ["Rept", "Unrel", "Conf", "Chao"]
METRICS = {"union": "higher", "perplexity": "lower", "flat": "higher"}
COEFFICIENTS = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
NEEDED = 3


def dataset(rng, items, raters, noise):
    """Items in the layout, and the scores of the metrics by generator and item."""
    mags, scores = {}, {}
    for item in range(items):
        texts = {}
        for place, generator in enumerate(GENERATORS):
            quality = 1.0 + 0.8 * place + rng.normal()
            opinions = [quality + rng.normal() * 0.7 + 1 for _ in range(raters)]
            ratings = [int(np.clip(round(opinion), 1, 5)) for opinion in opinions]
            errors = []
            for rating in ratings:
                bad = rng.random() < (5 - rating) / 5
                number = rng.integers(1, 3)
                named = rng.choice(TYPES, size=number, replace=False, p=[0.2, 0.5, 0.2, 0.1])
                errors.append([str(name) for name in named] if bad else [])
            story = {"text": f"Item {item} by {generator}.", "score": ratings, "error": errors}
            if rng.random() < 0.05:
                story["score"][0] = None
            if rng.random() < 0.05:
                story["score"] = None
                del story["error"]
            texts[generator] = story
            scores[f"{generator}/{item}"] = {
                "union": round(float(quality + rng.normal() * noise), 3),
                "perplexity": round(float(math.exp(3 - quality / 4 + rng.normal() * 0.3)), 2),
                "flat": 1.0,
            }
            if rng.random() < 0.05:
                scores[f"{generator}/{item}"]["union"] = None
        mags[str(item)] = {"prompt": f"Prompt {item}.", "gold_response": "It ended.", "gen": texts}
    return mags, scores


def needed(raters):
    return min(NEEDED, raters // 2 + 1)


def sets(mags):
    """The sets of stories, by task and name."""
    stories = [(f"{g}/{item}", t) for item, one in mags.items() for g, t in one["gen"].items()]
    found = {("overall", "all"): [key for key, _ in stories]}
    typed = [(key, t["error"]) for key, t in stories if "error" in t]
    reasonable = {key for key, errors in typed if not any(errors)}
    for name in TYPES:
        own = {key for key, errors in typed
               if sum(name in one for one in errors) >= needed(len(errors))}
        found[("error type", name)] = [key for key, _ in typed if key in own | reasonable]
    for generator in GENERATORS:
        own = [key for key, _ in stories if key.startswith(f"{generator}/")]
        found[("generator", generator)] = own
    return found, len(reasonable)


def human(mags, key):
    generator, item = key.split("/")
    given = [r for r in (mags[item]["gen"][generator]["score"] or []) if r is not None]
    return float(np.mean(given)) if given else None


def expected(name, mags, scores):
    rows = []
    found, reasonable = sets(mags)
    for (task, group), keys in found.items():
        for metric, direction in METRICS.items():
            pairs = [(scores[key][metric], human(mags, key)) for key in keys]
            pairs = [(x, y) for x, y in pairs if x is not None and y is not None]
            sign = -1 if direction == "lower" else 1
            x, y = np.array([sign * x for x, _ in pairs]), np.array([y for _, y in pairs])
            for coefficient, function in COEFFICIENTS.items():
                value = p = None
                if len(pairs) > 2 and len(set(x)) > 1 and len(set(y)) > 1:
                    result = function(x, y)
                    value, p = float(result.statistic), float(result.pvalue)
                rows.append([task, name, group, metric, coefficient, value, p, len(pairs)])
    return rows, reasonable


def main():
    rng = np.random.default_rng(20210501)
    datasets = []
    for name, items, raters, noise in [("roc", 40, 5, 0.8), ("wp", 30, 3, 1.6)]:
        mags, scores = dataset(rng, items, raters, noise)
        rows, reasonable = expected(name, mags, scores)
        datasets.append({"name": name, "mags": mags, "scores": scores, "reasonable": reasonable,
                         "expected": rows})
    about = f"tools/openmeva_fixtures.py with scipy {scipy.__version__} and numpy {np.__version__}"
    text = json.dumps({"about": about, "metrics": METRICS, "datasets": datasets}, indent=None)
    TARGET.write_text(text.replace('}, "', '},\n"').replace("], [", "],\n[") + "\n")


if __name__ == "__main__":
    main()
