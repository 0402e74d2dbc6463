"""Frames of pandas, polars and pyarrow go in, and the same kind comes out."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import storymeter as sm

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TEXTS = ["Rain.", "Rain fell.", "It fell and fell 🦊.", "Rain."]
LENGTHS = [2.0, 3.0, 6.0, 2.0]
SYSTEMS = ["a", "b", "a", "b"]


def score(frame: Any, **options: Any) -> sm.ScoreResult:
    return sm.score(frame, metrics=["text-length"], **options)


STRINGS = {
    "utf8": pa.string(),
    "large_utf8": pa.large_string(),
    "utf8_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary_int8_large": pa.dictionary(pa.int8(), pa.large_string()),
}


@pytest.mark.parametrize("kind", STRINGS.values(), ids=STRINGS.keys())
def test_all_string_types_sliced_and_chunked(kind: Any) -> None:
    def column(texts: list[str | None]) -> Any:
        array = pa.array(texts, pa.string())
        if pa.types.is_dictionary(kind):
            return array.dictionary_encode().cast(kind)
        return array.cast(kind)

    table = pa.table({"n": [1, 2, 3, 4], "text": column(TEXTS), "model": column(SYSTEMS)})
    assert list(score(table).scores) == LENGTHS
    assert score(table).to_json() == score(
        [{"story": text, "system": system} for text, system in zip(TEXTS, SYSTEMS)]
    ).to_json()
    assert list(score(table.slice(1, 2)).scores) == LENGTHS[1:3]
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(0, 0), table.slice(1)])
    assert chunked.column("text").num_chunks >= 2
    assert list(score(chunked).scores) == LENGTHS
    # A column on its own, and a stream that can be read once.
    assert list(score(chunked.column("text")).scores) == LENGTHS
    assert list(score(table.to_reader(max_chunksize=1)).scores) == LENGTHS
    empty = score(table.slice(0, 0))
    assert len(empty) == 0
    with_null = pa.table({"text": column([TEXTS[0], None, TEXTS[1]])})
    with pytest.raises(sm.InputError, match='stories:2: field "story": the story is null'):
        score(with_null)
    skipped = score(with_null, skip_bad=True)
    assert (list(skipped.scores), skipped.skipped) == ([2.0, 3.0], 1)
    assert skipped.frame.column("text-length").to_pylist() == [2.0, None, 3.0]


def test_nested_columns() -> None:
    table = pa.table(
        {
            "story": ["the cat sat on the mat", "a dog"],
            "references": [["no", "the cat sat on the mat"], ["a dog", "the dog"]],
            "human": [{"plot": [1, 2]}, {"plot": [3, None]}],
            "id": [10, 11],
        }
    )
    result = sm.score(table, metrics=["bleu"])
    assert "|nrefs:2|" in result.signature
    assert [row["human"] for row in result.to_dicts()] == [{"plot": [1.0, 2.0]}, {"plot": [3.0, None]}]
    assert result.ids == ["10", "11"]
    wide = pa.table({"story": ["Rain."], "human.plot": [3.5], "human.style": [None]})
    assert score(wide).to_dicts()[0]["human"] == {"plot": [3.5], "style": [None]}


def test_columns_that_cannot_be_read_are_named() -> None:
    import datetime

    table = pa.table({"story": ["Rain."], "id": [datetime.date(2026, 1, 1)]})
    with pytest.raises(TypeError, match='the column "id" has the Arrow type Date32'):
        score(table)
    # A column that is not read may have any type.
    score(pa.table({"story": ["Rain."], "day": [datetime.date(2026, 1, 1)]}))
    with pytest.raises(sm.MissingFieldError, match='no column "story"'):
        score(pa.table({"tale": ["Rain."]}))


def test_pandas_keeps_its_index() -> None:
    frame = pd.DataFrame(
        {"story": TEXTS, "system": SYSTEMS, "mixed": [1, "x", None, 2.5]}, index=[7, 3, 3, 9]
    )
    result = score(frame)
    out = result.frame
    assert type(out) is pd.DataFrame
    assert list(out.index) == [7, 3, 3, 9] and list(out.columns)[:3] == list(frame.columns)
    assert list(out["text-length"]) == LENGTHS
    assert "text-length" not in frame.columns
    table = result.to_pandas()
    assert list(table.index) == [7, 3, 3, 9]
    assert list(table.columns) == ["id", "system", "item", "words", "flags", "text-length"]
    by_system = result.systems.to_pandas()
    assert list(by_system["system"]) == ["a", "b"] and list(by_system["score"]) == [4.0, 2.5]


def test_a_subclass_of_pandas_is_one_of_pandas() -> None:
    class Stories(pd.DataFrame):  # type: ignore[misc]
        @property
        def _constructor(self) -> Any:
            return Stories

    result = score(Stories({"story": TEXTS, "mixed": [1, "x", None, 2.5]}, index=[7, 3, 3, 9]))
    assert type(result.frame) is Stories
    assert list(result.frame.index) == list(result.to_pandas().index) == [7, 3, 3, 9]


def test_pandas_series_missing_values_and_strings() -> None:
    assert list(score(pd.Series(TEXTS)).scores) == LENGTHS
    assert list(score(pd.Series(TEXTS, dtype="category")).scores) == LENGTHS
    for missing in (None, float("nan"), pd.NA):
        frame = pd.DataFrame({"story": pd.Series(["Rain.", missing, "Rain fell."], dtype=object)})
        with pytest.raises(sm.InputError, match="stories:2: "):
            score(frame)
        result = score(frame, skip_bad=True)
        column = list(result.frame["text-length"])
        assert column[::2] == [2.0, 3.0] and math.isnan(column[1])
        assert list(result.to_pandas().index) == [0, 2]
    for dtype in ("string", "str", object):
        assert list(score(pd.DataFrame({"text": pd.Series(TEXTS, dtype=dtype)})).scores) == LENGTHS
    assert len(score(pd.DataFrame({"story": pd.Series([], dtype=object)}))) == 0


def test_polars_keeps_its_order() -> None:
    frame = pl.DataFrame({"story": TEXTS, "system": SYSTEMS})
    out = score(frame).frame
    assert type(out) is pl.DataFrame
    assert out.columns == ["story", "system", "text-length"]
    assert out["text-length"].to_list() == LENGTHS
    assert score(frame["story"]).scores.tolist() == LENGTHS
    sliced = score(frame[1:3]).frame
    assert sliced["text-length"].to_list() == LENGTHS[1:3]
    nulls = pl.DataFrame({"story": ["Rain.", None]})
    assert score(nulls, skip_bad=True).frame["text-length"].to_list() == [2.0, None]
    categories = pl.DataFrame({"story": TEXTS}, schema={"story": pl.Categorical})
    assert score(categories).scores.tolist() == LENGTHS
    table = score(frame).to_polars()
    assert table.columns == ["id", "system", "item", "words", "flags", "text-length"]
    assert table["system"].to_list() == SYSTEMS


def test_arrow_out() -> None:
    result = sm.score(["Rain.", "Rain fell."], metrics=["criteria", "text-length"])
    table = result.to_arrow()
    assert table.column_names == ["id", "system", "item", "words", "flags", *result.columns]
    # Without a prompt, there is no relevance.
    assert table.column("criteria/relevance").to_pylist() == [None, None]
    assert np.isnan(result.to_pandas()["criteria/relevance"][0])
    assert result.to_polars()["criteria/relevance"].to_list() == [None, None]
    assert pl.DataFrame(result)["text-length"].to_list() == [2.0, 3.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_the_user_is_not_overwritten(make: Any) -> None:
    # A bleu of the user's own, perhaps by another program.
    given = {"story": ["the cat sat", "a dog"], "reference": ["the cat", "a dog"], "bleu": [7, 8]}
    result = sm.score(make(given), metrics=["text-length", "bleu"])
    with pytest.raises(ValueError, match="the frame has a column 'bleu' already"):
        result.frame
    assert list(result.to_pandas().columns) == ["id", "system", "item", "words", "flags", "text-length", "bleu"]
    del given["bleu"]
    assert "bleu" in str(sm.score(make(given), metrics=["bleu"]).frame)


def test_the_frame_is_that_of_the_time_of_scoring() -> None:
    frame = pd.DataFrame({"story": ["Rain fell.", "Rain."]})
    result = score(frame)
    frame["story"] = ["Rain.", "Rain fell."]
    frame.loc[2] = ["More."]
    assert result.frame["story"].tolist() == ["Rain fell.", "Rain."]
    assert result.frame["text-length"].tolist() == [3.0, 2.0]
    other = pl.DataFrame({"story": ["Rain fell.", "Rain."]})
    result = score(other)
    other.extend(pl.DataFrame({"story": ["More."]}))
    assert result.frame.to_dict(as_series=False) == {
        "story": ["Rain fell.", "Rain."], "text-length": [3.0, 2.0]
    }


class Once:
    """A stream of Arrow that can be read once."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        frame, self._frame = self._frame, None
        return frame.__arrow_c_stream__(requested_schema)


def test_a_stream_is_read_once_and_its_frame_has_all_rows() -> None:
    table = pa.table({"story": TEXTS, "system": SYSTEMS})
    for stream in (table.to_reader(max_chunksize=1), Once(table), Once(table.slice(0, 0))):
        result = score(stream)
        assert result.frame.column("text-length").to_pylist() == result.scores.tolist()
        assert result.frame.column("story").to_pylist() == TEXTS[: len(result)]
    column = score(Once(pa.chunked_array([TEXTS])))
    assert column.frame.column("text-length").to_pylist() == LENGTHS


class ArrowArray(ctypes.Structure):
    """An array of the Arrow C interface."""


ArrowArray._fields_ = [
    *((name, ctypes.c_int64) for name in ("length", "nulls", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.c_void_p),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p),
]


class ArrowStream(ctypes.Structure):
    """A stream of the Arrow C interface."""


NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))
ArrowStream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", NEXT),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private", ctypes.c_void_p),
]


class Unequal:
    """A table with one column that says it is shorter than the others."""

    def __init__(self, table: Any, column: int) -> None:
        self._table = table
        self._column = column

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        stream = self._stream = ArrowStream()
        self._table.to_reader()._export_to_c(ctypes.addressof(stream))
        usual = NEXT(ctypes.cast(stream.get_next, ctypes.c_void_p).value or 0)

        def shorter(given: Any, array: Any) -> int:
            code = usual(given, array)
            if code == 0 and array.contents.release:
                array.contents.children[self._column].contents.length -= 1
            return code

        self._kept = NEXT(shorter)
        stream.get_next = self._kept
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)


@pytest.mark.parametrize("column", [0, 1])
def test_arrow_tables_with_unequal_columns_are_refused(column: int) -> None:
    story = "Ken woke up. He went out. The rain was cold."
    table = pa.table({"story": [story] * 3, "id": ["a", "b", "c"], "n": [1, 2, 3]})
    with pytest.raises(ValueError, match="^stories: .*length"):
        score(Unequal(table, column))
    # The native module reads these itself.
    for verb in (sm.explain, sm.perturb):
        with pytest.raises(ValueError, match="columns of this frame do not follow the rules"):
            verb(Unequal(table, column))


class Rows:
    """The columns of a frame by position, of which one is shorter than the others."""

    def __getitem__(self, at: tuple[slice, int]) -> Any:
        return np.array([["Rain."] * 3000, ["a"] * 2000][at[1]])


class DataFrame:
    """What calls itself a frame of pandas, and is none."""

    columns = ("story", "system")
    iloc = Rows()

    def copy(self, deep: bool) -> DataFrame:
        return self


DataFrame.__module__ = "pandas"


@pytest.mark.parametrize("skip_bad", [False, True])
def test_columns_of_unequal_length_are_refused(skip_bad: bool) -> None:
    message = 'field "system": this column has 2000 values, and the column "story" has 3000'
    with pytest.raises(sm.InputError, match=message):
        score(DataFrame(), skip_bad=skip_bad)


def test_rows_that_are_null_as_a_whole_are_bad_records() -> None:
    masked = pa.StructArray.from_arrays(
        [pa.array(["Rain.", "Rain fell."])], ["story"], mask=pa.array([False, True])
    )
    with pytest.raises(sm.InputError, match="stories:2: .*null"):
        score(pa.chunked_array([masked]))
    result = score(pa.chunked_array([masked]), skip_bad=True)
    assert (result.scores.tolist(), result.skipped) == ([2.0], 1)


def test_no_frame_no_frame() -> None:
    with pytest.raises(ValueError, match="did not come from a frame"):
        score(TEXTS).frame
