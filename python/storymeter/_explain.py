"""Why a story has its score."""

from __future__ import annotations

import html
import json
import os
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast, overload

from . import _native
from ._how import check_kind, checked_threads, how_of, opened_again
from ._score import ManyStories, OneStory, Progress, Scorer, log_skipped
from ._progress import shown
from ._stories import reading_of

__all__ = [
    "Criterion",
    "Diagnosis",
    "Explanation",
    "Hit",
    "Sentence",
    "Standing",
    "Suggestion",
    "WeakPair",
    "explain",
]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a story, and what it does to the score.

    Attributes
    ----------
    text
        The sentence.
    start, end
        Where it stands in the story, in code points: ``story[start:end]`` is the sentence.
    contribution
        The logit of the story minus its logit without the sentence; ``None`` if the sentence was
        not weighed.
    effect
        The score with the sentence minus the score without it.
    in_words
        The effect in words.
    """

    text: str
    start: int
    end: int
    contribution: float | None = None
    effect: float | None = None
    in_words: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """The probability of each kind of damage, and which of them readers confirm."""

    repetition: float
    incoherence: float
    wrong_order: float
    contradiction: float
    trusted: Mapping[str, bool] | None = None


@dataclass(frozen=True)
class Standing:
    """Where the score stands among those of human and of machine stories of similar length."""

    above_human: float
    above_machine: float
    human_stories: int
    machine_stories: int
    machines: str
    shortest: int
    longest: int | None


@dataclass(frozen=True)
class WeakPair:
    """Two neighbouring sentences that fit least, and their score as a story of their own."""

    first: Sentence
    second: Sentence
    score: float


@dataclass(frozen=True)
class Suggestion:
    """A piece of the story that the model would write differently; offsets are code points."""

    start: int
    end: int
    text: str
    suggestion: str
    probability: float


@dataclass(frozen=True)
class Hit:
    """A place that the metric ``slop`` counts.

    Attributes
    ----------
    text
        What stands there.
    start, end
        Where it stands in the story, in code points.
    kind
        ``"word"``, ``"phrase"`` or ``"contrast"``.
    entry
        The entry of the list, or the name of the construction.
    """

    text: str
    start: int
    end: int
    kind: str
    entry: str


@dataclass(frozen=True)
class Criterion:
    """A predicted rating, and the sentences that move it most.

    ``effects`` and ``contributions`` have one entry per sentence of the explanation.
    """

    name: str
    prediction: float | None
    low: float | None
    high: float | None
    absent: str | None
    base: float | None
    raises: Sentence | None
    lowers: Sentence | None
    effects: tuple[float | None, ...] = ()
    contributions: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Why a story has its score. In a notebook it shows itself, coloured.

    Attributes
    ----------
    id
        The id of the story.
    text
        The story as it was given.
    read_as
        The story as the model read it, for example with masked names.
    score
        The UNION score; ``None`` if only other metrics were explained.
    sentences
        The sentences and what each of them does to the score. It is empty for a story of one
        sentence.
    diagnosis
        The kind of damage that the story seems to have.
    suggestions
        The pieces that the model would write differently.
    warnings
        What the story looks like, if not like a story in English prose.
    standing
        Where the score stands among those of human and of machine stories.
    weakest_pair
        The two neighbouring sentences that fit least, if no single sentence is to blame for a low
        score.
    criteria
        The predicted ratings, if the metric ``criteria`` was explained.
    slop
        The numbers of the metric ``slop`` per 1,000 words (``score``, ``words``, ``phrases`` and
        ``contrast``), if it was explained and the text has words.
    hits
        The places that ``slop`` counts, in the order of the text.
    logit, repetition_cost, repetition_effect
        The logit before calibration, and how much repeated words lower it and the score.

    Examples
    --------
    >>> import storymeter as sm
    >>> why = sm.explain("\\N{kite} Ken lost his kite. He looked in the barn. Ken lost his kite.")
    >>> why.sentences[1].text, why.text[why.sentences[1].start : why.sentences[1].end]
    ('He looked in the barn.', 'He looked in the barn.')
    """

    id: str
    text: str
    read_as: str | None
    score: float | None
    sentences: tuple[Sentence, ...]
    diagnosis: Diagnosis | None
    suggestions: tuple[Suggestion, ...]
    warnings: tuple[str, ...]
    standing: Standing | None
    weakest_pair: WeakPair | None
    criteria: tuple[Criterion, ...]
    logit: float | None = None
    repetition_cost: float | None = None
    repetition_effect: float | None = None
    slop: Mapping[str, float] | None = None
    hits: tuple[Hit, ...] = ()
    _json: str = field(default="", repr=False)

    def __float__(self) -> float:
        if self.score is None:
            raise ValueError("the explanation has no score of the metric union")
        return self.score

    def to_json(self) -> str:
        """The field ``explanation`` that ``score --explain`` writes, byte for byte.

        Its offsets count bytes of UTF-8, as everywhere in files. The attributes of this class count
        code points.
        """
        return self._json

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`to_json` says, as a dictionary; offsets count bytes of UTF-8."""
        return cast("dict[str, Any]", json.loads(self._json))

    def __str__(self) -> str:
        lines = [] if self.score is None else [f"score {self.score:.4f}"]
        lines += [f"warning: it {looks}" for looks in self.warnings]
        for one in self.sentences:
            effect = "" if one.effect is None else f"{one.effect:+.3f}"
            lines.append(f"{effect:>7}  {one.text}")
        if self.slop is not None:
            lines.append(f"slop {self.slop['score']:.1f}, {len(self.hits)} hits")
        lines += [f"{hit.kind:>8}  {hit.text}" for hit in self.hits]
        return "\n".join(lines)

    def _marked(self, start: int, end: int) -> str:
        """A part of the text as HTML, with the hits of ``slop`` underlined."""
        ends = (at for hit in self.hits for at in (hit.start, hit.end) if start < at < end)
        cuts = sorted({start, end, *ends})
        parts: list[str] = []
        for one, two in zip(cuts, cuts[1:]):
            text = html.escape(self.text[one:two])
            # A contrast may have words of the list in it.
            found = [hit for hit in self.hits if hit.start <= one and two <= hit.end]
            if found:
                title = "; ".join(f"overused {hit.kind}: {hit.entry}" for hit in found)
                text = f'<u title="{html.escape(title)}">{text}</u>'
            parts.append(text)
        return "".join(parts)

    def _repr_html_(self) -> str:
        parts: list[str] = []
        at = 0
        for one in self.sentences:
            parts.append(self._marked(at, one.start))
            effect = one.effect or 0.0
            colour = "214,39,40" if effect < 0 else "44,160,44"
            strength = min(0.6, abs(effect) * 3)
            said = one.in_words or "was not weighed"
            title = said if one.effect is None else f"{said} ({one.effect:+.3f})"
            parts.append(
                f'<span title="{html.escape(title)}" '
                f'style="background:rgba({colour},{strength:.2f})">'
                f"{self._marked(one.start, one.end)}</span>"
            )
            at = one.end
        parts.append(self._marked(at, len(self.text)))
        head = [] if self.score is None else [f"<b>{self.score:.3f}</b>"]
        if self.diagnosis is not None:
            trusted = self.diagnosis.trusted or {}
            for name in ("repetition", "incoherence", "wrong_order", "contradiction"):
                if trusted.get(name, True):
                    value = getattr(self.diagnosis, name)
                    head.append(f"{name.replace('_', ' ')} {value:.2f}")
        for one_criterion in self.criteria:
            if one_criterion.prediction is not None:
                name = html.escape(one_criterion.name)
                head.append(f"{name} {one_criterion.prediction:.2f}")
        if self.slop is not None:
            head.append(f"slop {self.slop['score']:.1f}")
        head += [f"<i>it {html.escape(looks)}</i>" for looks in self.warnings]
        story = "".join(parts)
        return f'<div><p>{" · ".join(head)}</p><p style="white-space:pre-wrap">{story}</p></div>'


@overload
def explain(  # type: ignore[overload-overlap]  # a text is also an iterable of texts
    stories: OneStory,
    *,
    metrics: str | Sequence[str] | None = ...,
    model: str | os.PathLike[str] | None = ...,
    sentences: str = ...,
    weights: Mapping[str, str | os.PathLike[str]] | None = ...,
    device: str = ...,
    precision: str | None = ...,
    columns: Mapping[str, str] | None = ...,
    skip_bad: bool = ...,
    renumber: bool = ...,
    format: str | None = ...,
    threads: int | None = ...,
    progress: Progress = ...,
    scorer: Scorer | None = ...,
) -> Explanation: ...
@overload
def explain(
    stories: ManyStories,
    *,
    metrics: str | Sequence[str] | None = ...,
    model: str | os.PathLike[str] | None = ...,
    sentences: str = ...,
    weights: Mapping[str, str | os.PathLike[str]] | None = ...,
    device: str = ...,
    precision: str | None = ...,
    columns: Mapping[str, str] | None = ...,
    skip_bad: bool = ...,
    renumber: bool = ...,
    format: str | None = ...,
    threads: int | None = ...,
    progress: Progress = ...,
    scorer: Scorer | None = ...,
) -> list[Explanation]: ...
def explain(
    stories: Any,
    *,
    metrics: str | Sequence[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    sentences: str = "weakest",
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    renumber: bool = False,
    format: str | None = None,
    threads: int | None = None,
    progress: Any = None,
    scorer: Scorer | None = None,
) -> Explanation | list[Explanation]:
    """Explain the scores of stories.

    Parameters
    ----------
    stories
        One story, which gives one explanation; or a list, a path or a frame, which gives a list of
        explanations, as :func:`storymeter.score` takes them.
    metrics
        Which metrics are explained: ``"union"``, ``"criteria"``, ``"slop"``, or several of them.
        The default is ``"union"``.
    model
        The model of a learned metric: a folder, a model file, or the name of an installed model.
    sentences
        ``"weakest"`` weighs only the weakest parts of a long story, and ``"all"`` every sentence.
    weights, device, precision, columns, skip_bad, renumber, format, threads, progress
        As for :func:`storymeter.score`. A single story is not skipped: if it is bad, that is an
        exception also with ``skip_bad=True``.
    scorer
        A scorer whose open models are used. It replaces ``metrics``, ``model``, ``weights``,
        ``device`` and ``precision``.

    Returns
    -------
    Explanation or list of Explanation

    Examples
    --------
    >>> import storymeter as sm
    >>> why = sm.explain("Ken lost his kite. He looked in the barn. Ken lost his kite.")
    >>> why.diagnosis.repetition > 0.5
    True
    >>> [one.text for one in why.sentences][1]
    'He looked in the barn.'
    """
    if scorer is None:
        how = how_of(model, metrics, weights, device, precision, 0, threads)
        cached = how.model is None and not how.weights
        opened = opened_again(how) if cached else how.open()
    else:
        check_kind("scorer", scorer, Scorer)
        opened = scorer._native
    reading, one = reading_of(
        stories, columns=columns, skip_bad=skip_bad, renumber=renumber, format=format
    )
    if one:
        reading.skip_bad = False  # There is no explanation that could be returned.
    workers = None if threads is None else checked_threads(threads)
    with shown(progress) as show:
        found, skipped, problems = _native.explain(opened, reading, sentences, workers, show)
    log_skipped(skipped, problems)
    explained = [_explanation(*parts) for parts in found]
    return explained[0] if one else explained


def _explanation(id: str, text: str, written: str) -> Explanation:
    given = json.loads(written)
    place = code_points(text)

    def sentence(at: Mapping[str, Any]) -> Sentence:
        start, end = place(at["start"]), place(at["end"])
        known = (at.get("contribution"), at.get("effect"), at.get("in_words"))
        return Sentence(text[start:end], start, end, *known)

    criteria = given.get("criteria") or {}
    spans = given.get("sentences") or criteria.get("sentences") or []
    sentences = tuple(sentence(span) for span in spans)
    warnings = given.get("warnings") or criteria.get("warnings") or []
    pair = given.get("weakest_pair")
    return Explanation(
        id=id,
        text=text,
        read_as=given.get("read_as"),
        score=given.get("union"),
        sentences=sentences,
        diagnosis=Diagnosis(**given["diagnosis"]) if given.get("diagnosis") else None,
        suggestions=tuple(
            Suggestion(place(edit["start"]), place(edit["end"]), edit["text"], edit["suggestion"],
                       edit["probability"])
            for edit in given.get("edits") or []
        ),
        warnings=tuple(warning["looks"] for warning in warnings),
        standing=Standing(**given["standing"]) if given.get("standing") else None,
        weakest_pair=pair and WeakPair(
            sentences[pair["first"]], sentences[pair["first"] + 1], pair["score"]
        ),
        criteria=_criteria(criteria, sentence),
        logit=given.get("logit"),
        repetition_cost=given.get("repetition_cost"),
        repetition_effect=given.get("repetition_effect"),
        slop=given.get("slop"),
        hits=tuple(
            Hit(hit["text"], place(hit["start"]), place(hit["end"]), hit["kind"], hit["entry"])
            for hit in given.get("hits") or []
        ),
        _json=written,
    )


def _criteria(
    given: Mapping[str, Any], sentence: Callable[[Mapping[str, Any]], Sentence]
) -> tuple[Criterion, ...]:
    spans = given.get("sentences") or []

    def strongest(found: Mapping[str, Any] | None, contribution: int) -> Sentence | None:
        if found is None:
            return None
        span = spans[found["sentence"]]
        share = span["contributions"][contribution]
        return sentence({**span, "effect": found["effect"], "contribution": share})

    return tuple(
        Criterion(
            name=one["name"],
            prediction=one["prediction"],
            low=one["low"],
            high=one["high"],
            absent=one["absent"],
            base=one["base"],
            raises=strongest(one["raises"], at),
            lowers=strongest(one["lowers"], at),
            effects=tuple(span["effects"][at] for span in spans),
            contributions=tuple(span["contributions"][at] for span in spans),
        )
        for at, one in enumerate(given.get("predictions") or [])
    )


def code_points(text: str) -> Callable[[int], int]:
    """What turns an offset in bytes of UTF-8 into one in code points."""
    if text.isascii():
        return lambda at: at
    starts: list[int] = []
    size = 0
    for character in text:
        starts.append(size)
        size += len(character.encode())
    return lambda at: bisect_left(starts, at)
