#!/usr/bin/env python3
"""Times `storymeter suite make` beside nlpaug, and prints the ratio.

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install nlpaug==1.1.11
    /tmp/peers/bin/python benches/peers/suite.py STORIES.jsonl [PROGRAM]

OpenMEVA's own scripts do not run any more. nlpaug is what people use to make variants of texts
today. It is asked for one kind of variant, exchanged letters, of each story, on one core, which is
all that it uses. storymeter makes the twins of all ten aspects that need no table, finds donors,
records every change and writes the files. Both read the stories from the same file.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nlpaug.augmenter.char as nac


def main() -> None:
    stories = Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) > 2 else "target/release/storymeter"
    texts = [json.loads(line)["story"] for line in stories.open()]
    ours = []
    for threads in (1, 2):
        times = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                command = [program, "suite", "make", str(stories), "-o", f"{folder}/suite", "-q"]
                start = time.perf_counter()
                subprocess.run([*command, "--threads", str(threads)], check=True,
                               stdout=subprocess.DEVNULL)
                times.append(time.perf_counter() - start)
        ours.append(len(texts) / min(times))
        print(f"storymeter, 10 aspects, {threads} thread(s): {ours[-1]:.0f} stories per second")
    sample = texts[: max(1, min(len(texts), 500))]
    typos = nac.RandomCharAug(action="swap", aug_char_max=1, aug_word_max=2)
    start = time.perf_counter()
    for text in sample:
        typos.augment(text)
    peer = len(sample) / (time.perf_counter() - start)
    print(f"nlpaug, exchanged letters only, 1 thread: {peer:.0f} stories per second")
    print(f"ratio on one thread, ten aspects to one: {ours[0] / peer:.1f}")


if __name__ == "__main__":
    main()
