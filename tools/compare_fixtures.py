"""Comparisons of systems by scipy: intervals, paired and unpaired permutation tests, power.

Writes crates/storymeter-meta/tests/fixtures/systems.json, which the tests of storymeter-meta compare
with. Everything is computed here from the definitions with scipy, without any code of ours:

- mean, standard deviation and interval of each system: of Student's t for fewer than 50 stories
  (scipy.stats.ttest_1samp), otherwise of the percentile bootstrap (scipy.stats.bootstrap);
- for each pair, the interval of the difference of the means (scipy.stats.ttest_rel, Welch's
  scipy.stats.ttest_ind, or the bootstrap) and a permutation test
  (scipy.stats.permutation_test): of the type "samples" on shared items, which exchanges the two
  scores of an item, and of the type "independent" on different items;
- Holm's correction by its definition;
- two systems with several stories for some items: the interval of each mean with items as
  observations (the jackknife of a ratio of sums, with scipy.stats.t), and the tests above on the
  items' means;
- two systems by a score that is a ratio of sums over stories: the difference, its jackknife
  interval, and scipy.stats.permutation_test over the items' rows;
- the number of observations at which a t test has the power asked for, by the noncentral t
  distribution.

The scores are random numbers of this script. Run with numpy 1.26 or 2 and scipy 1.17:
python tools/compare_fixtures.py
"""

import json
import math
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

TARGET = Path(__file__).parent.parent / "crates/storymeter-meta/tests/fixtures/systems.json"
RESAMPLES = 99_999
CONFIDENCE = 0.95
LARGE_SAMPLE = 50


def paired_scores(rng, levels, items, spread=0.15):
    """Systems on the same items; a part of the spread belongs to the item."""
    item = rng.normal(0, spread, items)
    return {name: level + item + rng.normal(0, spread, items) for name, level in levels.items()}


def interval(samples, statistic, paired):
    if min(len(sample) for sample in samples) < LARGE_SAMPLE:
        if len(samples) == 1:
            found = stats.ttest_1samp(samples[0], 0)
        elif paired:
            found = stats.ttest_rel(*samples)
        else:
            found = stats.ttest_ind(*samples, equal_var=False)
        low, high = found.confidence_interval(CONFIDENCE)
        return {"low": low, "high": high, "standard_error": 0.0}
    found = stats.bootstrap(
        samples,
        statistic,
        paired=paired,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(1),
        batch=1000,
    )
    low, high = found.confidence_interval
    return {"low": low, "high": high, "standard_error": found.standard_error}


def difference(first, second, axis=-1):
    return np.mean(first, axis=axis) - np.mean(second, axis=axis)


def p_value(first, second, paired):
    """The share of permutations whose difference is at least as far from 0."""
    found = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.abs(difference(a, b, axis)),
        permutation_type="samples" if paired else "independent",
        alternative="greater",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(2),
        batch=1000,
    )
    return float(found.pvalue)


def holm(p_values):
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    corrected, largest = [0.0] * len(p_values), 0.0
    for smaller, at in enumerate(order):
        largest = min(1.0, max(largest, p_values[at] * (len(p_values) - smaller)))
        corrected[at] = largest
    return corrected


def case(name, scores, paired, direction):
    sign = -1 if direction == "lower" else 1
    ranked = sorted(scores, key=lambda system: -sign * scores[system].mean())
    systems = [
        {
            "name": system,
            "mean": scores[system].mean(),
            "sd": scores[system].std(ddof=1),
            **interval((scores[system],), np.mean, False),
        }
        for system in ranked
    ]
    pairs = []
    for at, first in enumerate(ranked):
        for second in ranked[at + 1 :]:
            a, b = scores[first], scores[second]
            freedom = len(a) + len(b) - 2
            pooled = math.sqrt(
                ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / freedom
            )
            pairs.append(
                {
                    "first": first,
                    "second": second,
                    "difference": difference(a, b),
                    **interval((a, b), difference, paired),
                    "effect": difference(a, b) / pooled,
                    "p": p_value(a, b, paired),
                    "wins": int((sign * (a - b) > 0).sum()) if paired else None,
                    "losses": int((sign * (a - b) < 0).sum()) if paired else None,
                }
            )
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs])):
        pair["corrected"] = corrected
    return {
        "name": name,
        "direction": direction,
        "paired": paired,
        "scores": {system: list(map(float, values)) for system, values in scores.items()},
        "systems": systems,
        "pairs": pairs,
    }


def jackknife_interval(statistic, n):
    """Student's t with the standard error of the jackknife; `statistic` takes indices."""
    every = np.arange(n)
    left_out = np.array([statistic(np.delete(every, at)) for at in range(n)])
    error = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    reach = stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1) * error
    estimate = statistic(every)
    return {"low": estimate - reach, "high": estimate + reach}


def repeated_case():
    """Two systems on twelve items, of which every third has three stories of the first system."""
    rng = np.random.default_rng(23)
    stories = {
        "tale": [rng.normal(0.6, 0.15, 3 if item % 3 == 0 else 1) for item in range(12)],
        "rain": [rng.normal(0.5, 0.15, 1) for item in range(12)],
    }
    systems = {}
    for name, items in stories.items():
        sums = np.array([own.sum() for own in items])
        counts = np.array([len(own) for own in items])
        systems[name] = jackknife_interval(lambda at: sums[at].sum() / counts[at].sum(), 12)
        systems[name]["mean"] = np.concatenate(items).mean()
    tale, rain = (np.array([own.mean() for own in items]) for items in stories.values())
    return {
        "stories": {name: [list(own) for own in items] for name, items in stories.items()},
        "systems": systems,
        "difference": difference(tale, rain),
        **interval((tale, rain), difference, True),
        "p": p_value(tale, rain, True),
        "wins": int((tale > rain).sum()),
    }


def pooled_case():
    """Two systems on eleven items by matches / words, summed over the items."""
    rng = np.random.default_rng(29)
    words = rng.integers(20, 60, (2, 11))
    rows = np.stack([rng.binomial(words, np.array([[0.5], [0.42]])), words], axis=-1).astype(float)
    table = rows.reshape(22, 2)

    def ratio(drawn):
        sums = table[drawn.astype(int)].sum(axis=-2)
        return sums[..., 0] / sums[..., 1]

    def apart(a, b, axis=-1):
        return ratio(np.moveaxis(a, axis, -1)) - ratio(np.moveaxis(b, axis, -1))

    sides = (np.arange(11), np.arange(11, 22))
    found = {}
    for name, statistic in (("p", lambda a, b, axis: np.abs(apart(a, b, axis))),
                            ("p_one_sided", apart)):
        found[name] = stats.permutation_test(
            sides, statistic, permutation_type="samples", alternative="greater", vectorized=True,
            n_resamples=np.inf, batch=1000,
        ).pvalue
    return {
        "rows": rows.tolist(),
        "difference": apart(*sides),
        **jackknife_interval(lambda at: apart(sides[0][at], sides[1][at]), 11),
        **found,
    }


def power(effect, n, level, groups):
    """The power of a two-sided t test with one sample of n, or two of n each."""
    freedom = groups * (n - 1)
    shift = effect * math.sqrt(n / groups)
    reach = stats.t.ppf(1 - level / 2, freedom)
    return float(stats.nct.sf(reach, freedom, shift) + stats.nct.cdf(-reach, freedom, shift))


def needed(effect, level, wanted, groups):
    n = 2
    while power(effect, n, level, groups) < wanted:
        n += 1
    return n


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def main():
    rng = np.random.default_rng(19)
    close = {"rain": 0.52, "tale": 0.62, "snow": 0.54}
    cases = [
        case("three systems on 48 shared items", paired_scores(rng, close, 48), True, "higher"),
        case("a distance", paired_scores(rng, close, 48), True, "lower"),
        case(
            "ratings with ties",
            {k: np.round(4 * v + 1) for k, v in paired_scores(rng, close, 48).items()},
            True,
            "higher",
        ),
        case(
            "different items",
            {
                "rain": rng.normal(0.50, 0.2, 40),
                "tale": rng.normal(0.60, 0.2, 30),
                "snow": rng.normal(0.55, 0.2, 22),
            },
            False,
            "higher",
        ),
        case("eight shared items", paired_scores(rng, close, 8), True, "higher"),
        case(
            "eleven stories on different items",
            {"rain": rng.normal(0.4, 0.2, 5), "tale": rng.normal(0.7, 0.2, 6)},
            False,
            "higher",
        ),
        case("sixty shared items", paired_scores(rng, close, 60), True, "higher"),
    ]
    sizes = [
        {
            "effect": effect,
            "level": level,
            "power": wanted,
            "pairs": needed(effect, level, wanted, 1),
            "per_group": needed(effect, level, wanted, 2),
        }
        for effect in (0.2, 0.35, 0.5, 0.8)
        for level in (0.05, 0.05 / 3, 0.05 / 45)
        for wanted in (0.8, 0.9)
    ]
    made_by = f"tools/compare_fixtures.py, numpy {np.__version__}, scipy {scipy.__version__}"
    document = {
        "made_by": made_by,
        "resamples": RESAMPLES,
        "confidence": CONFIDENCE,
        "cases": cases,
        "repeated": repeated_case(),
        "pooled": pooled_case(),
        "sizes": sizes,
    }
    TARGET.write_text(json.dumps(plain(document)) + "\n")


if __name__ == "__main__":
    main()
