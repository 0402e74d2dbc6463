"""The module for Hugging Face ``evaluate``."""

from __future__ import annotations

import os

__all__ = ["hf_module"]


def hf_module() -> str:
    """Return the folder that ``evaluate.load`` loads, without a network.

    Returns
    -------
    str
        A folder inside this package. The module takes ``predictions``, ``references`` where the
        metrics need them, and ``metrics``; further keywords go to :func:`storymeter.score`.

    Examples
    --------
    >>> import os
    >>> import storymeter as sm
    >>> os.path.basename(sm.hf_module())
    'storymeter'

    With the package ``evaluate``::

        import evaluate
        judge = evaluate.load(sm.hf_module())
        judge.compute(predictions=stories, metrics=["union"])
    """
    # The dot keeps type checkers from taking the folder for a part of the package.
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "hf.module", "storymeter")
