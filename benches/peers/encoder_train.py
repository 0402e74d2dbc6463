"""Times one training step of PyTorch and of storymeter-encoder, in one run and in turns.

    python benches/peers/encoder_train.py SHARED MODEL_FOLDER [ROUNDS [THREADS]]

A step has 64 ROC stories of the shared data, label and reconstruction losses (see
crates/storymeter-encoder/examples/train_step.rs), the backward pass, clipping and AdamW, in f32 and
without dropout. PyTorch gets the stories sorted by length, as two padded half-batches whose
gradients add up. Ours gets them packed and in their order. The output is the median time, the
processor time of all threads (on a busy machine, trust its ratio with THREADS 1) and the largest
difference of the losses. The script needs torch, transformers and `cargo build --release --example
train_step -p storymeter-encoder --features train`.
"""

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "target/release/examples/train_step"
STORIES = 64


def main(shared, folder, rounds, threads):
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    with gzip.open(shared / "data/roc/stories.tsv.gz", "rt") as file:
        roc = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    stories = [tokenizer.encode(roc[i * (len(roc) // STORIES)]).ids for i in range(STORIES)]
    tokens = sum(map(len, stories))

    model = AutoModel.from_pretrained(folder).eval()  # without dropout
    width, vocabulary = model.config.hidden_size, model.config.vocab_size
    words = model.embeddings.word_embeddings.weight
    head = torch.nn.Linear(width, 1)
    torch.nn.init.zeros_(head.weight), torch.nn.init.zeros_(head.bias)
    bias = torch.nn.Parameter(torch.zeros(vocabulary))
    # The loaded model also has a pooler, which gets no gradient here.
    named = [(n, p) for n, p in model.named_parameters() if not n.startswith("pooler")]
    named += [("head.weight", head.weight), ("head.bias", head.bias), ("bias", bias)]
    groups = [{"params": [p for _, p in named if (p.dim() > 1) is on], "weight_decay": 0.01 if on else 0.0} for on in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=1e-5)
    order = sorted(range(STORIES), key=lambda i: len(stories[i]))
    halves = []
    for part in (order[: STORIES // 2], order[STORIES // 2 :]):
        longest = max(len(stories[i]) for i in part)
        pad = lambda s, v: s + [v] * (longest - len(s))
        ids = torch.tensor([pad(stories[i], model.config.pad_token_id) for i in part])
        mask = torch.tensor([pad([1] * len(stories[i]), 0) for i in part])
        halves.append((ids, mask, torch.tensor([float(i % 2) for i in part])))

    def torch_step():
        start, processor = time.perf_counter(), time.process_time()
        optimiser.zero_grad()
        total = 0.0
        for ids, mask, labels in halves:
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            loss = F.binary_cross_entropy_with_logits(head(hidden[:, 0])[:, 0], labels, reduction="sum") / STORIES
            real = mask.bool()
            logits = F.linear(hidden[real], words, bias)
            loss = loss + 0.1 * F.cross_entropy(logits, ids[real], reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_([p for _, p in named], 1.0)
        optimiser.step()
        return time.perf_counter() - start, time.process_time() - processor, total

    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "ids.jsonl"
        path.write_text("".join(json.dumps(s) + "\n" for s in stories))
        env = dict(os.environ, RAYON_NUM_THREADS=str(threads))
        ours = subprocess.Popen([str(BINARY), str(folder), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        ours.stdout.readline()

        def processor_time():
            fields = Path(f"/proc/{ours.pid}/stat").read_text().rsplit(") ", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        def our_step():
            before = processor_time()
            ours.stdin.write("\n")
            ours.stdin.flush()
            seconds, loss = map(float, ours.stdout.readline().split())
            return seconds, processor_time() - before, loss

        steps = {"PyTorch f32": [], "storymeter f32": []}
        for turn in range(rounds + 1):
            steps["PyTorch f32"].append(torch_step())
            steps["storymeter f32"].append(our_step())
        ours.stdin.close()
        ours.wait()
    worst = max(abs(a[2] - b[2]) for a, b in zip(*steps.values()))
    print(f"{folder.name}, torch {torch.__version__}: {STORIES} stories, {tokens} tokens, {rounds} rounds, {threads} threads")
    middle = {who: [statistics.median(s[i] for s in taken[1:]) for i in (0, 1)] for who, taken in steps.items()}
    for who, (wall, processor) in middle.items():
        base = middle["PyTorch f32"]
        print(f"  {who:15} {wall * 1e3:8.1f} ms per step, {tokens / wall:7.0f} tokens/s, "
              f"{base[0] / wall:.2f} x PyTorch; "
              f"processor {processor * 1e3:8.1f} ms, {base[1] / processor:.2f} x PyTorch")
    print(f"  largest difference of the losses: {worst:.1e}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    numbers = [int(n) for n in sys.argv[3:]]
    main(Path(sys.argv[1]), Path(sys.argv[2]), numbers[0] if numbers else 5, numbers[1] if len(numbers) > 1 else 2)
