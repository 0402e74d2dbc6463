"""How scores agree with human judgments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._how import checked_draws, checked_seed, checked_threads
from ._result import ScoreResult
from ._sheet import Sheet, sheets_of
from ._tables import columns_of, numbers_of, table_of

__all__ = ["Agreement", "Coefficient", "Correlation", "ScoreTest", "correlate"]


@dataclass(frozen=True)
class Coefficient:
    """A correlation.

    Attributes
    ----------
    value
        The coefficient; ``None`` if it is not defined.
    p
        The two-sided p-value of no correlation.
    interval
        The ends of the confidence interval; ``None`` where there are too few stories for one.
    n
        How many stories have both numbers.
    reason
        Why there is no value.
    """

    value: float | None
    p: float | None
    interval: tuple[float, float] | None
    n: int
    reason: str | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"the correlation is not defined: {self.reason}")
        return self.value


@dataclass(frozen=True)
class Agreement:
    """How one list of scores agrees with the judgments.

    ``without_score`` counts the stories with a human score and no score, and ``without_human``
    those with a score and no human score. Both are left out.
    """

    name: str
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient
    without_score: int
    without_human: int
    signature: str


@dataclass(frozen=True)
class ScoreTest:
    """A test whether one list of scores agrees better with the judgments than another.

    ``stronger`` is the one with the higher correlation. Correlations of scores where less is better
    count with the opposite sign. If it is not known whether more is better, as for plain lists, the
    size of the correlation counts. ``sides`` is ``"two"``, or ``"one"`` if the test was asked to be
    one-sided.
    """

    first: str
    second: str
    coefficient: str
    test: str
    sides: str
    n: int
    stronger: str | None
    p: float | None
    p_corrected: float | None
    correction: str
    reason: str | None = None


class Correlation(Mapping[str, Agreement]):
    """How scores agree with human judgments: one :class:`Agreement` per name of scores.

    Attributes
    ----------
    pearson, spearman, kendall
        The coefficients, if there is only one list of scores.
    tests
        Tests between every two lists of scores.
    sheets
        The tables that the command line prints.
    signature
        How the numbers came about, one line per list of scores.
    """

    def __init__(self, written: str, sheets: list[Sheet]) -> None:
        given = json.loads(written)
        self._json = written
        self.tests = tuple(ScoreTest(**test) for test in given.pop("=tests", []))
        self.sheets = sheets
        self._agreements = {name: _agreement(name, one) for name, one in given.items()}

    def __getitem__(self, name: str) -> Agreement:
        return self._agreements[name]

    def __iter__(self) -> Any:
        return iter(self._agreements)

    def __len__(self) -> int:
        return len(self._agreements)

    @property
    def _only(self) -> Agreement:
        if len(self) != 1:
            names = ", ".join(repr(name) for name in self)
            raise ValueError(f"there are several lists of scores; name one of {names}, as in x[name]")
        return next(iter(self._agreements.values()))

    @property
    def pearson(self) -> Coefficient:
        """Pearson's r."""
        return self._only.pearson

    @property
    def spearman(self) -> Coefficient:
        """Spearman's rho."""
        return self._only.spearman

    @property
    def kendall(self) -> Coefficient:
        """Kendall's tau-b."""
        return self._only.kendall

    @property
    def signature(self) -> str:
        """How the numbers came about, one line per list of scores."""
        return "\n".join(one.signature for one in self.values())

    def to_json(self) -> str:
        """What ``storymeter correlate --json`` prints for the same numbers, byte for byte."""
        return f"{self._json}\n"

    def to_pandas(self) -> Any:
        """The correlations as a frame of pandas."""
        return self.sheets[0].to_pandas()

    def to_polars(self) -> Any:
        """The correlations as a frame of polars."""
        return self.sheets[0].to_polars()

    def __str__(self) -> str:
        return "\n".join(str(sheet) for sheet in self.sheets)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(sheet._repr_html_() for sheet in self.sheets)


@dataclass
class _Settings:
    """How metrics are compared; the native module takes it apart."""

    test: str = "williams"
    one_sided: bool = False
    correction: str = "holm"
    interval: str = "fisher"
    confidence: float = 0.95
    resamples: int = 1000
    draws: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        self.resamples = checked_draws("resamples", self.resamples)
        if self.draws is not None:
            self.draws = checked_draws("draws", self.draws)
        self.seed = checked_seed(self.seed)


def correlate(
    scores: Any,
    human: Any = None,
    *,
    criterion: str | None = None,
    test: str = "williams",
    one_sided: bool = False,
    correction: str = "holm",
    interval: str = "fisher",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 1,
    threads: int | None = None,
) -> Correlation:
    """Correlate scores with human judgments, story by story, where both are there.

    At least three stories must have both. Up to nine, p-values are exact. Where ``scores`` says that
    several stories are of one item, p-values and intervals rest on whole items, because stories of
    one item are not independent of each other.

    Parameters
    ----------
    scores
        Numbers in the order of the stories: a list, an array, a column of a frame, or a result of
        :func:`storymeter.score`. Several lists with names, in a dictionary or a frame, or a result
        with several metrics, are also tested against each other. ``None`` and NaN are absent.
    human
        The human scores in the same order. Without it, the ratings of the scored stories are taken,
        or the columns ``human/CRITERION`` of a frame.
    criterion
        The name of the human scores, and which of several criteria is taken.
    test
        The test between two lists of scores: ``"williams"``, ``"steiger"``, ``"meng"`` or
        ``"permutation"``.
    one_sided
        Test only whether the better one of two is better by chance, as in the papers. By default
        tests are two-sided, because nobody says beforehand which one is better.
    correction
        How p-values of these tests are corrected for their number: ``"holm"``,
        ``"benjamini-hochberg"`` or ``"benjamini-yekutieli"``.
    interval
        How intervals are computed: ``"fisher"``, ``"percentile"`` or ``"bca"``.
    confidence
        The confidence of the intervals.
    resamples, seed
        The number of resamples of bootstrap intervals and permutation tests, and their seed.
    threads
        The number of threads; one per core by default.

    Returns
    -------
    Correlation

    Examples
    --------
    >>> import storymeter as sm
    >>> found = sm.correlate([0.3, 0.1, 0.4, 0.6, None], [3, 1, 2, 5, 4])
    >>> found.kendall.n, round(found.kendall.value, 4)
    (4, 0.6667)
    """
    rated: list[tuple[str, list[float | None]]] = []
    named: list[tuple[str, str | None, str, list[float | None]]]
    items: list[int] = []
    if isinstance(scores, ScoreResult):
        native = table_of(scores)
        table, items = native.columns(), native.items()
        named = [(key, key, way, values) for key, is_human, way, values in table if not is_human]
        rated = [(key, values) for key, is_human, _, values in table if is_human]
        if len(named) == 1:
            named = [("scores", *named[0][1:])]
    elif (columns := columns_of(scores)) is not None and _is_table(scores):
        if human is None:
            native = table_of(columns)
            found, items = native.columns(), native.items()
            named = [(key, None, way, values) for key, is_human, way, values in found
                     if not is_human]
            rated = [(key, values) for key, is_human, _, values in found if is_human]
        else:
            named = [(name, None, "none", numbers_of(one, f"scores[{name!r}]"))
                     for name, one in columns.items()]
    else:
        named = [("scores", None, "none", numbers_of(scores, "scores"))]
    name, judged = _human(human, criterion, rated)
    settings = _Settings(test, one_sided, correction, interval, confidence, resamples, None, seed)
    written, sheets, texts = _native.correlate(
        name, judged, named, items, settings, checked_threads(threads)
    )
    return Correlation(written, sheets_of(sheets, texts))


def _is_table(scores: Any) -> bool:
    """Whether this has named columns; a column of a frame has none."""
    return isinstance(scores, Mapping) or hasattr(scores, "columns") or hasattr(
        scores, "column_names"
    )


def _human(
    human: Any, criterion: str | None, rated: list[tuple[str, list[float | None]]]
) -> tuple[str, list[float | None]]:
    if human is not None:
        return criterion or "human", numbers_of(human, "human")
    known = [name for name, _ in rated]
    if criterion is not None and criterion not in known:
        raise ValueError(f"criterion: {criterion!r} is none of {known}")
    if not rated:
        raise TypeError("human is missing, and the scored stories have no ratings")
    if criterion is None and len(rated) > 1:
        raise ValueError(f"there are several criteria; name one with criterion: {known}")
    return next(one for one in rated if criterion in (None, one[0]))


def _agreement(name: str, given: dict[str, Any]) -> Agreement:
    def one(coefficient: str) -> Coefficient:
        value, ends = given[coefficient], given[f"interval_{coefficient}"]
        return Coefficient(
            value,
            given[f"p_{coefficient}"],
            None if ends is None else (ends[0], ends[1]),
            given["n"],
            given.get("reason") if value is None else None,
        )

    return Agreement(
        name, one("pearson"), one("spearman"), one("kendall"), given["without_score"],
        given["without_human"], given["signature"],
    )
