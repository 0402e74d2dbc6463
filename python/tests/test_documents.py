"""The examples of docs/python.md and of all docstrings of the verbs run and say what they say."""

import doctest
import importlib
import re

import pytest
from conftest import ROOT

MODULES = [
    "_compare", "_correlate", "_explain", "_hf", "_meta", "_metrics", "_perturb", "_sheet",
]


def blocks():
    text = (ROOT / "docs" / "python.md").read_text()
    return re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)


def test_the_page_has_examples():
    assert len(blocks()) >= 7


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_examples_of_the_page_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(
        blocks()[number], {}, f"docs/python.md, example {number}", None, None)
    report = doctest.DocTestRunner(verbose=False).run(example)
    assert report.failed == 0 and report.attempted > 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name):
    report = doctest.testmod(importlib.import_module(f"storymeter.{name}"))
    assert report.failed == 0 and report.attempted > 0
