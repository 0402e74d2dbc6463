"""Many stories through `score`, in bounded memory."""

import os
import time

from work import line

# In MB. The program reads and scores a few batches at a time, whatever the number of stories is.
# Only the numbers from which intervals and tests are computed are kept for every story. BLEU and
# ROUGE have about a hundred of them.
MOST = 300
MOST_PER_MILLION = {"bleu,rouge": 1_200, "text-length,distinct-1,repetition-1": 200}


def run(work, stories):
    faults = []
    path = work.folder / "many.jsonl"
    with open(path, "w") as file:
        for number in range(stories):
            file.write(line(number))
    size = path.stat().st_size / 1e6
    for metrics in ["bleu,rouge", "text-length,distinct-1,repetition-1"]:
        begun = time.monotonic()
        child = work.start(["score", str(path), "--metric", metrics, "-o", "many-scores.jsonl"])
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss / 1e3
        print(
            f"many stories: {stories} stories, {size:.0f} MB, --metric {metrics}: "
            f"{time.monotonic() - begun:.0f} s, peak memory {peak:.0f} MB", flush=True,
        )
        if child.returncode != 0:
            faults.append(f"many stories: exit code {child.returncode}: {said[:200]}")
            continue
        with open(work.folder / "many-scores.jsonl") as scores:
            lines = sum(1 for _ in scores)
        if lines != stories:
            faults.append(f"many stories: {lines} lines of scores for {stories} stories")
        most = MOST + MOST_PER_MILLION[metrics] * stories / 1e6
        if peak > most:
            faults.append(f"many stories: peak memory {peak:.0f} MB, more than {most:.0f} MB")
    path.unlink()
    return faults
