"""What is in the wheel and in the sdist: everything that is needed, and nothing else."""

from __future__ import annotations

import os
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

#: A folder with a wheel and an sdist, which .ci/run makes.
PACKAGES = os.environ.get("STORYMETER_PACKAGES")
needs_packages = pytest.mark.skipif(PACKAGES is None, reason="STORYMETER_PACKAGES names no folder")


def found(pattern: str) -> Path:
    (package,) = Path(PACKAGES or "").glob(pattern)
    return package


def plain(name: str) -> str:
    """The name without the version, which changes."""
    return re.sub(r"(?<=storymeter)-[0-9]+(\.[0-9]+)*", "-VERSION", name)


@needs_packages
def test_the_wheel() -> None:
    wheel = found("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(plain(name) for name in archive.namelist())
        metadata = next(name for name in archive.namelist() if name.endswith("METADATA"))
        about = archive.read(metadata).decode()
    assert "-cp310-abi3-" in wheel.name
    # PyPI takes 100 MB.
    assert wheel.stat().st_size < 95_000_000
    modules = [
        f"storymeter/{path.relative_to(ROOT / 'python' / 'storymeter').as_posix()}"
        for path in (ROOT / "python" / "storymeter").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    ]
    dist = "storymeter-VERSION.dist-info"
    assert names == sorted(
        [
            *modules,
            "storymeter/_native.abi3.so",
            f"{dist}/METADATA",
            f"{dist}/RECORD",
            f"{dist}/WHEEL",
            f"{dist}/entry_points.txt",
            f"{dist}/licenses/LICENSE-APACHE",
            f"{dist}/licenses/LICENSE-MIT",
            f"{dist}/licenses/NOTICE",
            f"{dist}/sboms/storymeter-python.cyclonedx.json",
        ]
    )
    assert "Requires-Dist: numpy" in about
    required = [line for line in about.splitlines() if line.startswith("Requires-Dist:")]
    assert [line for line in required if "extra ==" not in line] == ["Requires-Dist: numpy>=1.23"]


#: Nothing is built from these.
JUNK = re.compile(
    r"/(fixtures|snapshots|docs|fuzz|recipes|target)/"
    r"|^[^/]+/(tests|benches|examples|tools)/|python/tests|\.(log|whl|snap|so)$"
)


@needs_packages
def test_the_sdist() -> None:
    with tarfile.open(found("*.tar.gz")) as archive:
        names = [plain(member.name) for member in archive.getmembers() if member.isfile()]
    assert [name for name in names if JUNK.search(name)] == []
    listed = (Path(__file__).parent / "sdist.txt").read_text(encoding="utf-8").splitlines()
    # The sources of crates and of Python change too often to be listed one by one.
    kept = {
        re.sub(r"^(storymeter-VERSION/(?:crates/[^/]+/(?:src|data|assets|tests|benches|examples)|python/storymeter))/.*",
               r"\1/...", name)
        for name in names
    }
    assert sorted(kept) == listed
