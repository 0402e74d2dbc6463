"""Measure how good a story is, and how good a measure of stories is.

>>> import storymeter as sm
>>> result = sm.score(["Ada lost her keys. She looked under the bed. There they were."])
>>> len(result)
1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _errors
from ._errors import *  # noqa: F403

if TYPE_CHECKING:
    from ._compare import Comparison as Comparison
    from ._compare import Comparisons as Comparisons
    from ._compare import RankedSystem as RankedSystem
    from ._compare import SystemPair as SystemPair
    from ._compare import Verdict as Verdict
    from ._compare import compare as compare
    from ._correlate import Agreement as Agreement
    from ._correlate import Coefficient as Coefficient
    from ._correlate import Correlation as Correlation
    from ._correlate import ScoreTest as ScoreTest
    from ._correlate import correlate as correlate
    from ._explain import Criterion as Criterion
    from ._explain import Diagnosis as Diagnosis
    from ._explain import Explanation as Explanation
    from ._explain import Hit as Hit
    from ._explain import Sentence as Sentence
    from ._explain import Standing as Standing
    from ._explain import Suggestion as Suggestion
    from ._explain import WeakPair as WeakPair
    from ._explain import explain as explain
    from ._hf import hf_module as hf_module
    from ._meta import MetaStudy as MetaStudy
    from ._meta import meta as meta
    from ._metrics import CorpusScore as CorpusScore
    from ._metrics import Metric as Metric
    from ._metrics import MetricInfo as MetricInfo
    from ._metrics import MetricList as MetricList
    from ._metrics import metric as metric
    from ._metrics import metrics as metrics
    from ._perturb import Edit as Edit
    from ._perturb import Sample as Sample
    from ._perturb import Samples as Samples
    from ._perturb import perturb as perturb
    from ._sheet import Sheet as Sheet
    from ._native import __version__ as __version__
    from ._score import Scorer as Scorer
    from ._score import score as score
    from ._result import ColumnScores as ColumnScores
    from ._result import ScoreResult as ScoreResult
    from ._result import StoryScore as StoryScore
    from ._result import SystemScore as SystemScore
    from ._result import SystemTable as SystemTable
    from ._shards import BadShard as BadShard
    from ._shards import BadShardsError as BadShardsError
    from ._shards import MergedScores as MergedScores
    from ._shards import Shard as Shard
    from ._shards import ShardResult as ShardResult
    from ._shards import ShardRun as ShardRun
    from ._shards import merge as merge
    from ._shards import plan_shards as plan_shards
    from ._shards import score_files as score_files

# Loaded when they are first used, so that the import of the package takes little time.
_LAZY = {
    "Comparison": "_compare",
    "Comparisons": "_compare",
    "RankedSystem": "_compare",
    "SystemPair": "_compare",
    "Verdict": "_compare",
    "compare": "_compare",
    "Agreement": "_correlate",
    "Coefficient": "_correlate",
    "Correlation": "_correlate",
    "ScoreTest": "_correlate",
    "correlate": "_correlate",
    "Criterion": "_explain",
    "Diagnosis": "_explain",
    "Explanation": "_explain",
    "Hit": "_explain",
    "Sentence": "_explain",
    "Standing": "_explain",
    "Suggestion": "_explain",
    "WeakPair": "_explain",
    "explain": "_explain",
    "hf_module": "_hf",
    "MetaStudy": "_meta",
    "meta": "_meta",
    "CorpusScore": "_metrics",
    "Metric": "_metrics",
    "MetricInfo": "_metrics",
    "MetricList": "_metrics",
    "metric": "_metrics",
    "metrics": "_metrics",
    "Edit": "_perturb",
    "Sample": "_perturb",
    "Samples": "_perturb",
    "perturb": "_perturb",
    "Sheet": "_sheet",
    "score": "_score",
    "Scorer": "_score",
    "ColumnScores": "_result",
    "ScoreResult": "_result",
    "StoryScore": "_result",
    "SystemScore": "_result",
    "SystemTable": "_result",
    "__version__": "_native",
    "BadShard": "_shards",
    "BadShardsError": "_shards",
    "MergedScores": "_shards",
    "Shard": "_shards",
    "ShardResult": "_shards",
    "ShardRun": "_shards",
    "merge": "_shards",
    "plan_shards": "_shards",
    "score_files": "_shards",
}

__all__ = [
    "score",
    "Scorer",
    "ColumnScores",
    "ScoreResult",
    "StoryScore",
    "SystemScore",
    "SystemTable",
    "Agreement",
    "Coefficient",
    "Comparison",
    "Comparisons",
    "CorpusScore",
    "Correlation",
    "Criterion",
    "Diagnosis",
    "Edit",
    "Explanation",
    "Hit",
    "MetaStudy",
    "Metric",
    "MetricInfo",
    "MetricList",
    "RankedSystem",
    "Sample",
    "Samples",
    "ScoreTest",
    "Sentence",
    "Sheet",
    "Standing",
    "Suggestion",
    "SystemPair",
    "Verdict",
    "WeakPair",
    "compare",
    "correlate",
    "explain",
    "hf_module",
    "meta",
    "metric",
    "metrics",
    "perturb",
    "BadShard",
    "BadShardsError",
    "MergedScores",
    "Shard",
    "ShardResult",
    "ShardRun",
    "merge",
    "plan_shards",
    "score_files",
]
__all__ += _errors.__all__


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
