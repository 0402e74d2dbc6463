"""``correlate``: the numbers of the command line, from anything that holds numbers."""

import json
import math

import pytest
import storymeter as sm

SCORES = [0.3, 0.1, 0.4, 0.6, 0.2, 0.9, 0.5]
HUMAN = [3, 1, 2, 5, 2, 4, 4]


def test_the_three_coefficients():
    found = sm.correlate([0.3, 0.1, 0.4, 0.6], [3, 1, 2, 5])
    assert found.kendall.value == pytest.approx(2 / 3)
    assert found.kendall.n == 4 and float(found.kendall) == found.kendall.value
    low, high = sm.correlate(SCORES, HUMAN).pearson.interval
    assert low < sm.correlate(SCORES, HUMAN).pearson.value < high
    assert 0 < found.spearman.p < 1
    assert found.signature.startswith("correlate|criterion:human|n:4|version:")


def test_the_json_is_that_of_the_command_line(cli, tmp_path):
    numbers, human = tmp_path / "scores.txt", tmp_path / "human.jsonl"
    given = [*SCORES, math.nan, 0.7]
    rated = [*HUMAN, 3, None]
    numbers.write_text("".join(f"{number}\n" for number in given))
    lines = [{"id": str(at), "human": {} if one is None else {"human": one}}
             for at, one in enumerate(rated)]
    human.write_text("".join(json.dumps(line) + "\n" for line in lines))
    wanted = cli("correlate", "--human", human, "--scores", f"scores={numbers}", "--json")
    assert sm.correlate(given, rated).to_json() == wanted
    found = sm.correlate(given, rated)["scores"]
    assert (found.pearson.n, found.without_score, found.without_human) == (7, 1, 1)
    twice = [f"a={numbers}", f"b={numbers}"]
    wanted = cli("correlate", "--human", human, "--scores", *twice, "--json", "--test", "meng")
    assert sm.correlate({"a": given, "b": given}, rated, test="meng").to_json() == wanted


def test_absent_numbers_are_left_out_and_counted():
    found = sm.correlate([*SCORES, None, math.nan], [*HUMAN, 1, 2])["scores"]
    assert (found.pearson.n, found.without_score) == (7, 2)
    assert found.pearson.value == sm.correlate(SCORES, HUMAN).pearson.value


def test_arrays_and_columns_of_frames_are_numbers():
    wanted = sm.correlate(SCORES, HUMAN).to_json()
    numpy = pytest.importorskip("numpy")
    assert sm.correlate(numpy.array(SCORES), numpy.array(HUMAN)).to_json() == wanted
    assert sm.correlate(tuple(SCORES), (one for one in HUMAN)).to_json() == wanted
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mine": SCORES, "human": HUMAN}, index=range(5, 12))
    assert sm.correlate(frame["mine"], frame["human"]).to_json() == wanted
    frame.loc[7, "human"] = None
    nullable = frame["human"].astype("Int64")
    assert sm.correlate(frame["mine"], nullable).pearson.n == 6
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"mine": SCORES, "human": HUMAN})
    assert sm.correlate(frame["mine"], frame["human"]).to_json() == wanted
    pyarrow = pytest.importorskip("pyarrow")
    assert sm.correlate(pyarrow.array(SCORES), pyarrow.chunked_array([HUMAN])).to_json() == wanted


def test_a_result_brings_its_ratings():
    stories = [{"story": "Rain. " * (at + 1), "human": {"fun": at % 4}} for at in range(8)]
    result = sm.score(stories, metrics=["text-length"])
    found = sm.correlate(result)
    assert found["scores"].signature.startswith("correlate|criterion:fun|metric:text-length|n:8|")
    assert found.pearson.value == sm.correlate(result.scores, [at % 4 for at in range(8)]).pearson.value
    with pytest.raises(ValueError, match="criterion: 'plot' is none of"):
        sm.correlate(result, criterion="plot")


def test_several_scores_are_tested_against_each_other():
    found = sm.correlate({"good": SCORES, "bad": SCORES[::-1]}, HUMAN)
    assert list(found) == ["good", "bad"] and len(found.tests) == 3
    assert {test.stronger for test in found.tests} == {"good"}
    assert {test.sides for test in found.tests} == {"two"}
    one = sm.correlate({"good": SCORES, "bad": SCORES[::-1]}, HUMAN, one_sided=True)
    assert {test.sides for test in one.tests} == {"one"}
    assert [test.p / 2 for test in found.tests] == pytest.approx([test.p for test in one.tests])
    with pytest.raises(ValueError, match="there are several lists of scores"):
        _ = found.pearson
    assert found.to_pandas()["scores"].tolist() == ["good", "bad"]
    assert "Correlation with" in str(found) and "<table>" in found._repr_html_()


def test_a_constant_has_no_correlation_and_the_reason_is_given():
    found = sm.correlate([1, 1, 1, 1], [3, 1, 2, 5]).pearson
    assert (found.value, found.p, found.interval) == (None, None, None)
    assert found.reason
    with pytest.raises(ValueError, match="the correlation is not defined"):
        float(found)


def test_wrong_arguments_are_named():
    with pytest.raises(sm.EvaluationError, match='"scores": 3 scores, but there are 2 human scores'):
        sm.correlate([1, 2, 3], [1, 2])
    with pytest.raises(TypeError, match=r"human\[1\] is not a number, but of the type str"):
        sm.correlate([1, 2, 3], [1, "2", 3])
    with pytest.raises(TypeError, match="scores is a list of numbers, not of the type int"):
        sm.correlate(1, [1, 2])
    with pytest.raises(ValueError, match='test: "wiliams" is none of "williams", "steiger"'):
        sm.correlate(SCORES, HUMAN, test="wiliams")
    with pytest.raises(ValueError, match="confidence: 1.5 is not strictly between 0 and 1"):
        sm.correlate(SCORES, HUMAN, confidence=1.5)
    with pytest.raises(TypeError, match="human is missing"):
        sm.correlate({"a": SCORES})
