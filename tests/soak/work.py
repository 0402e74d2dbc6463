"""The inputs of the soak test, the command lines of its verbs, and what they leave."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(
    os.environ.get("STORYMETER", REPOSITORY / "target/release/storymeter")
).resolve()

SYSTEMS = ["Heron", "Kestrel", "Magpie", "Plover"]
SUBJECTS = ["Ines", "The baker", "Her brother", "A tired goat", "Nobody"]
VERBS = ["lost", "found", "burned", "painted", "sold", "forgot"]
OBJECTS = ["the red kite", "an old lamp", "every letter", "the ferry", "a loaf of bread"]


def story(number):
    """A story of five sentences that is a function of its number."""
    mixed = number * 2654435761 % 2**32
    sentences = []
    for _ in range(5):
        mixed = (mixed * 1664525 + 1013904223) % 2**32
        subject, verb, thing = mixed >> 8, mixed >> 14, mixed >> 20
        sentences.append(
            f"{SUBJECTS[subject % 5]} {VERBS[verb % 6]} {OBJECTS[thing % 5]} on day {mixed % 97}."
        )
    return " ".join(sentences)


def line(number):
    """A line of JSONL with a story, a reference and ratings."""
    record = {
        "id": str(number),
        "system": SYSTEMS[number % 4],
        "item": f"p{number // 4}",
        "story": story(number),
        "reference": story(number // 4),
        "human": {"fun": [1 + number * 7 % 5, 1 + number * 3 % 5]},
    }
    return json.dumps(record) + "\n"


def temporaries(*folders):
    """The temporary files at and below these folders."""
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            name = path.name
            if name.startswith(".storymeter-") or name.endswith((".partial", ".new", ".part")):
                found.append(str(path))
    return found


def content(path):
    """The bytes of a file, or of all files of a folder by name; None if there is nothing."""
    if path.is_dir():
        inside = {p.name: p.read_bytes() for p in path.iterdir() if p.is_file()}
        return {n: b for n, b in inside.items() if n not in UNSTABLE} or None
    return path.read_bytes() if path.exists() else None


# Files of a training that say how long it took.
UNSTABLE = {"train.jsonl", "training.safetensors", "storymeter.json"}


class Work:
    """A folder with the inputs, and the verbs that are tested."""

    def __init__(self, folder, stories):
        if not PROGRAM.exists():
            raise SystemExit(f"{PROGRAM} does not exist; build it with cargo build --release")
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        (folder / "stories.jsonl").write_text("".join(map(line, range(stories))))
        (folder / "few.jsonl").write_text("".join(map(line, range(400))))
        (folder / "some.jsonl").write_text("".join(map(line, range(stories // 5))))
        fixture = REPOSITORY / "crates/storymeter-encoder/tests/fixtures/bert"
        shutil.copytree(fixture, folder / "encoder", ignore=shutil.ignore_patterns("e*", "tr*"))
        (folder / "run.toml").write_text(
            "epochs = 3\nlearning_rate = 1e-3\nmax_tokens = 48\ntokens_a_batch = 512\n"
        )
        self.check("score some.jsonl --metric bleu,rouge,text-length -o scores.jsonl")
        self.check("meta table scores.jsonl --draws 50 -o study")
        # Every verb with its output; {seed} makes runs with other results.
        self.verbs = {
            "perturb": ("perturb stories.jsonl --seed {seed} -o", "out.jsonl"),
            "score": (
                "score stories.jsonl --metric bleu,rouge,self-bleu --seed {seed} -o",
                "out.jsonl",
            ),
            "train": (
                "train --stories few.jsonl --init encoder --config run.toml --seed {seed} -o",
                "out",
            ),
            "meta": ("meta table scores.jsonl --draws 500 --seed {seed} -o", "out"),
            "report": ("report study scores.jsonl --stories some.jsonl -o", "out.html"),
        }

    def start(self, arguments, **options):
        """Starts the program in the folder."""
        environment = dict(os.environ, TMPDIR=str(self.temporary), NO_COLOR="1")
        return subprocess.Popen(
            [str(PROGRAM), *arguments],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **options,
        )

    def check(self, arguments):
        """Runs the program to its end, which must be good. Returns the seconds that it took."""
        arguments = arguments.split() if isinstance(arguments, str) else arguments
        begun = time.monotonic()
        child = self.start(arguments)
        said = child.communicate()[1]
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, arguments))}: {said}")
        return time.monotonic() - begun

    def arguments(self, verb, folder, seed):
        """The arguments of a verb that writes into a folder, and its output."""
        command, name = self.verbs[verb]
        output = folder / name
        return [*command.format(seed=seed).split(), str(output)], output

    def reference(self, verb, seed):
        """What the verb writes if nothing disturbs it, and how long that takes."""
        folder = self.folder / f"reference-{verb}-{seed}"
        arguments, output = self.arguments(verb, folder, seed)
        if folder.exists():
            return content(output), header(output), 0.0
        folder.mkdir()
        seconds = self.check(arguments)
        return content(output), header(output), seconds


def header(output):
    """The header of a score file, as a reader finds it: one that only lacked its name counts, if
    its checksum is that of the scores."""
    begun = content(output.with_name(output.name + ".meta.new"))
    if begun is not None and output.exists():
        scores = hashlib.sha256(output.read_bytes()).hexdigest()
        if json.loads(begun).get("sha256") == scores:
            return begun
    return content(output.with_name(output.name + ".meta.json"))
