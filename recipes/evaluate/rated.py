"""The rated sets of the shared data, and the examples in the paper."""

import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "criteria"))
import rated_sets  # noqa: E402


class Rated:
    """Stories, and the mean rating of each of them by criterion. The last criterion is `mean`, if
    there are several."""

    def __init__(self, name, stories):
        self.name, self.stories = name, stories
        self.criteria = {
            criterion: np.array([np.mean(story["human"][criterion]) for story in stories])
            for criterion in stories[0]["human"]
        }
        if len(self.criteria) > 1:
            self.criteria["mean"] = np.mean(list(self.criteria.values()), axis=0)

    @property
    def mean(self):
        return list(self.criteria.values())[-1]


def nine_sets(shared):
    """HANNA, the ROC stories of UNION's authors and seven smaller studies, by name.

    HANNA's stories by people are left out of every figure. With them, a metric would only have to
    tell people from machines.
    """
    sets = rated_sets.read(shared / "data")
    sets["hanna"] = [story for story in sets["hanna"] if story["system"] != "Human"]
    return {name: Rated(name, stories) for name, stories in sets.items()}


def reader_answers(shared):
    """What readers said about the stories of union_roc, seven answers each: 0 is "reasonable", and
    the others are error types."""
    text = (shared / "data/annotated/union_roc/ant_data_all.txt").read_text(encoding="utf-8")
    return [[int(answer) for answer in line.split("|||")[-1].split()] for line in text.splitlines()]


def paper_examples(shared):
    """The examples in Tables 1 and 10 of the paper: texts, whether people found them reasonable, and
    the scores of the paper's two baselines."""
    lines = (shared / "papers/union.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line.strip()]
    lead = next(at for at, line in enumerate(lines) if "**Leading Context**" in line)
    first, tenth = [], []
    for at, line in enumerate(lines):
        fields = line.split("\t")
        if line.startswith("#### Sample"):
            scores = [float(re.search(f"{key}=([0-9.]+)", line)[1]) for key in "BM"]
            text = f"{lines[lead + 1]} {lines[at + 1]}"
            first.append((text, "(Reasonable" in line, scores))
        elif len(fields) == 8 and re.fullmatch("S[1-5]", fields[0]):
            # The text keeps the hyphens of printed line ends, and has the error type at its end.
            text = f"{fields[1]} {re.sub(r' [(].{4}[)]$', '', fields[3])}".replace("- ", "")
            tenth.append((text, float(fields[4]) > 0.5, [float(f) for f in fields[5:7]]))
    assert (len(first), len(tenth)) == (3, 5), "the tables of the paper are not as expected"
    return {"Table 1": first, "Table 10": tenth}
