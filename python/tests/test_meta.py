"""``meta``: the sheets, the folder and the page of the command line."""

import json
import random

import pytest
import storymeter as sm


def rows():
    draw = random.Random(5)
    made = []
    for item in range(12):
        for at, system in enumerate(["rain", "tale", "snow", "Human"]):
            plot = [draw.randint(1, 5), draw.randint(1, 5)]
            made.append({
                "id": f"{system}-{item}", "system": system, "item": str(item),
                "scores": {"bleu": 3 * sum(plot) + draw.random() + at, "chrf": draw.random()},
                "human": {"plot": plot},
            })
    return made


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return path


def test_the_sheets_are_those_of_the_command_line(cli, path):
    study = sm.meta(path, without=["Human"])
    wanted = cli("meta", "table", path, "--without", "Human", "--format", "json")
    assert study.to_json() == wanted
    assert list(study) == [sheet["id"] for sheet in json.loads(wanted)]
    assert str(study) == cli("meta", "table", path, "--without", "Human")


def test_a_sheet_becomes_a_frame():
    sheet = sm.meta(rows(), without="Human")["correlations"]
    frame = pytest.importorskip("pandas").DataFrame(sheet.to_pandas())
    assert set(frame["metric"]) == {"bleu", "chrf"} and len(frame) == len(sheet)
    assert sheet.to_polars().columns == sheet.columns == list(frame.columns)
    assert sheet.to_dicts()[0]["metric"] in ("bleu", "chrf")
    assert sheet.signature.startswith("correlations|meta-table|")


def test_rows_in_memory_give_the_same_numbers_as_a_file(path):
    in_memory, from_file = sm.meta(rows()), sm.meta(path)
    assert list(in_memory) == list(from_file)
    for id in in_memory:
        assert in_memory[id].rows == from_file[id].rows
    pandas = pytest.importorskip("pandas")
    flat = [{**row["scores"], **{key: row[key] for key in ("id", "system", "item")},
             "human/plot": row["human"]["plot"]} for row in rows()]
    assert sm.meta(pandas.DataFrame(flat))["correlations"].rows == from_file["correlations"].rows


def test_the_folder_is_that_of_the_command_line(cli, path, tmp_path):
    cli("meta", "table", path, "-o", tmp_path / "by-cli")
    written = sm.meta(path).write(tmp_path / "by-python")
    names = sorted(one.name for one in (tmp_path / "by-cli").iterdir())
    assert sorted(one.rsplit("/", 1)[1] for one in written) == names
    for name in names:
        both = [(tmp_path / folder / name).read_bytes() for folder in ("by-cli", "by-python")]
        assert both[0] == both[1], name


def test_the_report_is_one_page(tmp_path):
    page = tmp_path / "r.html"
    sm.meta([{**row, "story": "A <kite> flew."} for row in rows()], without="Human").report(
        page, highlight="bleu")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "bleu" in text
    assert "A <kite>" not in text and "kite" in text
    with pytest.raises(sm.UnknownNameError, match='did you mean "bleu"'):
        sm.meta(rows()).report(page, highlight="blue")


def test_an_input_is_never_overwritten(path):
    with pytest.raises(sm.OverInputError):
        sm.meta(path).report(path)
    assert path.read_text().startswith('{"id"')


def test_a_result_of_score_with_ratings_is_studied():
    stories = [
        {"story": "Rain fell. " * (1 + at % 5), "system": "ab"[at % 2], "item": at // 2,
         "human": {"fun": [at % 5, (at + 1) % 5]}}
        for at in range(24)
    ]
    study = sm.meta(sm.score(stories, metrics=["text-length", "distinct-1"]))
    assert {row[0] for row in study["correlations"]} <= {"text-length", "distinct-1"}


def test_unknown_names_and_missing_ratings_are_errors():
    with pytest.raises(KeyError, match="there is no sheet 'table-5'; there are: ranking"):
        sm.meta(rows())["table-5"]
    with pytest.raises(sm.EvaluationError, match="there is no human criterion"):
        sm.meta([{"system": "a", "bleu": 1.0}, {"system": "b", "bleu": 2.0}])
    with pytest.raises(sm.UnknownNameError, match='"Humans"; did you mean "Human"'):
        sm.meta(rows(), without="Humans")
    with pytest.raises(sm.EvaluationError, match="outside the scale"):
        sm.meta(rows(), scale=(1, 3))
    with pytest.raises(ValueError, match='scale: "1-5" is not a scale'):
        sm.meta(rows(), scale="1-5")
