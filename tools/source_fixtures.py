"""Writes small files of weights as PyTorch and llama.cpp write them.

    python tools/source_fixtures.py torch    # needs torch
    python tools/source_fixtures.py gguf     # needs gguf (PyPI) and numpy

Both write into crates/storymeter-encoder/tests/fixtures/source. The tensors of the GGUF files are
numbered: element i of the k-th tensor, by Hugging Face's names in alphabetical order, is 100 k + i.
"""

import collections
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "crates/storymeter-encoder/tests/fixtures/source"


def write_torch():
    import torch

    base = torch.arange(24, dtype=torch.float32)
    tensors = collections.OrderedDict()
    tensors["matrix"] = base.view(4, 6) / 8
    tensors["turned"] = base.view(4, 6).t() / 1
    tensors["shared"] = base.view(2, 3, 4)[1]
    tensors["columns"] = base.view(4, 6)[:, 1::2]
    tensors["swapped"] = base.view(2, 3, 4).permute(2, 0, 1)
    tensors["half"] = torch.tensor([1.5, -2.0], dtype=torch.float16)
    tensors["bfloat"] = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    tensors["double"] = torch.tensor([1.5, -2.0], dtype=torch.float64)
    tensors["parameter"] = torch.nn.Parameter(torch.tensor([[7.0]]))
    tensors["scalar"] = torch.tensor(3.0)
    tensors["empty"] = torch.zeros(0, 5)
    tensors["position_ids"] = torch.arange(4).view(1, 4)
    tensors["masked"] = torch.tensor([True, False])
    # A real state dict also has the versions of its modules, as an attribute.
    tensors._metadata = collections.OrderedDict({"": {"version": 1}, "layer": {"version": 2}})
    floats = {
        name: {"shape": list(tensor.shape), "data": tensor.double().flatten().tolist()}
        for name, tensor in tensors.items()
        if tensor.is_floating_point()
    }
    for protocol in range(2, 6):
        torch.save(tensors, HERE / f"protocol{protocol}.bin", pickle_protocol=protocol)
    # The format from before version 1.6, also in a protocol that divides its bytes into frames.
    for name, protocol in [("old.bin", 2), ("old4.bin", 4)]:
        torch.save(
            tensors, HERE / name, pickle_protocol=protocol, _use_new_zipfile_serialization=False
        )
    torch.save({"step": 3, "model": torch.nn.Linear(2, 2)}, HERE / "module.bin")
    expected = {"tool": f"torch {torch.__version__}", "tensors": floats}
    (HERE / "torch.json").write_text(json.dumps(expected) + "\n")


def permuted(weights, heads):
    """The order of rows that llama.cpp's converter makes for attention with rotation."""
    rows = weights.shape[0]
    halves = weights.reshape(heads, 2, rows // heads // 2, *weights.shape[1:])
    return halves.swapaxes(1, 2).reshape(weights.shape)


WIDTH, HEADS, KEY_HEADS, INNER, LAYERS = 8, 2, 1, 6, 2
PIECES = [chr(c) for c in range(ord("a"), ord("m"))]


def llama_shapes(bias):
    keys = WIDTH // HEADS * KEY_HEADS
    layer = {
        "input_layernorm.weight": ("attn_norm.weight", [WIDTH]),
        "self_attn.q_proj.weight": ("attn_q.weight", [WIDTH, WIDTH]),
        "self_attn.k_proj.weight": ("attn_k.weight", [keys, WIDTH]),
        "self_attn.v_proj.weight": ("attn_v.weight", [keys, WIDTH]),
        "self_attn.o_proj.weight": ("attn_output.weight", [WIDTH, WIDTH]),
        "post_attention_layernorm.weight": ("ffn_norm.weight", [WIDTH]),
        "mlp.gate_proj.weight": ("ffn_gate.weight", [INNER, WIDTH]),
        "mlp.up_proj.weight": ("ffn_up.weight", [INNER, WIDTH]),
        "mlp.down_proj.weight": ("ffn_down.weight", [WIDTH, INNER]),
    }
    if bias:
        layer["self_attn.q_proj.bias"] = ("attn_q.bias", [WIDTH])
        layer["self_attn.k_proj.bias"] = ("attn_k.bias", [keys])
        layer["self_attn.v_proj.bias"] = ("attn_v.bias", [keys])
    shapes = {
        f"model.layers.{n}.{name}": (f"blk.{n}.{short}", shape)
        for n in range(LAYERS)
        for name, (short, shape) in layer.items()
    }
    shapes["model.embed_tokens.weight"] = ("token_embd.weight", [len(PIECES), WIDTH])
    shapes["model.norm.weight"] = ("output_norm.weight", [WIDTH])
    if bias:
        shapes["lm_head.weight"] = ("output.weight", [len(PIECES), WIDTH])
    return shapes


def gpt2_shapes():
    layer = {"ln_1": ("attn_norm", [WIDTH]), "ln_2": ("ffn_norm", [WIDTH])}
    # The matrices of Hugging Face's GPT-2 have rows for inputs.
    layer["attn.c_attn"] = ("attn_qkv", [WIDTH, 3 * WIDTH])
    layer["attn.c_proj"] = ("attn_output", [WIDTH, WIDTH])
    layer["mlp.c_fc"] = ("ffn_up", [WIDTH, INNER])
    layer["mlp.c_proj"] = ("ffn_down", [INNER, WIDTH])
    shapes = {}
    for n in range(LAYERS):
        for name, (short, shape) in layer.items():
            shapes[f"transformer.h.{n}.{name}.weight"] = (f"blk.{n}.{short}.weight", shape)
            shapes[f"transformer.h.{n}.{name}.bias"] = (f"blk.{n}.{short}.bias", shape[-1:])
    for end in ["weight", "bias"]:
        shapes[f"transformer.ln_f.{end}"] = (f"output_norm.{end}", [WIDTH])
    shapes["transformer.wte.weight"] = ("token_embd.weight", [len(PIECES), WIDTH])
    shapes["transformer.wpe.weight"] = ("position_embd.weight", [5, WIDTH])
    return shapes


def write_gguf():
    import gguf
    import numpy as np

    for name in ["llama", "qwen2", "gpt2"]:
        writer = gguf.GGUFWriter(HERE / f"{name}.gguf", name)
        writer.add_context_length(5)
        writer.add_embedding_length(WIDTH)
        writer.add_block_count(LAYERS)
        writer.add_feed_forward_length(INNER)
        writer.add_head_count(HEADS)
        if name == "gpt2":
            writer.add_layer_norm_eps(1e-5)
        else:
            writer.add_head_count_kv(KEY_HEADS)
            writer.add_layer_norm_rms_eps(1e-5)
            writer.add_rope_freq_base(100000.0)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre({"llama": "smollm", "qwen2": "qwen2", "gpt2": "gpt-2"}[name])
        writer.add_token_list(PIECES[:-2] + ["ab", "<end>"])
        writer.add_token_types([1] * (len(PIECES) - 1) + [3])
        writer.add_token_merges(["a b"])
        writer.add_bos_token_id(len(PIECES) - 1)
        writer.add_add_bos_token(name == "llama")
        shapes = gpt2_shapes() if name == "gpt2" else llama_shapes(bias=name == "qwen2")
        for k, (long, (short, shape)) in enumerate(sorted(shapes.items())):
            tensor = (100 * k + np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)
            if name == "llama" and "q_proj" in long:
                tensor = permuted(tensor, HEADS)
            if name == "llama" and "k_proj" in long:
                tensor = permuted(tensor, KEY_HEADS)
            if name == "gpt2" and len(shape) == 2 and ".h." in long:
                tensor = tensor.T
            if name == "llama" and "down_proj" in long:
                tensor = tensor.astype(np.float16)
            writer.add_tensor(short, np.ascontiguousarray(tensor))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    # Blocks of random bytes, with scales that are ordinary numbers, and what they stand for.
    halves = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
              "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
    numbers = np.random.default_rng(17)
    blocks = {}
    for kind, places in halves.items():
        quant = gguf.GGMLQuantizationType[kind]
        _, size = gguf.GGML_QUANT_SIZES[quant]
        rows = numbers.integers(0, 256, (3, size), dtype=np.uint8)
        for row in rows:
            for place in places:
                scale = np.float16(numbers.normal() / 50)
                row[place : place + 2] = np.frombuffer(scale.tobytes(), np.uint8)
        values = gguf.quants.dequantize(rows, quant).astype("<f4")
        blocks[kind] = {
            "type": int(quant), "bytes": rows.tobytes().hex(), "floats": values.tobytes().hex()
        }
    from importlib.metadata import version

    expected = {"tool": f"gguf {version('gguf')}", "blocks": blocks}
    (HERE / "blocks.json").write_text(json.dumps(expected, indent=0) + "\n")


if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    kinds = {"torch": write_torch, "gguf": write_gguf}
    if len(sys.argv) != 2 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]]()
