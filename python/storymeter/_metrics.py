"""The catalogue of metrics, and one metric on plain strings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import _native
from ._errors import LengthError
from ._frames import is_no_list
from ._how import checked_threads, how_of
from ._sheet import html_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["CorpusScore", "Metric", "MetricInfo", "MetricList", "metric", "metrics"]


@dataclass(frozen=True)
class MetricInfo:
    """What the catalogue says about a metric.

    Attributes
    ----------
    ids
        The ids. Metrics that differ only in a number have several.
    name
        The ids, written short: ``"novelty-{1,2,3}"``.
    better
        ``"higher"``, ``"lower"``, or ``"-"`` where neither is better.
    needs
        What the metric needs besides the story: ``"reference"``, ``"prompt"``, ``"both"`` or
        ``"-"``.
    range
        The possible values, in words.
    options
        The options that may follow a colon.
    summary
        What the metric measures.
    """

    ids: tuple[str, ...]
    name: str
    better: str
    needs: str
    range: str
    options: tuple[str, ...]
    summary: str


class MetricList(Sequence[MetricInfo]):
    """All metrics. It prints as ``storymeter metrics list`` does."""

    def __init__(self, infos: Sequence[MetricInfo], text: str) -> None:
        self._infos = tuple(infos)
        self._text = text

    @overload
    def __getitem__(self, at: int) -> MetricInfo: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[MetricInfo, ...]: ...
    def __getitem__(self, at: int | slice) -> MetricInfo | tuple[MetricInfo, ...]:
        return self._infos[at]

    def __len__(self) -> int:
        return len(self._infos)

    def __iter__(self) -> Iterator[MetricInfo]:
        return iter(self._infos)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per metric."""
        return [
            {
                "name": info.name,
                "better": info.better,
                "needs": info.needs,
                "range": info.range,
                "options": ", ".join(info.options),
                "summary": info.summary,
            }
            for info in self
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The catalogue as a frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_dicts())

    def to_polars(self) -> pl.DataFrame:
        """The catalogue as a frame of polars."""
        import polars as pl

        return pl.DataFrame(self.to_dicts())

    def _repr_html_(self) -> str:
        rows = [[one.name, one.better, one.needs, one.range, one.summary] for one in self]
        return html_table(["name", "better", "needs", "range", "summary"], rows)


def metrics() -> MetricList:
    """List all metrics.

    Returns
    -------
    MetricList
        One entry per metric, the learned ones first. ``to_pandas()`` makes a frame of it.

    Examples
    --------
    >>> import storymeter as sm
    >>> [info.name for info in sm.metrics() if info.name.startswith("novelty")]
    ['novelty-{1,2,3}']
    >>> next(info.needs for info in sm.metrics() if info.name == "bleu")
    'reference'
    """
    listed, text = _native.list_metrics()
    infos = [
        MetricInfo(tuple(one.pop("ids")), options=tuple(one.pop("options")), **one)
        for one in json.loads(listed)
    ]
    return MetricList(infos, text)


class CorpusScore:
    """The score of some texts together. It prints as the line that people paste into a paper.

    Attributes
    ----------
    value
        The score; ``None`` if it is absent. A family of metrics has several, of which this is the
        first.
    values
        All scores, by key.
    reasons
        Why scores are absent, by key.
    signature
        How the number came about.
    """

    def __init__(
        self,
        line: str,
        columns: Sequence[tuple[str, float | None, str | None]],
        signature: str,
    ) -> None:
        self._line = line
        self.values: Mapping[str, float | None] = {key: value for key, value, _ in columns}
        self.reasons: Mapping[str, str] = {key: why for key, _, why in columns if why is not None}
        self.value: float | None = columns[0][1] if columns else None
        self.signature = signature

    def __str__(self) -> str:
        return f"{self._line}{'  ' if len(self.values) == 1 else chr(10)}{self.signature}"

    def __repr__(self) -> str:
        return str(self)

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"there is no score: {next(iter(self.reasons.values()), '')}")
        return self.value


class Metric:
    """One metric by its name; :func:`metric` makes it.

    It can be pickled, and threads may share it. A pickle holds only the name and the options.
    """

    def __init__(
        self,
        name: str,
        weights: Mapping[str, str | os.PathLike[str]] | None = None,
        device: str = "cpu",
        precision: str | None = None,
        seed: int = 0,
    ) -> None:
        how = how_of(None, None, weights, device, precision, seed, None)
        self.name = name
        self._options = (weights, device, precision, seed)
        self._native = _native.Metric(
            name, list(how.weights), how.device, how.precision, how.seed or 0
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Metric, (self.name, *self._options)

    def __repr__(self) -> str:
        return f"storymeter.metric({self.name!r})"

    @property
    def page(self) -> str:
        """The page of the metric: its definition, options, source, direction and range."""
        return _native.metric_page(self.name.partition(":")[0])

    def help(self) -> None:
        """Print the page of the metric, as ``storymeter metrics show`` does."""
        print(self.page, end="")

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: Sequence[str | Sequence[str]] | None = None,
        *,
        threads: int | None = None,
    ) -> CorpusScore:
        """Score all texts together, as a paper would report it.

        All texts count, also empty ones and refusals, as in sacrebleu. :func:`storymeter.score`
        leaves them out unless it is called with ``keep_refusals=True``; signatures say
        ``refusals:kept`` in both cases.

        Parameters
        ----------
        hypotheses
            The texts.
        references
            One entry per text: a text, or a list of texts. The numbers of references may differ.
            sacrebleu wants lists by stream instead; ``list(zip(*streams))`` turns them around.
        threads
            The number of threads; one per core by default.

        Returns
        -------
        CorpusScore

        Examples
        --------
        >>> import storymeter as sm
        >>> score = sm.metric("bleu").corpus_score(
        ...     ["the cat sat on the mat"], ["the cat sat on a mat"]
        ... )
        >>> round(score.value, 4)
        53.7285
        >>> str(score).split("|")[0]
        'bleu 53.7285  bleu'
        """
        texts = _texts(hypotheses, "hypotheses", "story_score takes one text")
        given = _references(references, len(texts))
        return CorpusScore(*self._native.corpus_score(texts, given, checked_threads(threads)))

    def story_score(
        self, hypothesis: str, references: str | Sequence[str] | None = None
    ) -> CorpusScore:
        """Score one text.

        Parameters
        ----------
        hypothesis
            The text.
        references
            A text, or a list of texts.

        Returns
        -------
        CorpusScore

        Examples
        --------
        >>> import storymeter as sm
        >>> sm.metric("text-length").story_score("The lamp went out.").value
        5.0
        """
        if not isinstance(hypothesis, str):
            raise TypeError(f"hypothesis is a text, not of the type {type(hypothesis).__name__}")
        if references is None:
            given = []
        elif isinstance(references, str):
            given = [references]
        else:
            given = _texts(references, "references", "")
        return CorpusScore(*self._native.story_score(hypothesis, given))


def metric(
    name: str,
    *,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    seed: int = 0,
) -> Metric:
    """Find a metric by its name.

    Parameters
    ----------
    name
        The id, with options after a colon: ``"bleu"``, ``"rouge:hanna"``, ``"chrf:plus-plus"``.
    weights, device, precision, seed
        As for :class:`Scorer`.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import storymeter as sm
    >>> sm.metric("blue")
    Traceback (most recent call last):
    ...
    storymeter._errors.UnknownMetricError: there is no metric "blue"; did you mean "bleu"?
    """
    return Metric(name, weights, device, precision, seed)


def _texts(texts: Any, argument: str, hint: str) -> list[str]:
    if isinstance(texts, str):
        hint = f"; {hint}" if hint else ""
        raise TypeError(f"{argument} is a list of texts, not one text{hint}")
    if is_no_list(texts):
        kind = type(texts).__name__
        raise TypeError(f"{argument} is a list of texts, and not of the type {kind}")
    listed = list(texts)
    for at, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"{argument}[{at}] is not a text, but of the type {type(text).__name__}")
    return listed


def _references(references: Any, count: int) -> list[list[str]]:
    if references is None:
        return []
    if isinstance(references, str):
        raise TypeError("references has one entry per text, and is not one text")
    if is_no_list(references):
        raise TypeError(
            "references is a list with one entry per text, and not of the type "
            f"{type(references).__name__}"
        )
    listed = list(references)
    if len(listed) != count:
        message = f"{count} texts, but {len(listed)} entries in references"
        streams = [one for one in listed if not isinstance(one, str) and hasattr(one, "__len__")]
        if listed and len(streams) == len(listed) and all(len(one) == count for one in streams):
            message += (
                "; references has one entry per text, and these look like streams of references: "
                "list(zip(*references)) turns them around"
            )
        raise LengthError(message, first=count, second=len(listed))
    return [
        [one] if isinstance(one, str) else _texts(one, f"references[{at}]", "")
        for at, one in enumerate(listed)
    ]
