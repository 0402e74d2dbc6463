"""Measure how good a story is, and how good a measure of stories is.

>>> import storymeter as sm
>>> result = sm.score(["Ada lost her keys. She looked under the bed. There they were."])
>>> len(result)
1
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import *  # noqa: F403
from ._errors import __all__ as _error_names

if TYPE_CHECKING:
    from ._native import __version__ as __version__
    from ._score import Scorer as Scorer
    from ._score import score as score
    from ._result import ScoreResult as ScoreResult
    from ._result import StoryScore as StoryScore
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
    "score": "_score",
    "Scorer": "_score",
    "ScoreResult": "_result",
    "StoryScore": "_result",
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
    "ScoreResult",
    "StoryScore",
    "BadShard",
    "BadShardsError",
    "MergedScores",
    "Shard",
    "ShardResult",
    "ShardRun",
    "merge",
    "plan_shards",
    "score_files",
    *_error_names,
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
