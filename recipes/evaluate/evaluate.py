#!/usr/bin/env python3
"""Prints how well a model agrees with human readers, on the shared data, with 95% intervals.

    evaluate.py --selection [--model MODEL]    what a recipe may be chosen by
    evaluate.py --report [--model MODEL]       the rest, which is looked at once per released model
    evaluate.py --criteria --held-out FOLD/held-out.jsonl... --left-out SET/held-out.jsonl...

It needs the package storymeter (`pip install .`) and the shared data, which is `../shared` beside
the repository or the folder that STORYMETER_SHARED names. `--json` prints one object, whose parts
`agreement` and `diagnosis` are what `storymeter model pack --figures` puts on the card of a model.

`--criteria` is about models that were trained on ratings. It reads what `storymeter train --rated`
wrote about stories that it had left out: `--held-out` takes the files of `--fold`, all folds of a
cross-validation over HANNA's prompts, and `--left-out` those of `--leave-out`, one set each. With
`--model`, it also says whether the predictions of a finished model depend on how stories are
written down, and which mean ratings it predicts for HANNA's systems.
"""

import argparse
import gzip
import json
import os
import pathlib

import numpy as np

import criteria
import storymeter as sm
from agreement import LEVELS, Layout, auc, row, spearman
from rated import nine_sets, paper_examples, reader_answers
from rewritten import VARIANTS, rewritten

ERRORS = {1: "repeated plots", 2: "bad coherence", 3: "conflicting logic", 4: "chaotic scenes"}
OUTPUTS = "repetition", "incoherence", "wrong_order", "contradiction"
SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared"


def scores(scorer, stories):
    """The scores of a scorer with one column."""
    return np.asarray(scorer.score(stories).scores)


def order_kept(before, after):
    """Spearman's correlation over the stories that have both numbers."""
    kept = ~(np.isnan(before) | np.isnan(after))
    return float(spearman(before[kept], after[kept], np.ones((1, kept.sum())))[0])


def diagnosis(scorer, stories, answers):
    """Each output of the diagnosis against each error type; nothing if the model has no such
    head."""
    explained = [found.diagnosis for found in scorer.explain(stories)]
    if None in explained:
        return []
    reasonable = np.array([given.count(0) == 7 for given in answers])
    rows = []
    for output in OUTPUTS:
        damage = np.array([getattr(found, output) for found in explained])
        for number, error in ERRORS.items():
            has = np.array([given.count(number) >= 3 for given in answers])
            kept = has | reasonable
            rows.append({
                "output": output.replace("_", " "), "error": error, "positives": int(has.sum()),
                "auc": auc(damage, has), "auc_reasonable": auc(damage[kept], has[kept]),
            })  # fmt: skip
    return rows


def examples(scorer):
    """How many pairs of a reasonable and an unreasonable example of the paper are in order."""
    found = []
    for table, stories in paper_examples(shared()).items():
        texts, reasonable, baselines = zip(*stories)
        good = np.array(reasonable)

        def ordered(scores):
            return int((scores[good][:, None] > scores[~good]).sum())

        own = scores(scorer, list(texts))
        found.append({
            "table": table, "pairs": int(good.sum() * (~good).sum()), "model": ordered(own),
            "best_baseline": max(map(ordered, np.array(baselines).T)), "scores": own.tolist(),
        })  # fmt: skip
    return found


def evaluate_union(scorer, *, selection):
    """What a recipe may be chosen by (the even lines of union_roc and the smaller sets), or the rest
    (all lines, the odd lines, HANNA and the paper's examples)."""
    sets = nine_sets(shared())
    roc, hanna = sets.pop("union_roc"), sets.pop("hanna")
    answers = reader_answers(shared())
    own = scores(scorer, roc.stories)
    rows = []

    def roc_row(name, lines):
        part = roc.stories[lines]
        what = f"union_roc {name}", "reasonable", "pooled", "union"
        rows.append(row(*what, own[lines], roc.mean[lines], Layout(part)))
        return part

    result = {"signature": scorer.score(roc.stories[:1]).signature, "agreement": rows}
    if selection:
        lines = slice(0, None, 2)
        roc_row("even lines", lines)
        last = []
        for rated in sets.values():
            given, layout = scores(scorer, rated.stories), Layout(rated.stories, draw_stories=True)
            for criterion, ratings in rated.criteria.items():
                rows.append(row(rated.name, criterion, "pooled", "union", given, ratings, layout))
            last.append(rows[-1])
        values = {c: [r[c]["value"] for r in last] for c in ("pearson", "spearman")}
        result["selection_mean"] = float(np.mean(values["spearman"] + [rows[0]["spearman"]["value"]]))
        result["other_sets"] = {c: float(np.mean(each)) for c, each in values.items()}
    else:
        lines = slice(None)
        roc_row("all", lines)
        roc_row("odd lines", slice(1, None, 2))
        metrics = {
            "union": scores(scorer, hanna.stories),
            "repetition-3": -scores(sm.Scorer(metrics="repetition-3"), hanna.stories),
        }
        for criterion in "coherence", "mean":
            for metric, given in metrics.items():
                for level in "story", "pooled":
                    layout = Layout(hanna.stories, draw_stories=level == "pooled")
                    what = "hanna first 48 prompts", criterion, level, metric
                    rows.append(row(*what, given, hanna.criteria[criterion], layout))
        result["examples"] = examples(scorer)
    result["diagnosis"] = diagnosis(scorer, roc.stories[lines], answers[lines])
    result["robustness"] = {
        variant: order_kept(own, scores(scorer, rewritten(roc.stories, variant)))
        for variant in VARIANTS
    }
    return result


def baselines(stories):
    """Scores that need nothing but the story. More is better."""
    found = sm.score(stories, metrics=["union", "distinct-2", "repetition-3"])
    return {
        "union-compact": found["union"],
        "length": criteria.word_counts(stories),
        "distinct-2": found["distinct-2"],
        "repetition-3": -found["repetition-3"],
    }


def published(hanna):
    """The scores of the 72 metrics that HANNA published, without the marks of their kinds."""
    path = shared() / "data/annotated/hanna/stories_first48.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line["metrics"] for line in map(json.loads, file) if line["system"] != "Human"]
    assert len(lines) == len(hanna.stories)
    return {name.rsplit(" ", 1)[0]: np.array([line[name] for line in lines]) for name in lines[0]}


def finished(model, precision, sets):
    """Whether the predictions of a finished model depend on how a story is written down, and its
    mean predictions for HANNA's systems, on which it was trained."""
    scorer = sm.Scorer(model, metrics="criteria", precision=precision)
    robustness = []
    for name in "union_roc", "nextchapter_inhouse_roc", "hanna":
        stories = sets[name].stories
        before = scorer.score(stories)
        if name == "hanna":
            ratings = sets[name].criteria | {"overall": sets[name].mean}
            systems = {
                key.split("/")[-1]: criteria.system_means(
                    stories, before[key], ratings[key.split("/")[-1]]
                )
                for key in before.columns
            }
        for variant in VARIANTS:
            changed = rewritten(stories, variant)
            if changed == stories:
                continue
            after = scorer.score(changed)
            for key in before.columns:
                if not np.isnan(before[key]).all():
                    kept = order_kept(before[key], after[key])
                    robustness.append({"set": name, "variant": variant, "criterion": key,
                                       "spearman": kept})  # fmt: skip
    return {"signature": before.column(key).signature, "robustness": robustness, "systems": systems}


def evaluate_criteria(arguments):
    sets = nine_sets(shared())
    hanna, result, rows = sets["hanna"], {}, []
    if arguments.held_out:
        others = baselines(hanna.stories), published(hanna)
        found = criteria.cross_validation(arguments.held_out, hanna, *others)
        result["cross_validation"] = found
        rows += found["rows"]
    if arguments.left_out:
        result["left_out"] = criteria.left_out(arguments.left_out, sets, baselines)
        rows += result["left_out"]["rows"]
    if arguments.model:
        result["finished"] = finished(arguments.model, arguments.precision, sets)
    return {"agreement": criteria.for_the_card(rows), **result}


def shown(figure):
    return "{value:.3f} [{low:.3f}, {high:.3f}]".format(**figure)


def print_rows(rows):
    for r in rows:
        figures = (f"{shown(r[c]):<24}" for c in ("pearson", "spearman", "kendall"))
        print(f"{r['set']:<38} {r['criterion']:<14} {r['level']:<14} {r['metric']:<26} "
              f"{r['n']:>4}  {''.join(figures)}")  # fmt: skip


def print_systems(by_criterion):
    print(f"{'':<16}", *(f"{criterion:<12}" for criterion in by_criterion))
    for means in zip(*by_criterion.values()):
        cells = (f"{m['predicted']:.2f} / {m['rated']:.2f}".ljust(12) for m in means)
        print(f"{means[0]['system']:<16}", *cells)


def print_union(result):
    print(result["signature"], "\n\nset, criterion, level, metric, n, Pearson, Spearman, Kendall")
    print_rows(result["agreement"])
    if "selection_mean" in result:
        print("\nmean Spearman over the sets (even lines of union_roc; the last criterion of each "
              f"other): {result['selection_mean']:.4f}")  # fmt: skip
        print("the other sets alone: mean Pearson {pearson:.4f}, mean Spearman {spearman:.4f}"
              .format(**result["other_sets"]))  # fmt: skip
    print("\nSpearman's correlation with the scores of the same stories, written differently")
    for variant, value in result["robustness"].items():
        print(f"{variant:<16} {value:.4f}")
    print("\ndiagnosis, error type, stories, AUC, AUC to reasonable stories")
    for r in result["diagnosis"]:
        print("{output:<14} {error:<18} {positives:>4} {auc:>7.3f} {auc_reasonable:>7.3f}".format(**r))
    for r in result.get("examples", []):
        print("\n{table}: {model} of {pairs} pairs in order (the paper's better baseline: "
              "{best_baseline}); scores".format(**r), *(f"{score:.3f}" for score in r["scores"]))  # fmt: skip


def print_criteria(result):
    if found := result.get("cross_validation"):
        print(f"HANNA, {found['stories']} machine-written stories, cross-validated over "
              f"{found['prompts']} prompts in {found['folds']} folds, {found['runs']} runs each")  # fmt: skip
        for level, meaning in LEVELS.items():
            print(f"\n{level}: {meaning} (Pearson, Spearman, Kendall)")
            print_rows(r for r in found["rows"] if r["level"] == level)
        print("\nPredicted ratings: share in the 80% interval, its width, mean distance")
        for r in found["nearness"]:
            print(f"{r['criterion']:<14} {shown(r['coverage']):<24} {r['width']:.2f}  "
                  f"{shown(r['distance'])}")  # fmt: skip
        print("\nMean predicted / mean rating of each system, unseen prompts")
        print_systems({r["criterion"]: r["systems"] for r in found["nearness"]})
        print("\n\"best of 72\" was chosen on these ratings, so its figure is flattering.")
    if found := result.get("left_out"):
        print("\nUnseen sets: `overall` against the mean rating")
        print_rows(found["rows"])
        print("\ncriteria above union-compact, Spearman")
        for name, difference in found["differences"].items():
            print(f"{name:<38} {shown(difference)}")
        print(f"{'mean over the sets':<38} {shown(found['mean_difference'])}")
        for metric, mean in found["means"].items():
            print(f"mean Spearman of {metric:<21} {shown(mean)}")
        print(f"criteria is above on {found['above']} of {len(found['differences'])} sets; "
              f"no predictions for: {', '.join(found['missing']) or 'none'}")  # fmt: skip
    if found := result.get("finished"):
        print(f"\n{found['signature']}\n\nThe same stories, written differently (Spearman)")
        for r in found["robustness"]:
            print("{set:<24} {variant:<16} {criterion:<24} {spearman:.3f}".format(**r))
        print("\nMean predicted / mean rating of each system of HANNA, on which it was trained")
        print_systems(found["systems"])


def shared():
    return pathlib.Path(os.environ.get("STORYMETER_SHARED", SHARED))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    for name in "selection", "report", "criteria":
        what.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--model", help="a folder, a model file, or the name of a model")
    parser.add_argument("--held-out", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--left-out", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--precision", choices=["int8", "f32"], default="int8")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.criteria:
        if not (arguments.held_out or arguments.left_out or arguments.model):
            parser.error("--criteria needs --held-out, --left-out or --model")
        result, show = evaluate_criteria(arguments), print_criteria
    else:
        scorer = sm.Scorer(arguments.model, metrics="union", precision=arguments.precision)
        result, show = evaluate_union(scorer, selection=arguments.selection), print_union
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


if __name__ == "__main__":
    main()
