"""What scoring gives back."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from . import _native

__all__ = ["ColumnScores", "ScoreResult", "StoryScore", "SystemScore", "SystemTable"]


@dataclass(frozen=True)
class ColumnScores:
    """One column of scores: those of each story, and of all stories together."""

    #: The key of the column, such as ``rouge/rouge-1-f``.
    key: str
    #: The scores in input order. An absent score is NaN, because numpy has no other way to say so.
    scores: npt.NDArray[np.float64]
    #: Why scores are absent, by position.
    absent: dict[int, str]
    #: The score of all stories together, as a paper would report it.
    mean: float
    #: The 95% interval of the mean; none for fewer than two stories.
    interval: tuple[float, float] | None
    #: The signature of the metric.
    signature: str


@dataclass(frozen=True)
class SystemScore:
    """The score of one system by one column."""

    #: The key of the column.
    metric: str
    #: The system.
    system: str
    #: How many stories it has.
    stories: int
    #: Its score; NaN where there is none.
    score: float
    #: The 95% interval; none for fewer than two stories.
    interval: tuple[float, float] | None


class SystemTable(Sequence[SystemScore]):
    """The scores of each system, by column and then in order of the systems' first stories.

    Examples
    --------
    >>> import storymeter as sm
    >>> stories = [{"system": "a", "story": "Rain."}, {"system": "b", "story": "Rain fell."}]
    >>> for row in sm.score(stories, metrics=["text-length"]).systems:
    ...     print(row.system, row.score)
    a 2.0
    b 3.0
    """

    def __init__(self, rows: list[SystemScore]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> SystemScore: ...
    @overload
    def __getitem__(self, at: slice) -> list[SystemScore]: ...
    def __getitem__(self, at: int | slice) -> SystemScore | list[SystemScore]:
        return self._rows[at]

    def __repr__(self) -> str:
        return f"SystemTable({self._rows!r})"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per row: metric, system, stories, score, low and high."""
        return [
            {
                "metric": row.metric,
                "system": row.system,
                "stories": row.stories,
                "score": row.score,
                "low": None if row.interval is None else row.interval[0],
                "high": None if row.interval is None else row.interval[1],
            }
            for row in self._rows
        ]

    def _columns(self) -> dict[str, list[Any]]:
        names = ("metric", "system", "stories", "score", "low", "high")
        rows = self.to_dicts()
        return {name: [row[name] for row in rows] for name in names}

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """The same as a data frame of polars."""
        import polars as pl

        return pl.DataFrame(self._columns())


class ScoreResult:
    """The scores of stories, in input order.

    It prints as the table of ``storymeter score``.

    Examples
    --------
    >>> import storymeter as sm
    >>> result = sm.score(["Rain fell.", "It fell and fell."], metrics=["text-length"])
    >>> result.scores
    array([3., 5.])
    >>> result.mean, [round(end, 1) for end in result.interval]
    (4.0, [0.0, 16.7])
    >>> print(result.signature)  # doctest: +ELLIPSIS
    text-length|tok:spacy|newline:no|stories:2|bootstrap:9999|seed:1|version:...
    """

    def __init__(self, scored: _native.Scored, frame: Any = None) -> None:
        self._scored = scored
        self._given = frame

    def __len__(self) -> int:
        return len(self._scored)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def __getitem__(self, key: str) -> npt.NDArray[np.float64]:
        return self._array(self._position(key))

    def __repr__(self) -> str:
        return self._scored.table().rstrip("\n")

    def __str__(self) -> str:
        return self.__repr__()

    @property
    def columns(self) -> list[str]:
        """The keys of the scores, such as ``["union", "bleu"]``."""
        return self._scored.columns

    @property
    def ids(self) -> list[str]:
        """The ids of the stories. A story without one has its number."""
        return self._scored.ids

    @property
    def words(self) -> list[int]:
        """How many words each text has, separated by white space, after it was cleaned."""
        return self._scored.words

    @property
    def flags(self) -> list[list[str]]:
        """What each text has that is not story, such as ``["preamble"]``, after it was cleaned.

        Examples
        --------
        >>> import storymeter as sm
        >>> result = sm.score(["Rain fell.", "..."], metrics=["text-length"])
        >>> result.flags, result.absent
        ([['very short'], ['empty']], {1: 'the text is empty'})
        """
        return self._scored.flags

    def _position(self, key: str) -> int:
        try:
            return self.columns.index(key)
        except ValueError:
            raise KeyError(f"{key!r} is none of {', '.join(self.columns)}") from None

    def _array(self, at: int) -> npt.NDArray[np.float64]:
        import numpy as np

        return np.frombuffer(self._scored.values(at), dtype=np.float64)

    def column(self, key: str) -> ColumnScores:
        """All that is known about one column.

        Examples
        --------
        >>> import storymeter as sm
        >>> result = sm.score(["Rain."], metrics=["text-length", "distinct-2"])
        >>> result.column("text-length").mean
        2.0
        """
        at = self._position(key)
        _, _, cells = self._scored.summaries()[0]
        value, _, interval = cells[at]
        mean = float("nan") if value is None else value
        signature = self._scored.signature_of(at)
        return ColumnScores(
            key, self._array(at), self._scored.absent(at), mean, interval, signature
        )

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores of the first column, in input order. An absent score is NaN, because numpy
        has no other way to say so; :attr:`absent` has the reasons."""
        return self._array(0)

    @property
    def absent(self) -> dict[int, str]:
        """Why scores of the first column are absent, by position."""
        return self._scored.absent(0)

    @property
    def mean(self) -> float:
        """The score of all stories together by the first column; NaN where there is none."""
        return self.column(self.columns[0]).mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of :attr:`mean`; none for fewer than two stories."""
        return self.column(self.columns[0]).interval

    @property
    def signature(self) -> str:
        """What a paper reports beside the scores: one line per metric."""
        return "\n".join(self._scored.signatures)

    @property
    def systems(self) -> SystemTable:
        """The scores of each system."""
        _, *systems = self._scored.summaries()
        rows = []
        for at, key in enumerate(self.columns):
            for system, stories, cells in systems:
                value, _, interval = cells[at]
                score = float("nan") if value is None else value
                rows.append(SystemScore(key, system or "", stories, score, interval))
        return SystemTable(rows)

    @property
    def skipped(self) -> int:
        """How many bad records were skipped."""
        return self._scored.skipped[0]

    @property
    def frame(self) -> Any:
        """The frame that was scored, with one more column per score.

        A frame of pandas, polars or pyarrow comes back as the same kind, with its rows and its
        index as they were when it was scored; any other frame comes back as a table of pyarrow.
        A row without a score has NaN in pandas, and null elsewhere.

        Raises
        ------
        ValueError
            The frame has a column with the name of a score already, which would be lost; or the
            stories did not come from a frame.
        """
        if self._given is None:
            raise ValueError("the stories did not come from a frame")
        from . import _frames

        return _frames.with_scores(self._given, self._scored)

    def to_json(self) -> str:
        """The lines that ``storymeter score -o scores.jsonl`` writes, byte for byte."""
        return self._scored.json_lines().decode()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per story: id, system, item, words, scores, and what else is known."""
        return [json.loads(line) for line in self.to_json().split("\n")[:-1]]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write what ``storymeter score -o PATH`` writes: the scores, and a header beside them.

        The name says the format: ``.jsonl``, ``.csv`` or ``.parquet``.
        """
        self._scored.write(os.fspath(path))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A table with id, system, item, words, flags and one column per score, for all that speaks
        Arrow."""
        return self._scored.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """One row per story, with id, system, item, words, flags and scores. An absent score is NaN.

        If a frame of pandas was scored, the rows have its index.
        """
        from . import _frames

        return _frames.to_pandas(self._given, self._scored)

    def to_polars(self) -> pl.DataFrame:
        """One row per story, with id, system, item, words, flags and scores. An absent score is null."""
        import polars as pl

        return pl.DataFrame(self)

    def to_arrow(self) -> pa.Table:
        """One row per story, with id, system, item, words, flags and scores. An absent score is null."""
        import pyarrow as pa

        return pa.table(self)

    def _repr_html_(self) -> str:
        """The table for notebooks. Names of users are only text in it."""
        return html_table(self._scored.table_rows(), self._scored.signatures)


def html_table(rows: list[list[str]], signatures: list[str]) -> str:
    """A table for notebooks, with the signatures below it."""
    cell = "<td>{}</td>".format
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(cell(html.escape(text)) for text in row) + "</tr>" for row in rows[1:]
    )
    below = "<br>".join(html.escape(line) for line in signatures)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{below}</small></p>"
    )


class StoryScore(ScoreResult):
    """The score of one story, which is also a number.

    Examples
    --------
    >>> import storymeter as sm
    >>> one = sm.score("Rain fell.", metrics=["text-length"])
    >>> one.score, float(one)
    (3.0, 3.0)
    """

    @property
    def score(self) -> float:
        """The score by the first column; NaN where there is none, or if the story was skipped."""
        return float(self.scores[0]) if len(self) else float("nan")

    def __float__(self) -> float:
        return self.score
