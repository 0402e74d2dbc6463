"""Writes UNION's 400 rated ROC stories as JSONL, in two forms.

    rated_stories.py UNION_ROC OUT

`whole.jsonl` has the stories with their leading context, for metrics without a reference.
`continued.jsonl` has the generated part alone, with the context as its prompt and the human
continuation as its reference, for BLEU, MoverScore and RUBER-BERT. A line of `ant_data.txt` begins
with the number of its story in the reference files, counted from 0.
"""

import json
import pathlib
import sys

folder, out = map(pathlib.Path, sys.argv[1:])


def lines(name):
    return (folder / name).read_text(encoding="utf-8").splitlines()


contexts, references = lines("reference_ipt.txt"), lines("reference_opt.txt")
with open(out / "whole.jsonl", "w") as whole, open(out / "continued.jsonl", "w") as continued:
    for number, line in enumerate(lines("ant_data.txt")):
        place, story, ratings = (field.strip() for field in line.split("|||"))
        place = int(place.split("///")[0])
        context, reference = contexts[place].strip(), references[place].strip()
        rated = {"id": str(number), "human": {"score": [int(rating) for rating in ratings.split()]}}
        whole.write(json.dumps({**rated, "story": story}) + "\n")
        generated = {"story": story[len(context):].strip(), "prompt": context, "reference": reference}
        continued.write(json.dumps({**rated, **generated}) + "\n")
