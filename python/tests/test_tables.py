"""Scores that are given as columns: none of their rows is lost."""

import decimal
import json
import math
from pathlib import Path

import pytest
import storymeter as sm


@pytest.mark.parametrize("short", ["id", "system", "item", "human/plot", "mine", "story"])
@pytest.mark.parametrize("verb", [sm.compare, sm.meta, sm.correlate])
def test_columns_of_unequal_length_are_refused(short, verb):
    count = 12
    columns = {
        "id": [str(at) for at in range(count)],
        "system": ["rain", "tale"] * (count // 2),
        "item": [at // 2 for at in range(count)],
        "human/plot": [1 + at % 5 for at in range(count)],
        "mine": [at % 7 for at in range(count)],
        "story": ["Rain."] * count,
    }
    columns[short] = columns[short][:-1]
    with pytest.raises(sm.LengthError, match="values, but the column") as caught:
        verb(columns)
    assert {caught.value.first, caught.value.second} == {count, count - 1}


def test_missing_numbers_and_ids_of_any_kind():
    np = pytest.importorskip("numpy")
    human = [3, 1, 2, 5, 4]
    for missing in (None, math.nan, np.float32("nan"), np.float64("nan"), decimal.Decimal("NaN")):
        found = sm.correlate([0.3, 0.1, 0.4, 0.6, missing], human)
        assert (found.pearson.n, found["scores"].without_score) == (4, 1)
    # A column of ids with a gap is one of floats in pandas.
    rows = [
        {"id": math.nan, "system": system, "mine": at % 3}
        for at in range(4)
        for system in ("rain", "tale")
    ]
    assert not [one for one in sm.compare(rows, "mine").warnings if "several stories" in one]


def test_two_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    for names in (["mine", "mine"], [0, "0"]):
        frame = pd.DataFrame([[1, 4], [2, 3], [3, 1], [5, 2]], columns=names)
        with pytest.raises(ValueError, match=f"two columns of the name '{names[1]}'"):
            sm.correlate(frame, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="two columns of the name '0'"):
        sm.correlate({0: [1, 2, 3, 5], "0": [4, 3, 1, 2]}, [1, 2, 3, 4])


def test_a_record_has_a_score_once():
    rows = [{"system": "a", "mine": 1.0, "scores": {"mine": 2.0}}]
    with pytest.raises(ValueError, match=r"scores\[0\] has 'mine' twice"):
        sm.compare(rows)


def test_what_has_no_order_is_no_list_of_numbers():
    for human in ({0: 5.0, 1: 4.0, 2: 3.0}, {3.0, 4.0, 5.0}):
        with pytest.raises(TypeError, match="human is a list of numbers, not of the type"):
            sm.correlate([1, 2, 3], human)


def test_frames_know_the_names_of_columns_that_files_know(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    columns = {
        "Text": ["A door opened.", "A cat came.", "It rained."] * 2,
        "StoryID": ["a", "b", "c", "a", "b", "c"],
        "GENERATOR": ["rain"] * 3 + ["tale"] * 3,
        "prompt_id": ["p", "q", "r"] * 2,
        "Prompt": ["Doors", "Cats", "Rain"] * 2,
        "References": ["It shut.", "It fell.", "It dried."] * 2,
        "Human_plot": [1.0, 5.0, 2.0, 3.0, 4.0, 1.0],
        "human/fun": [2.0, 4.0, 1.0, 5.0, 3.0, 2.0],
        "HUMAN.style": [3.0, 3.5, 1.0, 2.0, 2.5, 5.0],
        "human:mood": [4.0, 2.0, 1.0, 3.0, 5.0, 2.5],
        "mine": [0.5, 0.25, 0.75, 0.125, 1.0, 0.0],
    }
    frame = pa.table(columns)
    lines = [dict(zip(columns, row)) for row in zip(*columns.values())]
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    result = sm.score(frame, metrics=["text-length"])
    first = result.to_dicts()[0]
    assert (first["id"], first["system"], first["item"]) == ("a", "rain", "p")
    assert first["human"] == {"plot": [1.0], "fun": [2.0], "style": [3.0], "mood": [4.0]}
    assert result.to_dicts() == sm.score(path, metrics=["text-length"]).to_dicts()

    for scores in (frame, lines, path):
        for criterion in ("plot", "fun", "style", "mood", "mine"):
            found = sm.compare(scores, metric=criterion)
            assert {system.name for system in found.ranking} == {"rain", "tale"}
            assert found.to_json() == sm.compare(frame, metric=criterion).to_json()
