#!/usr/bin/env python3
"""Agreement of heads with readers, each predicted by a model that had not seen the set.

    evaluate.py ROOT MODEL[,MODEL] [--also FILE.jsonl:COLUMN ...] [--json OUT]

ROOT is the folder that train.py filled, and MODEL is a student or a teacher of it; of several the
mean is taken. HANNA's stories are predicted by models that had not seen their prompts, the others
by models that had not seen their set. Besides the heads, length (words) and distinct-2 are shown,
and what `--also` gives: scores of the same stories by another metric.
"""

import argparse
import json
import pathlib
import statistics

# The criteria by which a set is judged, and the heads that should agree with them.
JUDGED = {
    "hanna": ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"],
    "union_roc": ["score"],
    "csg": ["expert", "lay"],
    "lamp": ["preference"],
    "wqrm": ["preference"],
    "pron": ["style"],
    "ttcw": ["passed_of_14"],
    "confederacy": ["total"],
    "aiss": ["coherence", "avoids_repetition", "creativity_quality"],
    "cohesentia": ["coherence_holistic"],
    "slm": ["readability", "creativity", "attractiveness"],
}
JOINED = {
    ("csg", "expert"): ["expert_creativity", "expert_originality", "expert_surprise", "expert_value"],
    ("csg", "lay"): ["nonexpert_creativity", "nonexpert_originality", "nonexpert_surprise",
                     "nonexpert_value"],
    ("pron", "style"): ["attractive_style", "originality_style"],
}
PAIRS = ["lamp", "wqrm", "confederacy"]
HEADS = ["union", "overall", "general", "writers", "coherence", "empathy", "surprise", "engagement",
         "complexity", "relevance"]


def mean(rating):
    known = [x for x in (rating if isinstance(rating, list) else [rating]) if x is not None]
    return sum(known) / len(known)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    found, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in order[at: end + 1]:
            found[place] = (at + end) / 2
        at = end + 1
    return found


def spearman(one, other):
    if len(one) < 4 or len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return statistics.correlation(ranks(one), ranks(other))


def ordered(items, scores, ratings):
    """The share of pairs of an item that the scores order as the ratings do."""
    right = total = 0.0
    groups = {}
    for at, item in enumerate(items):
        groups.setdefault(item, []).append(at)
    for members in groups.values():
        for one in members:
            for other in members:
                if ratings[one] > ratings[other]:
                    total += 1
                    right += 0.5 if scores[one] == scores[other] else scores[one] > scores[other]
    return right / total if total else None


def rating(name, criterion, story):
    human = story["human"]
    parts = JOINED.get((name, criterion), [criterion])
    if criterion == "mean":
        parts = [key for key in human if key not in ("liked", "approved")]
    if any(part not in human for part in parts):
        return None
    return sum(mean(human[part]) for part in parts) / len(parts)


def distinct_2(text):
    words = text.lower().split()
    pairs = list(zip(words, words[1:]))
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Predictions:
    def __init__(self, root, models):
        self.root, self.models = root, models
        self.groups = json.loads((root / "data/groups.json").read_text())

    def of(self, name):
        """The heads' scores of the stories of a set, in order."""
        if name == "hanna":
            stories = read(self.root / "data/sets/hanna.jsonl")
            files = [self.mean(name, group) for group in range(len(self.groups["sets"]))]
            return [files[self.groups["hanna"][story["item"]]][at]
                    for at, story in enumerate(stories)]
        group = next(at for at, names in enumerate(self.groups["sets"]) if name in names)
        return self.mean(name, group)

    def mean(self, name, group):
        """The means of the models that left out a group, for the stories of a set."""
        files = [read(self.root / "work" / f"{name}.{model}.g{group}.predicted.jsonl")
                 for model in self.models]
        keys = files[0][0]["scores"].keys()
        return [{key: statistics.fmean(row["scores"][key] or 0.0 for row in rows) for key in keys}
                for rows in zip(*files)]


def rows(root, predictions, also):
    """(set, criterion, kind of stories, number of stories, {column: agreement})"""
    for path in sorted((root / "data/sets").glob("*.jsonl")):
        name = path.stem
        if name in ("damage", "age"):
            continue
        stories = read(path)
        scores = predictions.of(name)
        heads = [head for head in HEADS if f"criteria/{head}" in scores[0]]
        columns = {head: [row[f"criteria/{head}"] for row in scores] for head in heads}
        for label, known in also.items():
            columns[label] = [known.get(story["id"]) for story in stories]
        columns["words"] = [float(len(story["story"].split())) for story in stories]
        columns["distinct-2"] = [distinct_2(story["story"]) for story in stories]
        human = [story.get("system", "").lower().startswith(("human", "pron(")) for story in stories]
        kinds = {"all": [True] * len(stories), "machine": [not own for own in human], "human": human}
        if name == "hanna":
            kinds = {"machine": kinds["machine"]}
        for criterion in JUDGED.get(name, ["mean"]):
            ratings = [rating(name, criterion, story) for story in stories]
            for kind, chosen in kinds.items():
                kept = [i for i in range(len(stories)) if chosen[i] and ratings[i] is not None]
                if len(kept) < 20 or (kind != "all" and len(kept) == len(stories) and name != "hanna"):
                    continue
                said = [ratings[i] for i in kept]
                items = [stories[i].get("item", stories[i]["id"]) for i in kept]
                agreement = {}
                for column, values in columns.items():
                    own = [values[i] for i in kept]
                    if None in own:
                        continue
                    pairs = name in PAIRS
                    agreement[column] = ordered(items, own, said) if pairs else spearman(own, said)
                yield name + (" (pairs)" if name in PAIRS else ""), criterion, kind, len(kept), agreement


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("models")
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    also = {}
    for given in args.also:
        path, column = given.rsplit(":", 1)
        known = {row["id"]: row["scores"][column] for row in read(pathlib.Path(path))}
        also[column if column not in also else given] = known
    table = list(rows(args.root, Predictions(args.root, args.models.split(",")), also))
    names = HEADS + list(also) + ["words", "distinct-2"]
    print(f"{'set':30} {'criterion':20} {'kind':8} {'n':>4} " + " ".join(f"{n[:10]:>10}" for n in names))
    for name, criterion, kind, count, agreement in table:
        cells = (agreement.get(n) for n in names)
        print(f"{name:30} {criterion:20} {kind:8} {count:4} "
              + " ".join(f"{'-':>10}" if x is None else f"{x:10.2f}" for x in cells))
    if args.json:
        keys = ("set", "criterion", "stories", "n", "agreement")
        args.json.write_text(json.dumps([dict(zip(keys, row)) for row in table], indent=1))


if __name__ == "__main__":
    main()
