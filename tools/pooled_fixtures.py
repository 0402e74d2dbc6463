"""Writes what PyTorch says about a regression on BERT's pooler, for storymeter-encoder's tests.

    python tools/pooled_fixtures.py

Needs the packages torch and transformers. The encoder is the tiny one of tools/encoder_fixtures.py.
Its inputs are pairs of that script's stories with segments 0 and 1. The loss is the mean squared
error of one output per pair. Everything is computed in double precision and without dropout.
"""

import json
from pathlib import Path

import torch
import transformers
from transformers import BertModel

FOLDER = Path(__file__).resolve().parent.parent / "crates/storymeter-encoder/tests/fixtures/bert"
TARGETS = [0.2, 0.9, -0.4]


def waves(*shape, scale, phase):
    """Weights that need no file: scale * cos(number + phase), in single precision."""
    count = torch.Size(shape).numel()
    numbers = scale * torch.cos(torch.arange(count, dtype=torch.float64) + phase)
    return numbers.float().double().reshape(shape)


def main():
    stories = [story["ids"] for story in json.loads((FOLDER / "expected.json").read_text())["stories"]]
    model = BertModel.from_pretrained(FOLDER).double().eval()
    width = model.config.hidden_size
    with torch.no_grad():
        model.pooler.dense.weight.copy_(waves(width, width, scale=0.2, phase=0.0))
        model.pooler.dense.bias.copy_(waves(width, scale=0.1, phase=1.0))
    head = torch.nn.Parameter(waves(1, width, scale=0.3, phase=2.0))
    bias = torch.nn.Parameter(torch.full((1,), 0.15, dtype=torch.float32).double())
    outputs = []
    for first, second in zip(stories[:3], stories[1:4]):
        ids = torch.tensor([first + second[1:]])
        segments = torch.tensor([[0] * len(first) + [1] * (len(second) - 1)])
        pooled = model(input_ids=ids, token_type_ids=segments).pooler_output[0]
        outputs.append(head @ pooled + bias)
    outputs = torch.cat(outputs)
    loss = ((outputs - torch.tensor(TARGETS, dtype=torch.float64)) ** 2).mean()
    loss.backward()
    gradients = {}
    for name, parameter in [*model.named_parameters(), ("classifier.weight", head), ("classifier.bias", bias)]:
        g = parameter.grad.flatten()
        # A sum weighted by cosines depends on every number.
        mixed = (g * torch.cos(torch.arange(1, len(g) + 1, dtype=torch.float64))).sum()
        gradients[name] = {"norm": g.norm().item(), "mixed": mixed.item()}
    result = {
        "tool": f"torch {torch.__version__}, transformers {transformers.__version__}",
        "command": "tools/pooled_fixtures.py",
        "targets": TARGETS,
        "outputs": outputs.tolist(),
        "loss": loss.item(),
        "gradients": gradients,
    }
    (FOLDER / "pooled.json").write_text(json.dumps(result, indent=1) + "\n")


main()
