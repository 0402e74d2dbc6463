"""The same story, written down differently. Its score should hardly change."""

import re

MALE = "Robert", "Kevin", "Brian", "Pablo", "Ahmed", "Dwight"
FEMALE = "Susan", "Karen", "Linda", "Consuelo", "Fatima", "Gwen"
NEUTRAL = "Casey", "Jamie", "Robin", "Jordan"


def detokenised(text):
    """Joins tokens: `did n't go .` becomes `didn't go.`"""
    text = " ".join(text.split())
    text = re.sub(r"`` ?| ?''", '"', text)
    text = re.sub(r" ([.,!?;:)])", r"\1", re.sub(r"\( ", "(", text))
    return re.sub(r" (n't|'(?:s|re|ve|ll|d|m))\b", r"\1", text, flags=re.I)


def named(text, at):
    """Replaces placeholders by names, which are the same throughout a story and others in the
    next."""
    text = text.replace("[MALE]", MALE[at % len(MALE)])
    text = text.replace("[FEMALE]", FEMALE[at // 2 % len(FEMALE)])
    return text.replace("[NEUTRAL]", NEUTRAL[at // 3 % len(NEUTRAL)])


def curly(text):
    """Replaces straight quotes by curly ones; double quotes open and close in turn."""
    parts = re.split("\"|``|''", text)
    quoted = "".join(part + "“”"[at % 2] for at, part in enumerate(parts[:-1])) + parts[-1]
    return quoted.replace("'", "’")


def capitalised(text):
    """Writes a capital letter at the beginning of sentences, and for the word I."""
    text = re.sub(r"(?:^|(?<=[.!?] ))\w", lambda found: found[0].upper(), text)
    return re.sub(r"(?<!\S)i(?='(?:m|d|ll|ve)(?!\S)|(?!\S))", "I", text)


VARIANTS = {
    "lower-cased": lambda text, at: text.lower(),
    "detokenised": lambda text, at: detokenised(text),
    "other names": named,
    "other quotes": lambda text, at: curly(text),
    "as people write": lambda text, at: curly(capitalised(detokenised(named(text, at)))),
}


def rewritten(stories, variant):
    """The stories and their prompts, written down differently."""
    rewrite = VARIANTS[variant]
    fields = "story", "prompt"
    return [
        {**story, **{f: rewrite(story[f], at) for f in fields if f in story}}
        for at, story in enumerate(stories)
    ]
