"""Every example of the documentation runs: docstrings, README and tutorial. Types are as promised."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Program

import storymeter as sm

# The name of the native module is not importable as source, and ray has tests of its own.
MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(sm.__path__, "storymeter.")
    if module.name not in {"storymeter._native", "storymeter.__main__", "storymeter.ray"}
)


@pytest.mark.parametrize("name", ["storymeter", *MODULES])
def test_docstrings(name: str) -> None:
    report = doctest.testmod(importlib.import_module(name))
    assert report.failed == 0


def test_everything_public_has_a_docstring() -> None:
    for name in sm.__all__:
        assert getattr(sm, name).__doc__, name


def test_the_tutorial(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    report = doctest.testfile(
        str(ROOT / "docs" / "tutorials" / "python.md"), module_relative=False, encoding="utf-8"
    )
    assert report.attempted > 20 and report.failed == 0


def readme(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_block_of_the_readme_prints_the_table_of_the_readme(tmp_path: Path) -> None:
    (block,) = readme("python")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    (table,) = (block for block in readme("text") if block.startswith("metric "))
    assert done.stdout.startswith(table)
    assert "0.357" in done.stdout[len(table):]


def test_the_command_of_the_readme_prints_the_table_of_the_readme(program: Program) -> None:
    command = readme("console")[0].splitlines()[0]
    assert command.startswith("$ cargo run --release -- score ")
    arguments = shlex.split(command.partition(" -- ")[2], comments=True)
    done = program(*(ROOT / word if word.startswith("examples") else word for word in arguments))
    assert done.stdout in readme("text")


def mypy(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder)


def test_types(tmp_path: Path) -> None:
    files = sorted((Path(__file__).parent / "typing").glob("*.py"))
    done = mypy(tmp_path, "mypy", "--strict", *files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs(tmp_path: Path) -> None:
    config = ROOT / "pyproject.toml"
    allowed = Path(__file__).parent / "stubtest.txt"
    done = mypy(tmp_path, "mypy.stubtest", "storymeter", "--mypy-config-file", config,
                "--allowlist", allowed, "--ignore-unused-allowlist")
    assert done.returncode == 0, done.stdout + done.stderr
