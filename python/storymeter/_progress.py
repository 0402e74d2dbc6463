"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Show = Callable[[str, int, "int | None"], object]


@contextmanager
def shown(progress: Any) -> Iterator[Show | None]:
    """What is told of the progress, if anybody wants to see it."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _bar()
        try:
            yield bar.show
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise TypeError(
            f"progress is True, False or a function, and not of the type {type(progress).__name__}"
        )


def _bar() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line() if sys.stderr.isatty() else _Stages()
    return _Tqdm(tqdm)


class _Tqdm:
    """The bar of tqdm, which notebooks show as a widget."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._what = ""

    def show(self, what: str, done: int, total: int | None) -> None:
        if what != self._what:
            self.close()
            self._bar = self._tqdm(desc=what, total=total, unit=" stories")
            self._what = what
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Stages:
    """One line per stage, for logs, where a line cannot be written again."""

    def __init__(self) -> None:
        self._what = ""

    def show(self, what: str, done: int, total: int | None) -> None:
        if what != self._what:
            self._what = what
            sys.stderr.write(what + "\n" if total is None else f"{what}: {total} in all\n")
            sys.stderr.flush()

    def close(self) -> None:
        pass


class _Line:
    """One line, which is written again and again."""

    def __init__(self) -> None:
        self._length = 0

    def show(self, what: str, done: int, total: int | None) -> None:
        line = f"{what}: {done}" + ("" if total is None else f" of {total}")
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def close(self) -> None:
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
