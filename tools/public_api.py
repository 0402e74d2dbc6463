#!/usr/bin/env python3
"""Prints the public interface of the crate `storymeter`, one line per item, or compares it.

    tools/public_api.py             # compare with crates/storymeter/public-api.txt
    tools/public_api.py --update    # write that file

The items come from rustdoc's JSON, which a stable compiler makes when it is told to act as a
nightly one; only rustdoc is told, so that no dependency is built again. Items of other crates are
followed to where they are defined. Signatures are the text of the source.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FACADE = "storymeter"
SNAPSHOT = ROOT / "crates" / FACADE / "public-api.txt"


def build() -> dict[str, dict]:
    """The JSON of all crates, with the features that the whole workspace has together."""
    rustdoc = os.environ.get("RUSTDOC", "rustdoc")
    flags = "-Z unstable-options --output-format json --cap-lints allow"
    with tempfile.TemporaryDirectory() as folder:
        wrapper = Path(folder) / "rustdoc"
        wrapper.write_text(f'#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec "{rustdoc}" "$@"\n')
        wrapper.chmod(0o755)
        environment = {**os.environ, "RUSTDOC": str(wrapper), "RUSTDOCFLAGS": flags}
        # As the documentation is made, so that nothing is compiled twice.
        command = ["cargo", "doc", "--quiet", "--workspace", "--no-deps", "--release"]
        subprocess.run(command, cwd=ROOT, check=True, env=environment)
    made = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "doc"
    return {file.stem: json.loads(file.read_text()) for file in made.glob(f"{FACADE}*.json")}


class Interface:
    """Walks through the modules of the facade and collects a line per item."""

    def __init__(self, crates: dict[str, dict]) -> None:
        self.crates = crates
        self.by_path = {
            crate: {
                (tuple(summary["path"]), summary["kind"]): identifier
                for identifier, summary in content["paths"].items()
                if summary["crate_id"] == 0
            }
            for crate, content in crates.items()
        }
        self.lines: set[str] = set()
        self.seen: dict[tuple[str, int], str] = {}
        self.sources: dict[str, list[str]] = {}

    def find(self, crate: str, identifier: int | None) -> tuple[str, dict] | None:
        """An item and the crate that defines it; `None` outside the workspace."""
        content = self.crates[crate]
        key = str(identifier)
        if key in content["index"]:
            return crate, content["index"][key]
        summary = content["paths"].get(key)
        if summary is None or summary["path"][0] not in self.crates:
            return None
        home = summary["path"][0]
        there = self.by_path[home].get((tuple(summary["path"]), summary["kind"]))
        return None if there is None else (home, self.crates[home]["index"][there])

    def source(self, item: dict) -> str:
        """The text of an item in one line, without its body."""
        span = item["span"]
        if span is None:
            return ""
        name = span["filename"]
        lines = self.sources.setdefault(name, (ROOT / name).read_text().splitlines())
        (first, start), (last, end) = span["begin"], span["end"]
        text = lines[first - 1 : last]
        text[-1] = text[-1][: end - 1]
        text[0] = text[0][start - 1 :]
        plain = " ".join(re.sub(r"//.*", "", line).strip() for line in text)
        return re.sub(r"([(\[<]) | (?=[)\]>])", r"\1", re.sub(r"\s+", " ", plain)).strip()

    def head(self, item: dict) -> str:
        """The text of an item without its body, or without its value."""
        text = self.source(item).split("{", 1)[0]
        return text if item["inner"].keys() & {"function", "type_alias"} else text.split(" = ")[0]

    def add(self, path: str, text: str) -> None:
        text = re.sub(r",\s*([)\]>])", r"\1", text).strip().rstrip(",;").strip()
        self.lines.add(f"{path}: {text}" if text else path)

    def module(self, crate: str, module: dict, path: str) -> None:
        """Items of a module, those of its own modules last."""
        found = [self.find(crate, one) for one in module["inner"]["module"]["items"]]
        public = [one for one in found if one and one[1]["visibility"] == "public"]
        for home, item in sorted(public, key=lambda one: "module" in one[1]["inner"]):
            self.item(home, item, f"{path}::{item['name']}")

    def item(self, crate: str, item: dict, path: str) -> None:
        (kind, inner), = item["inner"].items()
        first = self.seen.setdefault((crate, item["id"]), path)
        if first != path and kind not in ("use", "module"):
            self.add(path, f"use {first}")
            return
        head = self.head(item)
        if kind == "use":
            parent = path.rsplit("::", 1)[0]
            found = self.find(crate, inner["id"])
            if found is None:
                self.add(f"{parent}::{inner['name']}", f"use {inner['source']}")
            elif inner["is_glob"]:
                self.module(*found, parent)
            elif found[1]["visibility"] == "public":
                self.item(*found, f"{parent}::{inner['name']}")
        elif kind == "module":
            self.add(path, "mod")
            self.module(crate, item, path)
        elif kind in ("struct", "enum", "union"):
            closed = "#[non_exhaustive] " if "non_exhaustive" in str(item["attrs"]) else ""
            self.add(path, f"{closed}{kind}")
            self.parts(crate, inner, path)
            self.implementations(crate, inner["impls"], path)
        elif kind == "trait":
            self.add(path, head)
            for part in self.known(crate, inner["items"]):
                self.add(f"{path}::{part['name']}", self.head(part))
        else:
            self.add(path, head)

    def known(self, crate: str, identifiers: list[int]) -> list[dict]:
        index = self.crates[crate]["index"]
        return [index[str(one)] for one in identifiers if str(one) in index]

    def parts(self, crate: str, inner: dict, path: str) -> None:
        """The public fields of a structure, or the variants of an enumeration."""
        kind = inner.get("kind")
        fields = []
        if isinstance(kind, dict):
            fields = kind["plain"]["fields"] if "plain" in kind else kind["tuple"]
        for field in self.known(crate, [one for one in fields if one is not None]):
            if field["visibility"] == "public":
                text, name = self.source(field), field["name"]
                made = re.search(rf"\b{name}: ([^=;]*)", text) if "! {" in text else None
                self.add(f"{path}.{name}", f"pub {name}: {made[1]}" if made else text)
        for variant in self.known(crate, inner.get("variants", [])):
            text = re.sub(r"#\[[^\]]*\] ?", "", self.source(variant))
            self.add(f"{path}::{variant['name']}", text)

    def implementations(self, crate: str, identifiers: list[int], path: str) -> None:
        traits = set()
        for block in self.known(crate, identifiers):
            inner = block["inner"]["impl"]
            if inner["is_synthetic"] or inner["blanket_impl"] is not None:
                continue
            if inner["trait"] is not None:
                traits.add(inner["trait"]["path"].rsplit("::", 1)[-1])
                continue
            for part in self.known(crate, inner["items"]):
                if part["visibility"] == "public":
                    self.add(f"{path}::{part['name']}", self.head(part))
        if traits := traits - {"StructuralPartialEq"}:
            self.add(f"{path} (traits)", ", ".join(sorted(traits)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help=f"write {SNAPSHOT.name}")
    arguments = parser.parse_args()
    crates = build()
    interface = Interface(crates)
    root = crates[FACADE]
    interface.module(FACADE, root["index"][str(root["root"])], FACADE)
    lines = sorted(interface.lines)
    if arguments.update:
        SNAPSHOT.write_text("\n".join(lines) + "\n")
        return 0
    before = SNAPSHOT.read_text().splitlines()
    changes = list(difflib.unified_diff(before, lines, "before", "now", n=0, lineterm=""))
    if changes:
        print("\n".join(changes))
        print("The public interface has changed. If it should: tools/public_api.py --update")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
