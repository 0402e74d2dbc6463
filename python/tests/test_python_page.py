"""The examples of docs/python.md run and print what the page says."""

import doctest
import re

import pytest
from conftest import ROOT


def blocks():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)


def test_the_page_has_examples():
    assert len(blocks()) >= 7


@pytest.mark.parametrize("number", range(len(blocks())))
def test_the_examples_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = f"docs/python.md, example {number}"
    example = doctest.DocTestParser().get_doctest(blocks()[number], {}, name, None, None)
    report = doctest.DocTestRunner(verbose=False).run(example)
    assert report.failed == 0 and report.attempted > 0
