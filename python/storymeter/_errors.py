"""The exceptions. All of them are under :class:`StorymeterError`, one class per kind of failure.

The facts are attributes, so that a program can react to them.
"""

from __future__ import annotations

import errno as _errno
from typing import Any

__all__ = [
    "AmbiguousNameError",
    "ChangedInputError",
    "CorpusStatsError",
    "CorpusStatsLackError",
    "CorpusStatsMismatchError",
    "CorpusStatsUnusedError",
    "DamageError",
    "DamagedShardError",
    "DeviceError",
    "DiskFullError",
    "DonorError",
    "DoubledShardError",
    "DuplicateIdError",
    "EvaluationError",
    "FileError",
    "FilePermissionError",
    "ForeignFileError",
    "FormatError",
    "InputError",
    "InternalError",
    "LackingStoryError",
    "LengthError",
    "LexiconError",
    "MetricError",
    "MissingFieldError",
    "MissingFileError",
    "MissingShardsError",
    "MissingWeightsError",
    "MixedShardsError",
    "ModelError",
    "NamedTwiceError",
    "NeedsCorpusError",
    "NoCorpusError",
    "NoHeaderError",
    "NoReferenceError",
    "NoSumsError",
    "NoSystemsError",
    "NotAFileError",
    "NotAHeaderError",
    "NotEmptyError",
    "NotJoinedError",
    "NumericError",
    "OnlyContextError",
    "OptionClashError",
    "OtherSettingsError",
    "OverInputError",
    "SameIdError",
    "SameKeyError",
    "SameOutputError",
    "ShardCountError",
    "ShardError",
    "ShardOutputError",
    "StatisticsError",
    "StorymeterError",
    "TooManyReferencesError",
    "TooManySystemsError",
    "UndefinedError",
    "UnknownMetricError",
    "UnknownNameError",
    "UnknownOptionError",
]


class StorymeterError(Exception):
    """Everything that storymeter reports.

    >>> import storymeter as sm
    >>> try:
    ...     sm.score(["Rain."], metrics=["blue"])
    ... except sm.StorymeterError as error:
    ...     print(error)
    there is no metric "blue"; did you mean "bleu"?
    """

    def __init__(self, message: str, **facts: Any) -> None:
        Exception.__init__(self, message)
        self._message = message
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._message, self._facts)


def _again(kind: type[StorymeterError], message: str, facts: dict[str, Any]) -> StorymeterError:
    """Make an exception from a pickle."""
    return kind(message, **facts)


class InternalError(StorymeterError, RuntimeError):
    """A mistake in storymeter itself."""


class InputError(StorymeterError, ValueError):
    """Stories, scores or a file are not what they should be.

    Attributes
    ----------
    file
        The file, or ``stories`` for stories in memory.
    line
        The 1-based line, or the 1-based number of the story in memory.
    field
        The field or column.
    """

    file: str | None = None
    line: int | None = None
    field: str | None = None


class MissingFieldError(InputError):
    """A record lacks a field that it must have, or a table a column.

    Attributes
    ----------
    name
        What was looked for.
    found
        The names that are there.
    """

    name: str
    found: list[str]


class DuplicateIdError(InputError):
    """Two stories of one system have the same id (``id``, ``system``)."""

    id: str
    system: str | None


class FormatError(InputError):
    """Neither the name nor the content of a file says which format it has."""


class NamedTwiceError(InputError):
    """Something that can be read only once is named twice."""


class OverInputError(InputError):
    """Writing an output would destroy an input (``output``, ``input``)."""

    output: str
    input: str


class SameOutputError(InputError):
    """Two outputs are one file (``first``, ``second``)."""

    first: str
    second: str


class NoReferenceError(InputError):
    """A story has no reference in a file that has only ``references`` of them."""

    references: int


class TooManyReferencesError(InputError):
    """A file has more ``references`` than there are ``stories``."""

    references: int
    stories: int


class LengthError(InputError):
    """Two lists that must have one entry per story have different lengths."""

    first: int
    second: int


class NoSystemsError(InputError):
    """No story says which system wrote it."""


class DamageError(StorymeterError, ValueError):
    """Settings of the damage that cannot be used, such as an unknown technique."""


class LexiconError(InputError):
    """A table of antonyms or a list of keywords cannot be used."""


class OnlyContextError(InputError):
    """A story has only its leading context, so that there is nothing to damage."""


class DonorError(InputError):
    """A file of donors has no story, or is a damaged sample."""


class FileError(StorymeterError, OSError):
    """The operating system refused to read or write a file (``file``, ``errno``)."""

    file: str | None = None
    line: int | None = None
    field: str | None = None

    def __init__(self, message: str, **facts: Any) -> None:
        StorymeterError.__init__(self, message, **facts)
        self.filename = self.file
        self.strerror = message


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class FilePermissionError(FileError, PermissionError):
    """The file may not be read or written."""


class DiskFullError(FileError):
    """There is no room left for an output."""

    errno = _errno.ENOSPC


class UnknownNameError(StorymeterError, LookupError, ValueError):
    """A name that is not known: a metric, a column, a system, a criterion.

    Attributes
    ----------
    what
        What was looked for, such as ``"column"``.
    name
        The name.
    nearest
        The nearest known name, where one is near.
    known
        All known names.
    """

    what: str
    name: str
    nearest: str | None = None
    known: list[str] = []


class AmbiguousNameError(StorymeterError, LookupError, ValueError):
    """A name that fits several things (``what``, ``name``, ``candidates``)."""

    what: str
    name: str
    candidates: list[str]


class MetricError(StorymeterError):
    """A metric cannot be built, or fails (``metric``)."""

    metric: str | None = None


class UnknownMetricError(UnknownNameError, MetricError):
    """There is no metric of that name."""


class UnknownOptionError(UnknownNameError, MetricError):
    """A metric has no option of that name."""


class OptionClashError(MetricError, ValueError):
    """Two options of a metric exclude each other (``first``, ``second``)."""

    first: str
    second: str


class SameKeyError(MetricError, ValueError):
    """Two metrics would write the same key (``first``, ``second``, ``key``)."""

    first: str
    second: str
    key: str


class LackingStoryError(InputError, MetricError):
    """A story lacks what a metric needs, such as a reference (``story``, ``metric``, ``what``)."""

    story: str
    what: str


class NoCorpusError(MetricError):
    """A metric that needs a first pass over all stories did not get one."""


class MissingWeightsError(MetricError):
    """The weights or tables of a metric were not found.

    Attributes
    ----------
    metric
        The metric.
    files
        Which files.
    name
        The name under which ``weights={name: path}`` takes them.
    searched
        The folders in which they were looked for.
    """

    files: str
    name: str
    searched: list[str]


class DeviceError(MetricError):
    """The device that a metric computes on failed.

    Attributes
    ----------
    problem
        ``"missing"``, ``"precision"``, ``"out of memory"`` or ``"driver"``.
    """

    problem: str


class NumericError(MetricError, ArithmeticError):
    """A computation left the range of numbers."""


class ModelError(MetricError):
    """A model of a learned metric is not what it should be."""


class StatisticsError(StorymeterError, ValueError):
    """Numbers on which a statistic cannot be computed."""


class UndefinedError(StatisticsError):
    """The numbers have no correlation (``coefficient``, ``reason``)."""

    coefficient: str
    reason: str


class EvaluationError(StorymeterError, ValueError):
    """A comparison or a meta-evaluation cannot be made."""


class CorpusStatsError(StorymeterError, ValueError):
    """A file of corpus statistics that does not fit the metrics (``file``)."""

    file: str


class CorpusStatsLackError(CorpusStatsError):
    """The file has no statistics of a metric (``metric``), but those of others (``known``)."""

    metric: str
    known: list[str]


class CorpusStatsMismatchError(CorpusStatsError):
    """They are of another setting of a metric (the signatures ``made_for`` and ``asked``)."""

    made_for: str
    asked: str


class CorpusStatsUnusedError(CorpusStatsError):
    """None of the metrics needs corpus statistics."""


class ShardError(StorymeterError, ValueError):
    """Files that cannot be scored one by one, or scores of such files that cannot be merged."""


class ShardOutputError(ShardError):
    """Two inputs would have the same output (``first``, ``second``, ``output``)."""

    first: str
    second: str
    output: str


class NotAFileError(ShardError):
    """An input that is not a file has no name for its output (``file``)."""

    file: str


class NotEmptyError(ShardError):
    """The folder of the outputs has files already (``folder``, ``there``)."""

    folder: str
    there: str


class ForeignFileError(ShardError):
    """A file has the name of an output, and nothing says that storymeter wrote it (``file``)."""

    file: str


class NeedsCorpusError(ShardError):
    """The scores of a metric depend on all stories (``metric``). ``corpus_stats`` helps."""

    metric: str


class OtherSettingsError(ShardError):
    """A finished shard was scored in another way (``header``, ``there``, ``wanted``)."""

    header: str
    there: str
    wanted: str


class ChangedInputError(ShardError):
    """An input was changed while it was read (``file``)."""

    file: str


class NotAHeaderError(ShardError):
    """A file that is not the header of a score file (``file``)."""

    file: str


class NoHeaderError(ShardError):
    """There is no header of a score file (``file``)."""

    file: str


class NoSumsError(ShardError):
    """A header of an older version has no sums (``header``)."""

    header: str


class TooManySystemsError(ShardError):
    """A header has no sums because there are too many systems (``header``)."""

    header: str


class MixedShardsError(ShardError):
    """Two shards were scored in different ways.

    Attributes
    ----------
    first, second
        Their headers.
    there, other
        How each of them was scored.
    """

    first: str
    second: str
    there: str
    other: str


class MissingShardsError(ShardError):
    """Shards are missing: ``places`` in a list of the length ``of``, counted from 0."""

    of: int
    places: list[int]


class ShardCountError(ShardError):
    """There are not as many shards as expected (``there``, ``expected``)."""

    there: int
    expected: int


class DoubledShardError(ShardError):
    """A shard is there twice (``first``, ``second``, ``input``)."""

    first: str
    second: str
    input: str


class SameIdError(ShardError):
    """Two shards have a story of the same system with the same id (``first``, ``second``)."""

    first: str
    second: str


class DamagedShardError(ShardError):
    """A file of a shard is not what its header says (``file``, ``problem``)."""

    file: str
    problem: str


class NotJoinedError(ShardError):
    """The scores of shards cannot be joined to one file (``file``, ``problem``)."""

    file: str
    problem: str
