#!/usr/bin/env python3
"""Times the forward pass of BERTScore on a GPU: PyTorch and storymeter in one run, same weights.

PyTorch does what bert-score does: texts sorted by length, padded batches of 64, an encoder that is
cut after layer 9, and the states of that layer copied back to the CPU. The encoder is written with
torch.nn.functional here, because it needs no transformers then; attention is
scaled_dot_product_attention, as in transformers. It runs in f32 without TF32 (what bert-score
does) and, for comparison, in f16. Ours (`examples/cuda_forward.rs`) packs the tokens and reads the
same weights from a file. Both sides copy all states back, and only real tokens are counted.

    cargo build --release -p storymeter-encoder --features cuda --example cuda_forward
    python3 benches/peers/cuda_forward.py [--rounds 10] [--texts 200]
        [--bench target/release/examples/cuda_forward]

The script needs torch with CUDA. It prints one line per side and precision, how far our states are
from PyTorch's in f32, and the ratios.
"""
import argparse
import array
import json
import random
import re
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F

HIDDEN, HEADS, WIDE, LAYERS, VOCABULARY, POSITIONS = 768, 12, 3072, 12, 30522, 512
LAYER = 9


def make_weights():
    """Random weights in the shapes and under the names of bert-base-uncased."""
    generator = torch.Generator().manual_seed(1)
    weights = {}

    def tensor(name, *shape):
        weights[name] = torch.randn(*shape, generator=generator) * 0.04

    def linear(name, outputs, inputs):
        tensor(f"{name}.weight", outputs, inputs)
        tensor(f"{name}.bias", outputs)

    def norm(name):
        weights[f"{name}.weight"] = 1 + torch.randn(HIDDEN, generator=generator) * 0.1
        tensor(f"{name}.bias", HIDDEN)

    tensor("embeddings.word_embeddings.weight", VOCABULARY, HIDDEN)
    tensor("embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    tensor("embeddings.token_type_embeddings.weight", 2, HIDDEN)
    norm("embeddings.LayerNorm")
    for i in range(LAYERS):
        before = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(before + "attention.self." + part, HIDDEN, HIDDEN)
        linear(before + "attention.output.dense", HIDDEN, HIDDEN)
        norm(before + "attention.output.LayerNorm")
        linear(before + "intermediate.dense", WIDE, HIDDEN)
        linear(before + "output.dense", HIDDEN, WIDE)
        norm(before + "output.LayerNorm")
    return weights


def write_model(folder, weights):
    """A folder in Hugging Face's layout: config.json and model.safetensors."""
    config = {
        "model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": WIDE,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps(config))
    header, at = {}, 0
    for name, tensor in weights.items():
        size = tensor.numel() * 4
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    header = json.dumps(header).encode()
    header += b" " * (-len(header) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for tensor in weights.values():
            file.write(tensor.contiguous().numpy().tobytes())


def make_texts(count):
    """Texts of 50 to 700 tokens, as long as HANNA's, cut at 512."""
    numbers = random.Random(1)
    lengths = [min(512, numbers.randint(50, 700)) for _ in range(count)]
    return [[numbers.randrange(1000, VOCABULARY) for _ in range(length)] for length in lengths]


class Encoder:
    """BERT as transformers runs it, with the blocks up to one layer."""

    def __init__(self, weights, kind):
        self.kind = kind
        self.weights = {name: tensor.to("cuda", kind) for name, tensor in weights.items()}

    def linear(self, name, x):
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def norm(self, name, x):
        weight, bias = self.weights[name + ".weight"], self.weights[name + ".bias"]
        return F.layer_norm(x, (HIDDEN,), weight, bias, 1e-12)

    def states(self, ids, mask, layers):
        w = self.weights
        rows, length = ids.shape
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:length]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm("embeddings.LayerNorm", x)
        hidden = torch.zeros(rows, 1, 1, length, dtype=self.kind, device="cuda")
        hidden.masked_fill_(~mask[:, None, None, :], torch.finfo(self.kind).min)
        hidden = hidden.expand(rows, 1, length, length)

        def heads(x):
            return x.view(rows, length, HEADS, -1).transpose(1, 2)

        for i in range(layers):
            before = f"encoder.layer.{i}."
            parts = [
                heads(self.linear(before + "attention.self." + part, x))
                for part in ("query", "key", "value")
            ]
            mixed = F.scaled_dot_product_attention(*parts, attn_mask=hidden)
            mixed = mixed.transpose(1, 2).reshape(rows, length, HIDDEN)
            branch = self.linear(before + "attention.output.dense", mixed)
            x = self.norm(before + "attention.output.LayerNorm", x + branch)
            wide = F.gelu(self.linear(before + "intermediate.dense", x))
            branch = self.linear(before + "output.dense", wide)
            x = self.norm(before + "output.LayerNorm", x + branch)
        return x


def batches(texts, size=64):
    """The numbers of the texts of each batch, the longest texts first."""
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    return [order[first : first + size] for first in range(0, len(order), size)]


def padded(texts, numbers):
    length = max(len(texts[i]) for i in numbers)
    ids = torch.zeros(len(numbers), length, dtype=torch.long)
    mask = torch.zeros(len(numbers), length, dtype=torch.bool)
    for row, i in enumerate(numbers):
        ids[row, : len(texts[i])] = torch.tensor(texts[i])
        mask[row, : len(texts[i])] = True
    return ids, mask


@torch.no_grad()
def run_torch(encoder, inputs, layers, copy):
    found = []
    for ids, mask in inputs:
        states = encoder.states(ids.cuda(), mask.cuda(), layers)
        found.append(states.cpu() if copy else states[:, 0])
    torch.cuda.synchronize()
    return found


def timed(rounds, work):
    times = []
    for turn in range(rounds + 2):
        start = time.perf_counter()
        work()
        if turn >= 2:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--bench", default="target/release/examples/cuda_forward")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    weights, texts = make_weights(), make_texts(arguments.texts)
    tokens = sum(map(len, texts))
    groups = batches(texts)
    inputs = [padded(texts, numbers) for numbers in groups]
    seconds, truth = {}, None
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {tokens} tokens")
    for name, kind in (("f32", torch.float32), ("f16", torch.float16)):
        encoder = Encoder(weights, kind)
        all_states = timed(arguments.rounds, lambda: run_torch(encoder, inputs, LAYER, True))
        forward = timed(arguments.rounds, lambda: run_torch(encoder, inputs, LAYERS, False))
        seconds[name] = (all_states, forward)
        print(
            f"PyTorch {name}: {tokens / all_states:10.0f} tokens/s with all states of layer {LAYER}, "
            f"{1e3 * all_states:.2f} ms; 12 layers without them {1e3 * forward:.2f} ms"
        )
        if truth is None:
            truth = [None] * len(texts)
            for numbers, states in zip(groups, run_torch(encoder, inputs, LAYER, True)):
                for row, i in enumerate(numbers):
                    truth[i] = states[row, : len(texts[i])].clone()
        del encoder
    torch.cuda.empty_cache()
    truth = torch.cat(truth).double()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_model(folder, weights)
        words = array.array("H")
        for text in texts:
            words.append(len(text))
            words.extend(text)
        (folder / "texts").write_bytes(words.tobytes())
        command = [arguments.bench, str(arguments.rounds), folder, folder / "texts", folder / "out"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(output, end="")
        for line in output.splitlines()[1:]:
            name = line.split()[0]
            ours, ours_forward = map(float, re.findall(r"([0-9.]+) ms", line))
            found = bytearray((folder / f"out-{name}").read_bytes())
            found = torch.frombuffer(found, dtype=torch.float32).view(-1, HIDDEN).double()
            largest = (found - truth).abs().max().item()
            cosine = F.cosine_similarity(found, truth)
            print(
                f"{name}: {seconds['f32'][0] / (ours / 1e3):.2f} times PyTorch in f32 and "
                f"{seconds['f16'][0] / (ours / 1e3):.2f} times PyTorch in f16 with all states, "
                f"{seconds['f32'][1] / (ours_forward / 1e3):.2f} and "
                f"{seconds['f16'][1] / (ours_forward / 1e3):.2f} times without them; from PyTorch "
                f"in f32: largest difference {largest:.1e}, 1 - cosine at most "
                f"{(1 - cosine).max().item():.1e}"
            )


if __name__ == "__main__":
    main()
