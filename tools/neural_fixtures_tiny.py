"""Writes what transformers computes with tiny models of every family that the engine reads.

    python tools/neural_fixtures_tiny.py

The output is crates/storymeter-encoder/tests/fixtures/tiny_models.json. The weights follow from
the formula of tools/neural_tiny.py, and the file says the configuration, the names and shapes of
the parameters, the token ids and the results. Needs torch 2.5.1 and transformers 4.44.2.
"""

import json
from pathlib import Path

import torch
import transformers as hf

from neural_tiny import TOOL, fill, masked_model, parameters

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "crates/storymeter-encoder/tests/fixtures/tiny_models.json"

SHORT = [5, 17, 101, 42, 7, 9, 9, 150]
# Forty tokens, so that relative positions fall into several buckets and rotations go far.
LONG = [(7 * i * i + 13 * i + 5) % 190 + 5 for i in range(40)]


def rounded(values):
    if isinstance(values, list):
        return [rounded(value) for value in values]
    return float(f"{values:.9g}")


def numbers(tensor):
    return rounded(tensor.detach().double().tolist())


def config_of(config, keys):
    return {key: getattr(config, key) for key in keys}


def causal(model, sequences):
    """Log-probability of each token after the first, given the tokens before it."""
    cases = []
    for ids in sequences:
        with torch.no_grad():
            out = model(torch.tensor([ids]), output_hidden_states=True)
        logs = out.logits[0].log_softmax(-1)
        likelihoods = [logs[i, token] for i, token in enumerate(ids[1:])]
        cases.append(
            {
                "ids": ids,
                "likelihoods": numbers(torch.stack(likelihoods)),
                "logits_at_the_last_token": numbers(out.logits[0, -1, :8]),
                # The last state of transformers has passed the final normalisation.
                "states_of_the_last_token": [numbers(h[0, -1]) for h in out.hidden_states],
            }
        )
    return cases


def masked(model, sequences, positions=(2, 4)):
    """Hidden states of all layers at three tokens, and logits of the masked-word head."""
    cases = []
    for ids in sequences:
        with torch.no_grad():
            out = model(torch.tensor([ids]), output_hidden_states=True)
        tokens = [0, 3, len(ids) - 1]
        cases.append(
            {
                "ids": ids,
                "tokens": tokens,
                "states": [[numbers(h[0, t]) for t in tokens] for h in out.hidden_states],
                "positions": list(positions),
                "logits": [numbers(out.logits[0, p, :24]) for p in positions],
                "largest": [int(out.logits[0, p].argmax()) for p in positions],
            }
        )
    return cases


def answer(model, ids, second, attended):
    """Start and end logits of a padded pair of texts."""
    tokens = range(len(ids))
    with torch.no_grad():
        out = model(
            torch.tensor([ids]),
            token_type_ids=torch.tensor([[int(second <= t < attended) for t in tokens]]),
            attention_mask=torch.tensor([[int(t < attended) for t in tokens]]),
        )
    return {
        "ids": ids,
        "second": second,
        "attended": attended,
        "segments": "0 before `second`, 1 up to `attended`, 0 for the padding after it",
        "start": numbers(out.start_logits[0]),
        "end": numbers(out.end_logits[0]),
    }


def bart(model, source, target):
    """Log-probability of each target token; the decoder reads </s> and the target but its last."""
    labels = torch.tensor([target])
    with torch.no_grad():
        out = model(torch.tensor([source]), labels=labels, output_hidden_states=True)
    logs = out.logits[0].log_softmax(-1)
    return {
        "source": source,
        "target": target,
        "likelihoods": numbers(torch.stack([logs[i, t] for i, t in enumerate(target)])),
        "encoder_states_of_the_last_token": [
            numbers(h[0, -1]) for h in out.encoder_hidden_states
        ],
    }


def main():
    torch.manual_seed(0)
    size = dict(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    llama = dict(
        size,
        num_key_value_heads=2,
        max_position_embeddings=64,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        attn_implementation="eager",
    )
    models = {}

    def add(name, model, config, cases):
        config = {k: v for k, v in config.items() if k != "attn_implementation"}
        models[name] = {
            "architecture": type(model).__name__,
            "config": config,
            "parameters": parameters(model),
            "cases": cases,
        }

    for name, tied in (("llama", False), ("llama_tied", True)):
        config = dict(llama, tie_word_embeddings=tied)
        model = fill(hf.LlamaForCausalLM(hf.LlamaConfig(**config)))
        add(name, model, config, causal(model, [SHORT, LONG]))
    config = dict(vocab_size=200, n_positions=64, n_embd=32, n_layer=2, n_head=4)
    model = fill(hf.GPT2LMHeadModel(hf.GPT2Config(**config, attn_implementation="eager")))
    add("gpt2", model, config, causal(model, [SHORT, LONG]))

    config = dict(size, max_position_embeddings=66, type_vocab_size=1, pad_token_id=1)
    config = dict(config, layer_norm_eps=1e-5, hidden_act="gelu")
    model = fill(hf.RobertaForMaskedLM(hf.RobertaConfig(**config)))
    add("roberta", model, config, masked(model, [SHORT, LONG]))
    config = dict(vocab_size=200, dim=32, n_layers=2, n_heads=4, hidden_dim=64)
    config = dict(config, max_position_embeddings=64, activation="gelu")
    model = fill(hf.DistilBertForMaskedLM(hf.DistilBertConfig(**config)))
    add("distilbert", model, config, masked(model, [SHORT, LONG]))
    config = dict(size, max_position_embeddings=66, relative_attention_num_buckets=32)
    config = dict(config, layer_norm_eps=1e-5, hidden_act="gelu", pad_token_id=1)
    model = fill(hf.MPNetForMaskedLM(hf.MPNetConfig(**config)))
    add("mpnet", model, config, masked(model, [SHORT, LONG]))
    config = dict(size, vocab_size=30522, max_position_embeddings=512)
    model = masked_model()
    add("bert", model, config, masked(model, [[101, 1996, 103, 102], SHORT], positions=(2, 3)))
    config = dict(size, max_position_embeddings=64)
    model = fill(hf.BertForQuestionAnswering(hf.BertConfig(**config)))
    padded = LONG[:20] + [0] * 4
    add("bert_answer", model, config, [answer(model, padded, 8, 20), answer(model, SHORT, 3, 8)])

    config = dict(
        vocab_size=200,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
    )
    model = fill(hf.BartForConditionalGeneration(hf.BartConfig(**config)))
    x, y = [0, 10, 20, 30, 40, 50, 2], [0, 11, 21, 31, 2]
    add("bart", model, config, [bart(model, x, y), bart(model, x, x), bart(model, LONG, y)])

    command = "python tools/neural_fixtures_tiny.py"
    fixture = {"tool": TOOL, "command": command, "weights": "tools/neural_tiny.py", "models": models}
    text = json.dumps(fixture)
    # One line per model and per case keeps the file readable in a difference.
    text = text.replace('}, "', '},\n"').replace('{"ids"', '\n{"ids"').replace('{"source"', '\n{"source"')
    OUT.write_text(text + "\n")
    print(OUT, len(text))


if __name__ == "__main__":
    main()
