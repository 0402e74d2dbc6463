"""Writes blocks of GGUF's number formats as bytes, and the numbers that they stand for.

    python tools/neural_fixtures_gguf.py

The output is crates/storymeter-encoder/tests/fixtures/gguf_blocks.json. The bytes are random, but
the 16-bit scales inside a block are made finite. The numbers come from the package gguf.
"""

import importlib.metadata
import json
import random
import struct
from pathlib import Path

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf.quants import dequantize

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "crates/storymeter-encoder/tests/fixtures/gguf_blocks.json"

# Where a block has its 16-bit numbers (byte offsets).
SCALES = {
    Type.F16: range(0, 2, 2),
    Type.BF16: [],
    Type.Q4_0: [0],
    Type.Q4_1: [0, 2],
    Type.Q5_0: [0],
    Type.Q5_1: [0, 2],
    Type.Q8_0: [0],
    Type.Q4_K: [0, 2],
    Type.Q5_K: [0, 2],
    Type.Q6_K: [208],
}


def main():
    draw = random.Random(17)
    formats = {}
    for kind, offsets in SCALES.items():
        elements, size = GGML_QUANT_SIZES[kind]
        count = 16 if elements == 1 else 2
        data = bytearray()
        for _ in range(count):
            block = bytearray(draw.randbytes(size))
            for offset in offsets:
                struct.pack_into("<e", block, offset, draw.uniform(-0.05, 0.05))
            if kind == Type.BF16:
                block[:] = struct.pack("<f", draw.uniform(-2, 2))[2:]
            data += block
        numbers = dequantize(numpy.frombuffer(bytes(data), dtype=numpy.uint8), kind)
        formats[kind.name] = {
            "type": int(kind),
            "elements_per_block": elements,
            "bytes_per_block": size,
            "bytes": bytes(data).hex(),
            "numbers": [float(f"{number:.9g}") for number in numbers.astype(numpy.float64)],
        }
    fixture = {
        "tool": f"gguf {importlib.metadata.version('gguf')}",
        "command": "python tools/neural_fixtures_gguf.py",
        "formats": formats,
    }
    text = json.dumps(fixture).replace('}, "', '},\n"')
    OUT.write_text(text + "\n")
    print(OUT, len(text))


if __name__ == "__main__":
    main()
