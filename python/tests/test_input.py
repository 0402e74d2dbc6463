"""What goes in: texts, dictionaries, files and references, and what is wrong with them."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import pytest

import storymeter as sm

LENGTH = ["text-length"]


def lengths(stories: object, **options: object) -> list[float]:
    return list(sm.score(stories, metrics=LENGTH, **options).scores)  # type: ignore[call-overload]


def test_one_story_is_a_number() -> None:
    one = sm.score("Rain fell.", metrics=LENGTH)
    assert isinstance(one, sm.StoryScore)
    assert (one.score, float(one), len(one)) == (3.0, 3.0, 1)
    assert float(sm.score({"text": "Rain fell.", "id": 7}, metrics=LENGTH)) == 3.0


def test_lists_tuples_generators_and_sets_of_one() -> None:
    texts = ["Rain fell.", "It fell and fell."]
    for stories in (texts, tuple(texts), (text for text in texts), {text: 0 for text in texts}.keys()):
        assert lengths(stories) == [3.0, 5.0]


def test_texts_are_taken_as_they_are() -> None:
    # Neither the ends of lines nor a first invisible character are touched.
    texts = ["a\r\nb\n", "\ufeffa b", "emoji 🦊 fox"]
    result = sm.score(texts, metrics=LENGTH)
    again = sm.score([{"story": text} for text in texts], metrics=LENGTH)
    assert result.to_json() == again.to_json()


def test_fields_of_dictionaries() -> None:
    stories = [
        {"prediction": "Rain.", "model": "a", "id": 1, "human": {"plot": [1, 2.5, None]}},
        {"prediction": "Rain fell.", "model": "b", "id": "x", "human.plot": 3},
    ]
    result = sm.score(stories, metrics=LENGTH)
    first, second = result.to_dicts()
    assert (first["id"], first["system"], first["human"]) == ("1", "a", {"plot": [1.0, 2.5, None]})
    assert (second["id"], second["system"], second["human"]) == ("x", "b", {"plot": [3.0]})


def test_other_names() -> None:
    stories = [{"Tale": "Rain.", "Writer": "a"}, {"Tale": "Rain fell.", "Writer": "b"}]
    result = sm.score(stories, metrics=LENGTH, columns={"story": "Tale"}, by="Writer")
    assert [(row.system, row.score) for row in result.systems] == [("a", 2.0), ("b", 3.0)]
    with pytest.raises(sm.MissingFieldError, match='no field "Author"') as caught:
        sm.score(stories, metrics=LENGTH, columns={"story": "Tale"}, by="Author")
    assert caught.value.found == ["Tale", "Writer"]
    with pytest.raises(ValueError, match='no field "tale"'):
        sm.score(stories, columns={"tale": "Tale"})


def test_files(tmp_path: Path) -> None:
    table = tmp_path / "stories.csv"
    table.write_text("story\nRain.\nRain fell.\n", "utf-8")
    lines = tmp_path / "more.jsonl"
    lines.write_text('{"id": "a", "story": "It fell and fell."}\n', "utf-8")
    assert lengths(table) == [2.0, 3.0]
    assert lengths([table, lines]) == [2.0, 3.0, 5.0]
    # A plain string is a story, and not the name of a file.
    assert float(sm.score(str(table), metrics=LENGTH)) > 1.0
    text = tmp_path / "texts"
    text.write_text("Rain.\nRain fell.\n", "utf-8")
    assert lengths(text, format="lines") == [2.0, 3.0]


def test_references() -> None:
    def score(*references: object) -> float:
        story = "the cat sat on the mat"
        return sm.score([story], metrics=["bleu"], references=references).mean  # type: ignore[arg-type]

    assert round(score("the cat sat on a mat"), 4) == 53.7285
    assert score(["no", "the cat sat on the mat"]) == pytest.approx(100)
    own = [{"story": "the cat sat on the mat", "reference": "the cat sat on the mat"}]
    both = sm.score(own, metrics=["bleu"], references=["a dog"])
    assert "|nrefs:2|" in both.signature and both.mean == pytest.approx(100)
    with pytest.raises(sm.LengthError, match="1 stories, but 2 lists of references"):
        score("one", "two")


def test_nothing_gives_nothing() -> None:
    result = sm.score([], metrics=LENGTH)
    assert (len(result), result.scores.shape, result.to_json(), result.systems[:]) == (0, (0,), "", [])
    assert math.isnan(result.mean) and result.interval is None
    assert "absent" in str(result)


def test_missing_stories_are_bad_records() -> None:
    stories = ["Rain.", None, float("nan"), "Rain fell."]
    with pytest.raises(sm.InputError, match="stories:2: the story is null") as caught:
        lengths(stories)
    assert (caught.value.file, caught.value.line) == ("stories", 2)
    result = sm.score(stories, metrics=LENGTH, skip_bad=True)  # type: ignore[call-overload]
    assert (list(result.scores), result.skipped, result.ids) == ([2.0, 3.0], 2, ["0", "3"])


@pytest.mark.parametrize("story", [{"story": None}, {"story": 7}])
def test_a_single_story_that_is_skipped_has_no_score(story: dict[str, object]) -> None:
    result = sm.score(story, metrics=LENGTH, skip_bad=True)
    assert (len(result), result.skipped, result.scores.shape) == (0, 1, (0,))
    assert math.isnan(result.score) and math.isnan(float(result)) and math.isnan(result.mean)
    assert result.to_dicts() == [] and "absent" in str(result)
    # There is no explanation of nothing.
    with pytest.raises(sm.InputError, match="stories:1: "):
        sm.explain(story, skip_bad=True)


def test_an_infinite_rating_is_no_missing_rating() -> None:
    for rating in (math.inf, -math.inf):
        stories = [{"story": "Rain.", "human": {"plot": rating}}, {"story": "Rain fell."}]
        with pytest.raises(sm.InputError, match="stories:1: .*inf"):
            lengths(stories)
        assert lengths(stories, skip_bad=True) == [3.0]
    nan = sm.score([{"story": "Rain.", "human": {"plot": math.nan}}], metrics=LENGTH)
    assert nan.to_dicts()[0]["human"] == {"plot": [None]}


def test_absent_scores_are_nan_with_a_reason() -> None:
    stories = [{"story": "Rain fell."}, {"story": "Rain fell.", "prompt": "A storm comes."}]
    relevance = sm.score(stories, metrics=["criteria"]).column("criteria/relevance")
    assert math.isnan(relevance.scores[0]) and not math.isnan(relevance.scores[1])
    assert list(relevance.absent) == [0] and "prompt" in relevance.absent[0]
    assert relevance.mean == relevance.scores[1]
    with pytest.raises(KeyError, match="'bleu' is none of text-length"):
        sm.score(stories, metrics=LENGTH)["bleu"]


WRONG = [
    ((7,), {}, "stories is a text, a dictionary, a list of these, a path or a frame, and not of the type int"),
    ((b"Rain.",), {}, "stories is a text, .* type bytes"),
    ((["Rain.", 7],), {}, r"stories\[1\] is a text in the other places, and here .* type int"),
    (([{"story": "Rain."}, "Rain."],), {}, r"stories\[1\] is a dictionary in the other places"),
    ((["Rain."],), {"metrics": [7]}, r"metrics\[0\] is of the type int, and not str"),
    ((["Rain."],), {"threads": "two"}, "threads is of the type str, and not int"),
    ((["Rain."],), {"seed": 1.5}, "seed is of the type float, and not int"),
    ((["Rain."],), {"references": 3}, "references is of the type int"),
    ((["Rain."],), {"references": {"Rain.": 1}}, "references is a list .* not of the type dict"),
    ((["Rain."],), {"references": {"Rain."}}, "references is a list .* not of the type set"),
    ((["Rain."],), {"references": [[3]]}, r"references\[0\] is of the type int, and not str"),
    ((["Rain."],), {"progress": 3}, "progress is True, False or a function"),
    ((["Rain."],), {"model": 3}, "model is of the type int, and not str or PathLike"),
    ((["Rain."],), {"weights": ["x"]}, "weights is of the type list, and not Mapping"),
]


@pytest.mark.parametrize(("args", "options", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_types_name_the_argument(
    args: tuple[object], options: dict[str, object], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        sm.score(*args, **{"metrics": LENGTH, **options})  # type: ignore[call-overload]


def test_wrong_values_name_the_argument() -> None:
    for options, message in [
        ({"device": "tpu"}, 'device: "tpu" is neither "cpu" nor "cuda" nor "cuda:N"'),
        ({"precision": "f8"}, 'precision: "f8" is none of'),
        ({"threads": 0}, "threads is 0, and not between 1 and 1024"),
        ({"resamples": 0}, "resamples is 0"),
        ({"metrics": []}, "metrics: no metric is named"),
        ({"format": "docx"}, "docx"),
    ]:
        with pytest.raises(ValueError, match=message):
            sm.score(["Rain."], **options)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="surrogates not allowed"):
        lengths(["half a pair: \ud800"])


def test_notes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "storymeter"):
        sm.score(["Hello."])
        sm.score(["", "Hello there."], metrics=["distinct-2"])
    said = [record.getMessage() for record in caplog.records]
    assert (
        "1 of 2 texts has no score: 1 is empty (keep_refusals=True scores such texts)" in said
    )


STORY = (
    "Mira lost her red kite in the storm of that night. She looked for it in the barn and behind "
    "the house. Her brother found it on the roof, and they carried it home."
)


def test_what_is_not_story_is_flagged_and_removed() -> None:
    texts = [STORY, f"Sure, here is your story:\n\n{STORY}", "I'm sorry, but I can't write this story."]
    plain = sm.score(texts, metrics=["text-length"])
    assert plain.flags == [[], ["preamble"], ["refusal"]]
    assert plain.absent == {2: "the text is a refusal"}
    assert plain.scores[1] > plain.scores[0]
    cleaned = sm.score(texts, metrics=["text-length"], clean=True)
    assert cleaned.scores[1] == cleaned.scores[0] == plain.scores[0]
    assert cleaned.words[0] == cleaned.words[1] == len(STORY.split())
    assert "clean:yes" in cleaned.signature and "clean" not in plain.signature
    kept = sm.Scorer(metrics=["text-length"], keep_refusals=True).score(texts)
    assert not kept.absent and "refusals:kept" in kept.signature
    rows = plain.to_dicts()
    assert "flags" not in rows[0] and rows[2]["flags"] == ["refusal"]


def test_columns_of_words_and_flags_are_no_scores() -> None:
    stories = [{"system": "a", "story": STORY}, {"system": "b", "story": STORY + " They slept."}]
    result = sm.score(stories, metrics=["text-length"])
    table = result.to_pandas()
    assert list(table["words"]) == result.words and list(table["flags"]) == ["", ""]


def test_progress(capsys: pytest.CaptureFixture[str], stories: list[dict[str, object]]) -> None:
    seen: list[tuple[str, int, int | None]] = []
    sm.score(stories * 1, progress=lambda *stage: seen.append(stage))
    assert seen and {stage[0] for stage in seen} <= {"scoring", "drawing intervals"}
    sm.score(stories, progress=True)
    assert "scoring" in capsys.readouterr().err

    def fail(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sm.score(stories * 1, progress=fail)
