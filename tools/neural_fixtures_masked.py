"""Writes what InfoLM and blanc compute with the tiny BERT of tools/neural_tiny.py.

    NLTK_DATA=DIR python tools/neural_fixtures_masked.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py, whose MiniLM gives the vocabulary. NLTK_DATA has
NLTK's punkt_tab. The outputs are infolm.json and blanc.json in
crates/storymeter-neural/tests/fixtures. A text is named as in bertscore.json.
"""

import importlib.metadata
import math
import shutil
import sys
import tempfile
import unicodedata
from pathlib import Path

import torch
from blanc import BlancHelp, BlancTune
from torchmetrics.functional.text import infolm
from transformers import BertForMaskedLM, BertTokenizer

from neural_fixtures_bertscore import texts
from neural_texts import ROOT, written
from neural_tiny import masked_model

FIXTURES = ROOT / "crates/storymeter-neural/tests/fixtures"

# The measures of the released code with a for the hypothesis and b for the reference, and what
# torchmetrics calls them. It has the arguments in the other order: its kl_divergence is the
# released r_kl.
MEASURES = {
    "kl": ("kl_divergence", {}, lambda a, b: (a * (b / a).log()).sum()),
    "r_kl": ("kl_divergence", {}, lambda a, b: (b * (a / b).log()).sum()),
    "alpha": (
        "alpha_divergence",
        {"alpha": 0.5},
        lambda a, b: (1 - (a**0.5 * b**0.5).sum()) / (0.5 * (0.5 - 1)),
    ),
    "renyi": (
        "renyi_divergence",
        {"alpha": 0.5},
        lambda a, b: (a**0.5 * b**0.5).sum().log() / (0.5 - 1),
    ),
    "beta": ("beta_divergence", {"beta": 0.5}, lambda a, b: beta(a, b)),
    "r_beta": ("beta_divergence", {"beta": 0.5}, lambda a, b: beta(b, a)),
    "ab": (
        "ab_divergence",
        {"alpha": 0.25, "beta": 0.25},
        lambda a, b: (a**0.5).sum().log() / 0.125
        + (b**0.5).sum().log() / 0.125
        - (a**0.25 * b**0.25).sum().log() / 0.0625,
    ),
    "l1": ("l1_distance", {}, lambda a, b: (a - b).abs().sum()),
    "l2": ("l2_distance", {}, lambda a, b: (a - b).norm()),
    "linf": ("l_infinity_distance", {}, lambda a, b: (a - b).abs().max()),
    "fisher_rao": (
        "fisher_rao_distance",
        {},
        lambda a, b: 2 * (a * b).sqrt().sum().clamp(0, 1).acos(),
    ),
}


def beta(a, b):
    return (
        (a**1.5).sum().log() / 0.75 + (b**1.5).sum().log() / 1.5 - (a * b**0.5).sum().log() / 0.5
    )


INFOLM_PAIRS = [
    ("A", "C"),
    ("B", "A"),
    ("unicode", "capitals"),
    ("one_word", "A"),
    ("lighthouse-repetition", "lighthouse-sound"),
    ("long", "clockmaker-sound"),
]
# The pairs of the golden numbers, which the released code computed in f32.
GOLDEN_PAIRS = [("A", "C"), ("B", "A")]
BLANC_PAIRS = [
    ("A", "Q"),
    ("Q", "A"),
    ("unicode", "capitals"),
    ("contractions", "one_word"),
    ("lighthouse-sound", "lighthouse-repetition"),
    ("clockmaker-sound", "long"),
]


def versions(*packages):
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


def tiny_folder(minilm):
    folder = Path(tempfile.mkdtemp())
    masked_model().save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(minilm / name, folder)
    return folder


def guesses(model, tokenizer, text):
    """The tokens of a text, cut at 512, and the logits at each when it is hidden."""
    ids = tokenizer(text, truncation=True, max_length=512)["input_ids"]
    copies = torch.tensor([ids] * (len(ids) - 2))
    places = torch.arange(1, len(ids) - 1)
    copies[places - 1, places] = tokenizer.mask_token_id
    rows = []
    with torch.no_grad():
        for some, where in zip(copies.split(16), places.split(16)):
            states = model.bert(some).last_hidden_state
            rows.append(model.cls(states[torch.arange(len(some)), where]))
    return ids[1:-1], torch.cat(rows)


def expected_words(tokens, logits, temperature, weights):
    """The mean of what the model expects at each token, weighted, in 64 bits."""
    weight = torch.tensor([weights(token) for token in tokens]).double()
    return weight @ (logits.double() / temperature).softmax(-1) / weight.sum()


def inverse_frequencies(tokenizer, documents):
    """ln((N + 1) / (df + 1)) over whole texts, which are not cut."""
    sets = [set(tokenizer(text)["input_ids"]) for text in documents]
    return lambda token: math.log((len(sets) + 1) / (sum(token in ids for ids in sets) + 1))


def information(folder, named, names):
    """InfoLM by its definition. torchmetrics sorts hypotheses and references by length, each list
    by itself, and then compares texts that do not belong together. It is therefore asked for one
    pair at a time, without idf, to check the definition."""
    model = BertForMaskedLM.from_pretrained(folder).eval()
    tokenizer = BertTokenizer.from_pretrained(folder)
    hypotheses = [named[hypothesis] for hypothesis, _ in names]
    references = [named[reference] for _, reference in names]
    read = {text: guesses(model, tokenizer, text) for text in {*hypotheses, *references}}
    rows = []
    for temperature in (0.25, 1.0):
        for idf in (True, False):

            def distributions(texts):
                weights = inverse_frequencies(tokenizer, texts) if idf else lambda token: 1.0
                return [expected_words(*read[text], temperature, weights) for text in texts]

            pairs = list(zip(distributions(hypotheses), distributions(references)))
            for name, (peer, parameters, measure) in MEASURES.items():
                values = [measure(a, b).item() for a, b in pairs]
                rows.append(
                    {
                        "measure": name,
                        "temperature": temperature,
                        "idf": idf,
                        "values": [float(f"{value:.10g}") for value in values],
                    }
                )
                if idf or temperature == 1.0:
                    continue
                for value, hypothesis, reference in zip(values, hypotheses, references):
                    if len(hypothesis) > 1000:
                        # torchmetrics is slow.
                        continue
                    # In the order of the released code, the first argument is the hypothesis.
                    first, second = (reference, hypothesis)
                    if name.startswith("r_"):
                        first, second = (hypothesis, reference)
                    known = infolm(
                        [first],
                        [second],
                        model_name_or_path=str(folder),
                        temperature=temperature,
                        information_measure=peer,
                        idf=False,
                        max_length=512,
                        verbose=False,
                        **parameters,
                    ).item()
                    assert abs(known - value) < 2e-4 * max(1, abs(value)), (name, known, value)
    return rows


def infolm_fixture(folder, named):
    return {
        "tool": versions("torchmetrics", "torch", "transformers"),
        "command": "python tools/neural_fixtures_masked.py WEIGHTS",
        "note": "measure(hypothesis, reference) by the definition, with the signs of the released "
        "code. Without idf, torchmetrics on each pair alone agrees within the precision of f32. "
        "idf: of each list by itself.",
        "pairs": [list(pair) for pair in INFOLM_PAIRS],
        "values": information(folder, named, INFOLM_PAIRS),
        "golden_pairs": [list(pair) for pair in GOLDEN_PAIRS],
        "golden_values": information(folder, named, GOLDEN_PAIRS),
    }


def words_to_ids(blanc, predictions):
    return [
        [[index, blanc.model_tokenizer.convert_tokens_to_ids(word)] for index, word in one.items()]
        for one in predictions
    ]


def blanc_cases(folder, named):
    helper = BlancHelp(model_name=str(folder), device="cpu", show_progress_bar=False)
    helper.measure = "relative-counts"
    # Without dropout and without random replacements, tuning is the same in every run.
    tuners = {
        rate: BlancTune(
            model_name=str(folder),
            device="cpu",
            show_progress_bar=False,
            learning_rate=rate,
            p_token_replace=0.0,
            p_token_original=0.0,
        )
        for rate in (5e-5, 1e-2)
    }
    cases = []
    for document, summary in BLANC_PAIRS:
        d, u = named[document], named[summary]
        inputs, answers = helper.get_inference_inputs(d, u, helper.help_sep)
        outputs = helper.run_inference_batch(helper.model, inputs)
        tuner = tuners[5e-5]
        tuning = tuner.prepare_finetuning_data(u)
        case = {
            "document": document,
            "summary": summary,
            "eligible": sum(len(answer) for answer in answers[::2]),
            "help_inputs": [one.input_ids for one in inputs[:2]],
            "help_lengths": [len(one.input_ids) for one in inputs],
            "help_predictions": words_to_ids(helper, outputs[0::2]),
            "filler_predictions": words_to_ids(helper, outputs[1::2]),
            "help_score": list(helper.eval_once(d, u)),
            "tune_lengths": [len(one.input_ids) for one in tuning],
            "tune_masked": [one.masked_idxs for one in tuning],
        }
        if document in ("A", "lighthouse-sound"):
            case["tuned"] = [tuned(tuners[rate], rate, d, u) for rate in tuners]
        cases.append(case)
    tokenizer = helper.model_tokenizer
    # Words that are guessed are read with compatible characters as one.
    read = [named[name] for pair in BLANC_PAIRS for name in pair]
    read += [unicodedata.normalize("NFKC", text) for text in read]
    found = {piece for text in read for piece in tokenizer.tokenize(text)}
    pieces = {piece: tokenizer.convert_tokens_to_ids(piece) for piece in found}
    return {
        "tool": versions("blanc", "nltk", "torch", "transformers"),
        "command": "NLTK_DATA=DIR python tools/neural_fixtures_masked.py WEIGHTS",
        "note": "Predictions are [position in the input, token id], one list per masked input. "
        "help_inputs are the first input with the summary and the first with fillers. tuned: "
        "without dropout, every masked token stays masked; logits of tokens 0 to 3 and the "
        "largest logit at the masked positions of the document's first input. pieces: what the "
        "texts need of the vocabulary.",
        "pieces": [dict(sorted(pieces.items(), key=lambda piece: piece[1]))],
        "cases": cases,
    }


def tuned(tuner, rate, document, summary):
    model = tuner.init_model("cpu")
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    tuner.finetune(model, summary)
    inputs, _ = tuner.get_inference_inputs(document)
    first = inputs[0]
    with torch.no_grad():
        (logits,) = model(torch.tensor([first.input_ids]))
    return {
        "learning_rate": rate,
        "epochs": tuner.finetune_epochs,
        "input": first.input_ids,
        "positions": first.masked_idxs,
        "logits": [[float(f"{x:.8g}") for x in logits[0, i, :4].tolist()] for i in first.masked_idxs],
        "largest": [
            [int(logits[0, i].argmax()), float(f"{logits[0, i].max():.8g}")]
            for i in first.masked_idxs
        ],
    }


def main():
    folder = tiny_folder(Path(sys.argv[1]) / "minilm")
    named = texts()
    written(FIXTURES / "infolm.json", infolm_fixture(folder, named))
    written(FIXTURES / "blanc.json", blanc_cases(folder, named))


if __name__ == "__main__":
    main()
