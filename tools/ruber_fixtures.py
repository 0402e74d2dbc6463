"""Writes what PyTorch computes for RUBER-BERT with the tiny BERT of tools/neural_tiny.py.

    python tools/ruber_fixtures.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py, whose MiniLM gives the vocabulary. The outputs are
crates/storymeter-neural/tests/fixtures/ruber.json, with the scores of two stories, and
crates/storymeter-baselines/tests/fixtures/ruber_step.json, with the weights of a small head after
two steps of Adam. The head has weights by the formula of tools/neural_tiny.py.
"""

import json
import sys

import torch
from transformers import BertTokenizer

from neural_texts import ROOT, A, B, C, Q
from neural_tiny import TOOL, fill, masked_model

COMMAND = "python tools/ruber_fixtures.py WEIGHTS"


class Head(torch.nn.Module):
    """Ghazarian et al. 2019, section 3.2: s = q^T M r, then a layer of tanh and two classes."""

    def __init__(self, width):
        super().__init__()
        self.bilinear = torch.nn.Linear(width, width, bias=False)
        self.dense = torch.nn.Linear(2 * width + 1, width)
        self.output = torch.nn.Linear(width, 2)

    def forward(self, contexts, continuations):
        product = (contexts * self.bilinear(continuations)).sum(-1, keepdim=True)
        features = torch.cat([contexts, product, continuations], dim=-1)
        return self.output(torch.tanh(self.dense(features)))


def scores(weights):
    tokenizer = BertTokenizer(f"{weights}/minilm/vocab.txt", do_lower_case=True)
    bert = masked_model().bert
    head = fill(Head(32))

    def states(text):
        with torch.no_grad():
            return bert(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]

    def resemblance(story, reference):
        both = [torch.cat([s.max(0).values, s.min(0).values]) for s in map(states, (story, reference))]
        return torch.nn.functional.cosine_similarity(*both, dim=0).item()

    def related(context, continuation, pool):
        vectors = [pool(states(text)) for text in (context, continuation)]
        with torch.no_grad():
            return head(*vectors).softmax(-1)[1].item()

    def largest(rows):
        return rows.max(0).values

    def mean(rows):
        return rows.mean(0)

    first, rest = A.split(". ", 1)
    result = {
        "tool": TOOL,
        "command": COMMAND,
        "r": [resemblance(A, C), resemblance(B, C)],
        "u_first_sentence": related(f"{first}.", rest, largest),
        "u_prompt": related(Q, B, largest),
        "u_prompt_mean": related(Q, B, mean),
    }
    return result


def two_steps():
    width, batch = 5, 4
    head = fill(Head(width))

    def numbers(seed):
        """Whole multiples of 1/8, so that a file keeps them exactly."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(-12, 13, (batch, width), generator=generator) / 8

    contexts, continuations = numbers(1), numbers(2)
    labels = [1, 0, 0, 1]
    clip, rate = 0.25, 1e-2
    adam = torch.optim.Adam(head.parameters(), lr=rate)
    losses = []
    for _ in range(2):
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(
            head(contexts, continuations), torch.tensor(labels)
        )
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(head.parameters(), clip).item()
        assert norm > clip, "the test clips"
        adam.step()
        losses.append(loss.item())
    return {
        "tool": TOOL,
        "command": COMMAND,
        "contexts": contexts.flatten().tolist(),
        "continuations": continuations.flatten().tolist(),
        "labels": labels,
        "clip": clip,
        "rate": rate,
        "losses": losses,
        "weights": {name: tensor.flatten().tolist() for name, tensor in head.named_parameters()},
    }


def main():
    torch.manual_seed(0)
    for path, fixture in [
        ("crates/storymeter-neural/tests/fixtures/ruber.json", scores(sys.argv[1])),
        ("crates/storymeter-baselines/tests/fixtures/ruber_step.json", two_steps()),
    ]:
        path = ROOT / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(fixture, indent=1) + "\n", encoding="utf-8")
        print(path, path.stat().st_size, "bytes")


main()
