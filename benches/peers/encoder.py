"""Times PyTorch, onnxruntime and storymeter-encoder on the CPU, in one run and in turns.

    python benches/peers/encoder.py SHARED MODEL_FOLDER [ROUNDS [THREADS]]

The inputs are 256 ROC stories and 64 long stories (cut at 512 tokens) of the shared data at their
natural lengths, and one story of 60 tokens. Everyone has two threads by default. The other programs
get their stories sorted by length, in padded batches of 32 (ROC) and 8 (long), which suits them
best. Ours gets them in their order. Each round runs everyone once, and the median of the rounds
counts. The last column is the processor time of all threads; on a busy machine, trust its ratios
with THREADS 1.

The script needs torch, transformers, onnx, onnxscript, onnxruntime, numpy, and `cargo build
--release --example encode -p storymeter-encoder`.
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

import numpy as np
import onnxruntime
import torch
import transformers
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModel, AutoTokenizer

THREADS = int(sys.argv[4]) if len(sys.argv) == 5 else 2
ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = ROOT / "target/release/examples/encode"
torch.set_num_threads(THREADS)


def read_stories(shared, tokenizer):
    with gzip.open(shared / "data/roc/stories.tsv.gz", "rt") as file:
        roc = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    with gzip.open(shared / "data/long/stories.jsonl.gz", "rt") as file:
        long = [json.loads(line)["story"] for line in file]
    spread = lambda stories, n: [tokenizer.encode(stories[i * (len(stories) // n)]).ids for i in range(n)]
    roc = spread(roc, 256)
    one = min(roc, key=lambda ids: abs(len(ids) - 60))
    return {"256 ROC stories": (roc, 32), "64 long stories": (spread(long, 64), 8), "one story": ([one], 1)}


def padded(stories, size, padding):
    order = sorted(range(len(stories)), key=lambda i: len(stories[i]))
    batches = []
    for first in range(0, len(order), size):
        part = [stories[i] for i in order[first : first + size]]
        longest = max(map(len, part))
        ids = np.array([s + [padding] * (longest - len(s)) for s in part], dtype=np.int64)
        mask = np.array([[1] * len(s) + [0] * (longest - len(s)) for s in part], dtype=np.int64)
        batches.append((ids, mask))
    return order, batches


class Wrapped(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def export(model, folder):
    plain, small = folder / "model.onnx", folder / "model.int8.onnx"
    ids = torch.randint(5, 100, (2, 16))
    shape = {0: "batch", 1: "length"}
    torch.onnx.export(
        Wrapped(model), (ids, torch.ones_like(ids)), str(plain), input_names=["input_ids", "attention_mask"],
        output_names=["hidden"], dynamic_axes={"input_ids": shape, "attention_mask": shape, "hidden": shape}, dynamo=False,
    )
    quantize_dynamic(str(plain), str(small), weight_type=QuantType.QInt8, per_channel=True)
    return session(plain), session(small)


class Ours:
    def __init__(self, model, precision, stories, folder):
        ids, self.dump = folder / f"{precision}.jsonl", folder / f"{precision}.f32"
        ids.write_text("".join(json.dumps(s) + "\n" for s in stories))
        env = dict(os.environ, RAYON_NUM_THREADS=str(THREADS))
        command = [str(BINARY), str(model), precision, str(ids), str(self.dump)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.isa = self.process.stdout.readline().strip()

    def processor_time(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def run(self):
        before = self.processor_time()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds = float(self.process.stdout.readline())
        return seconds, self.processor_time() - before


def timed(function):
    """The seconds of wall time and of processor time that a function takes."""
    start, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - start, time.process_time() - processor


def cosine(a, b):
    return float(((a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))).mean())


def gemm_peak():
    """The best rate of PyTorch's plain f32 matrix product on this machine, in GFLOP/s."""
    a, b = torch.randn(1536, 1536), torch.randn(1536, 1536)
    best = min(timed(lambda: a @ b)[0] for _ in range(12))
    return 2 * 1536**3 / best * 1e-9


def main(shared, folder, rounds):
    tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval()
    c = model.config
    print(f"{folder.name}; torch {torch.__version__}, transformers {transformers.__version__}, onnxruntime {onnxruntime.__version__}")
    with tempfile.TemporaryDirectory() as temporary, torch.no_grad():
        temporary = Path(temporary)
        eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
        onnx = dict(zip(("onnxruntime f32", "onnxruntime int8"), export(eager, temporary)))
        for name, (stories, size) in read_stories(shared, tokenizer).items():
            tokens = sum(map(len, stories))
            order, batches = padded(stories, size, c.pad_token_id)
            tensors = [(torch.from_numpy(ids), torch.from_numpy(mask)) for ids, mask in batches]
            ours = {f"storymeter {p}": Ours(folder, p, stories, temporary) for p in ("f32", "int8")}

            def run_torch():
                return [model(input_ids=i, attention_mask=m).last_hidden_state for i, m in tensors]

            def run_onnx(session):
                return [session.run(None, {"input_ids": i, "attention_mask": m})[0] for i, m in batches]

            runs = {"PyTorch f32": lambda: timed(run_torch)}
            for peer, handle in onnx.items():
                runs[peer] = lambda handle=handle: timed(lambda: run_onnx(handle))
            runs.update({us: process.run for us, process in ours.items()})
            times, processor = {who: [] for who in runs}, {who: 0.0 for who in runs}
            count = rounds * (10 if len(stories) == 1 else 1)
            for turn in range(count + 1):
                for who, run in runs.items():
                    seconds, busy = run()
                    if turn > 0:
                        times[who].append(seconds)
                        processor[who] += busy / count
            median = {who: statistics.median(t) for who, t in times.items()}

            # Everyone is compared with PyTorch, token by token.
            def natural(outputs):
                rows = {}
                for b, output in enumerate(outputs):
                    for r in range(len(output)):
                        story = order[b * size + r]
                        rows[story] = np.asarray(output[r])[: len(stories[story])]
                return np.concatenate([rows[i] for i in range(len(stories))])

            truth = natural(run_torch())
            states = {peer: natural(run_onnx(handle)) for peer, handle in onnx.items()}
            for us, process in ours.items():
                states[us] = np.fromfile(process.dump, dtype="<f4").reshape(-1, c.hidden_size)
            print(f"\n{name}: {tokens} tokens, {count} rounds, {THREADS} threads, {next(iter(ours.values())).isa}")
            for who in runs:
                line = f"  {who:17} {median[who] * 1e3:9.2f} ms {tokens / median[who]:9.0f} tokens/s"
                line += f"  {median['PyTorch f32'] / median[who]:5.2f} x PyTorch"
                for kind in ("f32", "int8"):
                    line += f"  {median[f'onnxruntime {kind}'] / median[who]:5.2f} x ort {kind}"
                line += f"  processor {processor[who] * 1e3:8.1f} ms"
                line += f" ({processor['PyTorch f32'] / max(processor[who], 1e-9):.2f} x PyTorch)"
                if who in states:
                    line += f"  max diff {np.abs(states[who] - truth).max():.1e}, mean cosine {cosine(states[who], truth):.4f}"
                print(line, flush=True)
            weights = c.num_hidden_layers * (4 * c.hidden_size**2 + 2 * c.hidden_size * c.intermediate_size)
            pairs = sum(len(s) ** 2 for s in stories) * 2 * c.num_hidden_layers * c.hidden_size
            work = 2 * (tokens * weights + pairs) * 1e-9
            peak = gemm_peak()
            rate = {p: work / median[f"storymeter {p}"] for p in ("f32", "int8")}
            print(f"  {work:.1f} GFLOP: f32 reaches {rate['f32']:.0f} GFLOP/s, {100 * rate['f32'] / peak:.0f}% of the measured f32 "
                  f"GEMM peak ({peak:.0f} GFLOP/s); int8 {rate['int8']:.0f} GOP/s, {100 * rate['int8'] / peak:.0f}% of that peak")
            for process in ours.values():
                process.process.stdin.close()
                process.process.wait()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 7)
