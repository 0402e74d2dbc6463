"""A disk of 5 MB that is almost full.

The verb ends with exit code 2 and a message that says so, and leaves nothing but what was there.
"""

import os
import subprocess

from work import PROGRAM, temporaries

# Mounts the disk in a namespace of its own, fills it but for 30 kB, and runs the program.
SCRIPT = """
mount -t tmpfs -o size=5m tmpfs "$DISK" || exit 77
head -c 5200000 /dev/zero > "$DISK/ballast" || exit 77
"$@"
code=$?
ls -A "$DISK" > "$LIST"
find "$DISK" -type f ! -name ballast >> "$LIST"
exit $code
"""


def run(work):
    faults = []
    disk, names = work.folder / "disk", work.folder / "names"
    disk.mkdir(exist_ok=True)
    for verb in work.verbs:
        arguments, _ = work.arguments(verb, disk, 1)
        wrapped = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", SCRIPT, "sh"]
        environment = dict(os.environ, DISK=str(disk), LIST=str(names), TMPDIR=str(work.temporary))
        try:
            done = subprocess.run(
                [*wrapped, str(PROGRAM), *arguments],
                cwd=work.folder, env=environment, capture_output=True, text=True, timeout=300,
            )
        except FileNotFoundError:
            print("disk: skipped: there is no unshare")
            return faults
        if done.returncode in (1, 77):
            print(f"disk: skipped: a disk cannot be mounted here: {done.stderr.strip()[:100]}")
            return faults
        if done.returncode != 2 or "No space left" not in done.stderr:
            faults.append(f"disk: {verb}: exit code {done.returncode}: {done.stderr[:200]}")
        left = [name for name in names.read_text().split("\n") if name not in ("", "ballast")]
        # A training keeps its log and its checkpoint, from which it can be resumed.
        unwanted = ("storymeter.json", ".partial", ".new") if verb == "train" else ("",)
        if [name for name in left if name.endswith(unwanted)]:
            faults.append(f"disk: {verb} left {left}")
        if temporaries(work.temporary):
            faults.append(f"disk: {verb} left {temporaries(work.temporary)}")
        print(f"disk: {verb}: {done.stderr.strip().splitlines()[-1][:150] if done.stderr else ''}",
              flush=True)
    return faults
