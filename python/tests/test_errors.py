"""Exceptions have the facts, and can be pickled."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import pytest

import storymeter as sm
from storymeter import _errors


def caught(kind: type[sm.StorymeterError], **options: object) -> sm.StorymeterError:
    stories = options.pop("stories", ["Rain."])
    with pytest.raises(kind) as raised:
        sm.score(stories, **options)  # type: ignore[call-overload]
    assert type(raised.value) is kind
    return raised.value


def test_every_class_is_exported_and_under_one_roof() -> None:
    for name in _errors.__all__:
        kind = getattr(sm, name)
        assert issubclass(kind, sm.StorymeterError) and kind.__doc__
        made = kind("what happened", file="x")
        again = pickle.loads(pickle.dumps(made))
        assert (type(again), str(again), again.file) == (kind, "what happened", "x")


def test_unknown_names() -> None:
    error = caught(sm.UnknownMetricError, metrics=["blue"])
    assert isinstance(error, sm.UnknownNameError) and isinstance(error, sm.MetricError)
    assert (error.name, error.nearest) == ("blue", "bleu")
    error = caught(sm.UnknownOptionError, metrics=["bleu:inlt"])
    assert isinstance(error, sm.UnknownOptionError)
    assert (error.metric, error.name, error.nearest) == ("bleu", "inlt", "intl")
    error = caught(sm.UnknownNameError, stories=[{"story": "Rain.", "system": "a"}],
                   metrics=["text-length"], against="b")
    assert isinstance(error, sm.UnknownNameError)
    assert (error.what, error.name, error.known) == ("system", "b", ["a"])


def test_input(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"story": "Rain."}\n{"story": 7}\n', "utf-8")
    error = caught(sm.InputError, stories=bad)
    assert isinstance(error, sm.InputError) and isinstance(error, ValueError)
    assert (error.file, error.line, error.field) == (str(bad), 2, "story")
    error = caught(sm.MissingFieldError, stories=[{"tale": "Rain."}])
    assert isinstance(error, sm.MissingFieldError)
    assert (error.line, error.name, error.found) == (1, "story", ["tale"])
    error = caught(sm.DuplicateIdError, stories=[{"id": 1, "story": "a"}, {"id": 1, "story": "b"}])
    assert isinstance(error, sm.DuplicateIdError)
    assert (error.line, error.id, error.system) == (2, "1", None)
    assert "--" not in str(error)
    error = caught(sm.MissingFileError, stories=tmp_path / "none.jsonl")
    assert isinstance(error, FileNotFoundError)
    assert error.errno == errno.ENOENT and error.filename == str(tmp_path / "none.jsonl")


def test_what_metrics_need() -> None:
    error = caught(sm.LackingStoryError, metrics=["bleu"])
    assert isinstance(error, sm.LackingStoryError)
    assert (error.metric, error.story, error.line) == ("bleu", "0", 1)
    assert "reference" in error.what
    error = caught(sm.MissingWeightsError, metrics=["bertscore"], references=["Rain."],
                   weights={"bertscore": "/nowhere"})
    assert isinstance(error, sm.MissingWeightsError)
    assert error.metric == "bertscore" and error.files
    error = caught(sm.SameKeyError, metrics=["bleu", "bleu"])
    assert isinstance(error, sm.SameKeyError) and error.key == "bleu"
    error = caught(sm.OptionClashError, metrics=["bleu:intl+13a"], references=["Rain."])
    assert isinstance(error, sm.OptionClashError) and error.metric == "bleu"


def test_models_and_devices() -> None:
    error = caught(sm.ModelError, model="no-such-model")
    assert "no-such-model" in str(error)
    try:
        sm.score(["Rain."], device="cuda:9")
    except sm.DeviceError as failed:
        assert failed.problem in {"missing", "driver"}
    else:
        pytest.fail("there is no tenth GPU")


def test_outputs(tmp_path: Path) -> None:
    result = sm.score(["Rain."], metrics=["text-length"])
    with pytest.raises(ValueError, match="does not say which format"):
        result.write(tmp_path / "scores.docx")
    with pytest.raises(sm.MissingFileError):
        result.write(tmp_path / "none" / "scores.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_says_so(tmp_path: Path) -> None:
    full = tmp_path / "scores.jsonl"
    full.symlink_to("/dev/full")
    with pytest.raises(sm.DiskFullError) as caught:
        sm.score(["Rain."], metrics=["text-length"]).write(full)
    assert caught.value.errno == errno.ENOSPC


def test_arguments_of_the_wrong_kind_are_named() -> None:
    with pytest.raises(TypeError, match="paths is of the type NoneType"):
        sm.score_files(None, "out")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="shard is of the type str"):
        sm.score_files("a.jsonl", "out", shard="1/2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="shards is of the type NoneType"):
        sm.merge(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed"):
        sm.perturb(["Rain fell. It was cold."], seed=-1)
