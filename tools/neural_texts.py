"""Texts of the project's own that the fixtures of the neural metrics are made from."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The texts of the golden numbers: three stories and a prompt.
A = (
    "The old lighthouse keeper climbed the stairs every night. One stormy evening the lamp went "
    "dark, and he lit a small candle instead. A lost ship saw the tiny flame and found its way "
    "home."
)
B = (
    "Mara found a rusty key on the beach. She tried it on every door in the village, but nothing "
    "opened. At last it fitted the lighthouse, where an old man was waiting for her."
)
C = (
    "A keeper of the lighthouse walked up the steps each night. During a storm the light failed, "
    "so he used a candle. A ship that had lost its way saw the flame and came home safely."
)
Q = "Write about a lighthouse keeper who saves a ship in a storm."

# Texts that are hard on tokenisers and on the edges of a metric.
NASTY = {
    "unicode": "Zoë’s café — naïve, déjà vu… 東京 is far; “isn’t it?” 😀 Ünïcödé ﬁn.",
    "spaces": "  She  counted 1234567   stars\tin 1999.\n\nThen 3.14 more…  ",
    "one_word": "Lighthouse.",
    "stop_words": "It was the and of to a.",
    "punctuation": "... !!! ???",
    "capitals": "THE KEEPER SHOUTED: \"FIRE!\" NOBODY CAME, BUT HE'D WARNED THEM.",
    "contractions": "I don't know why they're here; she'll say we've lost it, won't she?",
    "long_word": "supercalifragilisticexpialidocious" * 4,
    "controls": "Line one\r\nline two\u00a0with\u200bodd\ufeff characters\ufffd.",
}


def stories():
    """The stories of examples/stories.jsonl by id."""
    with open(ROOT / "examples/stories.jsonl", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {record["id"]: record["story"] for record in records}


def long_text():
    """All sound example stories in one text, which no encoder of 512 tokens can read whole."""
    return " ".join(story for name, story in stories().items() if name.endswith("-sound"))


def written(path, fixture):
    """Writes a fixture with one line per entry of its lists, and says how large it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for key, value in fixture.items():
        if isinstance(value, list) and value:
            body = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
            lines.append(f"{json.dumps(key)}: [\n  {body}\n ]")
        elif isinstance(value, dict) and value:
            body = ",\n  ".join(
                f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}"
                for name, entry in value.items()
            )
            lines.append(f"{json.dumps(key)}: {{\n  {body}\n }}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    text = "{\n " + ",\n ".join(lines) + "\n}\n"
    assert json.loads(text) == json.loads(json.dumps(fixture))
    path.write_text(text, encoding="utf-8")
    print(path, len(text.encode()), "bytes")
