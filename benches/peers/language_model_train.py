"""Times the fine-tuning of a language model by PyTorch and by `storymeter train`, in one run.

    python benches/peers/language_model_train.py STORIES MODEL [STEPS [THREADS]]

MODEL is a causal language model that `storymeter train --kind language-model` can start from, such
as SmolLM2-135M (GGUF). STORIES is a file of stories. Ours trains for one epoch on eight stories per
step, in f32. PyTorch starts from the folder that ours saved, and takes the same number of steps with
batches of eight stories of the same file, padded, in f32, with AdamW and clipping. The output is the
median number of tokens per second of each (padding does not count) and the ratio. The script needs
torch, transformers and target/release/storymeter.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "target/release/storymeter"
BATCH = 8


def ours(stories, model, steps, threads, folder):
    """Tokens per second, from the log: every report covers the steps since the last one."""
    some, settings = folder / "some.jsonl", folder / "run.toml"
    # A twentieth of the stories is for dev and another one for tests.
    texts = [json.loads(line) for line in subprocess.run(
        [BINARY, "perturb", stories, "--techniques", "reordering", "--quiet", "--no-progress"],
        capture_output=True, text=True, check=True).stdout.splitlines()[: steps * BATCH * 10 // 9]]
    some.write_text("".join(json.dumps({"id": str(i), "story": t["original"]}) + "\n" for i, t in enumerate(texts)))
    settings.write_text(f"epochs = 1\nstories_a_batch = {BATCH}\n")
    start = time.perf_counter()
    subprocess.run(
        [BINARY, "train", "--kind", "language-model", "--stories", some, "--init", model, "--config", settings,
         "-o", folder / "model", "--threads", str(threads), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    print(f"ours: {time.perf_counter() - start:.0f} s in all, with reading, dev stories and saving")
    log = [json.loads(line) for line in (folder / "model/train.jsonl").read_text().splitlines()]
    speed = statistics.median(event["tokens_per_second"] for event in log if event["event"] == "step")
    return speed, [text["original"] for text in texts]


def peer(texts, steps, threads, folder):
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder / "model", torch_dtype=torch.float32).train()
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token or "<|endoftext|>"
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01)
    speeds = []
    for step in range(min(steps, 12)):
        batch = tokenizer(texts[step * BATCH:(step + 1) * BATCH], return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        start = time.perf_counter()
        optimiser.zero_grad()
        model(**batch, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        speeds.append(int(batch["attention_mask"].sum()) / (time.perf_counter() - start))
    return statistics.median(speeds[2:] or speeds)


if __name__ == "__main__":
    stories, model = map(Path, sys.argv[1:3])
    steps, threads = (int(x) for x in (*sys.argv[3:5], *("40", str(os.cpu_count()))[len(sys.argv[3:5]):]))
    with tempfile.TemporaryDirectory() as temporary:
        mine, texts = ours(stories, model, steps, threads, Path(temporary))
        theirs = peer(texts, steps, threads, Path(temporary))
    print(f"ours {mine:.0f} tokens/s, PyTorch {torch.__version__} {theirs:.0f} tokens/s, ratio {mine / theirs:.2f}")
