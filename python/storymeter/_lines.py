"""Lines about the progress of a run over many shards."""

from __future__ import annotations

import sys
import time
from types import TracebackType

#: Seconds between two lines where they are not drawn over each other.
PAUSE = 10.0


class Lines:
    """Says on standard error how many shards are done, and how many stories per second.

    On a terminal, a line is drawn over the one before. Elsewhere there is one every ten seconds.
    """

    def __init__(self, shards: int, shown: bool) -> None:
        self._shards = shards
        self._stream = sys.stderr if shown else None
        self._terminal = shown and sys.stderr.isatty()
        self._began = self._written = time.monotonic()
        self._done = self._bad = self._stories = self._scored = 0
        self._open = False

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open:
            self._write("\n")

    def say(self, line: str) -> None:
        """Write a line that stays."""
        self._write(f"storymeter: {line}\n")

    def finished(self, stories: int, scored: bool) -> None:
        """Count a finished shard."""
        self._stories += stories
        self._scored += stories if scored else 0
        self._count()

    def bad(self) -> None:
        """Count a shard that cannot be scored."""
        self._bad += 1
        self._count()

    def _count(self) -> None:
        self._done += 1
        now = time.monotonic()
        if self._terminal or self._done == self._shards or now - self._written >= PAUSE:
            self._written = now
            rate = self._scored / max(now - self._began, 1e-9)
            line = (
                f"{self._done:,} of {count(self._shards, 'shard')} done"
                + (f", {self._bad:,} of them bad" if self._bad else "")
                + f", {self._stories:,} stories, {rate:,.0f} stories per second"
            )
            if self._terminal:
                self._open = True
                self._write(f"\r\x1b[Kstorymeter: {line}")
            else:
                self.say(line)

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


def count(number: float, thing: str) -> str:
    """A number and its thing, in the plural where there are several."""
    shown = f"{int(number):,}" if number == int(number) else f"{number:g}"
    return f"{shown} {thing}{'' if number == 1 else 's'}"
