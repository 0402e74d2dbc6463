"""How a scorer is opened, and the checks of arguments."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._errors import MissingFileError
from ._progress import shown


@dataclass
class Reading:
    """What stories are, and how they are read. The native module takes it apart."""

    kind: str
    stories: Any
    references: list[list[str]] | None = None
    reference_files: list[str] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)
    format: str | None = None
    skip_bad: bool = False
    renumber: bool = False


@dataclass(frozen=True)
class How:
    """How a scorer is opened, which is also what a pickle of it holds."""

    model: str | None
    metrics: tuple[str, ...] | None
    weights: tuple[tuple[str, str], ...]
    device: str
    precision: str | None
    seed: int | None
    threads: int
    corpus_stats: str | None
    clean: bool = False
    keep_refusals: bool = False

    def open(self, corpus: Reading | None = None, progress: Any = None) -> _native.Scorer:
        """Open the models and tables.

        If there is no file of corpus statistics yet, it is gathered from the files of `corpus`.
        """
        file = self.corpus_stats
        if file is None or os.path.exists(file):
            corpus = None
        elif corpus is None:
            raise no_corpus_stats(file)
        metrics = None if self.metrics is None else list(self.metrics)
        with shown(progress) as show:
            return _native.Scorer(
                metrics, self.model, list(self.weights), self.device, self.precision,
                self.seed or 0, self.threads, file, self.clean, self.keep_refusals, corpus, show,
            )


# The scorers that `score` opened last. Models and tables from files are opened each time, because
# the files may have changed.
opened_again = functools.lru_cache(maxsize=2)(How.open)


def no_corpus_stats(file: str) -> MissingFileError:
    """Make the exception for a file of corpus statistics that is needed and not there."""
    return MissingFileError(
        f"{file}: there are no such corpus statistics; sm.score and sm.score_files gather them from "
        "files of stories, and so does `storymeter score FILES --corpus-stats FILE`",
        file=file,
        errno=errno.ENOENT,
    )


def how_of(
    model: str | os.PathLike[str] | None,
    metrics: str | Sequence[str] | None,
    weights: Mapping[str, str | os.PathLike[str]] | None,
    device: str,
    precision: str | None,
    seed: int | None,
    threads: int | None,
    corpus_stats: str | os.PathLike[str] | None = None,
    clean: bool = False,
    keep_refusals: bool = False,
) -> How:
    check_kind("device", device, str)
    if precision is not None:
        check_kind("precision", precision, str)
    if model is not None:
        check_kind("model", model, (str, os.PathLike))
    if weights is not None:
        check_kind("weights", weights, Mapping)
    if corpus_stats is not None:
        check_kind("corpus_stats", corpus_stats, (str, os.PathLike))
    folders = []
    for name, path in (weights or {}).items():
        check_kind(f"weights[{name!r}]", path, (str, os.PathLike))
        folders.append((name, os.fspath(path)))
    return How(
        None if model is None else os.fspath(model),
        _names(metrics),
        tuple(folders),
        device,
        precision,
        None if seed is None else checked_seed(seed),
        checked_threads(threads),
        None if corpus_stats is None else os.fspath(corpus_stats),
        bool(clean),
        bool(keep_refusals),
    )


def _names(metrics: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if metrics is None:
        return None
    if isinstance(metrics, str):
        metrics = metrics.split(",")
    check_kind("metrics", metrics, Iterable)
    names = []
    for at, name in enumerate(metrics):
        check_kind(f"metrics[{at}]", name, str)
        if not name.strip():
            raise ValueError("metrics: a metric has no name")
        names.append(name.strip())
    if not names:
        raise ValueError("metrics: no metric is named")
    return tuple(names)


def check_kind(name: str, value: Any, kinds: Any) -> None:
    """Raise a TypeError that names the argument if it is of another kind."""
    if not isinstance(value, kinds):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} is of the type {type(value).__name__}, and not {wanted}")


def checked_count(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is of the type {type(value).__name__}, and not int")
    number = value.__index__()
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}, and not between {least} and {most}")
    return int(number)


def seed_of_draws(seed: int | None) -> int:
    """The seed of intervals and tests, which is 1 wherever systems are compared."""
    return 1 if seed is None else seed


def checked_seed(seed: Any) -> int:
    return checked_count("seed", seed, 0, 2**64 - 1)


def checked_threads(threads: Any) -> int:
    """The number of threads; 0, which is one per core, if none is given."""
    return 0 if threads is None else checked_count("threads", threads, 1, 1024)


def checked_draws(name: str, value: Any) -> int:
    """A number of resamples, draws or samples, within the limits of the command line."""
    return checked_count(name, value, 1, 1_000_000)


def checked_columns(columns: Any) -> list[tuple[str, str]]:
    """The names of fields or columns that the user gives."""
    if columns is None:
        return []
    check_kind("columns", columns, Mapping)
    for field_, name in columns.items():
        check_kind("columns: a field", field_, str)
        check_kind(f"columns[{field_!r}]", name, str)
    return list(columns.items())
