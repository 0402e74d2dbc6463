"""Writes losses and gradients of UNION's heads by PyTorch, for storymeter-union/src/train/peer.rs.

    python tools/union_objective_fixture.py > crates/storymeter-union/tests/fixtures/objective.json

The loss is the mean over the stories (equation 6) of three parts: equation 3, the sigmoid
cross-entropy of "human"; 0.1 times equation 5, the softmax cross-entropy over the vocabulary, as a
mean over the positions of a story; and 0.1 times the diagnosis, the sigmoid cross-entropy summed
over the four techniques. It is computed in double precision and without dropout, on the tiny
encoder in crates/storymeter-encoder/tests/fixtures/bert.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from torch.nn.functional import binary_cross_entropy_with_logits as sigmoid_loss
from torch.nn.functional import cross_entropy
from transformers import BertModel

ROOT = Path(__file__).resolve().parent.parent
ENCODER = ROOT / "crates/storymeter-encoder/tests/fixtures/bert"


def examples(vocabulary, generator):
    """Random stories of different lengths, of which every second one is damaged.

    Damage replaces two pieces, and cuts or lengthens the end.
    """
    out = []
    for number, length in enumerate([9, 23, 5, 14]):
        human = [2] + torch.randint(5, vocabulary, (length,), generator=generator).tolist() + [3]
        damaged = human[:]
        damaged[2], damaged[3] = human[4], human[1]
        damaged = damaged[:-2] + [3] if number % 2 else damaged[:-1] + human[1:3] + [3]
        first = 1 if number < 2 else 3
        for ids, is_human, damage in ((human, 1, [0] * 4), (damaged, 0, [number % 2, 1, 0, int(number > 1)])):
            end = min(len(ids), len(human)) - 1
            out.append({"ids": ids, "first": first, "targets": human[first:end], "human": is_human, "damage": damage})
    return out


def case(pooling, reconstruction, stories, heads):
    model = BertModel.from_pretrained(ENCODER, add_pooling_layer=False, dtype=torch.float64).eval()
    heads = {name: torch.nn.Parameter(value.double().clone()) for name, value in heads.items()}
    matrix = heads["reconstruction"] if reconstruction == "own" else model.embeddings.word_embeddings.weight
    losses = {"score": 0.0, "diagnosis": 0.0, "reconstruction": 0.0}
    for story in stories:
        hidden = model(input_ids=torch.tensor([story["ids"]])).last_hidden_state[0]
        pooled = hidden[0] if pooling == "cls" else hidden.mean(dim=0)
        human = torch.tensor(float(story["human"]), dtype=torch.float64)
        losses["score"] = losses["score"] + sigmoid_loss(pooled @ heads["score"][0] + heads["score_bias"][0], human)
        damage = torch.tensor(story["damage"], dtype=torch.float64)
        logits = heads["diagnosis"] @ pooled + heads["diagnosis_bias"]
        losses["diagnosis"] = losses["diagnosis"] + 0.1 * sigmoid_loss(logits, damage, reduction="sum")
        count = len(story["targets"])
        rows = hidden[story["first"] : story["first"] + count]
        logits = rows @ matrix.T + heads["reconstruction_bias"]
        losses["reconstruction"] = losses["reconstruction"] + 0.1 * cross_entropy(logits, torch.tensor(story["targets"]))
    losses = {name: loss / len(stories) for name, loss in losses.items()}
    sum(losses.values()).backward()
    names = {"score": "score.weight", "score_bias": "score.bias", "diagnosis": "diagnosis.weight", "diagnosis_bias": "diagnosis.bias",
             "reconstruction": "reconstruction.weight", "reconstruction_bias": "reconstruction.bias"}
    parameters = {**dict(model.named_parameters()), **{names[name]: value for name, value in heads.items()}}
    gradients = {}
    for name, parameter in parameters.items():
        if parameter.grad is None:
            continue
        flat = parameter.grad.flatten()
        mixed = (flat * torch.cos(torch.arange(1, len(flat) + 1, dtype=torch.float64))).sum()
        gradients[name] = {"norm": flat.norm().item(), "mixed": mixed.item()}
    return {"pooling": pooling, "reconstruction": reconstruction,
            "losses": {name: loss.item() for name, loss in losses.items()}, "gradients": gradients}


def main():
    config = json.loads((ENCODER / "config.json").read_text())
    width, vocabulary = config["hidden_size"], config["vocab_size"]
    generator = torch.Generator().manual_seed(5)
    shapes = {"score": (1, width), "score_bias": (1,), "diagnosis": (4, width), "diagnosis_bias": (4,),
              "reconstruction": (vocabulary, width), "reconstruction_bias": (vocabulary,)}
    # Three digits keep the file small, and both sides start from the same numbers.
    heads = {name: (0.3 * torch.randn(shape, generator=generator)).double().mul(1000).round().div(1000) for name, shape in shapes.items()}
    stories = examples(vocabulary, generator)
    cases = [case(p, r, stories, heads) for p in ("cls", "mean") for r in ("tied", "own")]
    fixture = {
        "tool": f"torch {torch.__version__}, transformers {transformers.__version__}",
        "command": "tools/union_objective_fixture.py",
        "examples": stories,
        "heads": {name: [round(x, 3) for x in value.flatten().tolist()] for name, value in heads.items()},
        "cases": cases,
    }
    json.dump(fixture, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
