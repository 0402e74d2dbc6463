"""Which system is better."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from . import _native
from ._how import checked_draws, checked_seed, checked_threads
from ._sheet import Sheet, sheets_of
from ._tables import table_of

__all__ = ["Comparison", "Comparisons", "RankedSystem", "SystemPair", "Verdict", "compare"]


@dataclass(frozen=True)
class RankedSystem:
    """One system of a comparison. A number that is absent is ``None``."""

    name: str
    rank: int
    stories: int
    absent: int
    mean: float | None
    sd: float | None
    interval: tuple[float, float] | None
    better_than: int
    worse_than: int


@dataclass(frozen=True)
class SystemPair:
    """Two systems of a comparison; the first one is ranked higher.

    Attributes
    ----------
    difference, interval
        The mean of the first less the mean of the second, with its confidence interval.
    p, p_corrected
        The two-sided p-value of a randomisation test, raw and corrected for the number of pairs.
    effect
        The difference in standard deviations of the stories (Cohen's d).
    better
        The name of the system that is significantly better; ``None`` if neither is.
    paired
        Whether both systems were compared on the same items.
    reason
        Why there is no comparison.
    """

    first: str
    second: str
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_corrected: float | None
    effect: float | None
    better: str | None
    paired: bool
    reason: str | None = None


@dataclass(frozen=True)
class Comparison:
    """All systems, compared by one metric or criterion.

    Attributes
    ----------
    metric
        The metric or criterion.
    conclusion
        What the numbers mean, in one sentence.
    warnings
        What a reader of the numbers should know.
    ranking
        The systems, best first.
    pairs
        Every two systems.
    signature
        How the numbers came about.
    """

    metric: str
    conclusion: str
    warnings: tuple[str, ...]
    ranking: tuple[RankedSystem, ...]
    pairs: tuple[SystemPair, ...]
    signature: str
    _given: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is known, as in the JSON of the command line."""
        return self._given

    def __str__(self) -> str:
        return self.conclusion


@dataclass(frozen=True)
class Verdict:
    """What all columns of a comparison say together.

    Attributes
    ----------
    winner
        The best system; ``None`` if none can be called the best.
    headline
        Who is best, or that nobody is.
    details
        Why, and what a reader should know, the most important first.
    trust
        How far the columns can be trusted, for the columns that say so.
    """

    winner: str | None
    headline: str
    details: tuple[str, ...]
    trust: tuple[str, ...]
    _given: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is known, as in the JSON of the command line."""
        return self._given

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.details])


class Comparisons(Sequence[Comparison]):
    """One :class:`Comparison` per metric. If there is only one metric, its parts are here too.

    Attributes
    ----------
    verdict
        What all metrics say together.
    conclusion, warnings, ranking, pairs, signature
        Those of the only comparison.
    sheets
        The tables that the command line prints.
    notes
        Remarks about the scores.
    """

    def __init__(self, written: str, sheets: list[Sheet], notes: Sequence[str]) -> None:
        self._json = written
        given = json.loads(written)
        self.verdict = _verdict(given["verdict"])
        self._comparisons = tuple(_comparison(one) for one in given["comparisons"])
        self.sheets = sheets
        self.notes = tuple(notes)

    @overload
    def __getitem__(self, at: int | str) -> Comparison: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Comparison, ...]: ...
    def __getitem__(self, at: int | str | slice) -> Comparison | tuple[Comparison, ...]:
        if isinstance(at, str):
            for one in self._comparisons:
                if one.metric == at:
                    return one
            raise KeyError(at)
        return self._comparisons[at]

    def __len__(self) -> int:
        return len(self._comparisons)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self._comparisons)

    @property
    def _only(self) -> Comparison:
        if len(self) != 1:
            names = ", ".join(repr(one.metric) for one in self)
            raise ValueError(f"there are several metrics; name one of {names}, as in x[name]")
        return self._comparisons[0]

    @property
    def conclusion(self) -> str:
        """What the numbers mean, in one sentence."""
        return self._only.conclusion

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the numbers should know."""
        return self._only.warnings

    @property
    def ranking(self) -> tuple[RankedSystem, ...]:
        """The systems, best first."""
        return self._only.ranking

    @property
    def pairs(self) -> tuple[SystemPair, ...]:
        """Every two systems."""
        return self._only.pairs

    @property
    def signature(self) -> str:
        """How the numbers came about, one line per metric."""
        return "\n".join(one.signature for one in self)

    def to_json(self) -> str:
        """What ``storymeter compare --format json`` prints for the same scores, byte for byte."""
        return f"{self._json}\n"

    def to_pandas(self) -> Any:
        """The means of the systems by all metrics, or the systems by the only one, for pandas."""
        return self._numbers.to_pandas()

    def to_polars(self) -> Any:
        """The means of the systems by all metrics, or the systems by the only one, for polars."""
        return self._numbers.to_polars()

    @property
    def _numbers(self) -> Sheet:
        return next(sheet for sheet in self.sheets if sheet.id != "leaders")

    @property
    def _said(self) -> list[str]:
        warned = dict.fromkeys(_warned(line) for one in self for line in one.warnings)
        return [self.verdict.headline, *self.verdict.details, *warned]

    def __str__(self) -> str:
        sheets = (str(sheet) for sheet in self.sheets)
        return "\n".join([*self._said, "", *sheets, *self.verdict.trust])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def paragraphs(lines: Sequence[str]) -> str:
            return "".join(f"<p>{html.escape(line)}</p>" for line in lines)

        sheets = "".join(sheet._repr_html_() for sheet in self.sheets)
        return paragraphs(self._said) + sheets + paragraphs(self.verdict.trust)


@dataclass
class _Settings:
    """What to compare, and how; the native module takes it apart."""

    metrics: list[str]
    without: list[str]
    against: str | None
    lower: list[str]
    higher: list[str]
    resamples: int
    confidence: float
    one_sided: bool
    correction: str
    seed: int


def compare(
    scores: Any,
    metric: str | Sequence[str] | None = None,
    *,
    against: str | None = None,
    without: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    higher: str | Sequence[str] = (),
    resamples: int = 9999,
    confidence: float = 0.95,
    one_sided: bool = False,
    correction: str = "holm",
    seed: int = 1,
    threads: int | None = None,
) -> Comparisons:
    """Compare systems by their scores: who is better, and how sure that is.

    Parameters
    ----------
    scores
        A result of :func:`storymeter.score` on stories with a ``system``, a file of scores or a
        list of them, or a frame with a column ``system`` and columns of scores. Columns ``item``
        and ``id`` say which stories belong together.
    metric
        The metrics or human criteria to compare by. The default is every column.
    against
        Test only the pairs with this system, which need a smaller correction.
    without
        Systems to leave out.
    lower, higher
        Metrics where less or more is better, whatever is known about them.
    resamples, confidence, one_sided, correction, seed
        How intervals and tests are made: the number of resamples, the confidence, whether tests
        are one-sided, ``"holm"``, ``"benjamini-hochberg"`` or ``"benjamini-yekutieli"``, and the
        seed.
    threads
        The number of threads; one per core by default.

    Returns
    -------
    Comparisons

    Examples
    --------
    >>> import storymeter as sm
    >>> stories = [
    ...     {"story": text * (1 + item % 3), "system": system, "item": item}
    ...     for item in range(12)
    ...     for system, text in [("long", "Rain fell all night. "), ("short", "Rain. ")]
    ... ]
    >>> found = sm.compare(sm.score(stories, metrics=["text-length"]), higher="text-length")
    >>> [system.name for system in found.ranking], found.pairs[0].better
    (['long', 'short'], 'long')
    """
    settings = _Settings(
        _listed(metric or ()), _listed(without), against, _listed(lower), _listed(higher),
        checked_draws("resamples", resamples), confidence, one_sided,
        correction, checked_seed(seed),
    )
    workers = checked_threads(threads)
    written, sheets, texts, notes = _native.compare(table_of(scores), settings, workers)
    return Comparisons(written, sheets_of(sheets, texts), notes)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _warned(warning: str) -> str:
    return f"Warning: {warning}"


def _number(given: Any) -> float | None:
    return None if isinstance(given, dict) else given


def _ends(given: Any) -> tuple[float, float] | None:
    return (given["low"], given["high"]) if given and "low" in given else None


def _verdict(given: dict[str, Any]) -> Verdict:
    sentences, outcome = given["sentences"], given["outcome"]
    trust = (
        _warned(line["text"]) if line["is_warning"] else line["text"]
        for line in sentences["trust"]
    )
    return Verdict(
        winner=outcome["winner"]["system"] if isinstance(outcome, dict) else None,
        headline=sentences["headline"],
        details=tuple(sentences["details"]),
        trust=tuple(trust),
        _given=given,
    )


def _comparison(given: dict[str, Any]) -> Comparison:
    def ranked(one: dict[str, Any]) -> RankedSystem:
        known = {"mean": _number(one["mean"]), "sd": _number(one["sd"])}
        return RankedSystem(**{**one, **known, "interval": _ends(one["interval"])})

    def pair(one: dict[str, Any]) -> SystemPair:
        first, second, found = one["first"], one["second"], one["found"]
        paired = "paired" in one["design"]
        if "absent" in found:
            reason = str(found["absent"])
            return SystemPair(first, second, None, None, None, None, None, None, paired, reason)
        better = {"first": first, "second": second, None: None}[found["better"]]
        p = found["p_value"]
        return SystemPair(
            first, second, found["difference"], _ends(found["interval"]), p["raw"], p["corrected"],
            _number(found["effect"]), better, paired,
        )

    return Comparison(
        metric=given["column"]["key"],
        conclusion=given["conclusion"],
        warnings=tuple(given["warnings"]),
        ranking=tuple(ranked(one) for one in given["systems"]),
        pairs=tuple(pair(one) for one in given["pairs"]),
        signature=given["signature"],
        _given=given,
    )
