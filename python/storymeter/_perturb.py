"""Damaged stories, with what was changed."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from . import _native
from ._how import checked_count, checked_draws, checked_seed, checked_threads
from ._progress import shown
from ._score import ManyStories, OneStory, Progress
from ._stories import reading_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["Edit", "Sample", "Samples", "perturb"]


@dataclass(frozen=True)
class Edit:
    """One replacement: ``text[start:end]``, which reads ``before``, becomes ``after``.

    Offsets are code points of the text as the earlier edits left it. ``sentence`` is the number of
    the changed sentence, from 0.
    """

    technique: str
    sentence: int
    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True)
class Sample:
    """A damaged story.

    Attributes
    ----------
    id
        The id of the story.
    draw
        Which sample of its story it is, from 0.
    original
        The story before the damage.
    story
        The damaged story.
    techniques
        The techniques that changed something, in the order of their application.
    edits
        The changes, in the order of their application.
    """

    id: str
    draw: int
    original: str
    story: str
    techniques: tuple[str, ...]
    edits: tuple[Edit, ...]
    _json: str = field(default="", repr=False, compare=False)

    def undo(self) -> str:
        """Take all edits back, the last one first, which gives the original."""
        text = self.story
        for edit in reversed(self.edits):
            end = edit.start + len(edit.after)
            if text[edit.start : end] != edit.after:
                raise ValueError(f"the story does not read {edit.after!r} at {edit.start}")
            text = text[: edit.start] + edit.before + text[end:]
        return text

    def to_json(self) -> str:
        """The line that ``storymeter perturb`` writes. Its offsets count bytes of UTF-8."""
        return self._json


class Samples(Sequence[Sample]):
    """Damaged stories, in the order of the input.

    Attributes
    ----------
    unchanged
        How many samples could not be made, because no chosen technique changes the story.
    skipped
        How many bad records were skipped.
    problems
        What was wrong with the first of them.
    """

    def __init__(
        self, samples: Sequence[Sample], unchanged: int, skipped: int, problems: Sequence[str]
    ) -> None:
        self._samples = tuple(samples)
        self.unchanged = unchanged
        self.skipped = skipped
        self.problems = tuple(problems)

    @overload
    def __getitem__(self, at: int) -> Sample: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Sample, ...]: ...
    def __getitem__(self, at: int | slice) -> Sample | tuple[Sample, ...]:
        return self._samples[at]

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __repr__(self) -> str:
        return f"<{len(self)} damaged stories>"

    def to_json(self) -> str:
        """What ``storymeter perturb`` writes for the same input, byte for byte."""
        return "".join(f"{sample.to_json()}\n" for sample in self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dictionary per sample; offsets of edits are code points."""
        return [
            {
                "id": one.id,
                "draw": one.draw,
                "original": one.original,
                "story": one.story,
                "techniques": list(one.techniques),
                "edits": [dict(vars(edit)) for edit in one.edits],
            }
            for one in self
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The samples as a frame of pandas."""
        import pandas as pd

        names = ["id", "draw", "original", "story", "techniques", "edits"]
        return pd.DataFrame(self.to_dicts(), columns=names)

    def to_polars(self) -> pl.DataFrame:
        """The samples as a frame of polars."""
        import polars as pl

        edit = pl.Struct({
            "technique": pl.String, "sentence": pl.Int64, "start": pl.Int64, "end": pl.Int64,
            "before": pl.String, "after": pl.String,
        })
        schema: dict[str, Any] = {
            "id": pl.String, "draw": pl.Int64, "original": pl.String, "story": pl.String,
            "techniques": pl.List(pl.String), "edits": pl.List(edit),
        }
        return pl.DataFrame(self.to_dicts(), schema=schema)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(one.id)}</td><td>{', '.join(one.techniques)}</td>"
            f"<td>{html.escape(one.original)}</td><td>{html.escape(one.story)}</td></tr>"
            for one in self._samples[:20]
        )
        more = f"<p>and {len(self) - 20} more</p>" if len(self) > 20 else ""
        head = "<tr><th>id</th><th>techniques</th><th>original</th><th>story</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{more}"


@dataclass
class _Settings:
    """How stories are damaged; the native module takes it apart."""

    preset: str
    techniques: str
    counts: str
    keyword_share: float
    garbled: float
    spliced: float
    seed: int
    per_story: int
    donor_sample: int | None
    delexicalise: bool
    antonyms: str | None
    more_antonyms: str | None
    keywords: str | None


def perturb(
    stories: OneStory | ManyStories,
    *,
    seed: int = 0,
    preset: str = "paper",
    per_story: int = 1,
    techniques: str | Sequence[str] | Mapping[str, float] = "all",
    counts: str | Sequence[float] = "50,20,20,10",
    donors: Any = None,
    donor_sample: int | None = None,
    keyword_share: float = 0.15,
    garbled: float = 0.0,
    spliced: float = 0.0,
    delexicalise: bool = False,
    antonyms: str | os.PathLike[str] | None = None,
    more_antonyms: str | os.PathLike[str] | None = None,
    keywords: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    renumber: bool = False,
    format: str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Samples:
    """Make damaged stories (negative samples) from good ones.

    Each sample damages its story with one to four techniques: repetition, substitution, reordering
    and negation (UNION, section 3.2). The leading context, which is the prompt or, without one, the
    first sentence, stays as it is. The same seed gives the same samples, whatever the number of
    threads.

    Parameters
    ----------
    stories
        A text, a list of texts or dictionaries, a path or a frame, as :func:`storymeter.score`
        takes them.
    seed
        The seed of all random choices.
    preset
        ``"paper"``, or ``"released-code"`` for what the scripts of its authors do.
    per_story
        The number of samples per story.
    techniques
        ``"all"``, names (``["repetition", "negation"]``), names with weights
        (``{"repetition": 1, "negation": 3}``), or all but one (``"no-negation"``).
    counts
        The weights of one, two, three and four techniques per sample.
    donors
        The stories from which foreign words and sentences are taken, in the same forms as
        ``stories``. The default is the stories themselves.
    donor_sample
        The number of donor stories that are kept.
    keyword_share
        The share of keywords that a substitution of words replaces.
    garbled, spliced
        The shares of reorderings that move words within sentences, and of substitutions that join
        halves of sentences. The paper has none.
    delexicalise
        Whether the names of persons are first replaced by ``[MALE]``, ``[FEMALE]`` and
        ``[NEUTRAL]``.
    antonyms, more_antonyms, keywords
        Files with tables of antonyms and a list of keywords.
    columns, skip_bad, renumber, format, threads, progress
        As for :func:`storymeter.score`.

    Returns
    -------
    Samples

    Examples
    --------
    >>> import storymeter as sm
    >>> story = "Ken woke up. He went out. The rain was cold. He ran home."
    >>> bad = sm.perturb([story], seed=1)
    >>> bad[0].story != story, bad[0].undo() == story
    (True, True)
    """
    if isinstance(techniques, Mapping):
        techniques = [f"{name}={float(weight)!r}" for name, weight in techniques.items()]
    if not isinstance(techniques, str):
        techniques = ",".join(techniques)
    if not isinstance(counts, str):
        counts = ",".join(repr(float(weight)) for weight in counts)
    if antonyms is not None and more_antonyms is not None:
        raise ValueError("antonyms replaces the embedded table, and more_antonyms adds to it")
    settings = _Settings(
        preset, techniques, counts, keyword_share, garbled, spliced, checked_seed(seed),
        checked_draws("per_story", per_story),
        None if donor_sample is None else checked_count("donor_sample", donor_sample, 0, 2**63 - 1),
        delexicalise, _path(antonyms), _path(more_antonyms), _path(keywords),
    )
    how: dict[str, Any] = {
        "columns": columns, "skip_bad": skip_bad, "renumber": renumber, "format": format,
    }
    reading, _ = reading_of(stories, **how)
    given = None if donors is None else reading_of(donors, **how)[0]
    with shown(progress) as show:
        found, unchanged, skipped, problems = _native.perturb(
            reading, given, settings, checked_threads(threads), show
        )
    return Samples([_sample(*parts) for parts in found], unchanged, skipped, problems)


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


def _sample(
    id: str,
    draw: int,
    original: str,
    story: str,
    techniques: Sequence[str],
    edits: Sequence[tuple[str, int, int, int, str, str]],
    written: str,
) -> Sample:
    made = tuple(Edit(*edit) for edit in edits)
    return Sample(id, draw, original, story, tuple(techniques), made, written)
