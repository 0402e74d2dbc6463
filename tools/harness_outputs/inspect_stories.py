"""Runs Inspect with made-up answers, and writes a log of each format into a folder.

Usage: python inspect_stories.py FOLDER

What the run says about this machine is removed: the events, and where a failed sample failed.
"""

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import generate

KEY = (
    "Mara found a brass key under the step. She tried every lock of the house. "
    "It opened the old clock, and inside lay a letter."
)
KITE = (
    "Theo built a kite from an old shirt. The wind took it over the roof. "
    "A neighbour brought it back the next day."
)
LAMP = (
    "The lamp in the hall went out at nine. Nobody had touched it. "
    "In the morning it burned again, and the cat sat under it."
)


@task
def stories():
    samples = [
        Sample(id="key", input="Write a story about a key.", target=""),
        Sample(id="kite", input="Write a story about a kite.", target=""),
        Sample(id="lamp", input="Write a story about a lamp.", target=""),
    ]
    return Task(dataset=MemoryDataset(samples), solver=generate(), name="stories")


def answers(fails):
    def output(*texts):
        messages = [ChatMessageAssistant(content=text, source="generate") for text in texts]
        choices = [ChatCompletionChoice(message=message) for message in messages]
        return ModelOutput(model="mockllm/model", choices=choices, usage=ModelUsage())
    yield output(KEY)
    yield output(KITE, LAMP)
    yield output(LAMP)
    yield output(KITE)
    yield output(LAMP)
    if fails:
        raise RuntimeError("the model did not answer")
    yield output(KEY)


folder = Path(sys.argv[1])
for form in ("json", "eval"):
    model = get_model("mockllm/model", custom_outputs=answers(form == "json"), memoize=False)
    eval(stories(), model=model, log_format=form, log_dir=str(folder), epochs=2, fail_on_error=False,
         display="none", max_samples=1, max_connections=1)

(log,) = folder.glob("*.json")
content = json.loads(log.read_text())
for sample in content["samples"]:
    sample["events"] = []
    if sample.get("error"):
        sample["error"]["traceback"] = sample["error"]["traceback_ansi"] = ""
(folder / "inspect.json").write_text(json.dumps(content, indent=1) + "\n")
log.unlink()
(log,) = folder.glob("*.eval")
log.rename(folder / "inspect.eval")
