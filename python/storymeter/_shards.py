"""Many files of stories into many files of scores, and back into one table.

A file of stories is a shard. Its scores become one file, under the base name of the input, with a
header and the statistics of its rows beside it. The header is written last, so it is the mark of a
finished shard. docs/shards.md has the whole contract.
"""

from __future__ import annotations

import glob
import os
import time
from dataclasses import dataclass
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import StorymeterError

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]


@dataclass(frozen=True)
class Shard:
    """A file of stories, and where its scores go.

    `place` counts from 0, and `of` is the length of the list of all shards. Both are written into
    the header, so that `merge` notices what is missing.
    """

    input: str
    output: str
    place: int
    of: int


@dataclass(frozen=True)
class ShardResult:
    """A finished shard: how many stories have scores, and how many records were skipped.

    `scored` is false if the shard was finished before.
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
    """The finished shards of a run, in the order of the list."""

    out: str
    shards: Tuple[ShardResult, ...]
    seconds: float

    @property
    def stories(self) -> int:
        """Stories with scores, in shards that were finished now or before."""
        return sum(result.stories for result in self.shards)

    @property
    def skipped(self) -> int:
        """Records that were skipped."""
        return sum(result.skipped for result in self.shards)

    @property
    def scored(self) -> int:
        """Shards that were scored by this run. All others were finished before."""
        return sum(result.scored for result in self.shards)

    def merge(self) -> Any:
        """The table that one run over all stories would print: see `storymeter.merge`."""
        return merge([f"{result.shard.output}.meta.json" for result in self.shards])


class BadShards(StorymeterError):
    """Some shards cannot be scored. All others are finished.

    ``bad`` has the shards with their messages, and ``run`` the finished ones.
    """

    #: As many are part of the message.
    SHOWN = 20

    def __init__(self, bad: Sequence[BadShard], run: ShardRun) -> None:
        self.bad = list(bad)
        self.run = run
        lines = [f"{printable(one.shard.input)}: {one.message}" for one in self.bad[: self.SHOWN]]
        if len(self.bad) > self.SHOWN:
            lines.append(f"and {len(self.bad) - self.SHOWN} more")
        total = len(self.bad) + len(run.shards)
        head = f"{len(self.bad)} of {total} shards cannot be scored; all others are finished"
        super().__init__("\n  ".join([head, *lines]))
