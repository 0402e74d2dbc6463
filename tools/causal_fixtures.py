"""Writes one training step of tiny language models, as PyTorch computes it.

    python tools/causal_fixtures.py

The output is crates/storymeter-encoder/tests/fixtures/causal_steps.json, and beside it the folder
gpt2 with a tiny GPT-2 that reads bytes, from which tests start to train. The models are those of
tools/neural_fixtures_tiny.py, whose weights follow from a formula. The loss is the mean over all
tokens but the first of each sequence of -log p(token | tokens before it). The file has, for each
tensor in the order of `named_parameters`, the norm of its gradient, a mixture of all of its numbers
and a few of them, and then the losses of further steps of AdamW. Needs torch 2.5.1 and transformers
4.44.2.
"""

import json
import math
from pathlib import Path

import torch
import transformers as hf

from neural_fixtures_tiny import LONG, SHORT
from neural_tiny import TOOL, fill

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "crates/storymeter-encoder/tests/fixtures"
SEQUENCES = [SHORT, LONG, SHORT[3:], [11, 12]]
STEPS, RATE = 12, 1e-3


def rounded(value):
    return float(f"{value:.9g}")


def loss_of(model):
    """The mean over the predicted tokens of all sequences."""
    total, count = 0.0, 0
    for ids in SEQUENCES:
        logits = model(torch.tensor([ids])).logits[0, :-1]
        targets = torch.tensor(ids[1:])
        total = total + torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
        count += len(targets)
    return total / count


def summary(gradient):
    flat = gradient.double().flatten()
    places = torch.arange(1, len(flat) + 1, dtype=torch.float64)
    step = max(len(flat) // 8, 1)
    return {
        "norm": rounded(flat.norm().item()),
        "mixed": rounded((flat * places.cos()).sum().item()),
        "step": step,
        "values": [rounded(v) for v in flat[::step].tolist()],
    }


def decayed(model):
    """Weight decay for matrices alone, as our optimiser has it."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() < 2]
    return [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]


def case(model):
    # Gradients in 64 bits are the truth that both programs round.
    exact = fill(model).double()
    loss = loss_of(exact)
    loss.backward()
    gradients = {name: summary(p.grad) for name, p in exact.named_parameters()}
    model = exact.float()
    model.zero_grad()
    optimiser = torch.optim.AdamW(decayed(model), lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        now = loss_of(model)
        now.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(rounded(now.item()))
    return {"loss": rounded(loss.item()), "gradients": gradients, "losses": losses}


def save_gpt2(folder):
    """A GPT-2 of one layer, whose vocabulary is the 256 bytes and the token between texts."""
    config = hf.GPT2Config(
        vocab_size=257, n_embd=16, n_layer=1, n_head=2, n_positions=128, bos_token_id=256,
        eos_token_id=256, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = fill(hf.GPT2LMHeadModel(config))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(0.2)
    folder.mkdir(exist_ok=True)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    letters = hf.models.gpt2.tokenization_gpt2.bytes_to_unicode()
    vocabulary = {letter: byte for byte, letter in letters.items()} | {"<|endoftext|>": 256}
    (folder / "vocab.json").write_text(json.dumps(vocabulary) + "\n")
    (folder / "merges.txt").write_text("#version: 0.2\n")


def main():
    torch.set_num_threads(1)
    save_gpt2(FIXTURES / "gpt2")
    known = json.loads((FIXTURES / "tiny_models.json").read_text())["models"]
    classes = {
        "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config),
        "llama": (hf.LlamaForCausalLM, hf.LlamaConfig),
        "llama_tied": (hf.LlamaForCausalLM, hf.LlamaConfig),
    }
    models = {}
    for name, (kind, config) in classes.items():
        models[name] = case(kind(config(**known[name]["config"])))
    out = {
        "tool": TOOL,
        "command": "python tools/causal_fixtures.py",
        "sequences": SEQUENCES,
        "rate": RATE,
        "models": models,
    }
    lines = json.dumps(out).replace('"models": {', '"models": {\n')
    lines = lines.replace('}, "losses"', '},\n"losses"')
    (FIXTURES / "causal_steps.json").write_text(lines + "\n")
    assert all(math.isfinite(model["loss"]) for model in models.values())


if __name__ == "__main__":
    main()
