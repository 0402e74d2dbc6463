"""The native module. Its users are the other modules of the package."""

import pathlib
from collections.abc import Callable, Sequence
from typing import Any, final

__version__: str

def run_command_line(args: list[str], stdout_is_closed: bool) -> int: ...
def story_columns(columns: list[str], names: list[tuple[str, str]]) -> list[int]: ...
@final
class Scorer:
    def __new__(
        cls,
        metrics: list[str] | None,
        model: str | None,
        weights: list[tuple[str, str]],
        device: str,
        precision: str | None,
        seed: int,
        threads: int,
        corpus_stats: str | None,
        corpus: Any,
        show: Callable[[str, int, int | None], object] | None,
    ) -> Scorer: ...
    def keys(self) -> list[str]: ...
    def score(
        self,
        reading: Any,
        resamples: int,
        seed: int,
        against: str | None,
        threads: int | None,
        show: Callable[[str, int, int | None], object] | None,
    ) -> Scored: ...

@final
class Scored:
    def __len__(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def systems(self) -> list[str | None]: ...
    @property
    def items(self) -> list[str]: ...
    @property
    def numbers(self) -> list[int]: ...
    @property
    def signatures(self) -> list[str]: ...
    @property
    def skipped(self) -> tuple[int, list[str]]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def summary(self) -> str: ...
    def signature_of(self, column: int) -> str: ...
    def values(self, column: int) -> bytearray: ...
    def absent(self, column: int) -> dict[int, str]: ...
    def summaries(
        self,
    ) -> list[
        tuple[
            str | None,
            int,
            list[tuple[float | None, str | None, tuple[float, float] | None]],
        ]
    ]: ...
    def table(self) -> str: ...
    def table_rows(self) -> list[list[str]]: ...
    def json_lines(self) -> bytes: ...
    def write(self, path: str) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

# Shards.

_Summary = tuple[
    str | None, int, list[tuple[float | None, str | None, tuple[float, float] | None]]
]

def plan_shards(
    inputs: list[str],
    out_dir: str,
    out_format: str | None,
    format: str | None,
    resume: bool,
    job: tuple[int, int] | None,
) -> tuple[list[tuple[int, int, tuple[pathlib.Path, pathlib.Path, str]]], list[pathlib.Path]]: ...
def score_shard(
    scorer: Scorer,
    shard: Any,
    reading: Any,
    resume: bool,
    threads: int | None,
    show: Callable[[str, int, int | None], object] | None,
) -> tuple[bool, int, int]: ...
def merge_shards(
    paths: list[str],
    expect: int | None,
    resamples: int,
    seed: int,
    weights: list[tuple[str, str]],
    threads: int,
) -> Merged: ...
@final
class Merged:
    @property
    def stories(self) -> int: ...
    @property
    def shards(self) -> list[tuple[pathlib.Path, int]]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def signatures(self) -> list[str]: ...
    @property
    def skipped(self) -> tuple[int, list[str]]: ...
    @property
    def notes(self) -> list[str]: ...
    def summaries(self) -> list[_Summary]: ...
    def table(self) -> str: ...
    def table_rows(self) -> list[list[str]]: ...
    def write(self, path: str) -> None: ...

# The other verbs.

_Corpus = tuple[str, list[tuple[str, float | None, str | None]], str]
_Edit = tuple[str, int, int, int, str, str]
_Sample = tuple[str, int, str, str, list[str], list[_Edit], str]
_Numbers = Sequence[float | None]

def list_metrics() -> tuple[str, str]: ...
def metric_page(id: str) -> str: ...
def explain(
    scorer: Scorer, reading: Any, sentences: str, threads: int | None, show: Any
) -> list[tuple[str, str, str]]: ...
def perturb(
    reading: Any, donors: Any, settings: Any, threads: int, show: Any
) -> tuple[list[_Sample], int, int, list[str]]: ...
def correlate(
    criterion: str,
    human: _Numbers,
    scores: Sequence[tuple[str, str | None, _Numbers]],
    settings: Any,
    threads: int,
) -> tuple[str, str, list[str]]: ...
def compare(
    table: Table, settings: Any, threads: int
) -> tuple[str, str, list[str], list[str]]: ...
def meta(table: Table, settings: Any, threads: int) -> Study: ...
@final
class Metric:
    def __new__(cls, typed: str) -> Metric: ...
    def corpus_score(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], threads: int
    ) -> _Corpus: ...
    def story_score(self, hypothesis: str, references: Sequence[str]) -> _Corpus: ...

@final
class Table:
    @staticmethod
    def read(files: Sequence[str]) -> Table: ...
    @staticmethod
    def from_columns(
        ids: Sequence[str],
        systems: Sequence[str | None],
        items: Sequence[str | None],
        scores: Sequence[tuple[str, _Numbers]],
        ratings: Sequence[tuple[str, Sequence[_Numbers]]],
        texts: Sequence[str | None] | None,
    ) -> Table: ...
    @staticmethod
    def from_scored(scored: Scored) -> Table: ...
    def columns(self) -> list[tuple[str, bool, list[float | None]]]: ...

@final
class Study:
    def sheets(self) -> tuple[str, list[str]]: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def write(self, folder: str, raw_csv: bool) -> list[Any]: ...
    def report(self, path: str, name: str, highlight: str | None) -> None: ...

def plan_shards(
    inputs: list[str],
    out_dir: str,
    out_format: str | None,
    format: str | None,
    resume: bool,
    job: tuple[int, int] | None,
) -> list[tuple[int, int, tuple[str, str, str]]]: ...
def score_shard(
    scorer: Scorer,
    shard: Any,
    reading: Any,
    resume: bool,
    threads: int | None,
    show: Callable[[str, int, int | None], object] | None,
) -> tuple[bool, int, int]: ...
def merge_shards(
    paths: list[str],
    expect: int | None,
    resamples: int,
    seed: int,
    weights: list[tuple[str, str]],
    threads: int,
) -> Merged: ...
@final
class Merged:
    @property
    def stories(self) -> int: ...
    @property
    def shards(self) -> list[tuple[str, int]]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def signatures(self) -> list[str]: ...
    @property
    def skipped(self) -> tuple[int, list[str]]: ...
    @property
    def notes(self) -> list[str]: ...
    def summaries(
        self,
    ) -> list[
        tuple[
            str | None,
            int,
            list[tuple[float | None, str | None, tuple[float, float] | None]],
        ]
    ]: ...
    def write(self, path: str) -> None: ...
