"""The losses of PyTorch's first training steps with a real encoder on real stories, for the GPU tests to follow.

    python3 tools/training_steps.py MODEL STORIES.tsv.gz OUT [--stories 512] [--steps 30] [--device cuda]
    STORYMETER_STEPS=OUT cargo test --release -p storymeter-encoder --test cuda -- --nocapture steps

MODEL is a Hugging Face style folder (MiniLM, MPNet), STORIES a table with a header and a sentence a column after the first.
OUT becomes a folder with links to the model, `expected.json` (token numbers, no text) and `training.json`: the losses in f32
and under bf16 autocast, without dropout. The loss is that of tools/encoder_fixtures.py: mean binary cross-entropy of a linear
head on the first token, plus 0.1 times the mean cross-entropy over the vocabulary (tied to the word embeddings, own bias) at
every second token, whose target is the token before it; AdamW, clipping at 1, warm-up over 5 steps, then linear decay.
Stories with even and odd numbers are batches in turn. Needs torch and transformers.
"""

import argparse
import copy
import gzip
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from transformers import AutoConfig, BertModel, MPNetModel

PEAK, WARM_UP = 5e-5, 5


def read(path, tokenizer, count):
    """Stories spread evenly over the file, tokenised."""
    with gzip.open(path, "rt") as file:
        texts = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    tokenizer.no_padding()
    return [encoded.ids for encoded in tokenizer.encode_batch(texts[:: len(texts) // count][:count])]


def label_of(number):
    """Both labels in every batch, which has even or odd stories."""
    return float(number // 2 % 2)


def batch_of(stories, numbers, padding):
    """Padded tokens, and for the losses: labels, places and targets."""
    chosen = [stories[i] for i in numbers]
    ids = torch.full((len(chosen), max(map(len, chosen))), padding)
    for row, story in zip(ids, chosen):
        row[: len(story)] = torch.tensor(story)
    mask = torch.arange(ids.size(1))[None] < torch.tensor([len(story) for story in chosen])[:, None]
    places = [(row, p) for row, story in enumerate(chosen) for p in range(1, len(story), 2)]
    rows, columns = (torch.tensor(part) for part in zip(*places))
    labels = torch.tensor([label_of(i) for i in numbers])
    return ids, mask.long(), labels, rows, columns, ids[rows, columns - 1]


def losses(model, head, batches, steps, device, autocast):
    model = copy.deepcopy(model).to(device).eval()
    extra = {"head": head, "head_bias": torch.zeros(()), "bias": torch.zeros(model.config.vocab_size)}
    extra = {name: torch.nn.Parameter(value.clone().to(device)) for name, value in extra.items()}
    named = {**dict(model.named_parameters()), **extra}
    decays = lambda name: named[name].dim() > 1 or name == "head"
    groups = [{"params": [p for n, p in named.items() if decays(n) is on], "weight_decay": 0.01 if on else 0.0} for on in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=PEAK)
    found = []
    for step in range(steps):
        rate = PEAK * (step / WARM_UP if step < WARM_UP else (steps - step) / (steps - WARM_UP))
        for group in optimiser.param_groups:
            group["lr"] = rate
        ids, mask, labels, rows, columns, targets = (part.to(device) for part in batches[step % len(batches)])
        optimiser.zero_grad()
        with torch.autocast(device, dtype=torch.bfloat16, enabled=autocast):
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            logits = hidden[:, 0] @ extra["head"] + extra["head_bias"]
            words = hidden[rows, columns] @ model.get_input_embeddings().weight.T + extra["bias"]
            loss = binary_cross_entropy_with_logits(logits.float(), labels) + 0.1 * cross_entropy(words.float(), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(named.values()), 1.0)
        optimiser.step()
        found.append(loss.item())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("table")
    parser.add_argument("out", type=Path)
    parser.add_argument("--stories", type=int, default=512)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    stories = read(args.table, Tokenizer.from_file(str(args.model / "tokenizer.json")), args.stories)
    config = AutoConfig.from_pretrained(args.model)
    model = {"bert": BertModel, "mpnet": MPNetModel}[config.model_type](config, add_pooling_layer=False)
    # Weights may be kept in f16; this makes them f32. TF32 stays off, as is PyTorch's default.
    unknown = model.load_state_dict(load_file(args.model / "model.safetensors"), strict=False)
    assert all("position_ids" in name for name in unknown.missing_keys), unknown.missing_keys
    head = 0.05 * torch.randn(model.config.hidden_size, generator=torch.Generator().manual_seed(3))
    batches = [batch_of(stories, range(first, len(stories), 2), model.config.pad_token_id) for first in (0, 1)]
    exact, autocast = (losses(model, head, batches, args.steps, args.device, on) for on in (False, True))
    # What the last bit of every weight does to the losses: nobody can follow more closely than PyTorch follows itself.
    for weight in model.parameters():
        weight.data *= 1 + 1e-7 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(4))
    nudged = losses(model, head, batches, args.steps, args.device, False)
    args.out.mkdir(parents=True, exist_ok=True)
    for file in args.model.iterdir():
        link = args.out / file.name
        if not link.exists():
            link.symlink_to(file.resolve())
    tool = f"torch {torch.__version__}, transformers {transformers.__version__}, {args.device}"
    (args.out / "expected.json").write_text(json.dumps({"tool": tool, "stories": [{"ids": ids} for ids in stories]}))
    training = {"tool": tool, "head": head.tolist(), "labels": [label_of(i) for i in range(len(stories))], "peak": PEAK, "warm_up": WARM_UP, "losses": exact, "losses_bf16": autocast}
    (args.out / "training.json").write_text(json.dumps(training))
    strays = lambda other: max(abs(a - b) for a, b in zip(exact, other))
    print(f"{args.model.name}: {args.steps} steps, loss {exact[0]:.4f} to {exact[-1]:.4f}, bf16 autocast strays {strays(autocast):.2e}, "
          f"f32 from weights changed by 1e-7 {strays(nudged):.2e}")


if __name__ == "__main__":
    main()
