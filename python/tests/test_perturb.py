"""``perturb``: the samples of the command line, which can be undone."""

import json

import pytest
import storymeter as sm

STORIES = [
    "\N{kite} Zoë woke up. She went out. The rain was cold and wet. She ran home. It was warm.",
    "Ben lost his dog. He looked in the old barn. The dog was asleep. They walked home happy.",
    "Ida baked bread. The dough was heavy. She waited for hours. Her brother ate all of it.",
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "stories.jsonl"
    lines = [json.dumps({"id": f"s{at}", "story": text}) for at, text in enumerate(STORIES)]
    path.write_text("\n".join(lines) + "\n")
    return path


def records():
    return [{"id": f"s{at}", "story": text} for at, text in enumerate(STORIES)]


def test_a_file_of_donors_is_read_like_the_stories(tmp_path):
    donors = tmp_path / "donors.csv"
    wrong = "Nobody spoke. Nothing was there. It never ended."
    donors.write_text("Tale,text\n" + "".join(f'"{text}","{wrong}"\n' for text in STORIES))
    given = [{"id": one["id"], "Tale": one["story"]} for one in records()]
    how = {"columns": {"story": "Tale"}, "techniques": "substitution", "per_story": 3}
    bad = sm.perturb(given, donors=donors, **how)
    assert bad.to_json() == sm.perturb(given, donors=given, **how).to_json()


def test_every_sample_can_be_undone():
    bad = sm.perturb(STORIES, seed=1, per_story=20)
    assert len(bad) == 60 and bad.unchanged == 0
    for one in bad:
        assert one.story != one.original == one.undo()
        assert 1 <= len(one.techniques) <= 4
    assert [one.id for one in bad[:21:20]] == ["0", "1"]
    assert {one.original for one in bad} == set(STORIES)


def test_edits_count_code_points_although_the_json_has_bytes():
    samples = [one for one in sm.perturb(STORIES, seed=3, per_story=20) if one.id == "0"]
    for one in samples:
        text = one.original
        for edit in one.edits:
            assert text[edit.start : edit.end] == edit.before
            text = text[: edit.start] + edit.after + text[edit.end :]
        assert text == one.story
        first = json.loads(one.to_json())["edits"][0]
        assert first["start"] == one.edits[0].start + 4, "an emoji of 4 bytes and an ë of 2"


def test_the_lines_are_those_of_the_command_line(cli, path):
    wanted = cli("perturb", path, "--seed", 7, "--per-story", 2)
    assert sm.perturb(path, seed=7, per_story=2).to_json() == wanted
    assert sm.perturb(records(), seed=7, per_story=2).to_json() == wanted
    assert sm.perturb(records(), seed=7, per_story=2, threads=1).to_json() == wanted
    other = cli("perturb", path, "--preset", "released-code", "--techniques", "no-negation")
    assert sm.perturb(path, preset="released-code", techniques="no-negation").to_json() == other


def test_techniques_can_be_a_list_or_weights(cli, path):
    wanted = cli("perturb", path, "--techniques", "repetition=1,negation=3", "--counts", "1,1")
    weights = {"repetition": 1, "negation": 3}
    assert sm.perturb(path, techniques=weights, counts=[1, 1]).to_json() == wanted
    only = sm.perturb(STORIES, techniques=["repetition"], per_story=5)
    assert {name for one in only for name in one.techniques} == {"repetition"}


def test_donors_are_stories_or_a_saved_sample(cli, path, tmp_path):
    donors = tmp_path / "donors.jsonl"
    donors.write_text(json.dumps({"story": "A fox ran. It hid in a cave. The cave was dark."}))
    wanted = cli("perturb", path, "--donors", donors, "--techniques", "substitution")
    for given in (donors, ["A fox ran. It hid in a cave. The cave was dark."]):
        assert sm.perturb(path, donors=given, techniques="substitution").to_json() == wanted
    saved = tmp_path / "saved"
    cli("perturb", path, "--donors", donors, "--save-donors", saved, "--stats")
    assert sm.perturb(path, donors=saved, techniques="substitution").to_json() == wanted


def test_samples_become_frames():
    bad = sm.perturb(STORIES, seed=1)
    pandas = pytest.importorskip("pandas")
    frame = bad.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["id", "draw", "original", "story", "techniques", "edits"]
    assert frame["story"].tolist() == [one.story for one in bad]
    polars = pytest.importorskip("polars")
    assert isinstance(bad.to_polars(), polars.DataFrame)
    assert bad.to_polars()["edits"][0][0]["before"] == bad[0].edits[0].before
    assert sm.perturb([]).to_polars().columns == list(frame.columns)
    assert "&lt;b&gt;" in sm.perturb(["A <b> came. It fell. It got up. It ran."])._repr_html_()


def test_a_story_of_one_sentence_is_an_error_or_is_skipped():
    with pytest.raises(sm.OnlyContextError, match="the story has only one sentence") as caught:
        sm.perturb([*STORIES, "Rain."])
    assert (caught.value.line, caught.value.field) == (4, "story")
    bad = sm.perturb([*STORIES, "Rain."], skip_bad=True)
    assert (len(bad), bad.skipped) == (3, 1)
    assert "only one sentence" in bad.problems[0]


def test_wrong_settings_are_named():
    with pytest.raises(sm.DamageError, match='unknown technique "negative"'):
        sm.perturb(STORIES, techniques="negative")
    with pytest.raises(sm.DamageError, match='unknown preset "papers"'):
        sm.perturb(STORIES, preset="papers")
    with pytest.raises(ValueError, match="per_story is 0, and not between 1 and 1000000"):
        sm.perturb(STORIES, per_story=0)
    with pytest.raises(sm.StorymeterError, match="keyword share is 2"):
        sm.perturb(STORIES, keyword_share=2)
    with pytest.raises(sm.MissingFileError):
        sm.perturb(STORIES, antonyms="/nowhere/antonyms.txt")


def test_a_sample_that_was_changed_cannot_be_undone():
    import dataclasses

    one = sm.perturb(STORIES, seed=1)[0]
    with pytest.raises(ValueError, match="the story does not read"):
        dataclasses.replace(one, story="x").undo()
