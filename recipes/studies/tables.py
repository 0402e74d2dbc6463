"""Prints one study of the UNION paper as Markdown, from the scores that runs.sh made.

    tables.py STUDY RUNS

STUDY is table-5, table-6, table-7, figure-2, appendix-d, appendix-f, or all. RUNS is the folder of
the runs. Runs that are missing are named. All numbers come from `storymeter correlate` and
`storymeter meta union`; this script only arranges them.

The environment may set STORYMETER (the program, target/release/storymeter) and SHARED (the folder of
the shared data, ../shared).
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORYMETER = os.environ.get("STORYMETER", ROOT / "target/release/storymeter")
SHARED = pathlib.Path(os.environ.get("SHARED", ROOT / "../shared")).resolve()
UNION_ROC = SHARED / "data/annotated/union_roc"
TECHNIQUES = ["repetition", "substitution", "reordering", "negation"]
LONG_SETS = ["hanna_first48", "nextchapter_crowdsource_wp", "nextchapter_inhouse_wp", "scratchplot",
             "storyer_story_correlation"]
COEFFICIENTS = ["pearson", "spearman", "kendall"]

# The hybrid score of the paper: both halves are scaled from 0 to 1 over the evaluated stories.
SCALED_MEAN = "the mean of columns 0 and 1, scaled"

# Rows of Table 5: the metric, the weights behind our scores, the published figures, the published
# scores, and our runs with the column of their scores and its sign.
TABLE_5 = [
    ("BLEU", "no weights", (0.0299, 0.0320, 0.0231), "bleu", ["bleu"], 0, 1),
    ("MoverScore", "MPNet-base", (0.1538, 0.1535, 0.1093), "moverscore", ["moverscore"], 0, 1),
    ("RUBER_r-BERT", "MPNet-base", (0.0448, 0.0517, 0.0380), "ruber_ref_score", ["ruber"], 0, 1),
    ("Perplexity", "SmolLM2, fine-tuned", (0.2464, 0.2295, 0.1650), "ppl", ["language-model"], 0, -1),
    ("RUBER_u-BERT", "MPNet-base, trained head", (0.1477, 0.1434, 0.1018), "ruber_unref_score", ["ruber"], 1, 1),
    ("DisScore", "MPNet-base, fine-tuned", (0.0406, 0.0633, 0.0456), "dis", ["disscore"], 0, 1),
    ("UNION, ConceptNet", "MPNet-base, fine-tuned", (0.3687, 0.4599, 0.3386), "union", [f"conceptnet-{s}" for s in (1, 2, 3)], 0, 1),
    ("UNION, WordNet", "MPNet-base, fine-tuned", None, None, [f"wordnet-{s}" for s in (1, 2, 3)], 0, 1),
    ("UNION -Recon", "MPNet-base, fine-tuned", (0.3101, 0.4027, 0.2927), "union_recon", ["no-recon"], 0, 1),
    ("RUBER-BERT", "MPNet-base, trained head", (0.1412, 0.1395, 0.1015), "ruber_score", ["ruber"], SCALED_MEAN, 1),
    ("BLEURT", "MiniLM-L6, even lines", (0.2310, 0.2353, 0.1679), "bleurt", ["bleurt"], 0, 1),
]
# What explains the distance from the paper: one factor is changed at a time.
FACTORS = [
    ("the paper's recipe with ConceptNet, seed 1", "conceptnet-1"),
    ("antonyms and keywords of WordNet instead", "wordnet-1"),
    ("names kept (13% of the training stories are masked)", "names-kept"),
    ("MiniLM-L6 as the encoder instead of MPNet-base", "minilm"),
    ("new negatives in every epoch", "fresh-negatives"),
    ("the released code's recipe", "released-code"),
]
# Rows of Table 6: the metric, the run on ROC, the run on long stories, column, sign, and the
# published figures for training on WP and testing on ROC, and the other way round.
TABLE_6 = [
    ("Perplexity", "language-model", "language-model-long", 0, -1, (-0.0015, 0.0149, 0.0101), (0.0366, 0.0198, 0.0150)),
    ("RUBER_u-BERT", "ruber", "ruber-long", 1, 1, (-0.0099, -0.0162, -0.0110), (0.1392, 0.1276, 0.0912)),
    ("DisScore", "disscore", "disscore-long", 0, 1, None, None),
    ("UNION", "conceptnet-1", "long", 0, 1, (0.1986, 0.2501, 0.1755), (0.2872, 0.2935, 0.2142)),
    ("UNION -Recon", "no-recon", "long-no-recon", 0, 1, (0.1704, 0.2158, 0.1523), (0.2397, 0.2712, 0.1971)),
]


def storymeter(*arguments):
    done = subprocess.run([str(STORYMETER), *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


def numbers(path, column=0, sign=1):
    """The scores of one column of a file, one per story; None where a score is absent."""
    values = [line.split()[column] for line in path.read_text().splitlines()]
    return [None if value == "None" else sign * float(value) for value in values]


def correlations(human, scores, criterion=None):
    """Pearson, Spearman and Kendall of a list of scores with the ratings of a file. Stories without a
    score are left out."""
    chosen = ["--criterion", criterion] if criterion else []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lines = human.read_text().splitlines(keepends=True)
        present = [(line, score) for line, score in zip(lines, scores, strict=True) if score is not None]
        (folder / human.name).write_text("".join(line for line, _ in present))
        (folder / "scores.txt").write_text("".join(f"{score!r}\n" for _, score in present))
        found = json.loads(storymeter("correlate", "--human", folder / human.name, *chosen,
                                      "--scores", f"x={folder / 'scores.txt'}", "--json"))
    return [found["x"][name] for name in COEFFICIENTS]


def cell(figures):
    return " / ".join(f"{figure:.3f}" for figure in figures) if figures else ""


def spread(rows):
    """The mean of several runs and, if there are several, their standard deviation."""
    means = [statistics.mean(column) for column in zip(*rows)]
    if len(rows) == 1:
        return cell(means)
    deviations = [statistics.stdev(column) for column in zip(*rows)]
    return " / ".join(f"{mean:.3f} ± {deviation:.3f}" for mean, deviation in zip(means, deviations))


class Rated:
    """The ratings of the 400 stories and of the odd lines among them, which nothing was chosen on."""

    def __init__(self, folder):
        lines = (UNION_ROC / "ant_data.txt").read_text().splitlines(keepends=True)
        self.all, self.odd = folder / "all.txt", folder / "odd.txt"
        self.all.write_text("".join(lines))
        self.odd.write_text("".join(lines[1::2]))

    def both(self, scores):
        return correlations(self.all, scores), correlations(self.odd, scores[1::2])


def scaled(scores):
    return [(score - min(scores)) / (max(scores) - min(scores)) for score in scores]


def scores_of(runs, name, column=0, sign=1, file="roc.txt"):
    path = runs / name / file
    if not path.exists():
        return None
    if column == SCALED_MEAN:
        return [(r + u) / 2 for r, u in zip(scaled(numbers(path, 0)), scaled(numbers(path, 1)))]
    return numbers(path, column, sign)


def missing(names):
    print(f"Not run: {', '.join(names)}.\n" if names else "")


def table_5(runs, work):
    rated = Rated(work)
    print("## Table 5: correlation with human judgments (ROCStories)\n")
    print("| metric | the paper | published scores, odd lines | our weights | ours, all 400 | ours, odd lines |")
    print("|---|---|---|---|---|---|")
    absent = []
    for label, weights, published, file, names, column, sign in TABLE_5:
        theirs = ""
        if file:
            direction = -1 if file == "ppl" else 1
            theirs = cell(rated.both(numbers(UNION_ROC / f"metric_output/{file}.txt", 0, direction))[1])
        found = [scores for name in names if (scores := scores_of(runs, name, column, sign))]
        absent += [name for name in names if not (runs / name / "roc.txt").exists()]
        ours = ["", ""]
        if found:
            both = [rated.both(scores) for scores in found]
            ours = [spread([pair[part] for pair in both]) for part in (0, 1)]
        if label == "BLEURT":
            ours[0] = "(trained on the even lines)" if found else ""
        weights = weights if found else "not run"
        print(f"| {label} | {cell(published)} | {theirs} | {weights} | {ours[0]} | {ours[1]} |")
    print()
    print("| one factor changed | all 400 | odd lines |\n|---|---|---|")
    for label, name in FACTORS:
        if scores := scores_of(runs, name):
            print("| {} | {} | {} |".format(label, *map(cell, rated.both(scores))))
        else:
            absent.append(name)
    print()
    missing(sorted(set(absent)))


def table_6(runs, work):
    rated = Rated(work)
    print("## Table 6: dataset drift\n")
    print("Trained on long stories, tested on ROCStories (all 400), and trained on ROCStories for comparison:\n")
    print("| metric | the paper | trained on long stories | trained on ROCStories |\n|---|---|---|---|")
    absent = []
    for label, roc, long, column, sign, published, _ in TABLE_6:
        found = [scores_of(runs, name, column, sign) for name in (long, roc)]
        absent += [name for name, scores in zip((long, roc), found) if not scores]
        cells = [cell(correlations(rated.all, scores)) if scores else "" for scores in found]
        print(f"| {label} | {cell(published)} | {cells[0]} | {cells[1]} |")
    subprocess.run([sys.executable, ROOT / "recipes/studies/long_sets.py", SHARED / "data/annotated", work], check=True)
    print("\nTested on rated long stories (mean of all criteria). The rated WritingPrompts stories of the paper are not at "
          "hand, so its figures, in the first column, are for other stories:\n")
    print("| metric, trained on | the paper's WP stories |", " | ".join(LONG_SETS), "|")
    print("|---|---|" + "---|" * len(LONG_SETS))
    for label, roc, long, column, sign, _, published in TABLE_6:
        for where, run, theirs in [("ROCStories", roc, published), ("long stories", long, None)]:
            cells = []
            for name in LONG_SETS:
                scores = scores_of(runs, run, column, sign, f"long/{name}-scores.txt")
                cells.append(cell(correlations(work / f"{name}.jsonl", scores, "overall")) if scores else "")
            if any(cells):
                print(f"| {label}, {where} | {cell(theirs)} |", " | ".join(cells), "|")
    print()
    missing(sorted(set(absent)))


def rated_folder(work, metrics):
    """A folder in UNION's layout with these scores."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=work)) / "roc"
    (folder / "metric_output").mkdir(parents=True)
    for name in ("ant_data.txt", "ant_data_all.txt"):
        shutil.copy(UNION_ROC / name, folder)
    for name, path in metrics.items():
        shutil.copy(path, folder / "metric_output" / f"{name}.txt")
    return folder


def printed(title, output):
    body = "\n".join(line.rstrip() for line in output.strip().splitlines())
    print(f"## {title}\n\n```text\n{body}\n```\n")


def table_7(runs, work):
    names = {"full": "conceptnet-1", **{f"without-{t}": f"without-{t}" for t in TECHNIQUES}}
    found = {label: runs / name / "roc.txt" for label, name in names.items() if (runs / name / "roc.txt").exists()}
    printed("Table 7: one technique left out at a time",
            storymeter("meta", "union", rated_folder(work, found), "--show", "table-7"))
    missing([name for name in names if name not in found])


def published():
    return {path.stem: path for path in sorted((UNION_ROC / "metric_output").glob("*.txt"))}


def figure_2(runs, work):
    names = ["conceptnet-1", "wordnet-1", "no-recon"]
    ours = {f"ours, {name}": runs / name / "roc.txt" for name in names if (runs / name / "roc.txt").exists()}
    printed("Figure 2: generalisation over story quality",
            storymeter("meta", "union", rated_folder(work, {**published(), **ours}), "--show", "figure-2"))


def edits(runs, name):
    path = runs / name / "edits.jsonl"
    if not path.exists():
        return None
    return [bool(json.loads(line)["explanation"]["edits"]) for line in path.open()]


def appendix_d(runs, work):
    rated = Rated(work)
    print("## Appendix D: does the model edit bad stories?\n")
    print("A story counts as edited (1) if the head prefers another token at any position. The paper prints the size of "
          "the Spearman correlation with the ratings, 0.1990, and no number of stories.\n")
    print("| run | edited of 400 | Spearman with the ratings | share of the 19 reasonable stories edited |\n|---|---|---|---|")
    lines = (UNION_ROC / "ant_data.txt").read_text().splitlines()
    reasonable = [i for i, line in enumerate(lines) if "0" not in line.split("|||")[2].split()]
    for folder in sorted(runs.iterdir()):
        found = edits(runs, folder.name)
        if found:
            rho = correlations(rated.all, [float(edited) for edited in found])[1] if 0 < sum(found) < len(found) else None
            share = sum(found[i] for i in reasonable) / len(reasonable)
            print(f"| {folder.name} | {sum(found)} | {'' if rho is None else f'{rho:.3f}'} | {share:.2f} |")
    print()
    if found := edits(runs, "conceptnet-1"):
        folder = rated_folder(work, {"union": runs / "conceptnet-1/roc.txt"})
        (folder / "edits.txt").write_text("".join(f"{int(edited)}\n" for edited in found))
        printed("Appendix D: by error type (conceptnet-1)", storymeter("meta", "union", folder, "--show", "appendix-d"))


def appendix_f(runs, work):
    metrics = {"union": UNION_ROC / "metric_output/union.txt"}
    ours = runs / "conceptnet-1/roc.txt"
    if ours.exists():
        metrics["ours"] = ours
    printed("Appendix F (Table 11): the stories that are misjudged most",
            storymeter("meta", "union", rated_folder(work, metrics), "--show", "table-11"))


STUDIES = {"table-5": table_5, "table-6": table_6, "table-7": table_7, "figure-2": figure_2,
           "appendix-d": appendix_d, "appendix-f": appendix_f}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in [*STUDIES, "all"]:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as temporary:
        for study, run in STUDIES.items():
            if sys.argv[1] in (study, "all"):
                run(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(temporary))
