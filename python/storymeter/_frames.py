"""Frames of pandas, polars and pyarrow: what went in comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas as pd


def kind(frame: Any) -> str:
    """The package that a frame or its base class belongs to, such as ``"pandas"``."""
    packages = [base.__module__.partition(".")[0] for base in type(frame).__mro__]
    return next((name for name in packages if name in ("pandas", "polars")), packages[0])


def is_frame(value: Any) -> bool:
    """Whether a value is a frame or a column that speaks Arrow, or one of pandas."""
    return hasattr(value, "__arrow_c_stream__") or _is_pandas_frame(value)


def _is_pandas_frame(value: Any) -> bool:
    return kind(value) == "pandas" and hasattr(value, "columns")


def is_no_list(value: Any) -> bool:
    """Whether a value can be iterated over, but not story by story: a dictionary gives its keys, a
    set has no order, and a frame gives its columns."""
    if isinstance(value, (Mapping, set, frozenset)):
        return True
    return is_frame(value) and (hasattr(value, "columns") or hasattr(value, "column_names"))


def kept(frame: Any) -> Any:
    """A frame that stays as it is while its stories are scored, and until its scores are added.

    It shares its memory with the given one, which the user may change or sort in place afterwards.
    A stream or a query gives its rows only once, or in another order the next time.
    """
    name = kind(frame)
    if name == "pandas":
        return frame.copy(deep=False)
    if name == "polars":
        return frame.collect() if hasattr(frame, "collect") else frame.clone()
    try:
        import pyarrow as pa
    except ImportError:
        return frame  # Scores cannot be added to it without pyarrow.
    if isinstance(frame, (pa.Table, pa.RecordBatch, pa.ChunkedArray)):
        return frame
    rows = pa.chunked_array(frame)
    try:
        rows.validate()
    except pa.ArrowInvalid as error:
        raise ValueError(f"stories: {error}") from None
    return pa.Table.from_struct_array(rows) if pa.types.is_struct(rows.type) else rows


def readable(frame: Any, names: list[tuple[str, str]]) -> tuple[str, Any]:
    """What the native module reads: a stream of Arrow, or the columns of stories as lists.

    pandas speaks Arrow only where pyarrow is installed, and only if no column mixes types.
    """
    if kind(frame) != "pandas":
        return "frame", frame
    if not _is_pandas_frame(frame):
        return "texts", frame.tolist()
    columns = [str(name) for name in frame.columns]
    wanted = sorted(_native.story_columns(columns, names))
    return "columns", [(columns[at], frame.iloc[:, at].tolist()) for at in wanted]


def _values(scored: _native.Scored, rows: int) -> dict[str, Any]:
    """The scores by key, one per row of the frame; NaN where a row has none."""
    import numpy as np

    numbers = np.asarray(scored.numbers, dtype=np.intp)
    columns = {}
    for at, key in enumerate(scored.columns):
        values = np.full(rows, np.nan)
        values[numbers] = np.frombuffer(scored.values(at), dtype=np.float64)
        columns[key] = values
    return columns


def with_scores(frame: Any, scored: _native.Scored) -> Any:
    """The frame with one more column per score."""
    name = kind(frame)
    if name == "pandas":
        frame = frame if _is_pandas_frame(frame) else frame.to_frame("story")
        _check_names(frame.columns, scored)
        return frame.assign(**_values(scored, len(frame)))
    if name == "polars":
        import polars as pl

        frame = frame.to_frame() if isinstance(frame, pl.Series) else frame
        _check_names(frame.columns, scored)
        columns = _values(scored, frame.height)
        added = [pl.Series(key, values).fill_nan(None) for key, values in columns.items()]
        return frame.with_columns(added)
    import pyarrow as pa

    table = pa.table({"story": frame}) if isinstance(frame, pa.ChunkedArray) else pa.table(frame)
    _check_names(table.column_names, scored)
    for key, values in _values(scored, table.num_rows).items():
        table = table.append_column(key, pa.array(values, from_pandas=True))
    return table


def _check_names(columns: Any, scored: _native.Scored) -> None:
    """Check that no column of the user has the name of a score."""
    taken = [key for key in scored.columns if key in columns]
    if taken:
        raise ValueError(
            f"the frame has a column {taken[0]!r} already, and the score of that name would "
            "replace it; rename the column before scoring, or take the scores alone from to_pandas(), "
            "to_polars() or to_arrow()"
        )


def to_pandas(frame: Any, scored: _native.Scored) -> pd.DataFrame:
    """One row per story."""
    import numpy as np
    import pandas as pd

    columns: dict[str, Any] = {"id": scored.ids, "system": scored.systems, "item": scored.items}
    columns["words"] = scored.words
    columns["flags"] = [", ".join(flags) for flags in scored.flags]
    for at, key in enumerate(scored.columns):
        columns[key] = np.frombuffer(scored.values(at), dtype=np.float64)
    if kind(frame) != "pandas":
        return pd.DataFrame(columns)
    return pd.DataFrame(columns, index=frame.index[np.asarray(scored.numbers, dtype=np.intp)])
