"""Scores that are given in many forms, as one score table."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _native
from ._errors import LengthError
from ._frames import is_no_list
from ._result import ScoreResult


def table_of(scores: Any, argument: str = "scores") -> _native.Table:
    """A score table from a result, paths, a frame, or columns in a dictionary."""
    if isinstance(scores, _native.Table):
        return scores
    if isinstance(scores, ScoreResult):
        return _native.Table.from_scored(scores._scored)
    if isinstance(scores, (str, os.PathLike)):
        return _native.Table.read([os.fspath(scores)])
    columns = columns_of(scores)
    if columns is None and isinstance(scores, Iterable):
        items = list(scores)
        if items and all(isinstance(item, (str, os.PathLike)) for item in items):
            return _native.Table.read([os.fspath(item) for item in items])
        if items and all(isinstance(item, Mapping) for item in items):
            columns = _of_records(items)
    if columns is None:
        raise TypeError(
            f"{argument} is a result of score, a path, a list of paths, a frame, or rows or "
            f"columns as dictionaries, and not of the type {type(scores).__name__}"
        )
    return _from_columns(columns)


def columns_of(frame: Any) -> dict[str, list[Any]] | None:
    """The columns of a frame as lists, or ``None`` if this is no frame."""
    if isinstance(frame, Mapping):
        return _by_name(frame, frame.__getitem__)
    if _listed(frame) is not None and not hasattr(frame, "column_names"):
        return None  # a single column, such as a series of pandas
    names = getattr(frame, "column_names", None)
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None or callable(names) or not hasattr(frame, "__getitem__"):
        if not hasattr(frame, "__arrow_c_stream__"):
            return None
        import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]

        frame = pa.table(frame)
        names = frame.column_names
    return _by_name(names, frame.__getitem__)


def _by_name(
    names: Iterable[Any], values: Callable[[Any], Any]
) -> dict[str, list[Any]] | None:
    """The columns of these names as lists, or ``None`` if one of them is no column."""
    known: dict[str, Any] = {}
    for name in names:
        if str(name) in known:
            raise ValueError(f"there are two columns of the name {str(name)!r}")
        known[str(name)] = name
    columns: dict[str, list[Any]] = {}
    for text, name in known.items():
        listed = _listed(values(name))
        if listed is None:
            return None
        columns[text] = listed
    return columns


def _listed(values: Any) -> list[Any] | None:
    """The values of a column as a list."""
    for name in ("to_list", "to_pylist", "tolist"):
        convert = getattr(values, name, None)
        if convert is not None:
            return list(convert())
    if isinstance(values, (list, tuple, range)):
        return list(values)
    return None


def _of_records(records: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns. Scores and ratings may stand in dictionaries of their own, as in files."""
    names: dict[str, None] = {}
    flat: list[dict[str, Any]] = []
    for record in records:
        row: dict[str, Any] = {}
        for name, value in record.items():
            if name == "scores" and isinstance(value, Mapping):
                own = dict(value)
                names.update(words=None, flags=None)  # lines of ours leave out what is empty
            elif name in ("human", "ratings") and isinstance(value, Mapping):
                own = {f"human/{criterion}": given for criterion, given in value.items()}
            else:
                own = {} if name == "absent" else {name: value}
            if twice := sorted(row.keys() & own.keys()):
                raise ValueError(f"scores[{len(flat)}] has {twice[0]!r} twice")
            row.update(own)
        names.update(dict.fromkeys(row))
        flat.append(row)
    return {name: [row.get(name) for row in flat] for name in names}


def _from_columns(columns: dict[str, list[Any]]) -> _native.Table:
    first = next(iter(columns), "")
    count = len(columns.get(first, []))
    for name, values in columns.items():
        if len(values) != count:
            raise LengthError(
                f"the column {first!r} has {count} values, but the column {name!r} has "
                f"{len(values)}",
                first=count,
                second=len(values),
            )
    if count == 0:
        raise ValueError("scores has no row")
    labels: dict[str, list[Any]] = {}
    scores: list[tuple[str, list[float | None]]] = []
    ratings: list[tuple[str, list[list[float | None]]]] = []
    contents = _native.score_columns(list(columns))
    said = _said_of_texts(dict(zip(contents, columns.values())))
    for (name, values), content in zip(columns.items(), contents):
        if content.startswith("human/"):
            criterion = content.removeprefix("human/")
            ratings.append((criterion, [_raters(value, name) for value in values]))
        elif content in ("words", "flags") and said is not None:
            continue
        elif content not in ("score", "words", "flags"):
            labels[content] = values
        elif (found := _numbers_or_none(values)) is not None:
            scores.append((name, found))
    missing = [None] * count
    ids, systems = labels.get("id", missing), labels.get("system", missing)
    items = labels.get("item", labels.get("prompt", missing))
    texts = labels.get("story")
    words, flags = said or ([], [])
    return _native.Table.from_columns(
        [str(at) if _is_missing(one) else str(one) for at, one in enumerate(ids)],
        [None if _is_missing(one) else str(one) for one in systems],
        [None if _is_missing(one) else str(one) for one in items],
        scores,
        ratings,
        None if texts is None else [one if isinstance(one, str) else None for one in texts],
        words,
        flags,
    )


def _said_of_texts(
    columns: dict[str, list[Any]],
) -> tuple[list[int | None], list[list[str]]] | None:
    """The words and flags of texts in a frame of ours; ``None`` if the columns are of others."""
    if "words" not in columns or "flags" not in columns:
        return None
    words: list[int | None] = []
    for value in columns["words"]:
        if _is_missing(value):
            words.append(None)
        elif _is_number(value) and value >= 0 and value == int(value):
            words.append(int(value))  # pandas makes floats of integers with gaps
        else:
            return None
    flags: list[list[str]] = []
    for value in columns["flags"]:
        names = value.split(", ") if isinstance(value, str) else _listed(value)
        if names is None and _is_missing(value):
            names = []
        if names is None or not all(isinstance(name, str) for name in names):
            return None
        flags.append([name for name in names if name])
    return words, flags


def _raters(value: Any, name: str) -> list[float | None]:
    """What one or several raters said."""
    several = _listed(value)
    return numbers_of([value] if several is None else several, f'column "{name}"')


def _numbers_or_none(values: list[Any]) -> list[float | None] | None:
    """A column of numbers, or ``None`` if it holds anything else."""
    plain = all(_is_missing(value) or _is_number(value) for value in values)
    if not plain or all(_is_missing(value) for value in values):
        return None
    return [None if _is_missing(value) else float(value) for value in values]


def numbers_of(values: Any, argument: str) -> list[float | None]:
    """Numbers, some of which may be absent: ``None``, NaN and the missing values of frames."""
    listed = _listed(values)
    if listed is None:
        listable = isinstance(values, Iterable) and not isinstance(values, (str, bytes))
        if not listable or is_no_list(values):
            raise TypeError(f"{argument} is a list of numbers, not of the type {_type(values)}")
        listed = list(values)
    found: list[float | None] = []
    for at, value in enumerate(listed):
        if _is_missing(value):
            found.append(None)
        elif _is_number(value):
            found.append(float(value))
        else:
            raise TypeError(f"{argument}[{at}] is not a number, but of the type {_type(value)}")
    return found


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, numbers.Real) or type(value).__name__ == "Decimal"


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(_is_number(value) and value != value)


def _type(value: Any) -> str:
    return type(value).__name__
