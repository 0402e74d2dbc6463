#!/usr/bin/env python3
"""Writes what the readers are learned from: rated stories, and a corpus of unrated texts.

    data.py DATA OUT [--program storymeter]

DATA is the folder `data` of the shared data. OUT, a folder that is made, gets:

- `sets/NAME.jsonl`: the rated stories of each set, with the criteria that map.toml names;
- `groups.json`: which sets are left out together, and in which group HANNA's prompts are;
- `corpus.jsonl`: unrated texts of all kinds, of which the student learns what the teachers say;
- `kinds.json`: for every text of the corpus what it is, which text it says the same as, and which
  damage was done to it.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "criteria"))
import rated_sets  # noqa: E402

SEED = 5
# The sets that are left out together: those of one study, and sets that share texts or raters.
GROUPS = [
    ["csg", "nextchapter_crowdsource_roc", "nextchapter_crowdsource_wp",
     "nextchapter_inhouse_roc", "nextchapter_inhouse_wp"],
    ["lamp", "wqrm", "aiss", "union_roc"],
    ["pron", "ttcw", "confederacy", "scratchplot"],
    ["cohesentia", "slm", "storyer_story_correlation", "storyer_scary_story_correlation"],
]
# The criteria of modern sets that are learned. Those of the older sets all are.
MODERN = {
    "csg": ["expert_creativity", "expert_originality", "expert_surprise", "expert_value",
            "nonexpert_creativity", "nonexpert_originality", "nonexpert_surprise",
            "nonexpert_value"],
    "lamp": ["preference"],
    "wqrm": ["preference"],
    "pron": ["attractive_style", "attractive_theme", "originality_style", "originality_theme",
             "creativity_synopsis", "anthology", "own_voice"],
    "ttcw": ["passed_of_14"],
    "confederacy": ["total"],
    "aiss": ["coherence", "creativity_quality", "avoids_repetition"],
    "cohesentia": ["coherence_holistic", "coherence_incremental"],
    "slm": ["readability", "understandability", "attractiveness", "creativity"],
}
# The criteria whose mean says how much a reader of an older set liked a story.
LIKING = {
    "hanna": ["coherence", "empathy", "surprise", "engagement", "complexity"],
    "nextchapter": ["coherence", "logicality", "interestingness"],
    "scratchplot": ["coherence", "interestingness"],
    "storyer": ["score"],
}


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def plain(text):
    """The letters of a text, by which the same story is known again however it is written."""
    return re.sub(r"[^a-z]", "", text.lower())[:100]


def write(path, stories):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (json.dumps(story, ensure_ascii=False) + "\n" for story in stories)
    path.write_text("".join(text), encoding="utf-8")


def mean(rating):
    known = [value for value in (rating if isinstance(rating, list) else [rating])
             if value is not None]
    return sum(known) / len(known)


def rated(data):
    """All rated sets. What readers of the older sets liked teaches `general` and `writers` too."""
    sets = rated_sets.read(data)
    for name, stories in sets.items():
        liking = next((own for start, own in LIKING.items() if name.startswith(start)), [])
        for story in stories:
            if liking and all(criterion in story["human"] for criterion in liking):
                liked = sum(mean(story["human"][criterion]) for criterion in liking) / len(liking)
                story["human"]["liked"] = liked
                story["human"]["approved"] = liked
    for name, criteria in MODERN.items():
        stories = lines(data / "annotated/modern" / f"{name}.jsonl.gz")
        for story in stories:
            story["human"] = {c: story["human"][c] for c in criteria if c in story["human"]}
        sets[name] = [{key: story[key] for key in ("id", "system", "item", "prompt", "story", "human")
                       if story.get(key)} for story in stories if story["human"]]
    return sets


def shortened(text, words):
    """The beginning of a text, up to a sentence end."""
    found = list(re.finditer(r"\S+", text))
    if len(found) <= words:
        return text
    part = text[: found[words - 1].end()]
    end = max(part.rfind(mark) for mark in ".!?\n")
    return part[: end + 1] if end > len(part) // 2 else part


def corpus(data, sets, rng):
    """Unrated texts of all kinds, each with what it is. Rated stories that are among the unrated
    ones as well are left out there."""
    known = {plain(start + story["story"]) for stories in sets.values() for story in stories
             for start in ("", story.get("prompt", ""))}
    with gzip.open(data / "roc/stories.tsv.gz", "rt", encoding="utf-8") as file:
        roc = [line.rstrip("\n").split("\t") for line in file][1:]
    roc = [row for row in roc if plain(" ".join(row[1:6])) not in known]
    for row in rng.sample(roc, 10000):
        yield "roc", " ".join(row[1:6])
    generated = [row for row in lines(data / "generated/stories.jsonl.gz")
                 if plain(row["story"]) not in known
                 and plain(row["prompt"] + row["story"]) not in known]
    old = [row for row in generated if row["model"] != "BART-manipulated-plot"]
    damaged_plots = [row for row in generated if row["model"] == "BART-manipulated-plot"]
    for row in old + rng.sample(damaged_plots, 8000):
        start = row["prompt"] + " " if row["dataset"] == "roc" else ""
        yield "old-machine", shortened(start + row["story"], 300)
    long = [row for row in lines(data / "long/stories.jsonl.gz") if plain(row["story"]) not in known]
    for at, row in enumerate(rng.sample(long, 7000)):
        yield "long", shortened(row["story"], [80, 150, 260, 260, 600][at % 5])
    arena = lines(data / "annotated/modern/arena.jsonl.gz")
    for row in arena:
        yield "arena", row["story"]
        yield "arena", shortened(row["story"], rng.choice([60, 120, 250]))
    for name, stories in sets.items():
        for story in stories:
            start = story["prompt"] + " " if name.endswith("_roc") and story.get("prompt") else ""
            yield (name, story["item"]) if name == "hanna" else name, start + story["story"]
    prompts = {row["prompt"] for row in arena + long + old if row.get("prompt")}
    prompts |= {story["prompt"] for stories in sets.values() for story in stories
                if story.get("prompt")}
    for prompt in rng.sample(sorted(prompts), min(4000, len(prompts))):
        yield "prompt", shortened(prompt, 100)


def bad(texts, kinds, twins, rng):
    """Preferences that need no reader: a damaged story is worse than the same story whole, and
    stories of old machines are worse than those of new ones. Writers like those of people best."""
    story = {text["id"]: text["story"] for text in texts}
    damage = []
    short = [twin for twin in twins if len(twin["story"].split()) <= 250]
    for at, twin in enumerate(rng.sample(short, 2000)):
        for name, value, text in [("whole", 2, story[twin["id"]]), ("damaged", 1, twin["story"])]:
            damage.append({"id": f"damage-{at}-{name}", "item": f"damage-{at}",
                           "story": text, "human": {"liked": value, "approved": value}})
    of_kind = {kind: [text for text in texts if kinds[text["id"]]["kind"] == kind]
               for kind in ["long", "arena", "old-machine"]}
    age = []
    for at in range(1000):
        chosen = {kind: rng.choice(texts)["story"] for kind, texts in of_kind.items()}
        # All of them have about the same length: nobody said that long stories are better.
        words = min(len(text.split()) for text in chosen.values())
        for kind, human in [("long", {"approved": 3}), ("arena", {"liked": 2, "approved": 2}),
                            ("old-machine", {"liked": 1, "approved": 1})]:
            age.append({"id": f"age-{at}-{kind}", "item": f"age-{at}",
                        "story": shortened(chosen[kind], words), "human": human})
    return damage, age


def typos(text, rng):
    words = text.split(" ")
    for at, word in enumerate(words):
        if len(word) > 3 and word.isalpha() and rng.random() < 0.04:
            i = rng.randrange(1, len(word) - 1)
            words[at] = rng.choice([
                word[:i] + word[i + 1] + word[i] + word[i + 2:], word[:i] + word[i + 1:],
                word[:i] + word[i] + word[i:], word[:i] + rng.choice("aeirtnsl") + word[i + 1:],
            ])
    return " ".join(words)


def without_marks(text, rng):
    return "".join(c for c in text if c not in ",;.!?\"'" or rng.random() > 0.25)


def other_quotes(text, rng):
    del rng
    text = re.sub(r'"([^"\n]*)"', "\u201c\\1\u201d", text)
    return text.replace("'", "\u2019")


def lowercased(text, rng):
    del rng
    return text.lower()


BEFORE = ["Sure! Here is a story for you:\n\n", "Here's a short story:\n\n", "Of course! ",
          "Certainly! Here is the story you asked for.\n\n", "# {}\n\n", "**{}**\n\n", "Title: {}\n\n",
          "## {}\n\n", "Here is the continuation of the story:\n\n", "{}\n\n"]
AFTER = [" The End.", "\n\nThe End.", "\n\nTHE END", "\n\nI hope you enjoyed it!", "<|endoftext|>",
         " </s>", "\n\nLet me know if you would like me to change anything.", " <|im_end|>",
         "\n\n[END]", "\n\n***", "\n\n(Word count: 250)", " Hope you like it!", "<|eot_id|>", "\n\n---\n"]
TITLES = ["The Last Letter", "A Day to Remember", "The Journey", "Under the Old Tree", "Lost and Found",
          "The House by the Lake", "Midnight", "What the River Knew", "An Unexpected Gift", "Home"]


def chat(text, rng):
    """What chat models put around a story."""
    if rng.random() < 0.6:
        text = rng.choice(BEFORE).format(rng.choice(TITLES)) + text
    if rng.random() < 0.6:
        text += rng.choice(AFTER)
    return text


HARMLESS = [(typos, 0.35), (without_marks, 0.2), (other_quotes, 0.1), (lowercased, 0.05), (chat, 0.3)]


def harmless(text, rng):
    """A text that says the same."""
    draw = rng.random()
    for change, share in HARMLESS:
        draw -= share
        if draw < 0:
            return change(text, rng)
    return chat(text, rng)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--program", default="storymeter")
    args = parser.parse_args()
    rng = random.Random(SEED)
    sets = rated(args.data)
    items = sorted({story["item"] for story in sets["hanna"]}, key=int)
    hanna = {item: at % len(GROUPS) for at, item in enumerate(items)}
    for name, stories in sets.items():
        write(args.out / "sets" / f"{name}.jsonl", stories)
    groups = {"sets": GROUPS, "hanna": hanna}
    (args.out / "groups.json").write_text(json.dumps(groups), encoding="utf-8")

    texts, kinds = [], {}
    for kind, text in corpus(args.data, sets, rng):
        if len(text.split()) > 3:
            key = f"c{len(texts)}"
            texts.append({"id": key, "story": text})
            kinds[key] = {"kind": kind}
            if isinstance(kind, tuple):
                kinds[key] = {"kind": kind[0], "item": kind[1]}
    whole = [text for text in texts if kinds[text["id"]]["kind"] != "prompt"]
    base = args.out / "base.jsonl"
    write(base, whole)
    damaged = args.out / "damaged.jsonl"
    subprocess.run([args.program, "perturb", base, "--techniques",
                    "repetition=25,substitution=45,reordering=20,negation=10", "--garbled", "0.5",
                    "--spliced", "0.3", "--seed", "9", "--skip-bad", "-q",
                    "-o", damaged], check=True)
    with open(damaged, encoding="utf-8") as file:
        twins = [json.loads(line) for line in file]
    # Those of a rated story would tell a model about a set that is left out.
    free = [twin for twin in twins if kinds[twin["id"]]["kind"] not in sets]
    damage, age = bad(texts, kinds, free, rng)
    write(args.out / "sets/damage.jsonl", damage)
    write(args.out / "sets/age.jsonl", age)
    for twin in rng.sample(twins, 22000):
        key = f"d{twin['id']}"
        texts.append({"id": key, "story": twin["story"]})
        kinds[key] = {"kind": "damaged", "of": twin["id"], "damage": twin["techniques"]}
    for text in rng.sample(whole, 12000):
        key = f"h{text['id']}"
        texts.append({"id": key, "story": harmless(text["story"], rng)})
        kinds[key] = {"kind": "harmless", "like": text["id"]}
    write(args.out / "corpus.jsonl", texts)
    (args.out / "kinds.json").write_text(json.dumps(kinds), encoding="utf-8")
    count = collections.Counter(own["kind"] for own in kinds.values())
    print(f"{len(texts)} texts: " + ", ".join(f"{k} {n}" for k, n in count.most_common()))


if __name__ == "__main__":
    main()
