"""Two runs that write the same output at once.

Each one succeeds or is refused, and the output is the complete one of a run that succeeded.
"""

from work import content, temporaries


def run(work, rounds):
    faults = []
    for verb in work.verbs:
        outcomes = []
        for number in range(rounds):
            folder = work.folder / f"writers-{verb}-{number}"
            folder.mkdir()
            pair = [work.arguments(verb, folder, seed) for seed in (1, 2)]
            children = [work.start(arguments) for arguments, _ in pair]
            said = [child.communicate()[1] for child in children]
            codes = [child.returncode for child in children]
            outcomes.append(codes)
            here = f"two writers: {verb}, round {number}"
            for code, text in zip(codes, said):
                if code not in (0, 2) or (code == 2 and not text.strip()) or "panicked" in text:
                    faults.append(f"{here}: exit code {code}: {text[:200]}")
            good = [work.reference(verb, seed)[0] for seed, code in zip((1, 2), codes) if code == 0]
            if content(pair[0][1]) not in good:
                faults.append(f"{here}: exit codes {codes}, and the output is of neither run")
            if verb == "train" and codes == [0, 0]:
                faults.append(f"{here}: both succeeded, so one model is lost")
            if temporaries(folder, work.temporary):
                faults.append(f"{here}: {temporaries(folder, work.temporary)} stayed")
        print(f"two writers: {verb}: exit codes {outcomes}", flush=True)
    return faults
