"""Stories that are given in many forms, as the native module reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _frames
from ._how import Reading
from ._score import _reading


def reading_of(
    stories: Any,
    *,
    columns: Mapping[str, str] | None,
    skip_bad: bool,
    renumber: bool,
    format: str | None,
) -> tuple[Reading, bool]:
    """How the stories are read, and whether they are a single story."""
    reading = _reading(stories, None, columns, None, format, skip_bad, renumber)
    one = reading.kind == "one"
    if reading.kind == "given":
        reading.kind, reading.stories = _frames.readable(reading.stories, reading.columns)
    elif one:
        reading.kind = "texts" if isinstance(reading.stories[0], str) else "records"
    return reading, one
