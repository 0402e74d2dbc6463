"""Writes how PyTorch fine-tunes the tiny masked-word model as BLANC-Tune does, without dropout.

    python tools/neural_fixtures_tuning.py MINILM

MINILM is a folder with the vocabulary of MiniLM. The output is
crates/storymeter-neural/tests/fixtures/tuning.json: the masked chunks of text A, the loss of every
step, and the predictions of the hidden words of text C before and after. Masks are never replaced
at random, and dropout is off, so that nothing is random. Needs torch 2.5.1 and transformers 4.44.2.
"""

import sys
from pathlib import Path

import torch
from transformers import BertTokenizer

from neural_texts import A, C, written
from neural_tiny import TOOL, masked_model

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "crates/storymeter-neural/tests/fixtures/tuning.json"
EPOCHS, RATE, CHUNK, STRIDE = 10, 5e-5, 64, 32


def masked(tokenizer, pieces):
    """The masked copies of a list of pieces, with the special tokens around them."""
    copies = []
    for first in range(min(2, len(pieces))):
        places = []
        for place in range(first, len(pieces), 2):
            following = pieces[place + 1 : place + 2]
            split = following and following[0].startswith("##")
            if not pieces[place].startswith("##") and len(pieces[place]) >= (2 if split else 4):
                places.append(place + 1)
        if places:
            ids = tokenizer.convert_tokens_to_ids(["[CLS]", *pieces, "[SEP]"])
            answers = [ids[place] for place in places]
            for place in places:
                ids[place] = tokenizer.mask_token_id
            copies.append({"ids": ids, "hidden": places, "answers": answers})
    return copies


def lessons(tokenizer, text):
    pieces = tokenizer.tokenize(text)
    parts = []
    for start in range(0, len(pieces), STRIDE):
        parts.append(pieces[start : start + CHUNK])
        if 0 < start < CHUNK:
            parts.append(pieces[:start])
    return [copy for part in parts for copy in masked(tokenizer, part)]


def questions(tokenizer, text):
    """Text C has no full stop inside a sentence."""
    sentences = [sentence.strip() + "." for sentence in text.split(".") if sentence.strip()]
    return [copy for s in sentences for copy in masked(tokenizer, tokenizer.tokenize(s))]


def logits(model, inputs):
    with torch.no_grad():
        rows = [model(torch.tensor([one["ids"]])).logits[0, one["hidden"]] for one in inputs]
    return torch.cat(rows)


def main():
    torch.set_num_threads(2)
    tokenizer = BertTokenizer(f"{sys.argv[1]}/vocab.txt")
    # `eval` switches dropout off, also while the model learns.
    model = masked_model().eval()
    asked, learnt = questions(tokenizer, C), lessons(tokenizer, A)
    before = logits(model, asked)
    plain = [p for n, p in model.named_parameters() if "bias" in n or "LayerNorm.weight" in n]
    others = [p for n, p in model.named_parameters() if not ("bias" in n or "LayerNorm.weight" in n)]
    groups = [{"params": others, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=RATE, eps=1e-8)
    steps = EPOCHS * len(learnt)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: (steps - step) / steps)
    losses = []
    for _ in range(EPOCHS):
        for lesson in learnt:
            optimiser.zero_grad()
            labels = [-100] * len(lesson["ids"])
            for place, answer in zip(lesson["hidden"], lesson["answers"]):
                labels[place] = answer
            loss = model(torch.tensor([lesson["ids"]]), labels=torch.tensor([labels])).loss
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(float(f"{loss.item():.9g}"))
    after = logits(model, asked)
    written(
        OUT,
        {
            "tool": TOOL,
            "command": "python tools/neural_fixtures_tuning.py MINILM",
            "lessons": learnt,
            "questions": asked,
            "losses": losses,
            "predictions_before": before.argmax(-1).tolist(),
            "predictions_after": after.argmax(-1).tolist(),
            "largest_logits_before": [float(f"{x:.9g}") for x in before.max(-1).values.tolist()],
            "largest_logits_after": [float(f"{x:.9g}") for x in after.max(-1).values.tolist()],
        },
    )
    print("losses", losses[0], losses[-1], "changed", (before.argmax(-1) != after.argmax(-1)).sum())


if __name__ == "__main__":
    main()
