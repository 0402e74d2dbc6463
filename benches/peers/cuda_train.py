#!/usr/bin/env python3
"""Training and scoring on a GPU: PyTorch beside us, in one run.

PyTorch as people write it: transformers' model, bf16 autocast, SDPA attention where the model has it, padded batches,
logits at all positions and F.cross_entropy, clip_grad_norm_, fused AdamW. Ours: `examples/cuda_bench.rs`. Both have random
weights of the same shapes, stories of 40 to 75 tokens, a label on the first token and the token before at every second
one; real tokens are counted, padding is not.

    cargo build --release -p storymeter-encoder --example cuda_bench
    python3 benches/peers/cuda_train.py [--steps 30] [--tokens 4096,16384,32768] [--bench target/release/examples/cuda_bench]

Needs torch with CUDA and transformers. Prints one line a model, size and side, then the ratios.
"""
import argparse
import re
import subprocess
import time

import torch
import torch.nn.functional as F
import transformers
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

VOCABULARY = {"minilm-l6": 30522, "mpnet-base": 30527}


def make_model(name):
    """The encoder with random weights, and what kind of attention it has."""
    if name == "minilm-l6":
        config = BertConfig(
            vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        )
        return BertModel(config, add_pooling_layer=False)
    return MPNetModel(MPNetConfig(vocab_size=30527), add_pooling_layer=False)


class Learner(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.encoder = make_model(name)
        hidden = self.encoder.config.hidden_size
        self.label = torch.nn.Linear(hidden, 1)
        self.bias = torch.nn.Parameter(torch.zeros(VOCABULARY[name]))

    def forward(self, ids, mask, targets, labels):
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        words = self.encoder.get_input_embeddings().weight
        logits = F.linear(hidden, words, self.bias)
        tokens = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-100)
        score = self.label(hidden[:, 0]).squeeze(-1)
        return F.binary_cross_entropy_with_logits(score.float(), labels) + 0.1 * tokens


def make_batch(seed, tokens, name):
    """Padded stories of 40 to 75 tokens, `tokens` real ones at most, as pinned tensors on the host."""
    draw = torch.Generator().manual_seed(seed)
    lengths = []
    while True:
        length = int(torch.randint(40, 76, (1,), generator=draw))
        if sum(lengths) + length > tokens:
            break
        lengths.append(length)
    share = torch.rand(len(lengths), max(lengths), generator=draw) * 0.999 + 0.0005
    ids = (VOCABULARY[name] ** share).long().clamp(2, VOCABULARY[name] - 1)
    place = torch.arange(max(lengths))
    mask = place[None, :] < torch.tensor(lengths)[:, None]
    padding = 1 if name == "mpnet-base" else 0
    targets = torch.full_like(ids, -100)
    targets[:, 1::2] = ids[:, :-1:2][:, : targets[:, 1::2].size(1)]
    targets[~mask] = -100
    ids[~mask] = padding
    labels = (torch.arange(len(lengths)) % 2).float()
    return [t.pin_memory() for t in (ids, mask.long(), targets, labels)], sum(lengths)


def train(name, tokens, steps):
    torch.manual_seed(1)
    model = Learner(name).cuda().train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    batches = [make_batch(seed, tokens, name) for seed in range(8)]

    def run(count):
        torch.cuda.synchronize()
        start, read = time.perf_counter(), 0
        for step in range(count):
            batch, real = batches[step % len(batches)]
            ids, mask, targets, labels = (t.cuda(non_blocking=True) for t in batch)
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(ids, mask, targets, labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            read += real
        torch.cuda.synchronize()
        return time.perf_counter() - start, read

    run(16)
    seconds, read = run(steps)
    print(f"pytorch {name} {tokens:6} training: {read / seconds:10.0f} tokens/s, {1e3 * seconds / steps:6.2f} ms a step", flush=True)

    model.eval()

    def score(count):
        start, real_tokens = time.perf_counter(), 0
        with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
            for step in range(count):
                batch, real = batches[step % len(batches)]
                ids, mask = (t.cuda(non_blocking=True) for t in batch[:2])
                hidden = model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
                weight = mask.unsqueeze(-1).to(hidden.dtype)
                ((hidden * weight).sum(1) / weight.sum(1)).float().cpu()
                real_tokens += real
        return time.perf_counter() - start, real_tokens

    score(8)
    score_seconds, score_read = score(steps)
    rate = score_read / score_seconds
    print(f"pytorch {name} {tokens:6} scoring:  {rate:10.0f} tokens/s, {1e3 * score_seconds / steps:6.2f} ms a batch", flush=True)
    del model, optimiser
    torch.cuda.empty_cache()
    return {"training": read / seconds, "scoring": rate}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--tokens", default="4096,16384,32768")
    parser.add_argument("--bench", default="target/release/examples/cuda_bench")
    args = parser.parse_args()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.cuda.get_device_name()}", flush=True)
    theirs = {}
    for name in VOCABULARY:
        for tokens in map(int, args.tokens.split(",")):
            for kind, rate in train(name, tokens, args.steps).items():
                theirs[name, tokens, kind] = rate
    # A process of its own, with all of PyTorch's memory given back.
    ours = subprocess.run([args.bench, str(args.steps), args.tokens], check=True, capture_output=True, text=True).stdout
    print(ours, end="")
    for line in ours.splitlines():
        found = re.match(r"(\S+) +(\d+) (training|scoring): +(\d+) tokens/s", line)
        if found:
            name, tokens, kind, rate = found[1], int(found[2]), found[3], float(found[4])
            print(f"{name} {tokens} {kind}: {rate / theirs[name, tokens, kind]:.2f} times PyTorch")


if __name__ == "__main__":
    main()
