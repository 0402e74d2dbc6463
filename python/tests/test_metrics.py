"""The catalogue, and one metric on plain strings."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import storymeter as sm

HYPOTHESES = ["the cat sat on the mat", "a dog barked at the moon"]
REFERENCES = [["the cat sat on a mat", "a cat is on the mat"], ["the dog barked at the moon"]]


def test_the_list_is_that_of_the_command_line(cli):
    assert str(sm.metrics()) == cli("metrics", "list")
    names = [info.name for info in sm.metrics()]
    assert names[0] == "union" and len(names) == len(sm.metrics()) >= 30
    assert sm.metrics()[0].better == "higher"


def test_the_list_becomes_a_frame():
    frame = pytest.importorskip("pandas").DataFrame(sm.metrics().to_pandas())
    assert list(frame.columns) == ["name", "better", "needs", "range", "options", "summary"]
    assert sm.metrics().to_polars().height == len(frame)
    assert "<table>" in sm.metrics()._repr_html_()


def test_help_prints_the_page_of_the_command_line(cli, capsys):
    for name, typed in (("bleu", "bleu"), ("rouge", "rouge:hanna")):
        sm.metric(typed).help()
        assert capsys.readouterr().out == cli("metrics", "show", name)


def test_a_corpus_score_prints_as_the_line_for_a_paper():
    score = sm.metric("bleu").corpus_score(HYPOTHESES[:1], ["the cat sat on a mat"])
    assert f"{score.value:.4f}" == "53.7285"
    assert str(score) == f"bleu 53.7285  {score.signature}"
    assert score.signature.startswith("bleu|") and "|nrefs:1|refusals:kept|" in score.signature
    assert score.values == {"bleu": score.value} and float(score) == score.value


def test_references_may_differ_in_number():
    score = sm.metric("bleu").corpus_score(HYPOTHESES, REFERENCES)
    assert "|nrefs:var|" in score.signature
    same = sm.metric("bleu").corpus_score(HYPOTHESES, (tuple(one) for one in REFERENCES))
    assert same.value == score.value


def test_bleu_is_that_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    wanted = sacrebleu.corpus_bleu(HYPOTHESES, [[one[0] for one in REFERENCES]]).score
    mine = sm.metric("bleu").corpus_score(HYPOTHESES, [one[0] for one in REFERENCES])
    assert mine.value == pytest.approx(wanted, abs=1e-9)


def test_streams_of_references_are_refused_with_the_way_out():
    streams = [["the cat sat on a mat", "the dog barked at the moon"]]
    with pytest.raises(sm.LengthError, match=r"list\(zip\(\*references\)\) turns them around"):
        sm.metric("bleu").corpus_score(HYPOTHESES, streams)
    turned = sm.metric("bleu").corpus_score(HYPOTHESES, list(zip(*streams)))
    assert turned.value == sm.metric("bleu").corpus_score(HYPOTHESES, streams[0]).value


def test_a_family_has_several_values():
    score = sm.metric("rouge").corpus_score(HYPOTHESES, REFERENCES)
    assert len(score.values) > 2 and all(key.startswith("rouge/") for key in score.values)
    assert str(score).splitlines()[-1] == score.signature


def test_one_text():
    assert sm.metric("text-length").story_score("The lamp went out.").value == 5.0
    one = sm.metric("bleu").story_score(HYPOTHESES[0], REFERENCES[0])
    assert 0 < one.value <= 100 and "|nrefs:2|" in one.signature
    same = sm.metric("bleu").story_score(HYPOTHESES[0], REFERENCES[0][0])
    assert "|nrefs:1|" in same.signature


def test_wrong_arguments_are_named():
    bleu = sm.metric("bleu")
    with pytest.raises(TypeError, match="hypotheses is a list of texts, not one text; story_score"):
        bleu.corpus_score("the cat", ["a cat"])
    with pytest.raises(TypeError, match=r"hypotheses\[1\] is not a text, but of the type int"):
        bleu.corpus_score(["the cat", 7], ["a", "b"])
    with pytest.raises(TypeError, match=r"references\[0\]\[1\] is not a text, but of the type No"):
        bleu.corpus_score(["the cat"], [["a", None]])
    with pytest.raises(TypeError, match="references has one entry per text"):
        bleu.corpus_score(["the cat"], "a cat")
    # A dictionary would give its keys, and a set any order.
    for given in ({"a cat": 1}, {"a cat"}, frozenset({"a cat"})):
        with pytest.raises(TypeError, match="references is a list with one entry per text"):
            bleu.corpus_score(["the cat"], given)
        with pytest.raises(TypeError, match="hypotheses is a list of texts"):
            bleu.corpus_score(given, ["the cat"])
    with pytest.raises(sm.LengthError, match="2 texts, but 3 entries in references"):
        bleu.corpus_score(HYPOTHESES, ["a", "b", "c"])
    with pytest.raises(sm.LackingStoryError, match="reference"):
        bleu.corpus_score(HYPOTHESES)
    with pytest.raises(sm.UnknownMetricError, match='did you mean "bleu"') as caught:
        sm.metric("blue")
    assert (caught.value.name, caught.value.nearest) == ("blue", "bleu")
    with pytest.raises(sm.UnknownOptionError):
        sm.metric("bleu:no-such-option")


def test_a_metric_can_be_pickled_and_shared_by_threads():
    bleu = pickle.loads(pickle.dumps(sm.metric("bleu")))
    wanted = bleu.corpus_score(HYPOTHESES, REFERENCES).value
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: bleu.corpus_score(HYPOTHESES, REFERENCES).value, range(16))
        assert set(found) == {wanted}
    assert bleu.corpus_score(HYPOTHESES, REFERENCES, threads=1).value == wanted
