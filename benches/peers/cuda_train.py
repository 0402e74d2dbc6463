#!/usr/bin/env python3
"""Times training and scoring on a GPU: PyTorch and storymeter in one run, on the same batches.

PyTorch is used as people usually write it: the model of transformers, bf16 autocast, SDPA attention
if the model has it, padded batches, logits at ALL positions with F.cross_entropy, clip_grad_norm_
and fused AdamW. Ours (`examples/cuda_bench.rs`) packs the tokens and computes logits only at the
positions that count. Both sides have random weights of the same shapes. The targets are a label at
the first token and, at every second token, the token before it. Only real tokens are counted, not
padding.

    # once, where the stories and a tokenizer are; the file has 16-bit numbers and no text
    python3 benches/peers/cuda_train.py --make-stories roc.u16 \
        --roc ../shared/data/roc/stories.tsv.gz --tokenizer minilm-l6
    cargo build --release -p storymeter-encoder --features cuda --example cuda_bench
    python3 benches/peers/cuda_train.py --stories roc.u16 [--steps 30] [--tokens 8192,32768]
        [--bench target/release/examples/cuda_bench]

The measurement needs torch with CUDA and transformers. Making the stories needs tokenizers. MPNet
reads the same numbers, because only their lengths matter. The output is one line per model, size
and side, our profile, and a table.
"""
import argparse
import array
import gzip
import re
import subprocess
import time

VOCABULARY = {"minilm-l6": 30522, "mpnet-base": 30527}


BATCHES = 8


def make_stories(out, roc, tokenizer, count=6000):
    """Writes tokenised stories, spread evenly over the file: their length, then their tokens."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{tokenizer}/tokenizer.json")
    tokenizer.no_padding()
    with gzip.open(roc, "rt") as file:
        texts = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    texts = texts[:: max(1, len(texts) // count)][:count]
    numbers = array.array("H")
    for encoded in tokenizer.encode_batch(texts):
        ids = encoded.ids[:512]
        numbers.append(len(ids))
        numbers.extend(ids)
    with open(out, "wb") as file:
        file.write(numbers.tobytes())
    print(f"{len(texts)} stories, {len(numbers) - len(texts)} tokens: {out}")


def read_batches(path, tokens):
    """The batches of cuda_bench: stories in order, at most `tokens` tokens per batch.

    After the last story comes the first one again.
    """
    numbers = array.array("H")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    stories, at = [], 0
    while at < len(numbers):
        stories.append(numbers[at + 1 : at + 1 + numbers[at]].tolist())
        at += 1 + numbers[at]
    batches, turn = [], 0
    for _ in range(BATCHES):
        batch, total = [], 0
        while total + len(stories[turn % len(stories)]) <= tokens:
            batch.append(stories[turn % len(stories)])
            total += len(batch[-1])
            turn += 1
        batches.append(batch)
    return batches


def make_model(name):
    """The encoder with random weights."""
    from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

    if name == "minilm-l6":
        config = BertConfig(
            vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        )
        return BertModel(config, add_pooling_layer=False)
    return MPNetModel(MPNetConfig(vocab_size=30527), add_pooling_layer=False)


def make_learner(name):
    """The encoder with a label head and the tied reconstruction head."""

    class Learner(torch.nn.Module):
        def __init__(self):
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

    return Learner()


def pad(stories, name):
    """Stories as padded and pinned tensors on the host, and the number of their real tokens."""
    lengths = [len(story) for story in stories]
    padding = 1 if name == "mpnet-base" else 0
    ids = torch.full((len(stories), max(lengths)), padding)
    for row, story in zip(ids, stories):
        row[: len(story)] = torch.tensor(story)
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    targets = torch.full_like(ids, -100)
    targets[:, 1::2] = ids[:, :-1:2][:, : targets[:, 1::2].size(1)]
    targets[~mask] = -100
    labels = (torch.arange(len(lengths)) % 2).float()
    return [t.pin_memory() for t in (ids, mask.long(), targets, labels)], sum(lengths)


def train(name, tokens, steps, stories):
    torch.manual_seed(1)
    model = make_learner(name).cuda().train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    batches = [pad(batch, name) for batch in read_batches(stories, tokens)]
    padded = sum(batch[0].numel() for batch, _ in batches) / sum(real for _, real in batches) - 1

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
    print(f"pytorch {name} {tokens:6} training: {read / seconds:10.0f} tokens/s, "
          f"{1e3 * seconds / steps:6.2f} ms per step, {100 * padded:.0f}% padding", flush=True)

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
    print(f"pytorch {name} {tokens:6} scoring:  {rate:10.0f} tokens/s, "
          f"{1e3 * score_seconds / steps:6.2f} ms per batch", flush=True)
    del model, optimiser
    torch.cuda.empty_cache()
    return {"training": read / seconds, "scoring": rate}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", help="the tokenised stories")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--tokens", default="8192,32768")
    parser.add_argument("--bench", default="target/release/examples/cuda_bench")
    parser.add_argument("--make-stories", metavar="OUT")
    parser.add_argument("--roc", help="stories.tsv.gz of ROCStories, for --make-stories")
    parser.add_argument("--tokenizer", help="a folder with tokenizer.json, for --make-stories")
    args = parser.parse_args()
    if args.make_stories:
        return make_stories(args.make_stories, args.roc, args.tokenizer)
    if not args.stories:
        parser.error("--stories is needed")
    global torch, F, transformers
    import torch
    import torch.nn.functional as F
    import transformers

    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {torch.cuda.get_device_name()}", flush=True)
    print("PyTorch: padded batches and logits at all positions, as people write it. "
          "Ours: packed tokens, logits where they count.")
    theirs = {}
    for name in VOCABULARY:
        for tokens in map(int, args.tokens.split(",")):
            for kind, rate in train(name, tokens, args.steps, args.stories).items():
                theirs[name, tokens, kind] = rate
    # Ours runs in another process, after PyTorch has given back all its memory.
    command = [args.bench, str(args.steps), args.tokens, args.stories]
    ours = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    print(ours, end="")
    print(f"{'model':10} {'tokens':>6} {'':8} {'PyTorch/s':>10} {'ours/s':>10} {'ratio':>6} {'of peak':>8} {'GPU idle':>9}")
    for line in ours.splitlines():
        found = re.match(r"(\S+) +(\d+) (training|scoring): +(\d+) tokens/s", line)
        if found:
            name, tokens, kind, rate = found[1], int(found[2]), found[3], float(found[4])
            peak, idle = re.search(r"([\d.]+%) of the peak", line), re.search(r"idle ([\d.]+%)", line)
            peer = theirs[name, tokens, kind]
            print(f"{name:10} {tokens:6} {kind:8} {peer:10.0f} {rate:10.0f} {rate / peer:6.2f} "
                  f"{peak[1] if peak else '':>8} {idle[1] if idle else '':>9}")


if __name__ == "__main__":
    main()
