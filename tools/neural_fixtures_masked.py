"""Writes what torchmetrics' InfoLM and blanc compute with the tiny BERT of tools/neural_tiny.py.

    NLTK_DATA=DIR python tools/neural_fixtures_masked.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py, whose MiniLM gives the vocabulary. NLTK_DATA has
NLTK's punkt_tab. The outputs are infolm.json and blanc.json in
crates/storymeter-neural/tests/fixtures. A text is named as in bertscore.json.
"""

import importlib.metadata
import shutil
import sys
import tempfile
from pathlib import Path

import torch
from blanc import BlancHelp, BlancTune
from torchmetrics.functional.text import infolm

from neural_fixtures_bertscore import texts
from neural_texts import ROOT, written
from neural_tiny import masked_model

FIXTURES = ROOT / "crates/storymeter-neural/tests/fixtures"

# torchmetrics calls a measure with the arguments in the other order than the released code:
# its kl_divergence is the released r_kl. The names here are torchmetrics'.
MEASURES = {
    "kl_divergence": {},
    "alpha_divergence": {"alpha": 0.5},
    "beta_divergence": {"beta": 0.5},
    "ab_divergence": {"alpha": 0.25, "beta": 0.25},
    "renyi_divergence": {"alpha": 0.5},
    "l1_distance": {},
    "l2_distance": {},
    "l_infinity_distance": {},
    "fisher_rao_distance": {},
}
INFOLM_PAIRS = [
    ("A", "C"),
    ("B", "A"),
    ("unicode", "capitals"),
    ("one_word", "A"),
    ("lighthouse-repetition", "lighthouse-sound"),
]
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


def information(folder, named):
    hypotheses = [named[hypothesis] for hypothesis, _ in INFOLM_PAIRS]
    references = [named[reference] for _, reference in INFOLM_PAIRS]
    rows = []
    for measure, parameters in MEASURES.items():
        for temperature in (0.25, 1.0):
            for idf in (True, False):
                for swapped in (False, True):
                    first, second = hypotheses, references
                    if swapped:
                        first, second = references, hypotheses
                    _, values = infolm(
                        first,
                        second,
                        model_name_or_path=str(folder),
                        temperature=temperature,
                        information_measure=measure,
                        idf=idf,
                        max_length=512,
                        verbose=False,
                        return_sentence_level_score=True,
                        **parameters,
                    )
                    rows.append(
                        {
                            "measure": measure,
                            **parameters,
                            "temperature": temperature,
                            "idf": idf,
                            "first": "references" if swapped else "hypotheses",
                            "values": [float(f"{value:.8g}") for value in values.double().tolist()],
                        }
                    )
    return {
        "tool": versions("torchmetrics", "torch", "transformers"),
        "command": "python tools/neural_fixtures_masked.py WEIGHTS",
        "note": "infolm(first, second) by torchmetrics: measure(second, first) in the order of "
        "the released code. idf: of each list by itself.",
        "pairs": [list(pair) for pair in INFOLM_PAIRS],
        "values": rows,
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
    return {
        "tool": versions("blanc", "nltk", "torch", "transformers"),
        "command": "NLTK_DATA=DIR python tools/neural_fixtures_masked.py WEIGHTS",
        "note": "Predictions are [position in the input, token id], one list per masked input. "
        "help_inputs are the first input with the summary and the first with fillers. tuned: "
        "without dropout, every masked token stays masked; logits of tokens 0 to 3 and the "
        "largest logit at the masked positions of the document's first input.",
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
    written(FIXTURES / "infolm.json", information(folder, named))
    written(FIXTURES / "blanc.json", blanc_cases(folder, named))


if __name__ == "__main__":
    main()
