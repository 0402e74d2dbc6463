"""Stories that are given in many forms, as the native module reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._score import Reading, _source


def reading_of(
    stories: Any,
    *,
    columns: Mapping[str, str] | None,
    skip_bad: bool,
    renumber: bool,
    format: str | None,
) -> tuple[Reading, bool]:
    """How the stories are read, and whether they are a single story."""
    kind, items, one = _source(stories)
    names = list((columns or {}).items())
    reading = Reading(
        kind, items, columns=names, format=format, skip_bad=skip_bad, renumber=renumber
    )
    return reading, one
