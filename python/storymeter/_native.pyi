"""The native module. Its users are the other modules of the package."""

import pathlib
from collections.abc import Callable, Sequence
from typing import Any, final

__version__: str

def run_command_line(args: list[str], stdout_is_closed: bool) -> int: ...
def story_columns(columns: list[str], names: list[tuple[str, str]]) -> list[int]: ...
def score_columns(columns: list[str]) -> list[str]: ...
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
        clean: bool,
        keep_refusals: bool,
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
        one_sided: bool,
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
    def words(self) -> list[int]: ...
    @property
    def flags(self) -> list[list[str]]: ...
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

@final
class Prepared:
    own: list[tuple[int, int, tuple[pathlib.Path, pathlib.Path, str]]]
    inputs: list[pathlib.Path]
    def remove_empty_folder(self) -> None: ...

def plan_shards(
    inputs: list[str],
    out_dir: str,
    out_format: str | None,
    format: str | None,
    resume: bool,
    job: tuple[int, int] | None,
) -> Prepared: ...
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
    seed: int | None,
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
) -> tuple[list[tuple[str, str, str]], int, list[str]]: ...
def perturb(
    reading: Any, donors: Any, settings: Any, threads: int, show: Any
) -> tuple[list[_Sample], int, int, list[str]]: ...
def correlate(
    criterion: str,
    human: _Numbers,
    scores: Sequence[tuple[str, str | None, str, _Numbers]],
    items: Sequence[int],
    settings: Any,
    threads: int,
) -> tuple[str, str, list[str]]: ...
def compare(
    table: Table, settings: Any, threads: int
) -> tuple[str, str, list[str], list[str]]: ...
def meta(table: Table, settings: Any, threads: int) -> Study: ...
@final
class Metric:
    def __new__(
        cls,
        typed: str,
        weights: Sequence[tuple[str, str]],
        device: str,
        precision: str | None,
        seed: int,
    ) -> Metric: ...
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
        words: Sequence[int | None],
        flags: Sequence[Sequence[str]],
    ) -> Table: ...
    @staticmethod
    def from_scored(scored: Scored) -> Table: ...
    def columns(self) -> list[tuple[str, bool, str, list[float | None]]]: ...
    def items(self) -> list[int]: ...

@final
class Study:
    def sheets(self) -> tuple[str, list[str]]: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def write(self, folder: str, all: bool, raw_csv: bool) -> list[Any]: ...
    def report(self, path: str, name: str, highlight: str | None) -> None: ...
