"""Runs lm-evaluation-harness with a model of made-up answers; the arguments are its own."""

import sys

from lm_eval.__main__ import cli_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

KEY = (
    "Mara found a brass key under the step. She tried every lock of the house. "
    "It opened the old clock, and inside lay a letter."
)
KITE = (
    "Theo built a kite from an old shirt. The wind took it over the roof. "
    "A neighbour brought it back the next day."
)
LAMP = (
    "The lamp in the hall went out at nine. Nobody had touched it. "
    "In the morning it burned again, and the cat sat under it."
)


@register_model("stub")
class Stub(LM):
    def __init__(self, name="atlas", **kwargs):
        super().__init__()
        # The two models write other stories.
        self.count = sum("birch" in argument for argument in sys.argv)

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):
        return cls()

    def generate_until(self, requests, disable_tqdm=False):
        stories = [KEY, KITE, LAMP]
        answers = []
        for _ in requests:
            answers.append(stories[(self.count * 2 + self.count // 3) % 3])
            self.count += 1
        return answers

    def loglikelihood(self, requests, **_):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, **_):
        raise NotImplementedError


cli_evaluate()
