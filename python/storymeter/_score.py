"""Stories in, scores out."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

from . import _frames, _native
from ._how import (
    How,
    Reading,
    check_kind,
    checked_columns,
    checked_draws,
    checked_seed,
    checked_threads,
    how_of,
    opened_again,
    seed_of_draws,
)
from ._progress import shown
from ._result import ScoreResult, StoryScore

if TYPE_CHECKING:
    from ._explain import Explanation as _Explanation
    from ._shards import Shard, ShardResult

__all__ = ["Scorer", "score"]

logger = logging.getLogger("storymeter")


class ArrowFrame(Protocol):
    """A frame or a column that speaks Arrow: of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None, /) -> object: ...


Path: TypeAlias = os.PathLike[str]
#: One story: its text, or a dictionary with the fields of a line of JSONL.
OneStory: TypeAlias = str | Mapping[str, Any]
#: Several stories: a list, a frame, a file, or files.
ManyStories: TypeAlias = (
    Iterable[str | None] | Iterable[Mapping[str, Any]] | Iterable[Path] | Path | ArrowFrame
)
#: References: one text or several per story, in the order of the stories; or files of them.
References: TypeAlias = str | Sequence[str | Sequence[str]] | Path | Sequence[Path]
#: ``True`` for a bar, or what is called with the stage, what is done, and how much there is.
Progress: TypeAlias = bool | Callable[[str, int, int | None], object] | None


class Scorer:
    """Scores stories, and keeps models and tables open between calls.

    It can be pickled, for other processes: the pickle says how to open the models, and does not
    contain them. Unpickling opens the files and folders that the pickle names (``model``,
    ``weights``, ``corpus_stats``), as they are then and there, and a relative path is meant from
    the folder of the process that unpickles. So, as with any pickle, load only those that you
    trust. Threads may share a scorer.

    Parameters
    ----------
    model
        The model of a learned metric: a folder, a model file, or the name of an installed model.
        The default models are part of the package.
    metrics
        The metrics, such as ``["union", "bleu", "rouge:hanna"]``. The default is the metric of the
        model, which is ``union`` if no model is named.
    weights
        Folders or files with the weights or tables of metrics, by the name of a metric, such as
        ``bertscore``, or of a model, such as ``roberta-large``.
    device
        Where networks compute: ``"cpu"``, ``"cuda"``, or ``"cuda:1"`` for the second GPU.
    precision
        The number format of networks: ``"int8"``, ``"f16"``, ``"bf16"`` or ``"f32"``. Each metric
        has a default.
    seed
        The seed of everything that is drawn at random. The default is 1 for intervals and tests,
        and 0 for metrics that draw a sample.
    threads
        The number of threads. The default is one per core. Results do not depend on it.
    corpus_stats
        A file with what metrics such as ``cider-d`` and ``self-bleu`` must know about all stories,
        so that a part of the stories gets the scores that it has among all of them.
        :func:`score` and :func:`score_files` write it from files of stories if it is not there.
    clean
        Whether to remove what surrounds a story before it is scored: words to the user ("Sure, here
        is your story:"), Markdown, the prompt once more, tokens that end a text. Signatures then
        say ``clean:yes``.
    keep_refusals
        Whether to score refusals and empty texts like stories. By default they have no score, and
        no mean and no interval knows of them.

    Examples
    --------
    >>> import storymeter as sm
    >>> judge = sm.Scorer(metrics=["text-length"])
    >>> judge.score(["Rain fell.", "It fell and fell."]).scores
    array([3., 5.])
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        metrics: str | Sequence[str] | None = None,
        weights: Mapping[str, str | os.PathLike[str]] | None = None,
        device: str = "cpu",
        precision: str | None = None,
        seed: int | None = None,
        threads: int | None = None,
        corpus_stats: str | os.PathLike[str] | None = None,
        clean: bool = False,
        keep_refusals: bool = False,
    ) -> None:
        self._how = how_of(
            model, metrics, weights, device, precision, seed, threads, corpus_stats, clean,
            keep_refusals,
        )
        self._native = self._how.open()

    @classmethod
    def _opened(cls, how: How, corpus: Reading, progress: Any = None) -> Scorer:
        """Open a scorer, which gathers the corpus statistics first if they are not there."""
        scorer = cls.__new__(cls)
        scorer._how = how
        scorer._native = how.open(corpus, progress)
        return scorer

    def __getstate__(self) -> How:
        return self._how

    def __setstate__(self, how: How) -> None:
        self._how = how
        self._native = how.open()

    def __repr__(self) -> str:
        how = self._how
        model = "" if how.model is None else f"{how.model!r}, "
        return f"Scorer({model}metrics={self.columns!r}, device={how.device!r})"

    @property
    def columns(self) -> list[str]:
        """The keys of the scores, in order."""
        return self._native.keys()

    @overload
    def score(
        self,
        stories: OneStory,
        *,
        by: str | None = ...,
        columns: Mapping[str, str] | None = ...,
        references: References | None = ...,
        against: str | None = ...,
        one_sided: bool = ...,
        skip_bad: bool = ...,
        renumber: bool = ...,
        format: str | None = ...,
        seed: int | None = ...,
        resamples: int = ...,
        threads: int | None = ...,
        progress: Progress = ...,
    ) -> StoryScore: ...
    @overload
    def score(
        self,
        stories: ManyStories,
        *,
        by: str | None = ...,
        columns: Mapping[str, str] | None = ...,
        references: References | None = ...,
        against: str | None = ...,
        one_sided: bool = ...,
        skip_bad: bool = ...,
        renumber: bool = ...,
        format: str | None = ...,
        seed: int | None = ...,
        resamples: int = ...,
        threads: int | None = ...,
        progress: Progress = ...,
    ) -> ScoreResult: ...
    def score(
        self,
        stories: Any,
        *,
        by: str | None = None,
        columns: Mapping[str, str] | None = None,
        references: Any = None,
        against: str | None = None,
        one_sided: bool = False,
        skip_bad: bool = False,
        renumber: bool = False,
        format: str | None = None,
        seed: int | None = None,
        resamples: int = 9999,
        threads: int | None = None,
        progress: Any = None,
    ) -> ScoreResult:
        """Score stories; :func:`storymeter.score` explains the arguments.

        ``seed`` and ``threads`` are those of the scorer unless they are given here.

        Examples
        --------
        >>> import storymeter as sm
        >>> judge = sm.Scorer(metrics=["text-length"])
        >>> float(judge.score("Rain fell."))
        3.0
        """
        return _score(
            self._native,
            _reading(stories, by, columns, references, format, skip_bad, renumber),
            resamples=checked_draws("resamples", resamples),
            seed=seed_of_draws(self._how.seed if seed is None else checked_seed(seed)),
            against=against,
            one_sided=one_sided,
            threads=None if threads is None else checked_threads(threads),
            progress=progress,
        )

    def score_shard(
        self,
        shard: Shard,
        *,
        columns: Mapping[str, str] | None = None,
        format: str | None = None,
        skip_bad: bool = False,
        renumber: bool = False,
        resume: bool = True,
    ) -> ShardResult:
        """Score one of the files of :func:`storymeter.plan_shards` into its file of scores.

        Shards can be scored in any order, by any process and on any machine. If a shard is finished
        already, nothing is done, unless ``resume=False``.
        """
        from . import _shards

        reading = _shards.Reading(tuple(checked_columns(columns)), format, skip_bad, renumber)
        return _shards.score_shard(self, shard, reading, resume)

    @overload
    def explain(  # type: ignore[overload-overlap]  # a text is also an iterable of texts
        self,
        stories: OneStory,
        *,
        sentences: str = ...,
        columns: Mapping[str, str] | None = ...,
        skip_bad: bool = ...,
        renumber: bool = ...,
        format: str | None = ...,
        threads: int | None = ...,
        progress: Progress = ...,
    ) -> _Explanation: ...
    @overload
    def explain(
        self,
        stories: ManyStories,
        *,
        sentences: str = ...,
        columns: Mapping[str, str] | None = ...,
        skip_bad: bool = ...,
        renumber: bool = ...,
        format: str | None = ...,
        threads: int | None = ...,
        progress: Progress = ...,
    ) -> list[_Explanation]: ...
    def explain(
        self,
        stories: Any,
        *,
        sentences: str = "weakest",
        columns: Mapping[str, str] | None = None,
        skip_bad: bool = False,
        renumber: bool = False,
        format: str | None = None,
        threads: int | None = None,
        progress: Any = None,
    ) -> _Explanation | list[_Explanation]:
        """Explain scores; :func:`storymeter.explain` says what the arguments mean.

        The open models are used. If none of the metrics explains itself, ``union`` does.

        Examples
        --------
        >>> import storymeter as sm
        >>> judge = sm.Scorer()
        >>> judge.explain("Rain fell. A whale sang.").score == judge.score(
        ...     "Rain fell. A whale sang."
        ... ).score
        True
        """
        from ._explain import explain

        explained: _Explanation | list[_Explanation] = explain(
            stories, sentences=sentences, columns=columns, skip_bad=skip_bad, renumber=renumber,
            format=format, threads=threads, progress=progress, scorer=self,
        )
        return explained


@overload
def score(
    stories: OneStory,
    *,
    metrics: str | Sequence[str] | None = ...,
    model: str | os.PathLike[str] | None = ...,
    weights: Mapping[str, str | os.PathLike[str]] | None = ...,
    device: str = ...,
    precision: str | None = ...,
    by: str | None = ...,
    columns: Mapping[str, str] | None = ...,
    references: References | None = ...,
    against: str | None = ...,
    one_sided: bool = ...,
    skip_bad: bool = ...,
    renumber: bool = ...,
    format: str | None = ...,
    seed: int | None = ...,
    resamples: int = ...,
    threads: int | None = ...,
    progress: Progress = ...,
    corpus_stats: str | os.PathLike[str] | None = ...,
    clean: bool = ...,
    keep_refusals: bool = ...,
) -> StoryScore: ...
@overload
def score(
    stories: ManyStories,
    *,
    metrics: str | Sequence[str] | None = ...,
    model: str | os.PathLike[str] | None = ...,
    weights: Mapping[str, str | os.PathLike[str]] | None = ...,
    device: str = ...,
    precision: str | None = ...,
    by: str | None = ...,
    columns: Mapping[str, str] | None = ...,
    references: References | None = ...,
    against: str | None = ...,
    one_sided: bool = ...,
    skip_bad: bool = ...,
    renumber: bool = ...,
    format: str | None = ...,
    seed: int | None = ...,
    resamples: int = ...,
    threads: int | None = ...,
    progress: Progress = ...,
    corpus_stats: str | os.PathLike[str] | None = ...,
    clean: bool = ...,
    keep_refusals: bool = ...,
) -> ScoreResult: ...
def score(
    stories: Any,
    *,
    metrics: str | Sequence[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    references: Any = None,
    against: str | None = None,
    one_sided: bool = False,
    skip_bad: bool = False,
    renumber: bool = False,
    format: str | None = None,
    seed: int | None = None,
    resamples: int = 9999,
    threads: int | None = None,
    progress: Any = None,
    corpus_stats: str | os.PathLike[str] | None = None,
    clean: bool = False,
    keep_refusals: bool = False,
) -> ScoreResult:
    """Score stories, with the numbers of ``storymeter score`` to the last bit.

    Parameters
    ----------
    stories
        One story (a text, or a dictionary with the fields of a line of JSONL); an iterable of
        texts or dictionaries; a frame of pandas, polars, pyarrow or anything else that speaks
        Arrow, or one column of it; or a file (a :class:`pathlib.Path`, because a plain string is a
        story) or a list of files.
        Fields and columns have the names that files have: ``story`` (or ``text``, ``prediction``,
        ...), ``system``, ``id``, ``item``, ``prompt``, ``reference``, ``human`` and
        ``human.CRITERION``.
    metrics, model, weights, device, precision
        What computes the scores; see :class:`Scorer`.
    by
        The field or column of the systems, if it has none of the usual names.
    columns
        Names of other fields or columns, such as ``{"story": "Tale", "prompt": "Title"}``.
    references
        One text or a list of texts per story, in the order of the stories; or a file, or a list of
        files, with one reference per story.
    against, one_sided
        Compare every other system with this one, as :func:`compare` does. Tests are two-sided
        unless ``one_sided`` is true.
    skip_bad
        Skip bad records, and count them, instead of raising an exception at the first one. The
        score of a single story that is skipped is NaN.
    renumber
        Make ids unique, instead of raising an exception at the second story with the same id.
    format
        The format of files, if their names and contents do not say it, such as ``"lines"``.
    seed, resamples
        How intervals and tests are drawn. The default seed is 1 for them, and 0 for metrics that
        draw a sample.
    threads
        The number of threads. The default is one per core. Results do not depend on it.
    progress
        ``True`` shows a bar on standard error, by tqdm if that is installed. A function is called
        with the name of the stage, how much is done, and how much there is.
    corpus_stats
        A file with what some metrics must know about all stories; see :class:`Scorer`. If it is not
        there and the stories are files, it is written from them.
    clean, keep_refusals
        What is done with texts that are not only a story; see :class:`Scorer`.

    Examples
    --------
    >>> import storymeter as sm
    >>> stories = ["Rain fell.", "It fell and fell."]
    >>> sm.score(stories, metrics=["text-length"]).mean
    4.0
    >>> sm.score(stories, metrics=["chrf"], references=["Rain.", "It fell."]).columns
    ['chrf']
    """
    how = how_of(
        model, metrics, weights, device, precision, seed, threads, corpus_stats, clean,
        keep_refusals,
    )
    reading = _reading(stories, by, columns, references, format, skip_bad, renumber)
    resamples = checked_draws("resamples", resamples)
    if how.model is None and not how.weights and how.corpus_stats is None:
        scorer = opened_again(how)
    else:
        scorer = how.open(reading if _are_files(reading) else None, progress)
    return _score(
        scorer, reading, resamples=resamples, seed=seed_of_draws(how.seed), against=against,
        one_sided=one_sided, threads=None, progress=progress,
    )


def _score(
    scorer: _native.Scorer,
    reading: Reading,
    *,
    resamples: int,
    seed: int,
    against: str | None,
    one_sided: bool,
    threads: int | None,
    progress: Any,
) -> ScoreResult:
    one, given = reading.kind == "one", None
    if reading.kind == "given":
        given = reading.stories = _frames.kept(reading.stories)
        reading.kind, reading.stories = _frames.readable(given, reading.columns)
    elif one:
        reading.kind = "texts" if isinstance(reading.stories[0], str) else "records"
    with shown(progress) as show:
        scored = scorer.score(reading, resamples, seed, against, one_sided, threads, show)
    logger.info("%s", scored.summary)
    for note in scored.notes:
        logger.warning("%s", note)
    log_skipped(*scored.skipped)
    return StoryScore(scored) if one else ScoreResult(scored, given)


def log_skipped(count: int, problems: Sequence[str]) -> None:
    """Say how many bad records were skipped, and what was wrong with the first one."""
    if count:
        logger.warning("%s bad records were skipped; the first: %s", count, problems[0])


def _reading(
    stories: Any,
    by: str | None,
    columns: Mapping[str, str] | None,
    references: Any,
    format: str | None,
    skip_bad: bool,
    renumber: bool,
) -> Reading:
    names = dict(checked_columns(columns))
    if by is not None:
        check_kind("by", by, str)
        names["system"] = by
    if format is not None:
        check_kind("format", format, str)
    kind, items = _source(stories)
    texts, files = _references(references, kind)
    return Reading(
        kind, items, texts, files, list(names.items()), format, bool(skip_bad), bool(renumber)
    )


def _are_files(reading: Reading) -> bool:
    """Whether the stories are files or folders, and not pipes, which can be read only once."""
    return reading.kind == "files" and not any(
        os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
        for path in reading.stories
    )


def _source(stories: Any) -> tuple[str, Any]:
    """What kind of thing the stories are, and the stories."""
    if isinstance(stories, (str, Mapping)):
        return "one", [stories]
    if isinstance(stories, os.PathLike):
        return "files", [os.fspath(stories)]
    if _frames.is_frame(stories):
        return "given", stories
    if not isinstance(stories, Iterable) or isinstance(stories, (bytes, bytearray)):
        raise TypeError(
            "stories is a text, a dictionary, a list of these, a path or a frame, and not of the "
            f"type {type(stories).__name__}"
        )
    items = list(stories)
    first = next((item for item in items if item is not None), None)
    if isinstance(first, os.PathLike):
        for at, item in enumerate(items):
            check_kind(f"stories[{at}]", item, os.PathLike)
        return "files", [os.fspath(item) for item in items]
    return ("records" if isinstance(first, Mapping) else "texts"), items


def _references(given: Any, kind: str) -> tuple[list[list[str]] | None, list[str]]:
    """References as texts by story, or as files."""
    if given is None:
        return None, []
    if isinstance(given, os.PathLike):
        return None, [os.fspath(given)]
    if isinstance(given, str) and kind == "one":
        given = [[given]]
    check_kind("references", given, Iterable)
    if isinstance(given, str) or _frames.is_no_list(given):
        raise TypeError(
            "references is a list with one text or one list of texts per story, or a path, and "
            f"not of the type {type(given).__name__}"
        )
    given = list(given)
    if given and all(isinstance(item, os.PathLike) for item in given):
        return None, [os.fspath(item) for item in given]
    if kind == "files":
        raise TypeError("references of a file of stories are a path or a list of paths")
    if kind == "one" and given and isinstance(given[0], str):
        given = [given]
    texts = []
    for at, item in enumerate(given):
        own = [item] if isinstance(item, str) else item
        check_kind(f"references[{at}]", own, Iterable)
        own = list(own)
        for text in own:
            check_kind(f"references[{at}]", text, str)
        texts.append(own)
    return texts, []
