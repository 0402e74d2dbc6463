"""Tables of results: one sheet of a study, a comparison or a correlation."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Sheet"]


@dataclass(frozen=True)
class Sheet:
    """One table: rows of numbers and names under the heads of columns.

    Attributes
    ----------
    id
        The name of the sheet, such as ``"correlations"``.
    title
        What it shows.
    columns
        The heads of the columns.
    rows
        One list per row. A number that is absent is ``None``.
    reasons
        Why numbers are absent, by row and column, both from 0.
    notes
        What a reader should know beside the numbers.
    signature
        How the numbers came about.

    Examples
    --------
    >>> import storymeter as sm
    >>> sheet = sm.correlate([0.3, 0.1, 0.4, 0.6], [3, 1, 2, 5]).sheets[0]
    >>> sheet.id, sheet.columns[:2], sheet.rows[0][:2]
    ('correlate', ['scores', 'n'], ['scores', 4])
    """

    id: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    reasons: dict[tuple[int, int], str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    signature: str = ""
    _text: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        return self._text

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per row."""
        return [dict(zip(self.columns, row)) for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        """The sheet as a frame of pandas; an absent number is missing there."""
        import pandas as pd

        return pd.DataFrame(self._by_column())

    def to_polars(self) -> pl.DataFrame:
        """The sheet as a frame of polars; an absent number is null there."""
        import polars as pl

        return pl.DataFrame(self._by_column(), strict=False)

    def _by_column(self) -> dict[str, list[Any]]:
        return {name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)}

    def _repr_html_(self) -> str:
        shown = [[_shown(cell) for cell in row] for row in self.rows]
        return html_table(self.columns, shown, self.title)


def sheets_of(text: str, printed: list[str]) -> list[Sheet]:
    """The sheets from their JSON and from what a terminal shows of them."""
    return [_sheet(sheet, shown) for sheet, shown in zip(json.loads(text), printed)]


def _sheet(given: dict[str, Any], printed: str) -> Sheet:
    rows: list[list[Any]] = []
    reasons: dict[tuple[int, int], str] = {}
    for at, cells in enumerate(given["rows"]):
        row: list[Any] = []
        for column, cell in enumerate(cells):
            if isinstance(cell, dict):
                reasons[at, column] = cell["nan"]
                cell = None
            row.append(cell)
        rows.append(row)
    heads = [head["name"] for head in given["columns"]]
    return Sheet(
        given["id"], given["title"], heads, rows, reasons, given["notes"], given["signature"],
        printed,
    )


def _shown(cell: Any) -> str:
    if cell is None:
        return "-"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def html_table(heads: list[str], rows: list[list[str]], caption: str = "") -> str:
    """A table in HTML, in which all texts are escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    caption = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
