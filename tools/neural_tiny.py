"""Tiny models of transformers whose weights are computed by a formula, so that no file is needed.

The parameters are taken in alphabetical order of their names, a tied copy counted once (the name
that `named_parameters` gives). Parameter k, element i (row by row) has the random number
z = splitmix64(k * 2^32 + i), u = (z >> 11) * 2^-53. Its value is 0.3 * (2u - 1), and for the
weights of normalisations, whose names end with one of NORMS, 1 + 0.1 * (2u - 1). Values are
computed in 64 bits and stored in 32 bits.
"""

import numpy
import torch
import transformers

TOOL = f"torch {torch.__version__}, transformers {transformers.__version__}"
NORMS = (
    "LayerNorm.weight",
    "layer_norm.weight",
    "layernorm_embedding.weight",
    "ln_1.weight",
    "ln_2.weight",
    "ln_f.weight",
    # Llama's names: input_layernorm, post_attention_layernorm and model.norm.
    "layernorm.weight",
    "norm.weight",
)


def splitmix64(numbers):
    z = numbers + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))


def fill(model):
    """Gives a model the weights of the formula and returns it, ready for inference."""
    named = sorted(model.named_parameters(), key=lambda pair: pair[0])
    with torch.no_grad(), numpy.errstate(over="ignore"):
        for k, (name, parameter) in enumerate(named):
            index = numpy.arange(parameter.numel(), dtype=numpy.uint64)
            u = (splitmix64(index + numpy.uint64(k << 32)) >> numpy.uint64(11)) * 2.0**-53
            spread = 2.0 * u - 1.0
            value = 1.0 + 0.1 * spread if name.endswith(NORMS) else 0.3 * spread
            parameter.copy_(torch.from_numpy(value.reshape(parameter.shape)).float())
    return model.eval()


def parameters(model):
    """Names and shapes of the parameters, in the order of the formula."""
    return {name: list(tensor.shape) for name, tensor in sorted(model.named_parameters())}


def masked_model(vocabulary=30522):
    """The tiny BERT with a masked-word head that InfoLM and BLANC are tested with."""
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=512,
    )
    return fill(transformers.BertForMaskedLM(config))
