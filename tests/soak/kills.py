"""Ends every verb at random moments.

Afterwards there is the old output, no output, or the complete new one, each with its header, as a
reader finds it. Half of the moments are in the last fifth of a run, where files get their names. An
interrupted run leaves no temporary file; what a killed one leaves, the next run removes. A training
that is resumed gives the same bytes as one that was never interrupted.
"""

import signal

from work import content, header, temporaries

# The most common way to be ended is to be killed.
SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGTERM]


def run(work, rounds, chance):
    faults = []
    for verb in work.verbs:
        old, old_header, _ = work.reference(verb, 1)
        new, new_header, seconds = work.reference(verb, 2)
        ended = 0
        for number in range(rounds):
            folder = work.folder / f"kill-{verb}-{number}"
            folder.mkdir()
            arguments, output = work.arguments(verb, folder, 2)
            # In every second round there is an older output.
            replaced = number % 2 == 1 and verb != "train"
            if replaced:
                work.check(work.arguments(verb, folder, 1)[0])
            which = SIGNALS[(number // 2) % 4]
            child = work.start(arguments)
            try:
                child.wait(chance.uniform(chance.choice([0, 0.8]) * seconds, seconds))
            except Exception:
                child.send_signal(which)
                ended += 1
            said = child.communicate()[1]
            here = f"{verb}, round {number}, {which.name}"
            if "panicked" in said:
                faults.append(f"{here}: {said[:200]}")
            if which != signal.SIGKILL and temporaries(folder, work.temporary):
                faults.append(f"{here}: {temporaries(folder, work.temporary)} stayed")
            left = (content(output), header(output))
            allowed = [(new, new_header), (old, old_header) if replaced else (None, None)]
            if verb != "train" and left not in allowed:
                faults.append(f"{here}: {describe(left[0], new)} is left")
            again = arguments
            if verb == "train":
                again = [*arguments, "--resume"] if output.exists() else arguments
            child = work.start(again)
            said = child.communicate()[1]
            if child.returncode != 0:
                faults.append(f"{here}: the next run failed: {said.strip()[:300]}")
            elif (content(output), header(output)) != (new, new_header):
                faults.append(f"{here}: the next run wrote other bytes")
            if temporaries(folder, work.temporary):
                faults.append(f"{here}: {temporaries(folder, work.temporary)} stayed for ever")
        print(f"kills: {verb}: {rounds} runs, {ended} of them ended early, "
              f"{seconds:.1f} s without interruption", flush=True)
    return faults


def describe(left, new):
    """What is left, in words."""
    if isinstance(left, dict):
        whole = sum(left.get(name) == content for name, content in new.items())
        return f"a folder with {len(left)} files, of which {whole} of {len(new)} are new,"
    return "nothing" if left is None else f"a file of {len(left)} bytes instead of {len(new)}"
