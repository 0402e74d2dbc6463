"""Stories in, scores out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _native
from ._result import ScoreResult, StoryScore

if TYPE_CHECKING:
    from ._shards import Shard, ShardResult

__all__ = ["Scorer", "score"]


@dataclass
class Reading:
    """What stories are, and how they are read; the native module takes it apart."""

    kind: str
    stories: Any
    references: list[list[str]] | None = None
    reference_files: list[str] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)
    format: str | None = None
    skip_bad: bool = False
    renumber: bool = False


class Scorer:
    """Scores stories, and keeps models and tables open between calls.

    It can be pickled: the other process opens the models again. Threads may share it.

    Parameters
    ----------
    model
        The model of a learned metric: a folder, a model file, or the name of an installed model.
        The default is part of the package.
    metrics
        The metrics, such as ``["union", "bleu", "rouge:hanna"]``. The default is the learned one.
    weights
        Folders or files with the weights or tables of metrics, by the name of a metric or a model.
    device
        ``"cpu"``, ``"cuda"``, or ``"cuda:1"`` for the second GPU.
    precision
        ``"int8"``, ``"f16"``, ``"bf16"`` or ``"f32"``.
    seed
        The seed of everything that is drawn at random.
    threads
        The number of threads; one per core by default. Results do not depend on it.

    Examples
    --------
    >>> import storymeter as sm
    >>> judge = sm.Scorer(metrics=["text-length"])
    >>> judge.score(["Rain fell.", "It fell and fell."]).scores
    array([3., 5.])
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        weights: Mapping[str, str | os.PathLike[str]] | None = None,
        device: str = "cpu",
        precision: str | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self._how = (
            None if model is None else os.fspath(model),
            _names(metrics),
            tuple((name, os.fspath(path)) for name, path in (weights or {}).items()),
            device,
            precision,
            seed,
            threads,
        )
        self._native = _open(*self._how)

    def __reduce__(self) -> tuple[Any, ...]:
        return _scorer_again, self._how

    def __repr__(self) -> str:
        model, _, _, device, _, _, _ = self._how
        return f"Scorer({model!r}, metrics={self.columns!r}, device={device!r})"

    @property
    def columns(self) -> list[str]:
        """The keys of the scores, in order."""
        return self._native.keys()

    def score(self, stories: Any, *, by: str | None = None, columns: Mapping[str, str] | None = None,
              references: Any = None, skip_bad: bool = False, renumber: bool = False,
              format: str | None = None, resamples: int = 1000, seed: int | None = None,
              threads: int | None = None, progress: Any = None) -> ScoreResult:
        """Score stories; see :func:`storymeter.score`."""
        kind, items, one = _source(stories)
        names = dict(columns or {})
        if by is not None:
            names["system"] = by
        texts, files = _references(references, len(items) if kind != "files" else None)
        reading = Reading(kind, items, texts, files, list(names.items()), format, skip_bad, renumber)
        seed = self._how[5] if seed is None else seed
        scored = self._native.score(reading, resamples, seed, threads, None)
        return (StoryScore if one else ScoreResult)(scored)

    def score_shard(
        self,
        shard: Shard,
        *,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,
        skip_bad: bool = False,
        renumber: bool = False,
        resume: bool = True,
    ) -> ShardResult:
        """Score one of the files of :func:`storymeter.plan_shards` into its file of scores.

        Shards can be scored in any order, by any process and on any machine. If a shard is finished
        already, nothing is done, unless ``resume=False``.
        """
        from . import _shards

        reading = _shards.Reading(tuple((columns or {}).items()), format, skip_bad, renumber)
        return _shards.score_shard(self, shard, reading, resume)


def score(
    stories: Any,
    *,
    metrics: str | Sequence[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    references: Any = None,
    skip_bad: bool = False,
    renumber: bool = False,
    format: str | None = None,
    seed: int = 0,
    resamples: int = 1000,
    threads: int | None = None,
    progress: Any = None,
) -> ScoreResult:
    """Score stories.

    Examples
    --------
    >>> import storymeter as sm
    >>> sm.score(["Rain fell.", "It fell and fell."], metrics=["text-length"]).mean
    4.0
    """
    scorer = Scorer(
        model, metrics=metrics, weights=weights, device=device, precision=precision, seed=seed,
        threads=threads,
    )
    return scorer.score(
        stories, by=by, columns=columns, references=references, skip_bad=skip_bad,
        renumber=renumber, format=format, resamples=resamples, progress=progress,
    )


def _open(
    model: str | None,
    metrics: tuple[str, ...] | None,
    weights: tuple[tuple[str, str], ...],
    device: str,
    precision: str | None,
    seed: int,
    threads: int | None,
) -> _native.Scorer:
    return _native.Scorer(
        None if metrics is None else list(metrics), model, list(weights), device, precision, seed,
        threads or 0,
    )


def _scorer_again(*how: Any) -> Scorer:
    """Make a scorer from a pickle."""
    model, metrics, weights, device, precision, seed, threads = how
    return Scorer(
        model, metrics=metrics, weights=dict(weights), device=device, precision=precision,
        seed=seed, threads=threads,
    )


def _names(metrics: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if metrics is None:
        return None
    names = metrics.split(",") if isinstance(metrics, str) else list(metrics)
    return tuple(name.strip() for name in names)


def _source(stories: Any) -> tuple[str, list[Any], bool]:
    """What kind of thing the stories are, as a list, and whether it is a single story."""
    if isinstance(stories, str):
        return "texts", [stories], True
    if isinstance(stories, os.PathLike):
        return "files", [os.fspath(stories)], False
    if isinstance(stories, Mapping):
        return "records", [stories], True
    if not isinstance(stories, Iterable) or isinstance(stories, (bytes, bytearray)):
        raise TypeError(
            "stories is a text, a list of texts or dictionaries, a path or a frame, and not of the "
            f"type {type(stories).__name__}"
        )
    items = list(stories)
    first = next((item for item in items if item is not None), None)
    if isinstance(first, os.PathLike):
        return "files", [os.fspath(item) for item in items], False
    return ("records" if isinstance(first, Mapping) else "texts"), items, False


def _references(given: Any, stories: int | None) -> tuple[list[list[str]] | None, list[str]]:
    if given is None:
        return None, []
    if isinstance(given, os.PathLike):
        return None, [os.fspath(given)]
    given = [given] if isinstance(given, str) else list(given)
    if given and all(isinstance(item, os.PathLike) for item in given):
        return None, [os.fspath(item) for item in given]
    if stories is None:
        raise TypeError("references of a file of stories are a path or a list of paths")
    return [[item] if isinstance(item, str) else list(item) for item in given], []
