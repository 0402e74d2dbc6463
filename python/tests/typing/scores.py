"""What type checkers know about the package. mypy reads this file in strict mode."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import storymeter as sm

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

assert_type(sm.score("One story."), sm.StoryScore)
assert_type(sm.score({"story": "One story.", "id": 7}), sm.StoryScore)
assert_type(sm.score(["One.", "Two."]), sm.ScoreResult)
assert_type(sm.score(story for story in ("One.", None)), sm.ScoreResult)
assert_type(sm.score([{"story": "One."}]), sm.ScoreResult)
assert_type(sm.score(Path("stories.jsonl")), sm.ScoreResult)
assert_type(sm.score([Path("a.jsonl"), Path("b.jsonl")]), sm.ScoreResult)
assert_type(sm.score("One story.").score, float)

result = sm.score(["One."], metrics="union,bleu", references=["One."], threads=2)
assert_type(result.scores, "npt.NDArray[np.float64]")
assert_type(result.interval, "tuple[float, float] | None")
assert_type(result.mean, float)
assert_type(result.absent, "dict[int, str]")
assert_type(result.systems[0], sm.SystemScore)
assert_type(result.to_dicts(), "list[dict[str, Any]]")
assert_type(len(result), int)

judge = sm.Scorer("union-compact", metrics=["union"], device="cuda:0", weights={"x": Path("y")})
assert_type(judge.score("One."), sm.StoryScore)
assert_type(judge.score(["One."], progress=True), sm.ScoreResult)
path: os.PathLike[str] = Path("scores.csv")
result.write(path)

try:
    sm.score(["One."])
except sm.InputError as error:
    assert_type(error.line, "int | None")
except sm.UnknownNameError as error:
    assert_type(error.nearest, "str | None")


def of_a_frame(frame: pl.DataFrame) -> sm.ScoreResult:
    return sm.score(frame)


sm.score(7)  # type: ignore[call-overload]
sm.score("One.", metric="bleu")  # type: ignore[call-overload]
