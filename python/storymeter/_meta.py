"""How good the metrics are: a meta-evaluation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from ._compare import _listed
from ._correlate import _Settings as _StudySettings
from ._how import checked_threads
from ._sheet import Sheet, sheets_of
from ._tables import table_of

__all__ = ["MetaStudy", "meta"]


class MetaStudy(Mapping[str, Sheet]):
    """A meta-evaluation: its sheets by their ids. It prints as ``storymeter meta table`` does.

    Attributes
    ----------
    signature
        How the numbers came about.
    warnings
        What a reader of the numbers should know.
    """

    def __init__(self, study: _native.Study) -> None:
        self._study = study
        self._sheets = {sheet.id: sheet for sheet in sheets_of(*study.sheets())}
        self.signature = study.signature
        self.warnings = tuple(study.warnings)

    def __getitem__(self, id: str) -> Sheet:
        try:
            return self._sheets[id]
        except KeyError:
            known = ", ".join(self._sheets)
            raise KeyError(f"there is no sheet {id!r}; there are: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._sheets)

    def __len__(self) -> int:
        return len(self._sheets)

    def to_json(self) -> str:
        """What ``storymeter meta table --format json`` prints for the same scores, byte for byte."""
        return f"{self._study.json()}\n"

    def write(
        self, folder: str | os.PathLike[str], *, all: bool = False, raw_csv: bool = False
    ) -> list[str]:
        """Write the folder that ``storymeter meta table -o`` writes.

        Parameters
        ----------
        folder
            The folder. It is made if it does not exist; an older study in it is replaced.
        all
            Write all sheets: every table, and the numbers behind every figure. By default the
            sheets that people open first are written beside the study.
        raw_csv
            Write names to CSV as they are, even if a spreadsheet would run them as formulas.

        Returns
        -------
        list of str
            The paths of the files.
        """
        return [os.fspath(path) for path in self._study.write(os.fspath(folder), all, raw_csv)]

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "scores",
        highlight: str | None = None,
    ) -> None:
        """Write one HTML page with the study and its scores, which needs no network.

        Parameters
        ----------
        path
            The page.
        name
            What the page calls the scores.
        highlight
            A metric that tables, figures and sentences point out.
        """
        self._study.report(os.fspath(path), name, highlight)

    def __str__(self) -> str:
        return self._study.text()

    def __repr__(self) -> str:
        return f"<meta-evaluation with {len(self)} sheets: {self.signature}>"

    def _repr_html_(self) -> str:
        shown = [self[id] for id in ("best-metrics", "correlations") if id in self]
        return "".join(sheet._repr_html_() for sheet in shown or self.values())


@dataclass
class _Settings:
    """What to analyse, and how; the native module takes it apart."""

    without: list[str]
    lower: list[str]
    higher: list[str]
    scale: str | None
    stories: str | None
    errors: str | None
    drift: str | None
    study: _StudySettings


def meta(
    scores: Any,
    *,
    without: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    higher: str | Sequence[str] = (),
    scale: str | tuple[float, float] | None = None,
    stories: str | os.PathLike[str] | None = None,
    errors: str | os.PathLike[str] | None = None,
    drift: str | os.PathLike[str] | None = None,
    test: str = "williams",
    one_sided: bool = False,
    correction: str = "holm",
    interval: str = "fisher",
    confidence: float = 0.95,
    resamples: int = 1000,
    draws: int | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> MetaStudy:
    """Evaluate metrics by human ratings: how well each of them agrees with people.

    Parameters
    ----------
    scores
        A result of :func:`storymeter.score` on stories with ratings, a file of scores or a list of
        them, or a frame with columns ``system``, ``item``, ``human/CRITERION`` and one column per
        metric.
    without
        Systems to leave out of correlations and comparisons, such as human writers.
    lower, higher
        Metrics where less or more is better, whatever is known about them.
    scale
        The lowest and the highest rating, as ``(1, 5)`` or ``"1..5"``.
    stories
        A file of stories with ratings, systems and items, joined by system and id.
    errors, drift
        A file of error types that raters named, and scores by metrics trained on other data.
    test, one_sided, correction, interval, confidence, resamples
        How metrics are compared; see :func:`storymeter.correlate`.
    draws, seed
        The draws for each pair of systems, 9,999 by default, and the seed of all draws.
    threads
        The number of threads; one per core by default.

    Returns
    -------
    MetaStudy

    Examples
    --------
    >>> import storymeter as sm
    >>> rows = [
    ...     {"system": system, "item": item, "human/plot": 1 + (item + at) % 5,
    ...      "mine": 0.1 * ((item + at) % 5) + 0.01 * item}
    ...     for item in range(8)
    ...     for at, system in enumerate(["rain", "tale", "Human"])
    ... ]
    >>> study = sm.meta(rows, without="Human", higher="mine")
    >>> "correlations" in study
    True
    """
    if scale is not None and not isinstance(scale, str):
        low, high = scale
        scale = f"{low}..{high}"
    settings = _Settings(
        _listed(without), _listed(lower), _listed(higher), scale, _path(stories), _path(errors),
        _path(drift),
        _StudySettings(test, one_sided, correction, interval, confidence, resamples, draws, seed),
    )
    return MetaStudy(_native.meta(table_of(scores), settings, checked_threads(threads)))


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)
