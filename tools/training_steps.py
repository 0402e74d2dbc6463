"""Writes the losses of PyTorch's first training steps with a real encoder on real stories.

    python3 tools/training_steps.py MODEL STORIES.tsv.gz OUT [--stories 512] [--peak 5e-5]
        [--warm-up 86] [--total 1433] [--nudge]
    STORYMETER_STEPS=OUT cargo test --release -p storymeter-encoder --features cuda \
        --test cuda pytorch_steps -- --include-ignored --nocapture

The second command compares our steps on a GPU with them. MODEL is a folder as Hugging Face has it
(MiniLM, MPNet). STORIES is a table with a header and, after the first column, one sentence per
column. OUT becomes a folder with links to the model, `expected.json` (token numbers, no text),
`training.json` (losses without dropout) and `gradients.safetensors` (the gradients of the first
step in f64).

Weights that are stored in f16 get random digits beyond the precision of f16. Without them, an
eighth of the weights would lie exactly between two numbers of bf16. The smallest step would then
round all of those in the direction of the gradient at once, which lowers the loss by 1e-2 in bf16
and not in f32.

The learning rate is that of `storymeter train` over one epoch of ROC stories in batches of 4,096
tokens: 1,433 steps, of which the first 6% rise to 5e-5. A harsh schedule, which rises within the
steps that are compared, is --warm-up 5 --total 30. The losses are computed in f64, which tells
whose f32 is closer to the truth; in f32 (never TF32); with bf16 autocast; and, with --nudge, in f32
from weights that are changed by 1e-7.

The loss is that of tools/encoder_fixtures.py: the mean binary cross-entropy of a linear head on the
first token, plus 0.1 times the mean cross-entropy over the vocabulary (tied to the word embeddings,
with a bias of its own) at every second token, whose target is the token before it. The optimiser is
AdamW, with clipping at 1. Batches alternate between stories with even and with odd numbers. The
script needs torch and transformers.
"""

import argparse
import copy
import gzip
import json
import time
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from transformers import AutoConfig, BertModel, MPNetModel


def read(path, tokenizer, count):
    """Tokenised stories, spread evenly over the file."""
    with gzip.open(path, "rt") as file:
        texts = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    tokenizer.no_padding()
    return [encoded.ids for encoded in tokenizer.encode_batch(texts[:: len(texts) // count][:count])]


def label_of(number):
    """The label of a story. Batches have only even or only odd stories, and both labels."""
    return float(number // 2 % 2)


def batch_of(stories, numbers, padding):
    """The padded tokens of a batch, and the labels, positions and targets of its losses."""
    chosen = [stories[i] for i in numbers]
    ids = torch.full((len(chosen), max(map(len, chosen))), padding)
    for row, story in zip(ids, chosen):
        row[: len(story)] = torch.tensor(story)
    mask = torch.arange(ids.size(1))[None] < torch.tensor([len(story) for story in chosen])[:, None]
    places = [(row, p) for row, story in enumerate(chosen) for p in range(1, len(story), 2)]
    rows, columns = (torch.tensor(part) for part in zip(*places))
    labels = torch.tensor([label_of(i) for i in numbers])
    return ids, mask.long(), labels, rows, columns, ids[rows, columns - 1]


def with_digits(weight):
    """Weights in f32. The digits that f16 rounded away are drawn at random."""
    if weight.dtype != torch.float16:
        return weight.float()
    exact = weight.float()
    step = torch.exp2(torch.frexp(exact).exponent.float().clamp(min=-13) - 11)
    noise = torch.rand(exact.shape, generator=torch.Generator().manual_seed(5)) - 0.5
    return torch.where(exact == 0, exact, exact + 0.99 * noise * step)


def train(model, head, batches, args, dtype=torch.float32, autocast=False):
    """The losses of all steps, and the gradients of the first."""
    model = copy.deepcopy(model).to(args.device, dtype).eval()
    extra = {"head": head, "head_bias": torch.zeros(()), "bias": torch.zeros(model.config.vocab_size)}
    extra = {name: torch.nn.Parameter(value.clone().to(args.device, dtype)) for name, value in extra.items()}
    named = {**dict(model.named_parameters()), **extra}
    decays = lambda name: named[name].dim() > 1 or name == "head"
    groups = [{"params": [p for n, p in named.items() if decays(n) is on], "weight_decay": 0.01 if on else 0.0} for on in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=args.peak)
    found, gradients = [], {}
    for step in range(args.steps):
        rate = args.peak * (step / args.warm_up if step < args.warm_up else (args.total - step) / (args.total - args.warm_up))
        for group in optimiser.param_groups:
            group["lr"] = rate
        ids, mask, labels, rows, columns, targets = (part.to(args.device) for part in batches[step % len(batches)])
        optimiser.zero_grad()
        with torch.autocast(args.device, dtype=torch.bfloat16, enabled=autocast):
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            logits = hidden[:, 0] @ extra["head"] + extra["head_bias"]
            words = hidden[rows, columns] @ model.get_input_embeddings().weight.T + extra["bias"]
            wide = lambda x: x.float() if autocast else x
            loss = binary_cross_entropy_with_logits(wide(logits), labels.to(wide(logits).dtype)) + 0.1 * cross_entropy(wide(words), targets)
        loss.backward()
        if step == 0:
            gradients = {name: p.grad.double().cpu().clone() for name, p in named.items() if p.grad is not None}
        torch.nn.utils.clip_grad_norm_(list(named.values()), 1.0)
        optimiser.step()
        found.append(loss.item())
    return found, gradients


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("table")
    parser.add_argument("out", type=Path)
    parser.add_argument("--stories", type=int, default=512)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--peak", type=float, default=5e-5, help="the highest learning rate")
    parser.add_argument("--warm-up", type=int, default=86, help="steps in which the learning rate rises")
    parser.add_argument("--total", type=int, default=1433, help="steps after which it is zero again")
    parser.add_argument("--nudge", action="store_true", help="also from weights changed by 1e-7")
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    stories = read(args.table, Tokenizer.from_file(str(args.model / "tokenizer.json")), args.stories)
    config = AutoConfig.from_pretrained(args.model)
    model = {"bert": BertModel, "mpnet": MPNetModel}[config.model_type](config, add_pooling_layer=False)
    weights = {name: with_digits(weight) for name, weight in load_file(args.model / "model.safetensors").items()}
    unknown = model.load_state_dict(weights, strict=False)
    assert all("position_ids" in name for name in unknown.missing_keys), unknown.missing_keys
    head = 0.05 * torch.randn(model.config.hidden_size, generator=torch.Generator().manual_seed(3))
    batches = [batch_of(stories, range(first, len(stories), 2), model.config.pad_token_id) for first in (0, 1)]
    variants = [("losses_f64", model, {"dtype": torch.float64}), ("losses", model, {}), ("losses_bf16", model, {"autocast": True})]
    if args.nudge:
        # How much the last bit of every weight changes the losses. Nobody can be closer to PyTorch
        # than PyTorch is to itself.
        nudged = copy.deepcopy(model)
        for weight in nudged.parameters():
            weight.data *= 1 + 1e-7 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(4))
        variants.append(("losses_nudged", nudged, {}))
    schedule = {"peak": args.peak, "warm_up": args.warm_up, "total": args.total, "steps": args.steps}
    tokens = sum(int(batch[1].sum()) for batch in batches) // len(batches)
    print(f"{args.out.name}: {schedule}, {tokens} tokens a batch, attention {model.config._attn_implementation}", flush=True)
    losses, gradients = {}, {}
    for name, start, options in variants:
        begin = time.time()
        losses[name], gradients = train(start, head, batches, args, **options)
        if name == "losses_f64":
            truth = gradients
        strays = [abs(a - b) for a, b in zip(losses["losses_f64"], losses[name])]
        worst = max(range(len(strays)), key=strays.__getitem__)
        # The gradient of a key's bias is zero apart from rounding, because softmax ignores shifts.
        errors = {n: ((g - truth[n]).norm() / truth[n].norm()).item() for n, g in gradients.items() if not n.endswith((".k.bias", "key.bias"))}
        worst_gradient = max(errors, key=errors.get)
        print(f"  {name}, {time.time() - begin:.0f} s: from f64 {strays[worst]:.2e} at most (step {worst}); of the first gradients {worst_gradient} "
              f"is {errors[worst_gradient]:.1e} off; losses " + " ".join(f"{loss:.5f}" for loss in losses[name]), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    for file in args.model.iterdir():
        link = args.out / file.name
        if not link.exists() and file.name != "model.safetensors":
            link.symlink_to(file.resolve())
    # A link that an earlier version left would lead to the encoder's own file.
    (args.out / "model.safetensors").unlink(missing_ok=True)
    save_file(weights, args.out / "model.safetensors")
    tool = f"torch {torch.__version__}, transformers {transformers.__version__}, {args.device}"
    (args.out / "expected.json").write_text(json.dumps({"tool": tool, "stories": [{"ids": ids} for ids in stories]}))
    labels = [label_of(i) for i in range(len(stories))]
    (args.out / "training.json").write_text(json.dumps({"tool": tool, "head": head.tolist(), "labels": labels, **schedule, **losses}))
    save_file({name: gradient.float().contiguous() for name, gradient in truth.items()}, args.out / "gradients.safetensors")


if __name__ == "__main__":
    main()
