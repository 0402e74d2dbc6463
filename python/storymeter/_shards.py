"""Many files of stories into many files of scores, and back into one table.

A file of stories is a shard. Its scores become one file, under the base name of the input, with
the statistics of its rows and a header beside it. The header is written last, so it is the mark of
a finished shard. docs/shards.md has the whole contract.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _how, _native
from ._errors import (
    DeviceError,
    DiskFullError,
    NeedsCorpusError,
    OtherSettingsError,
    StorymeterError,
)
from ._lines import Lines
from ._result import html_table

if TYPE_CHECKING:
    from ._score import Scorer

__all__ = [
    "BadShard",
    "BadShardsError",
    "MergedScores",
    "Shard",
    "ShardResult",
    "ShardRun",
    "merge",
    "plan_shards",
    "score_files",
]

#: What is wrong with all shards, and not with one of them.
GENERAL = (DeviceError, DiskFullError, NeedsCorpusError, OtherSettingsError)


@dataclass(frozen=True)
class Shard:
    """A file of stories, and where its scores go. :func:`plan_shards` makes it.

    Attributes
    ----------
    input, output
        The two files.
    format
        The format of the output.
    place
        The place of the input in the list of all inputs, from 0.
    of
        The length of that list. Both are written into the header of the output, so that
        :func:`merge` notices what is missing.
    """

    input: str
    output: str
    format: str
    place: int
    of: int


@dataclass(frozen=True)
class ShardResult:
    """A finished shard.

    Attributes
    ----------
    shard
        The shard.
    scored
        Whether it was scored now. Otherwise it was finished before.
    stories
        How many stories have scores.
    skipped
        How many bad records were skipped.
    seconds
        How long it took.
    """

    shard: Shard
    scored: bool
    stories: int
    skipped: int
    seconds: float


@dataclass(frozen=True)
class BadShard:
    """A shard that cannot be scored, and why."""

    shard: Shard
    message: str


@dataclass(frozen=True)
class ShardRun:
    """The finished shards of a run, in the order of the inputs."""

    shards: tuple[ShardResult, ...]
    seconds: float

    @property
    def stories(self) -> int:
        """The stories with scores, in shards that were finished now or before."""
        return sum(result.stories for result in self.shards)

    @property
    def skipped(self) -> int:
        """The bad records that were skipped."""
        return sum(result.skipped for result in self.shards)

    @property
    def scored(self) -> int:
        """The shards that were scored by this run. All others were finished before."""
        return sum(result.scored for result in self.shards)

    def merge(self, **options: Any) -> MergedScores:
        """Make the table that one run over all stories would print; see :func:`merge`."""
        return merge([f"{result.shard.output}.meta.json" for result in self.shards], **options)

    def __repr__(self) -> str:
        before = len(self.shards) - self.scored
        return (
            f"ShardRun({self.stories} stories, {self.skipped} records skipped, "
            f"{self.scored} shards scored, {before} finished before, {self.seconds:.1f} seconds)"
        )


class BadShardsError(StorymeterError):
    """Some shards cannot be scored. All others are finished.

    Attributes
    ----------
    bad
        The shards, each with what is wrong.
    run
        The finished shards.
    """

    bad: list[BadShard]
    run: ShardRun


@dataclass(frozen=True)
class Reading:
    """How the stories of a shard are read; the native module takes it apart."""

    columns: tuple[tuple[str, str], ...] = ()
    format: str | None = None
    skip_bad: bool = False
    renumber: bool = False


@dataclass
class Collected:
    """What becomes of the shards of a run, in any order."""

    shards: Sequence[Shard]
    finished: dict[int, ShardResult] = field(default_factory=dict)
    bad: dict[int, BadShard] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def finish(self) -> ShardRun:
        """Make the result of the run, or the exception that lists the bad shards."""
        seconds = time.monotonic() - self.began
        run = ShardRun(tuple(self.finished[place] for place in sorted(self.finished)), seconds)
        if self.bad:
            bad = [self.bad[place] for place in sorted(self.bad)]
            raise BadShardsError(_bad_shards(bad, len(self.shards)), bad=bad, run=run)
        return run


#: So many bad shards are part of a message.
SHOWN = 20


def _bad_shards(bad: Sequence[BadShard], of: int) -> str:
    lines = [f"{len(bad)} of {of} shards cannot be scored; all others are finished"]
    for one in bad[:SHOWN]:
        name = one.shard.input
        lines.append(one.message if name in one.message else f"{name}: {one.message}")
    if len(bad) > SHOWN:
        lines.append(f"and {len(bad) - SHOWN} more")
    return printable("\n  ".join(lines))


def printable(text: str) -> str:
    """Replace what could move the cursor of a terminal or colour it. Names of files may have it."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def plan_shards(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str],
    *,
    out_format: str | None = None,
    format: str | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
) -> list[Shard]:
    """Give each file of stories a file of scores in a folder, which is made if it is not there.

    ``Scorer.score_shard`` scores one of them, in any order and on any machine that sees the files
    under the same names. :func:`score_files` does all of it on one machine.

    Parameters
    ----------
    paths
        Files, folders of files, or patterns such as ``"stories/*.parquet"``. The order counts: it
        is that of the merged scores.
    out_dir
        The folder of the outputs. An output has the base name of its input.
    out_format
        ``"jsonl"``, ``"csv"`` or ``"parquet"``. The default is the format of the input, if it is
        one of these, and JSONL otherwise.
    format
        The format of the inputs. It is found from the names and the content by default.
    resume
        Whether outputs may be there already. Otherwise the folder must be empty.
    shard
        ``(i, n)`` chooses the shards i, i + n, i + 2n, ..., counted from 0: the part of job i of n.
    """
    return _shards_of(_prepared(paths, out_dir, out_format, format, resume, shard))


def _prepared(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str],
    out_format: str | None,
    format: str | None,
    resume: bool,
    shard: tuple[int, int] | None,
) -> _native.Prepared:
    """The shards of this job and the inputs of all jobs, in a folder that is there."""
    if shard is not None:
        _how.check_kind("shard", shard, tuple)
        if len(shard) != 2:
            raise ValueError(f"shard is a job and the number of jobs, and not {shard!r}")
        _how.checked_count("shard: the number of jobs", shard[1], 1, 2**63 - 1)
        _how.checked_count("shard: the job", shard[0], 0, shard[1] - 1)
    return _native.plan_shards(
        _expanded(paths), os.path.abspath(out_dir), out_format, format, resume, shard
    )


def _shards_of(prepared: _native.Prepared) -> list[Shard]:
    return [Shard(str(a), str(b), kind, place, of) for place, of, (a, b, kind) in prepared.own]


def _expanded(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files and folders that names and patterns stand for, as absolute paths."""
    _how.check_kind("paths", paths, (str, os.PathLike, Iterable))
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = []
    for one in given:
        path = os.fspath(one)
        if glob.has_magic(path) and not os.path.exists(path):
            matches = sorted(glob.glob(path))
            if not matches:
                raise ValueError(f"no file matches {path}")
            found += matches
        else:
            found.append(path)
    if not found:
        raise ValueError("there are no files to score")
    return [os.path.abspath(path) for path in found]


def score_shard(scorer: Scorer, shard: Shard, reading: Reading, resume: bool) -> ShardResult:
    """Score one shard with an open scorer."""
    began = time.monotonic()
    scored, stories, skipped = _native.score_shard(
        scorer._native, shard, reading, resume, None, None
    )
    return ShardResult(shard, scored, stories, skipped, time.monotonic() - began)


def score_files(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str],
    *,
    metrics: str | Sequence[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    out_format: str | None = None,
    skip_bad: bool = False,
    renumber: bool = False,
    seed: int = 0,
    threads: int | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    progress: bool = False,
    corpus_stats: str | os.PathLike[str] | None = None,
    clean: bool = False,
    keep_refusals: bool = False,
) -> ShardRun:
    """Score each file of stories into a file of scores, as ``storymeter score --out-dir`` does.

    It can be killed at any time and run again with ``resume=True``, and two runs at once do no
    harm: an output is complete or absent, and it is the same whoever made it.

    Parameters
    ----------
    paths, out_dir, out_format, format, resume, shard
        The files: see :func:`plan_shards`. With ``resume=True``, finished shards are kept, and a
        shard whose input has changed is scored again.
    metrics, model, weights, device, precision, seed, threads
        The scorer: see :class:`Scorer`.
    columns, skip_bad, renumber
        How the stories are read: see :func:`score`.
    progress
        Whether to write lines about the progress to standard error.
    corpus_stats
        A file with what metrics such as ``cider-d`` must know about all stories. If it is not
        there, it is first gathered from all files of `paths`, also from those of other jobs.
        Without it, such metrics are refused.
    clean, keep_refusals
        What is done with texts that are not only a story: see :class:`Scorer`.

    Raises
    ------
    BadShardsError
        Some files cannot be scored. All others were finished before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import storymeter as sm
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ["a", "b"]:
    ...     _ = (folder / f"{name}.jsonl").write_text(f'{{"id": "{name}", "story": "Rain fell."}}')
    >>> run = sm.score_files(folder / "*.jsonl", folder / "scores", metrics=["text-length"])
    >>> run.stories
    2
    >>> run.merge().mean
    3.0
    """
    prepared = _prepared(paths, out_dir, out_format, format, resume, shard)
    try:
        how = _how.how_of(
            model, metrics, weights, device, precision, seed, threads, corpus_stats, clean,
            keep_refusals,
        )
        return _scored(prepared, how, columns, format, skip_bad, renumber, resume, progress)
    except BaseException:
        # A run that fails leaves no folder without a file.
        prepared.remove_empty_folder()
        raise


def _scored(
    prepared: _native.Prepared,
    how: _how.How,
    columns: Mapping[str, str] | None,
    format: str | None,
    skip_bad: bool,
    renumber: bool,
    resume: bool,
    progress: bool,
) -> ShardRun:
    """Score the shards of this job."""
    from ._score import Scorer

    chosen = _shards_of(prepared)
    if how.corpus_stats is not None:
        file = os.path.abspath(how.corpus_stats)
        if any(file == one.output for one in chosen):
            raise ValueError(f"corpus_stats: {file} is also an output")
    names = _how.checked_columns(columns)
    inputs = [str(path) for path in prepared.inputs]
    corpus = _how.Reading("files", inputs, None, [], names, format, skip_bad, renumber)
    scorer = Scorer._opened(how, corpus)
    reading = Reading(tuple(names), format, skip_bad, renumber)
    collected = Collected(chosen)
    with Lines(len(chosen), progress) as lines:
        for one in chosen:
            try:
                result = score_shard(scorer, one, reading, resume)
            except GENERAL:
                raise
            except StorymeterError as error:
                collected.bad[one.place] = BadShard(one, str(error))
                lines.bad()
            else:
                collected.finished[one.place] = result
                lines.finished(result.stories, result.scored)
    return collected.finish()


def merge(
    shards: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    expect: int | None = None,
    resamples: int = 9999,
    seed: int | None = None,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    threads: int | None = None,
) -> MergedScores:
    """Make the table that one run over all stories would print, as ``storymeter merge`` does.

    Up to a million stories, the intervals are those of the bootstrap, to the last bit. Beyond, they
    are normal ones, and the signature says so. The order of the arguments does not matter.

    Parameters
    ----------
    shards
        Headers of scores (``*.meta.json``), or folders of them.
    expect
        The number of shards, if each was scored by a run of its own, so that the headers do not
        know of each other.
    resamples, seed
        How the intervals are drawn.
    weights
        The folders of metrics that add up statistics and need tables, as in :func:`score`.
    threads
        The number of threads; one per core by default.

    Raises
    ------
    ShardError
        Shards were scored in different ways, are missing, doubled or damaged: the classes below it
        tell which.
    """
    _how.check_kind("shards", shards, (str, os.PathLike, Iterable))
    given = [shards] if isinstance(shards, (str, os.PathLike)) else list(shards)
    tables = [(name, os.fspath(path)) for name, path in (weights or {}).items()]
    return MergedScores(
        _native.merge_shards(
            [os.fspath(path) for path in given],
            None if expect is None else _how.checked_count("expect", expect, 0, 2**63 - 1),
            _how.checked_draws("resamples", resamples),
            None if seed is None else _how.checked_seed(seed),
            tables,
            _how.checked_threads(threads),
        )
    )


class MergedScores:
    """The scores of many shards together: of all stories, and of each system.

    It prints as the table of ``storymeter merge``.
    """

    def __init__(self, merged: _native.Merged) -> None:
        self._merged = merged

    @property
    def stories(self) -> int:
        """How many stories have scores."""
        return self._merged.stories

    @property
    def shards(self) -> list[tuple[str, int]]:
        """The score files with their numbers of stories, in the order of the inputs."""
        return [(str(output), stories) for output, stories in self._merged.shards]

    @property
    def skipped(self) -> int:
        """How many bad records were skipped."""
        return self._merged.skipped[0]

    @property
    def columns(self) -> list[str]:
        """The keys of the scores."""
        return self._merged.columns

    @property
    def mean(self) -> float:
        """The score of all stories together, by the first column."""
        value = self._merged.summaries()[0][2][0][0]
        return float("nan") if value is None else value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of :attr:`mean`."""
        return self._merged.summaries()[0][2][0][2]

    @property
    def signature(self) -> str:
        """What a paper reports beside the scores, one line per metric."""
        return "\n".join(self._merged.signatures)

    @property
    def notes(self) -> list[str]:
        """What else is worth knowing, such as that nobody knows whether all shards are there."""
        return self._merged.notes

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per column and system; ``system`` is None for all stories together."""
        rows = []
        for at, column in enumerate(self.columns):
            for system, stories, cells in self._merged.summaries():
                score, absent, interval = cells[at]
                low, high = interval or (None, None)
                row = {"column": column, "system": system, "stories": stories, "score": score}
                rows.append({**row, "low": low, "high": high, "absent": absent})
        return rows

    def to_pandas(self) -> Any:
        """The rows of :meth:`to_dicts` as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.to_dicts())

    def to_polars(self) -> Any:
        """The rows of :meth:`to_dicts` as a polars DataFrame."""
        import polars

        return polars.DataFrame(self.to_dicts(), infer_schema_length=None)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Join the scores of all stories to one file, in the order of the inputs.

        Its ending is that of the score files: .jsonl, .csv or .parquet.
        """
        self._merged.write(os.fspath(path))

    def __str__(self) -> str:
        return self._merged.table().rstrip("\n")

    def _repr_html_(self) -> str:
        """The table for notebooks. Names of users are only text in it."""
        return html_table(self._merged.table_rows(), self._merged.signatures)

    def __repr__(self) -> str:
        return f"MergedScores({self.stories} stories of {len(self.shards)} shards)"
