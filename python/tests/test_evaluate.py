"""The module for Hugging Face ``evaluate``, without a network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import storymeter as sm

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}

PROGRAM = """
import evaluate, storymeter
judge = evaluate.load(storymeter.hf_module())
texts = ["Rain fell all night.", "The lamp went out. Nobody had touched it."]
found = judge.compute(predictions=texts)
wanted = storymeter.score(texts)
assert found["union"] == wanted.mean, found
assert found["scores"]["union"] == wanted.scores.tolist()
assert found["signature"] == wanted.signature
found = judge.compute(predictions=texts, references=["Rain fell.", "The lamp was out."],
                      metrics=["bleu", "text-length"])
bleu = storymeter.metric("bleu").corpus_score(texts, ["Rain fell.", "The lamp was out."])
assert found["bleu"] == bleu.value, found
found = judge.compute(predictions=texts, references=[["Rain fell.", "Rain."], ["The lamp."]],
                      metrics="bleu")
assert "|nrefs:var|" in found["signature"], found
judge.add_batch(predictions=texts[:1])
judge.add(prediction=texts[1])
assert judge.compute(metrics=["text-length"])["text-length"] == 7.5
print("fine")
"""


def test_the_module_lies_in_the_package():
    folder = Path(sm.hf_module())
    assert folder.name == "storymeter" and (folder / "storymeter.py").is_file()


def test_evaluate_loads_and_computes_offline(tmp_path):
    pytest.importorskip("evaluate")
    environment = {**os.environ, **OFFLINE, "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
