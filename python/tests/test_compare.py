"""``compare``: who is better, from a result, files or a frame."""

import json
import random

import pytest
import storymeter as sm


def rows():
    draw = random.Random(3)
    means = {"rain": 10, "tale": 14, "Human": 15}
    return [
        {"id": f"{system}-{item}", "system": system, "item": str(item),
         "bleu": mean + draw.gauss(0, 2), "ter": draw.random()}
        for item in range(14)
        for system, mean in means.items()
    ]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "scores.jsonl"
    lines = [
        {**{name: row[name] for name in ("id", "system", "item")},
         "scores": {"bleu": row["bleu"], "ter": row["ter"]}}
        for row in rows()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_better_system_comes_first():
    found = sm.compare(rows(), "bleu")
    assert found.conclusion.startswith("tale is better than rain by bleu")
    assert [one.name for one in found.ranking] == ["Human", "tale", "rain"]
    assert found.ranking[0].interval[0] < found.ranking[0].mean < found.ranking[0].interval[1]
    pair = next(one for one in found.pairs if {one.first, one.second} == {"tale", "rain"})
    assert pair.better == "tale" and pair.p_corrected < 0.05 and pair.paired
    assert pair.difference > 0 and found.signature.startswith("compare|")


def test_the_json_is_that_of_the_command_line(cli, path):
    assert sm.compare(path).to_json() == cli("compare", path, "--format", "json")
    wanted = cli("compare", path, "--metric", "bleu", "--against", "rain", "--seed", 5,
                 "--without", "Human", "--format", "json")
    assert sm.compare(path, "bleu", against="rain", without="Human", seed=5).to_json() == wanted
    assert sm.compare([str(path)], "bleu").to_json() == cli(
        "compare", path, "--metric", "bleu", "--format", "json")


def test_frames_give_the_same_as_files(path):
    wanted = json.loads(sm.compare(path).to_json())
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for frame in (rows(), pandas.DataFrame(rows()), polars.DataFrame(rows()),
                  pyarrow.Table.from_pylist(rows()), dict(pandas.DataFrame(rows()))):
        assert json.loads(sm.compare(frame).to_json()) == wanted


def test_a_result_of_score_is_compared(cli, tmp_path):
    stories = [
        {"id": f"{system}{item}", "system": system, "item": str(item),
         "story": text * (1 + item % 3)}
        for item in range(12)
        for system, text in (("long", "Rain fell all night long. "), ("short", "Rain. "))
    ]
    source, scores = tmp_path / "stories.jsonl", tmp_path / "scores.jsonl"
    source.write_text("".join(json.dumps(story) + "\n" for story in stories))
    cli("score", source, "--metric", "text-length,distinct-2", "-o", scores)
    result = sm.score(stories, metrics=["text-length", "distinct-2"])
    found = sm.compare(result)
    assert found.to_json() == cli("compare", scores, "--format", "json")
    assert found["text-length"].ranking[0].name == "long" and len(found) == 2
    # A frame of the result says as much about the texts: words and flags.
    frame = result.to_pandas()
    assert sm.compare(frame).verdict.to_dict() == found.verdict.to_dict()
    without = sm.compare(frame.drop(columns=["words", "flags"]))
    assert without.verdict.to_dict() != found.verdict.to_dict()
    with pytest.raises(ValueError, match="there are several metrics; name one of 'text-length'"):
        _ = found.ranking
    with pytest.raises(KeyError):
        _ = found["union"]


def test_directions_can_be_given():
    assert sm.compare(rows(), "ter", lower="ter").pairs
    backwards = sm.compare(rows(), "bleu", lower="bleu")
    assert [one.name for one in backwards.ranking] == ["rain", "tale", "Human"]


def test_it_prints_as_text_and_as_html():
    hostile = [{**row, "system": row["system"].replace("rain", "<i>rain")} for row in rows()]
    found = sm.compare(hostile, "bleu")
    assert str(found).startswith(found.conclusion)
    assert found.verdict.headline == found.conclusion
    assert "&lt;i&gt;rain" in found._repr_html_() and "<i>rain" not in found._repr_html_()
    assert "system" in found.to_pandas().columns
    assert found.to_polars().height == 3


def test_the_verdict_is_about_all_columns(cli, path):
    lengths = {"rain": 50, "tale": 1000, "Human": 400}
    rows_with_lengths = [{**row, "words": lengths[row["system"]]} for row in rows()]
    lines = [
        {**{name: row[name] for name in ("id", "system", "item", "words")},
         "scores": {"bleu": row["bleu"], "ter": row["ter"]}}
        for row in rows_with_lengths
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = sm.compare(path)
    assert found.verdict.winner is None
    assert found.verdict.headline == "No clear winner: tale leads by bleu."
    assert any("hardly overlap" in line for line in found.verdict.details)
    assert str(found).startswith(str(found.verdict))
    assert str(found.verdict) in cli("compare", path)
    assert found.verdict.to_dict()["outcome"] == "no-clear-winner"
    assert [sheet.id for sheet in found.sheets][:2] == ["leaders", "means"]
    assert list(found.to_pandas().columns)[0] == "system"
    plain = sm.compare(rows(), ["bleu", "ter"], higher="ter").verdict
    assert plain.winner == "tale" and plain.headline.startswith("tale leads by bleu")


def test_wrong_arguments_are_named():
    with pytest.raises(sm.UnknownNameError, match='there is no column "blue"; did you mean "bleu"'):
        sm.compare(rows(), "blue")
    with pytest.raises(sm.MissingFileError):
        sm.compare("nowhere.jsonl")
    with pytest.raises(TypeError, match="scores is a result of score, a path"):
        sm.compare(7)
    with pytest.raises(ValueError, match="resamples is 0, and not between 1 and 1000000"):
        sm.compare(rows(), resamples=0)
    with pytest.raises(ValueError, match="has no row"):
        sm.compare({"system": [], "bleu": []})
