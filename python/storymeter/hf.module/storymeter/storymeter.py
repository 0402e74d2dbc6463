"""storymeter as a module for Hugging Face ``evaluate``.

``evaluate`` copies this file to a cache, so everything comes from the installed package.
"""

import datasets
import evaluate

import storymeter

_DESCRIPTION = """
How good stories are, by any metric of storymeter: the learned metric UNION, which needs no
reference, and the usual ones, such as BLEU and ROUGE. `storymeter.metrics()` lists them.
"""

_INPUTS = """
Args:
    predictions (list of str): the stories.
    references (list of str, or list of lists of str): the references, where a metric needs them.
    metrics (str or list of str): the metrics. The default is the learned one.
    Further keywords go to `storymeter.score`.
Returns:
    One number per score, by its key, for all stories together; `scores`, the scores of the single
    stories by key; and `signature`.
Examples:
    >>> judge = evaluate.load(storymeter.hf_module())
    >>> found = judge.compute(predictions=["Rain fell."], metrics=["text-length"])
    >>> found["text-length"]
    3.0
"""


class Storymeter(evaluate.Metric):
    """Scores stories with storymeter."""

    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": text}),
                datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
            ],
        )

    # `evaluate` knows no input that may be left out, so a story without a reference has none of
    # several.

    def add(self, *, prediction=None, reference=None, **others):
        """Add one story, with its reference where the metrics need one."""
        reference = [] if reference is None else reference
        return super().add(prediction=prediction, reference=reference, **others)

    def add_batch(self, *, predictions=None, references=None, **others):
        """Add stories, with their references where the metrics need them."""
        if references is None and predictions is not None:
            references = [[] for _ in predictions]
        return super().add_batch(predictions=predictions, references=references, **others)

    def _compute(self, predictions, references=None, metrics=None, **options):
        if not any(references or []):
            references = None
        result = storymeter.score(
            list(predictions), references=references, metrics=metrics, **options
        )
        columns = [result.column(key) for key in result.columns]
        found = {column.key: column.mean for column in columns}
        found["scores"] = {column.key: column.scores.tolist() for column in columns}
        found["signature"] = result.signature
        return found
