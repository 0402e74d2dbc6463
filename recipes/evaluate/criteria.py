"""How well learned criteria agree with readers whose ratings they have not seen.

A model of criteria is trained on every rated set, so a figure about it must come from models that
were trained without the stories in question. `storymeter train --rated` writes what such models
say: with `--fold`, about the stories of some of HANNA's prompts; with `--leave-out`, about a set.
Files about the same stories are runs with different seeds, and their predictions are averaged.
"""

import json

import numpy as np

from agreement import COEFFICIENTS, LEVELS, Layout, correlation, estimate, row, row_of, words

CRITERIA = "relevance", "coherence", "empathy", "surprise", "engagement", "complexity"
OVERALL = "overall"
SCALE = 1, 5


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def averaged(runs):
    """One prediction per story, by id: the mean over the runs."""
    merged = {}
    for line in runs:
        merged.setdefault(line["id"], []).append(line)
    mean = {}
    for story, lines in merged.items():
        raw = {head: np.mean([line["raw"][head] for line in lines]) for head in lines[0]["raw"]}
        cosines = [line.get("cosine") for line in lines]
        cosine = None if None in cosines else np.mean(cosines)
        mean[story] = {**lines[0], "raw": raw, "cosine": cosine}
    return mean


def folds_of(files, hanna):
    """The predictions of a cross-validation: for each fold, those for its stories by id."""
    by_fold = {}
    for path in files:
        lines = [line for line in read(path) if line["set"] == "hanna"]
        by_fold.setdefault(frozenset(line["id"] for line in lines), []).append(lines)
    if len(by_fold) < 2 or len({len(runs) for runs in by_fold.values()}) > 1:
        raise SystemExit("--held-out needs several folds, each with the same number of runs")
    folds = [averaged(sum(runs, [])) for runs in by_fold.values()]
    prompts = [{line["item"] for line in fold.values()} for fold in folds]
    if sum(map(len, prompts)) > len(set().union(*prompts)):
        raise SystemExit("--held-out: the stories of one prompt are in two folds")
    means = {story["id"]: values for story, *values in zip(hanna.stories, *hanna.criteria.values())}
    for fold in folds:
        for story in means.keys() & fold.keys():
            given = [fold[story]["rating"].get(name) for name in hanna.criteria]
            if any(g is not None and abs(g - m) > 1e-6 for g, m in zip(given, means[story])):
                raise SystemExit(f"--held-out: {story} has other ratings than in the shared data")
    if means.keys() - set().union(*folds):
        raise SystemExit("--held-out: some stories of HANNA are in no fold")
    return folds, len(next(iter(by_fold.values())))


class Calibration:
    """Turns outputs of a head into ratings, as `storymeter model pack` does: least squares, and the
    10% and 90% quantiles of the error in up to five ranges of the prediction."""

    def __init__(self, outputs, cosines, ratings, *, with_cosine):
        self.slopes = self.fitted(outputs, cosines, ratings, with_cosine)
        if min(self.slopes) < 0 or not self.slopes.any():
            raise SystemExit("predictions of a criterion do not rise with its ratings")
        self.intercept = ratings.mean() - self.slopes @ [outputs.mean(), cosines.mean()]
        predicted = self.predict(outputs, cosines)
        order = np.lexsort((ratings - predicted, predicted))
        parts = np.clip(len(order) // 20, 1, 5)
        ends = [(part + 1) * len(order) // parts for part in range(parts)]
        ranges = np.split(order, ends[:-1])
        self.bounds = [(predicted[a[-1]] + predicted[b[0]]) / 2 for a, b in zip(ranges, ranges[1:])]
        errors = [np.quantile(ratings[own] - predicted[own], [0.1, 0.9]) for own in ranges]
        self.errors = np.array(errors)

    @staticmethod
    def fitted(outputs, cosines, ratings, with_cosine):
        x, c, y = (values - values.mean() for values in (outputs, cosines, ratings))
        if not with_cosine:
            return np.array([x @ y / (x @ x), 0.0])
        both = np.linalg.lstsq(np.stack([x, c], 1), y, rcond=None)[0]
        # An output that does not help beside the cosine does not count.
        return both if both[0] > 0 else np.array([0.0, c @ y / (c @ c)])

    def predict(self, outputs, cosines):
        return np.clip(self.intercept + self.slopes @ [outputs, cosines], *SCALE)

    def interval(self, predicted):
        errors = self.errors[np.searchsorted(self.bounds, predicted)]
        return np.clip(predicted[:, None] + errors, *SCALE)


def predicted_ratings(folds, stories, criterion):
    """Predictions for all stories, each fold with what was fitted on the other folds: ratings, their
    80% intervals, and the ratings without intercept.

    The intercept of a fold comes from the other folds, so it is low just where the readers of the
    fold itself gave high ratings. Correlations are therefore computed without it.
    """
    with_cosine = criterion == CRITERIA[0]

    def columns(lines):
        cosines = [line["cosine"] if with_cosine else 0.0 for line in lines]
        return np.array([line["raw"][criterion] for line in lines]), np.array(cosines)

    place = {story["id"]: at for at, story in enumerate(stories)}
    lines = {name: line for fold in folds for name, line in fold.items() if name in place}
    all_outputs, all_cosines = columns([lines[story["id"]] for story in stories])
    found = np.empty(len(stories)), np.empty((len(stories), 2)), np.empty(len(stories))
    for own in folds:
        others = [line for fold in folds if fold is not own for line in fold.values()]
        others = [line for line in others if criterion in line["rating"]]
        ratings = np.array([line["rating"][criterion] for line in others])
        fit = Calibration(*columns(others), ratings, with_cosine=with_cosine)
        at = [place[name] for name in own if name in place]
        found[0][at] = fit.predict(all_outputs[at], all_cosines[at])
        found[1][at] = fit.interval(found[0][at])
        centred = all_outputs[at] - all_outputs.mean(), all_cosines[at] - all_cosines.mean()
        found[2][at] = fit.slopes @ centred
    return found


def nearness(criterion, predicted, intervals, ratings, layout):
    """How near predicted ratings are to those of the readers, and the means of the systems."""
    low, high = intervals.T
    inside = (low - 1e-9 <= ratings) & (ratings <= high + 1e-9)

    def mean_of_stories(values):
        return estimate((layout.weights * values).sum(-1) / layout.weights.sum(-1))

    return {
        "criterion": criterion,
        "coverage": mean_of_stories(inside),
        "width": float((high - low).mean()),
        "distance": mean_of_stories(abs(predicted - ratings)),
        "systems": system_means(layout.stories, predicted, ratings),
    }


def system_means(stories, predicted, rated):
    systems = np.array([story["system"] for story in stories])
    return [
        {"system": system, "predicted": float(predicted[systems == system].mean()),
         "rated": float(rated[systems == system].mean())}
        for system in dict.fromkeys(systems.tolist())
    ]  # fmt: skip


def best_published(level, published, ratings, layout):
    """The one of HANNA's 72 metrics whose mean Spearman with these ratings is farthest from 0, and
    its scores, negated where fewer is better."""

    def agreement(scores):
        each = [correlation(level, "spearman", scores, r, layout, resample=False) for r in ratings]
        return np.mean(each)

    found = {name: agreement(scores) for name, scores in published.items()}
    defined = [name for name in found if not np.isnan(found[name])]
    # Of metrics that differ only by rounding, the first one is taken.
    best = max(defined, key=lambda name: round(abs(found[name]), 12))
    return f"best of 72: {best}", published[best] * np.sign(found[best])


def cross_validation(files, hanna, baselines, published):
    """HANNA's stories, each predicted by models that have not seen its prompt, beside baselines."""
    folds, runs = folds_of(files, hanna)
    layout = Layout(hanna.stories)
    ratings = {name: hanna.criteria[name] for name in CRITERIA} | {OVERALL: hanna.mean}
    lines = {name: line for fold in folds for name, line in fold.items()}
    cosines = [lines[story["id"]]["cosine"] for story in hanna.stories]
    has_cosines = None not in cosines
    model, near = {}, []
    for criterion in ratings:
        model[criterion] = np.array([lines[s["id"]]["raw"][criterion] for s in hanna.stories])
        if criterion == "relevance" and not has_cosines:
            continue
        predicted, intervals, slopes = predicted_ratings(folds, hanna.stories, criterion)
        near.append(nearness(criterion, predicted, intervals, ratings[criterion], layout))
        if criterion == "relevance":
            model[criterion] = slopes
    metrics = {"criteria": model}
    metrics |= {name: dict.fromkeys(ratings, scores) for name, scores in baselines.items()}
    if has_cosines:
        metrics["cosine"] = dict.fromkeys(ratings, np.array(cosines))
    rows = []
    for level in LEVELS:
        def three(scores, criterion):
            rated = ratings[criterion]
            return {c: correlation(level, c, scores, rated, layout) for c in COEFFICIENTS}

        best = {name: best_published(level, published, [r], layout) for name, r in ratings.items()}
        six = [ratings[name] for name in CRITERIA]
        name, scores = best_published(level, published, six, layout)
        all_metrics = metrics | {name: dict.fromkeys(ratings, scores)}
        each = {m: {c: three(s[c], c) for c in ratings} for m, s in all_metrics.items()}
        n = len(hanna.stories)
        for metric, by_criterion in each.items():
            mean = {c: np.mean([by_criterion[k][c] for k in CRITERIA], 0) for c in COEFFICIENTS}
            rows.append(row_of("hanna unseen prompts", "mean of six", level, metric, n, mean))
        for criterion in ratings:
            found = [(metric, each[metric][criterion]) for metric in metrics]
            found.append((best[criterion][0], three(best[criterion][1], criterion)))
            rows += [row_of("hanna unseen prompts", criterion, level, *m[:1], n, m[1]) for m in found]
    prompts = len(set(story["item"] for story in hanna.stories))
    return {"stories": n, "prompts": prompts, "folds": len(folds), "runs": runs, "rows": rows,
            "nearness": near}  # fmt: skip


def left_out(files, sets, baselines):
    """`overall` on sets that the models have not seen, against the mean rating, beside baselines."""
    by_set = {}
    for path in files:
        lines = read(path)
        names = {line["set"] for line in lines}
        if len(names) != 1 or not names <= sets.keys():
            raise SystemExit(f"{path}: the file must have the stories of exactly one rated set")
        by_set.setdefault(names.pop(), []).extend(lines)
    rows, sampled, differences = [], {}, {}
    for seed, (name, rated) in enumerate(sets.items()):
        if name not in by_set:
            continue
        lines = averaged(by_set[name])
        own = np.array([lines[story["id"]]["raw"][OVERALL] for story in rated.stories])
        # Each set has draws of its own, so that the sets are independent in the mean.
        layout = Layout(rated.stories, seed)
        for metric, scores in {"criteria": own, **baselines(rated.stories)}.items():
            if metric == "repetition-3":
                continue
            rows.append(row(f"{name} unseen", OVERALL, "pooled", metric, scores, rated.mean, layout))
            found = correlation("pooled", "spearman", scores, rated.mean, layout)
            sampled.setdefault(metric, {})[name] = found
        difference = sampled["criteria"][name] - sampled["union-compact"][name]
        differences[name] = difference
    return {
        "rows": rows,
        "means": {m: estimate(np.mean(list(each.values()), 0)) for m, each in sampled.items()},
        "differences": {name: estimate(difference) for name, difference in differences.items()},
        "mean_difference": estimate(np.mean(list(differences.values()), 0)),
        "above": sum(bool(difference[0] > 0) for difference in differences.values()),
        "missing": [name for name in sets if name not in by_set],
    }


def for_the_card(rows):
    """The rows that belong on the card of a model."""

    def belongs(r):
        pooled, mean = r["level"] == "pooled", r["criterion"] == "mean of six"
        if r["set"].endswith("unseen"):
            return r["metric"] in ("criteria", "union-compact")
        if r["metric"] == "criteria":
            return pooled or mean or r["criterion"] == OVERALL
        compared = r["metric"] in ("union-compact", "length") or r["metric"].startswith("best of")
        return compared and pooled and mean

    return [r for r in rows if belongs(r)]


def word_counts(stories):
    return np.array([words(story) for story in stories], float)
