"""What the tests share: the repository, its example stories, and the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "stories.jsonl"

#: Metrics that need no network, for tests of everything else.
FAST = ["text-length", "distinct-2", "repetition-3"]

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def stories() -> list[dict[str, object]]:
    """The stories of the README."""
    return [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def program() -> Program:
    """The binary of the command line (STORYMETER_BINARY), or the command line of the package."""
    binary = os.environ.get("STORYMETER_BINARY")
    found = [binary] if binary else [sys.executable, "-m", "storymeter"]

    def run(*args: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = [*found, *map(str, args)]
        return subprocess.run(command, capture_output=True, text=True, check=check, timeout=300)

    return run


@pytest.fixture
def cli() -> Callable[..., str]:
    """Runs the command line and returns what it prints.

    ``STORYMETER_BINARY`` names a program; without it, the command line of the package runs.
    """
    binary = os.environ.get("STORYMETER_BINARY")
    program = [binary] if binary else [sys.executable, "-m", "storymeter"]

    def run(*args: object) -> str:
        done = subprocess.run(
            [*program, *map(str, args)], capture_output=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run
