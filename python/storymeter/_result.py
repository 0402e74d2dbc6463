"""What scoring gives back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from . import _native

__all__ = ["ScoreResult", "StoryScore"]


class ScoreResult:
    """The scores of stories, in input order."""

    def __init__(self, scored: _native.Scored) -> None:
        self._scored = scored

    def __len__(self) -> int:
        return len(self._scored)

    @property
    def columns(self) -> list[str]:
        """The keys of the scores."""
        return self._scored.columns

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores of the first column, as an array in input order; an absent one is NaN."""
        return self._column(0)

    def _column(self, at: int) -> npt.NDArray[np.float64]:
        import numpy as np

        return np.frombuffer(self._scored.values(at), dtype=np.float64)

    @property
    def mean(self) -> float:
        """The score of all stories together, by the first column."""
        value = self._scored.summaries()[0][2][0][0]
        return float("nan") if value is None else value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% bootstrap interval of :attr:`mean`."""
        return self._scored.summaries()[0][2][0][2]

    @property
    def signature(self) -> str:
        """What a paper reports beside the scores, one line per metric."""
        return "\n".join(self._scored.signatures)

    def to_json(self) -> str:
        """The lines that ``storymeter score -o scores.jsonl`` writes, byte for byte."""
        return self._scored.json_lines().decode()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per story."""
        return [json.loads(line) for line in self.to_json().splitlines()]


class StoryScore(ScoreResult):
    """The score of one story, which is also a number."""

    @property
    def score(self) -> float:
        """The score."""
        return float(self.scores[0])

    def __float__(self) -> float:
        return self.score
