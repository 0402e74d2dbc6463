"""What the tests share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cli():
    """Runs the command line and returns what it prints.

    ``STORYMETER_BINARY`` names a program; without it, the command line of the package runs.
    """
    binary = os.environ.get("STORYMETER_BINARY")
    program = [binary] if binary else [sys.executable, "-m", "storymeter"]

    def run(*args):
        done = subprocess.run(
            [*program, *map(str, args)], capture_output=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run
