#!/usr/bin/env python3
"""Times neural metrics beside the Python packages that people use, and prints the ratios.

    cargo build --release -p storymeter-neural --example time_metrics
    python3 tools/test_weights.py WEIGHTS
    python3 benches/peers/neural.py --weights WEIGHTS --stories STORIES.jsonl.gz [PART...]

PART is one or more of bertscore, embedding, perplexity and gpu; without it, all but gpu. STORIES
has the fields story and reference, such as HANNA's; stories of the system Human are left out. Both
sides use two threads, the same weights and the same stories. Loading, imports and a first small
call are not counted, and times are the best round on the clock, so the machine should be idle.

- bertscore: bert-score with MiniLM (layer 6) and MPNet (layer 8), and ours in f32 and int8. The
  deviation is the largest and the mean difference of F from bert-score's.
- embedding: BERTScore, MoverScore, BaryScore and DepthScore with MiniLM. bert-score computes the
  first. The released code of the others is not on the package index, so this script repeats what
  it does (tools/neural_procedures.py has the formulas): one pass of the network per metric on
  padded batches, and for BaryScore and DepthScore a pass that also computes the masked-word head,
  because the released code loads the model so; MoverScore by pyemd on the padded matrix of both
  texts together; BaryScore by POT's free-support barycentres, emd2 and eight runs of sinkhorn2;
  DepthScore with numpy, which draws its directions three times per pair. BaryScore takes seconds
  per pair, so the peers of the last three are timed on every k-th story (--every) and scaled.
- perplexity: transformers in f32 with SmolLM2-135M from the same GGUF file, with batches of 1 and
  of 8 sorted by length (the faster one counts), and ours in f32 and int8.
- gpu: runs benches/peers/cuda_forward.py, which times BERTScore's forward pass on a CUDA device.

Needs torch, transformers 4.46 or later (it reads Q4_1 blocks), gguf, accelerate, bert-score 0.3.13,
POT and pyemd.
"""
import argparse
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
THREADS = 2
PARTS = ["bertscore", "embedding", "perplexity"]


def pairs(path, limit):
    """Stories and their references; the stories of humans are the references themselves."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    records = [record for record in records if record.get("system") != "Human"]
    return [(record["story"], record["reference"]) for record in records[:limit]]


def ours(arguments, chosen, metrics, precision, weights):
    """Runs the example program on these pairs; returns seconds and scores by key."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for number, (story, reference) in enumerate(chosen):
            record = {"id": str(number), "story": story, "reference": reference}
            file.write(json.dumps(record) + "\n")
        file.flush()
        named = [f"{name}={folder}" for name, folder in weights.items()]
        command = [arguments.program, file.name, metrics, precision, "cpu", *named]
        environment = dict(os.environ, RAYON_NUM_THREADS=str(THREADS))
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    result = json.loads(done.stdout)
    return result["seconds"], result["scores"]


def best(rounds, work):
    """The seconds of the best round, and what the work returned."""
    seconds = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, result


def line(what, seconds, peer=None, note=""):
    ratio = "" if peer is None else f"{peer / seconds:8.2f} times"
    print(f"{what:44}{seconds:10.2f} s {ratio} {note}".rstrip(), flush=True)


def deviation(values, peer):
    differences = [abs(a - b) for a, b in zip(values, peer)]
    return f"(deviation: largest {max(differences):.1e}, mean {sum(differences) / len(peer):.1e})"


def bert_scorer(folder, layer):
    import bert_score

    return bert_score.BERTScorer(
        model_type=str(folder), num_layers=layer, device="cpu", nthreads=0, batch_size=64
    )


def bertscore(arguments, chosen):
    for name, layer, rounds in (("minilm", 6, 3), ("mpnet", 8, 1)):
        folder = arguments.weights / name
        scorer = bert_scorer(folder, layer)
        stories, references = map(list, zip(*chosen))
        scorer.score(stories[:2], references[:2])
        peer, (_, _, f) = best(rounds, lambda: scorer.score(stories, references))
        line(f"bert-score, {name}, layer {layer}, f32", peer)
        for precision in ("f32", "int8"):
            key = f"bertscore:layer-{layer}"
            seconds, scores = ours(arguments, chosen, key, precision, {"bertscore": folder})
            note = deviation(scores[f"{key}/f"], f.tolist())
            line(f"storymeter, {name}, layer {layer}, {precision}", seconds, peer, note)


def padded_states(encoder, texts):
    """States of a padded batch as the released code computes them, and the ids of each text."""
    hidden, batch = encoder.states(texts)
    lengths = batch["attention_mask"].sum(1).tolist()
    return hidden, batch["input_ids"].tolist(), lengths


def released_moverscore(encoder, chosen, tables, size=48):
    """MoverScore v2 as released: pyemd on the padded distance matrix of both texts together."""
    import numpy
    import torch
    from neural_procedures import STOP_WORDS, dropped
    from pyemd import emd_with_flow

    scores = []
    for start in range(0, len(chosen), size):
        batch = chosen[start : start + size]
        sides = []
        for side in (1, 0):
            texts = [pair[side] for pair in batch]
            hidden, ids, lengths = padded_states(encoder, texts)
            last = hidden[-1].clone()
            masses = numpy.zeros(last.shape[:2])
            for i, length in enumerate(lengths):
                tokens = encoder.tokenizer.convert_ids_to_tokens(ids[i][:length])
                for k, token in enumerate(tokens):
                    if dropped(token, STOP_WORDS):
                        last[i, k] = 0
                    else:
                        masses[i, k] = tables[side][ids[i][k]]
            sides.append((last, masses))
        raw = torch.cat([sides[0][0], sides[1][0]], 1)
        raw = raw / (raw.norm(dim=-1, keepdim=True) + 1e-30)
        squares = (raw * raw).sum(-1)
        gram = raw @ raw.transpose(1, 2)
        distances = squares[:, :, None] + squares[:, None, :] - 2 * gram
        distances = distances.clamp_min(1e-30).sqrt().double().numpy()
        width = sides[0][1].shape[1]
        for i in range(len(batch)):
            first, second = numpy.zeros(raw.shape[1]), numpy.zeros(raw.shape[1])
            first[:width], second[width:] = sides[0][1][i], sides[1][1][i]
            first, second = first / (first.sum() + 1e-30), second / (second.sum() + 1e-30)
            _, flow = emd_with_flow(first, second, distances[i])
            flow = numpy.array(flow, dtype=numpy.float32)
            scores.append(1.0 / (1.0 + float((flow * distances[i]).sum())))
    return scores


def released_clouds(encoder, chosen, layers, size=8):
    """The clouds of every pair, batch by batch, by a model that also computes its masked head."""
    for start in range(0, len(chosen), size):
        batch = chosen[start : start + size]
        sides = []
        for side in (1, 0):
            hidden, _, lengths = padded_states(encoder, [pair[side] for pair in batch])
            chosen_layers = [hidden[layer] for layer in layers]
            unit = [state / state.norm(dim=-1, keepdim=True) for state in chosen_layers]
            sides.append((unit, lengths))
        for i in range(len(batch)):
            yield [
                [state[i, : lengths[i]].double().numpy() for state in unit]
                for unit, lengths in sides
            ]


def embedding(arguments, chosen):
    import warnings

    import neural_procedures as procedures

    warnings.simplefilter("ignore")
    folder = arguments.weights / "minilm"
    few = chosen[:: arguments.every]
    scale = len(chosen) / len(few)
    scorer = bert_scorer(folder, 6)
    plain = procedures.Encoder(folder)
    masked = procedures.Encoder(folder, with_masked_head=True)
    stories, references = map(list, zip(*chosen))
    scorer.score(stories[:2], references[:2])
    times, peers = {}, {}
    times["bertscore"], (_, _, peers["bertscore"]) = best(2, lambda: scorer.score(stories, references))
    peers["bertscore"] = peers["bertscore"].tolist()

    def mover():
        tables = [
            procedures.inverse_frequencies([plain.ids(pair[side]) for pair in chosen])
            for side in (0, 1)
        ]
        return released_moverscore(plain, few, tables)

    def bary():
        return [
            procedures.baryscore(h, r)["w"] for r, h in released_clouds(masked, few, range(2, 7))
        ]

    def depth():
        return [procedures.depthscore(h, r) for (r,), (h,) in released_clouds(masked, few, [6])]

    for name, work in (("moverscore", mover), ("depthscore", depth), ("baryscore", bary)):
        seconds, peers[name] = best(1, work)
        times[name] = seconds * scale
    for name, seconds in times.items():
        note = "" if name == "bertscore" else f"(timed on {len(few)} stories)"
        line(f"{name} as released, minilm", seconds, note=note)
    peer = sum(times.values())
    line("all four as released", peer)
    names = ["bertscore:layer-6", "moverscore:stop", "baryscore", "depthscore"]
    names = arguments.embedding.split(",") if arguments.embedding else names
    weights = {name.split(":")[0]: folder for name in names}
    for precision in ("f32", "int8"):
        seconds, scores = ours(arguments, chosen, ",".join(names), precision, weights)
        line(f"storymeter, all four, {precision}", seconds, peer)
        for key, values in scores.items():
            name = key.split(":")[0].split("/")[0]
            if key.endswith(("/p", "/r")) or "/sd-" in key:
                continue
            mine = values if name == "bertscore" else values[:: arguments.every]
            print(f"    {key} {deviation(mine, peers[name])}")
    for name in names:
        seconds, _ = ours(arguments, chosen, name, "f32", weights)
        line(f"storymeter, {name} alone, f32", seconds, times[name.split(":")[0]])


def perplexity(arguments, chosen):
    import torch
    from neural_fixtures_smollm2 import tokenizer_of
    from transformers import AutoModelForCausalLM

    (path,) = (arguments.weights / "smollm2").glob("*.gguf")
    model = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, torch_dtype=torch.float32
    ).eval()
    tokenizer = tokenizer_of(path)
    first = 1

    def score(size):
        ids = [[first] + tokenizer.encode(story).ids for story, _ in chosen]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        values = [0.0] * len(ids)
        with torch.no_grad():
            for start in range(0, len(order), size):
                rows = order[start : start + size]
                longest = max(len(ids[i]) for i in rows)
                batch = torch.full((len(rows), longest), 2)
                mask = torch.zeros((len(rows), longest), dtype=torch.long)
                for row, i in enumerate(rows):
                    batch[row, : len(ids[i])] = torch.tensor(ids[i])
                    mask[row, : len(ids[i])] = 1
                logits = model(batch, attention_mask=mask).logits[:, :-1]
                targets = batch[:, 1:]
                losses = torch.nn.functional.cross_entropy(
                    logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), reduction="none"
                ).view(targets.shape)
                means = (losses * mask[:, 1:]).sum(1) / mask[:, 1:].sum(1)
                for row, i in enumerate(rows):
                    values[i] = math.exp(means[row].item())
        return values

    timed = [best(1, lambda size=size: score(size)) for size in (1, 8)]
    for size, (seconds, _) in zip((1, 8), timed):
        line(f"transformers, SmolLM2, f32, batches of {size}", seconds)
    peer, values = min(timed)
    for precision in ("f32", "int8"):
        weights = {"perplexity": path}
        seconds, scores = ours(arguments, chosen, "perplexity", precision, weights)
        (mine,) = scores.values()
        note = deviation([math.log(x) for x in mine], [math.log(x) for x in values])
        line(f"storymeter, SmolLM2, {precision}", seconds, peer, note)


def gpu(arguments, chosen):
    """The measurement is a script of its own, which also runs where there are no weights."""
    script = ROOT / "benches/peers/cuda_forward.py"
    subprocess.run([sys.executable, script], check=True)


def main():
    parser = argparse.ArgumentParser(description="Times neural metrics beside Python packages.")
    parser.add_argument("--weights", type=Path, help="the folder of tools/test_weights.py")
    parser.add_argument("--stories", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200, help="how many stories")
    parser.add_argument("--every", type=int, default=10, help="slow peers score every k-th story")
    parser.add_argument("--embedding", help="the metrics of the part embedding, by comma")
    program = ROOT / "target/release/examples/time_metrics"
    parser.add_argument("--program", type=Path, default=program)
    parser.add_argument("part", nargs="*", choices=[*PARTS, "gpu"])
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    import torch

    torch.set_num_threads(THREADS)
    chosen = pairs(arguments.stories, arguments.limit)
    print(f"{len(chosen)} stories, {THREADS} threads, torch {torch.__version__}")
    for part in arguments.part or PARTS:
        {"bertscore": bertscore, "embedding": embedding, "perplexity": perplexity, "gpu": gpu}[part](
            arguments, chosen
        )


if __name__ == "__main__":
    main()
