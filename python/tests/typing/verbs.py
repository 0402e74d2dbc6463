"""What a type checker must understand of the other verbs. It is checked, and never run."""

from pathlib import Path

import storymeter as sm

why: sm.Explanation = sm.explain("A door opened.")
whys: list[sm.Explanation] = sm.explain(["A door opened."])
from_file: list[sm.Explanation] = sm.explain(Path("stories.jsonl"))
by_scorer: sm.Explanation = sm.Scorer().explain("A door opened.")
sentence: sm.Sentence = why.sentences[0]
start: int = sentence.start
score: float | None = why.score
hit: sm.Hit = why.hits[0]
overused: str = hit.entry

bad: sm.Samples = sm.perturb(["A door opened. It fell."], seed=1, techniques={"negation": 1.0})
original: str = bad[0].undo()

found: sm.Correlation = sm.correlate([0.1, 0.2], [1, 2])
value: float | None = found.pearson.value
tau: sm.Coefficient = found["scores"].kendall

ranked: sm.Comparisons = sm.compare("scores.jsonl", "union")
better: str | None = ranked.pairs[0].better

study: sm.MetaStudy = sm.meta("scores.jsonl", without=["Human"])
sheet: sm.Sheet = study["correlations"]

bleu: sm.CorpusScore = sm.metric("bleu").corpus_score(["a"], [["a", "b"]])
number: float = float(bleu)
names: list[str] = [info.name for info in sm.metrics()]
folder: str = sm.hf_module()
