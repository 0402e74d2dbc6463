"""``explain``: the numbers of the command line, with offsets that Python understands."""

import json
import pickle

import pytest
import storymeter as sm

STORY = "Ken lost his kite. He looked in the barn. Ken lost his kite. The sea was purple."
EMOJI = "\N{kite}\N{grinning face} Zoë lost her kite. She looked in the barn. The sea was purple."


def explanation(cli, *args):
    """The field ``explanation`` of the only line, as the bytes that the program writes."""
    line = cli("score", "--explain", "--format", "jsonl", *args)
    start = line.index('"explanation":') + len('"explanation":')
    return line[start:].rstrip("\n")[:-1]


def test_one_story_gives_one_explanation():
    why = sm.explain(STORY)
    assert 0 <= why.score <= 1 and float(why) == why.score
    assert why.score == sm.score(STORY).score
    assert [one.text for one in why.sentences] == STORY.replace(". ", ".\n").split("\n")
    assert all(one.contribution is not None for one in why.sentences)
    assert why.sentences[0].in_words.endswith(("the score", "the score a little", "a lot"))
    assert why.diagnosis.repetition > 0.5
    assert why.diagnosis.trusted["repetition"] in (True, False)
    assert why.standing.human_stories > 0


def test_a_scorer_is_one():
    with pytest.raises(TypeError, match="scorer is of the type int, and not Scorer"):
        sm.explain(STORY, scorer=3)


def test_skipped_stories_are_logged(caplog):
    found = sm.explain([STORY, None], skip_bad=True)
    assert [one.id for one in found] == ["0"]
    assert "1 bad records were skipped; the first: stories:2: " in caplog.text


def test_the_json_is_that_of_the_command_line(cli):
    for story in (STORY, EMOJI):
        assert sm.explain(story).to_json() == explanation(cli, "--text", story)
    both = sm.explain(EMOJI, metrics="union,criteria")
    assert both.to_json() == explanation(cli, "--text", EMOJI, "--metric", "union,criteria")


def test_offsets_are_code_points_although_the_json_has_bytes():
    why = sm.explain(EMOJI)
    for one in why.sentences:
        assert EMOJI[one.start : one.end] == one.text
    second = why.sentences[1]
    assert second.text == "She looked in the barn."
    in_bytes = json.loads(why.to_json())["sentences"][1]
    assert in_bytes["start"] == second.start + 7, "two emoji of 4 bytes and an ë of 2"
    assert EMOJI.encode()[in_bytes["start"] : in_bytes["end"]].decode() == second.text


def test_many_stories_give_a_list_in_their_order():
    found = sm.explain([{"id": "b", "story": EMOJI}, {"id": "a", "story": STORY}])
    assert [one.id for one in found] == ["b", "a"]
    assert found[1].to_json() == sm.explain(STORY).to_json()
    assert sm.explain([]) == []


def test_a_path_is_read_like_a_list(tmp_path):
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps({"id": "a", "story": STORY}) + "\n")
    assert sm.explain(path)[0].to_json() == sm.explain(STORY).to_json()


def test_criteria_have_predictions_and_the_sentences_that_move_them():
    why = sm.explain(EMOJI, metrics="criteria")
    assert why.score is None
    coherence = next(one for one in why.criteria if one.name == "coherence")
    assert coherence.low <= coherence.prediction <= coherence.high
    assert len(coherence.effects) == len(why.sentences) == 3
    moved = [one for one in (coherence.raises, coherence.lowers) if one is not None]
    assert moved and all(EMOJI[one.start : one.end] == one.text for one in moved)
    relevance = next(one for one in why.criteria if one.name == "relevance")
    assert (relevance.prediction, relevance.absent) == (None, "the story has no prompt")
    with pytest.raises(ValueError, match="no score of the metric union"):
        float(why)


SLOP = "\N{kite} Zoë's dress was a tapestry of grief, and not just <grief> but hope."


def test_slop_has_its_numbers_and_every_hit_at_its_place(cli):
    why = sm.explain(SLOP, metrics="slop")
    assert why.to_json() == explanation(cli, "--text", SLOP, "--metric", "slop")
    assert why.slop["score"] == sm.score(SLOP, metrics="slop")["slop/score"][0]
    assert [(hit.kind, hit.text) for hit in why.hits] == [
        ("phrase", "a tapestry of"),
        ("word", "grief"),
        ("contrast", "not just <grief> but"),
        ("word", "grief"),
    ]
    assert all(SLOP[hit.start : hit.end] == hit.text for hit in why.hits)
    assert str(why).splitlines()[1] == "  phrase  a tapestry of"
    shown = why._repr_html_()
    assert '<u title="overused phrase: a tapestry of">a tapestry of</u>' in shown
    assert "overused contrast: not just X but Y; overused word: grief" in shown
    assert "<grief>" not in shown
    both = sm.explain(SLOP, metrics="union,slop")
    assert both.hits == why.hits and both.sentences == sm.explain(SLOP).sentences
    assert sm.explain(SLOP).hits == () and sm.explain(SLOP).slop is None
    assert sm.explain("1 2 3", metrics="slop").slop is None


def test_a_notebook_gets_escaped_and_coloured_text():
    shown = sm.explain("<b>Ken</b> lost a kite. He <script> looked. The sea was purple.")._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown
    assert "background:rgba(" in shown and "<b>Ken" not in shown


def test_strange_texts_get_a_warning_and_not_an_exception():
    assert sm.explain("Rain.").sentences == ()
    assert sm.explain("Rain.").warnings == ("is very short: it has fewer than 20 words",)
    assert sm.explain("").score is None


def test_an_explanation_can_be_pickled_and_printed():
    why = sm.explain(STORY)
    assert pickle.loads(pickle.dumps(why)) == why
    assert "He looked in the barn." in str(why)


def test_a_scorer_keeps_its_model_open():
    judge = sm.Scorer()
    assert judge.explain(STORY).to_json() == sm.explain(STORY).to_json()
    beside = sm.Scorer(metrics=["text-length"]).explain([STORY], sentences="all")
    assert beside[0].to_json() == sm.explain(STORY).to_json()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match='sentences: "some" is neither "weakest" nor "all"'):
        sm.explain(STORY, sentences="some")
    with pytest.raises(TypeError, match="stories is a text"):
        sm.explain(7)
    assert sm.explain(STORY, sentences="all").sentences == sm.explain(STORY).sentences
