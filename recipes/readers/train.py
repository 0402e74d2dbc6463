#!/usr/bin/env python3
"""Trains teachers on ratings, and students on what the teachers say about the corpus.

    train.py ROOT [--program storymeter] [--jobs 6] STAGE...

ROOT has `data` (data.py), `mpnet` (all-mpnet-base-v2), `minilm` (all-MiniLM-L6-v2) and
`union-compact.smq`. The stages are, in this order:

- `damage`: two models that tell whole stories from damaged ones;
- `teachers`: models of ratings, of several sizes and seeds, for all sets and for each group of
  sets that is left out;
- `label`: what the teachers and union-compact say about the corpus;
- `students`: small models on the grid that learn it, for all sets and for each group;
- `predict`: what every student and every teacher says about the sets that it has not seen.

For `damage` there must be `roc.tsv.gz` as well (the shared data's `roc/stories.tsv.gz`).
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
CRITERIA = ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity", "overall"]
READERS = ["general", "writers"]
OLD = ["hanna", "union_roc", "nextchapter_crowdsource_roc", "nextchapter_crowdsource_wp",
       "nextchapter_inhouse_roc", "nextchapter_inhouse_wp", "storyer_story_correlation",
       "storyer_scary_story_correlation", "scratchplot"]
DAMAGE = ["repetition", "substitution", "reordering", "negation"]
# How much UNION's score counts in the labels of the criteria, and of the one for all of them.
UNION_SHARE, UNION_SHARE_OVERALL = 0.2, 0.5
# How much the teachers that know only the older sets count in the labels of the criteria.
OLD_SHARE = 1.5
# name: (starts from, only the older sets, settings)
TEACHERS = {
    "D12-1": ("U1", False, {"seed": 1, "learning_rate": 1.5e-5}),
    "D8-2": ("U2", False, {"seed": 2, "layers": 8}),
    "O12-2": ("U2", True, {"seed": 2, "learning_rate": 1.5e-5}),
    "D12-2": ("U2", False, {"seed": 2, "learning_rate": 1.5e-5}),
    "D8-1": ("U1", False, {"seed": 1, "layers": 8}),
    "O8-1": ("U1", True, {"seed": 1, "layers": 8}),
}
# Where a group of sets is left out, fewer teachers do.
FEWER = ["D12-1", "D8-2", "O12-2"]
STUDENTS = {"S7": {"layers": 7}, "S6": {"layers": 6}}


class Run:
    def __init__(self, root, program, jobs):
        self.root, self.program, self.jobs = root.resolve(), program, jobs
        self.data, self.work = self.root / "data", self.root / "work"
        self.work.mkdir(exist_ok=True)
        self.groups = json.loads((self.data / "groups.json").read_text())

    def call(self, *args):
        command = [self.program, *map(str, args), "--device", "cuda", "-q"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr}{done.stdout}")

    def at_once(self, jobs):
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda job: job(), jobs))

    def settings(self, name, base, **settings):
        """A copy of a settings file with other values."""
        text = (HERE / base).read_text(encoding="utf-8")
        head, bracket, tables = text.partition("\n[")
        kept = [line for line in head.splitlines() if line.split(" = ")[0] not in settings]
        kept += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        path = self.work / f"{name}.toml"
        path.write_text("\n".join(kept) + "\n" + bracket + tables, encoding="utf-8")
        return path

    # Which group a model leaves out is the end of its name: D12-1.g0, and D12-1 leaves out none.

    def left_out(self, group):
        return set() if group is None else set(self.groups["sets"][group])

    def sets(self, group, only_old):
        """The files of the sets that a model learns from. HANNA's come first."""
        names = [p.stem for p in (self.data / "sets").glob("*.jsonl")]
        names = [name for name in names if name not in self.left_out(group)]
        names = [name for name in names if not only_old or name in OLD]
        folder = {name: self.data / "sets" for name in names}
        if group is not None:
            folder["hanna"] = self.work / f"sets-{group}"
        return [folder[name] / f"{name}.jsonl" for name in sorted(names, key=lambda n: (n != "hanna", n))]

    def write_hanna(self):
        """HANNA without the prompts of each group."""
        with open(self.data / "sets/hanna.jsonl", encoding="utf-8") as file:
            stories = list(file)
        for group in range(len(self.groups["sets"])):
            folder = self.work / f"sets-{group}"
            folder.mkdir(exist_ok=True)
            kept = [line for line in stories
                    if self.groups["hanna"][json.loads(line)["item"]] != group]
            (folder / "hanna.jsonl").write_text("".join(kept), encoding="utf-8")

    def damage(self):
        def one(seed):
            config = self.settings(f"U{seed}", "damage.toml", seed=seed)
            self.call("train", "--stories", self.root / "roc.tsv.gz", "--init", self.root / "mpnet",
                      "--config", config, "-o", self.work / f"U{seed}", "--overwrite")
        self.at_once([lambda: one(1), lambda: one(2)])

    def map_of(self, name, files):
        """The map without the sets that are not there."""
        there = {path.stem for path in files}
        text = (HERE / "map.toml").read_text(encoding="utf-8")
        first, *tables = text.split("\n[")
        kept = [table for table in tables if table.split("]")[0] in there]
        path = self.work / f"{name}.map.toml"
        path.write_text("\n[".join([first, *kept]), encoding="utf-8")
        return path

    def teacher(self, teacher, group):
        start, only_old, settings = TEACHERS[teacher]
        name = named(teacher, group)
        files = self.sets(group, only_old)
        there = {path.stem for path in files}
        pairs = [own for own in ("lamp", "wqrm", "confederacy", "damage", "age") if own in there]
        weights = {"wqrm": 0.3, "damage": 0.3, "age": 0.3}
        config = self.settings(name, "teacher.toml", pairs=pairs, **settings)
        with open(config, "a", encoding="utf-8") as file:
            file.write("\n[set_weights]\n")
            file.writelines(f"{own} = {w}\n" for own, w in weights.items() if own in there)
        self.call("train", "--rated", *files, "--criteria", self.map_of(name, files),
                  "--init", self.work / start, "--config", config, "-o", self.work / name,
                  "--overwrite")

    def models(self):
        """The teachers of every group, those that take longest first."""
        everything = [(teacher, None) for teacher in TEACHERS]
        groups = range(len(self.groups["sets"]))
        return everything + [(teacher, group) for teacher in FEWER for group in groups]

    def teachers(self):
        self.write_hanna()
        self.at_once([lambda t=t, g=g: self.teacher(t, g) for t, g in self.models()])

    def predictions(self, model, metric, stories, out):
        self.call("score", stories, "--model", model, "--metric", metric, "-o", out)
        with open(out, encoding="utf-8") as file:
            return [json.loads(line)["scores"] for line in file]

    def label(self):
        corpus = self.data / "corpus.jsonl"
        out = lambda name: self.work / f"{name}.out.jsonl"
        jobs = [lambda t=t, g=g: self.predictions(self.work / named(t, g), "criteria", corpus,
                                                  out(named(t, g))) for t, g in self.models()]
        union = lambda: self.predictions(self.root / "union-compact.smq", "union", corpus,
                                         out("union"))
        self.at_once([union, *jobs])
        with open(corpus, encoding="utf-8") as file:
            texts = [json.loads(line) for line in file]
        kinds = json.loads((self.data / "kinds.json").read_text())
        for group in [None, *range(len(self.groups["sets"]))]:
            self.write_labels(group, texts, kinds, out)

    def write_labels(self, group, texts, kinds, out):
        teachers = [t for t, g in self.models() if g == group]
        votes = {t: columns(out(named(t, group))) for t in teachers}
        union = [logit(x) for x in columns(out("union"))["union"]]
        labels = {"union": union}
        for head in CRITERIA + READERS:
            parts = [(OLD_SHARE if TEACHERS[t][1] else 1.0, standard(votes[t][f"criteria/{head}"]))
                     for t in teachers if head not in READERS or not TEACHERS[t][1]]
            share = {"overall": UNION_SHARE_OVERALL}.get(head, UNION_SHARE)
            if head in CRITERIA:
                total = sum(weight for weight, _ in parts)
                parts.append((share * total, standard(union)))
            labels[head] = standard([sum(w * column[i] for w, column in parts)
                                     for i in range(len(texts))])
        place = {text["id"]: i for i, text in enumerate(texts)}
        away = self.left_out(group)

        def is_away(own):
            origin = own if "like" not in own and "of" not in own else kinds[own.get("like", own.get("of"))]
            if origin["kind"] == "hanna" and group is not None:
                return self.groups["hanna"][origin["item"]] == group
            return origin["kind"] in away

        with open(self.work / f"{named('labelled', group)}.jsonl", "w", encoding="utf-8") as file:
            for text in texts:
                own = kinds[text["id"]]
                if is_away(own):
                    continue
                # A text that says the same as another one has its labels.
                i = place[own.get("like", text["id"])]
                human = {head: round(values[i], 4) for head, values in labels.items()}
                if own["kind"] in ("damaged", "roc", "long"):
                    done = own.get("damage", [])
                    human |= {f"union-{name}": float(name in done) for name in DAMAGE}
                file.write(json.dumps({"id": text["id"], "item": text["id"], "story": text["story"],
                                       "human": human}, ensure_ascii=False) + "\n")

    def student(self, student, group):
        name = named(student, group)
        config = self.settings(name, "student.toml", **STUDENTS[student])
        # The name of the file is the name of the set.
        labelled = self.work / f"{named('labelled', group)}.jsonl"
        self.call("train", "--rated", labelled, "--sentences", self.root / "minilm",
                  "--init", self.root / "mpnet", "--config", config, "-o", self.work / name,
                  "--overwrite")

    def students(self):
        groups = [None, *range(len(self.groups["sets"]))]
        self.at_once([lambda s=s, g=g: self.student(s, g) for s in STUDENTS for g in groups])

    def predict(self):
        """The models that left a set out, on that set."""
        jobs = []
        for path in sorted((self.data / "sets").glob("*.jsonl")):
            for model in [*STUDENTS, *FEWER]:
                for group, names in enumerate(self.groups["sets"]):
                    name = named(model, group)
                    if (path.stem in names or path.stem == "hanna") and (self.work / name).is_dir():
                        out = self.work / f"{path.stem}.{name}.predicted.jsonl"
                        jobs.append(lambda n=name, p=path, o=out: self.predictions(
                            self.work / n, "criteria", p, o))
        self.at_once(jobs)


def named(model, group):
    return model if group is None else f"{model}.g{group}"


def columns(path):
    """The columns of a file of scores. A text without words, which has none, counts as one with a
    probability of 0.01, and as average in everything else."""
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line)["scores"] for line in file]
    return {key: [(0.01 if key == "union" else 0.0) if row[key] is None else row[key] for row in rows]
            for key in rows[0]}


def logit(p):
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def standard(values):
    mean, spread = statistics.fmean(values), statistics.pstdev(values) or 1.0
    return [(value - mean) / spread for value in values]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("stages", nargs="+")
    parser.add_argument("--program", default="storymeter")
    parser.add_argument("--jobs", type=int, default=6)
    args = parser.parse_args()
    run = Run(args.root, args.program, args.jobs)
    for stage in args.stages:
        start = time.monotonic()
        getattr(run, stage)()
        print(f"{stage}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
