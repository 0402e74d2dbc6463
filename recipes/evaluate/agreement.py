"""Correlations at five levels, with 95% intervals from resamples of whole items.

A resample says how often each item was drawn, and a story counts as often as its item. So all
resamples of a coefficient are computed at once, from one row of weights per resample. The first
row is the data itself: every item once.
"""

import numpy as np

RESAMPLES = 1000
COEFFICIENTS = "pearson", "spearman", "kendall"
LEVELS = {
    "pooled": "all stories together",
    "story": "inside each prompt, mean over the prompts",
    "system": "of the means of the systems",
    "within systems": "inside each system, mean over the systems",
    "given length": "all stories together, with length partialled out (logarithm of the words)",
}


class Layout:
    """Which stories belong together, and the resamples of their items."""

    def __init__(self, stories, seed=0, *, draw_stories=False):
        self.stories = stories
        items = [story["item"] for story in stories]
        self.items = np.unique(items, return_inverse=True)[1]
        self.systems = np.unique([story.get("system", "") for story in stories], return_inverse=True)[1]
        self.log_words = np.log([max(words(story), 1) for story in stories])
        drawn = np.arange(len(stories)) if draw_stories else self.items
        count = drawn.max() + 1
        draws = np.random.default_rng(seed).multinomial(count, [1 / count] * count, RESAMPLES)
        self.item_weights = np.vstack([np.ones(count), draws])
        self.weights = self.item_weights[:, drawn]


def words(story):
    return len(story["story"].split())


def ratio(top, *squares, least=0.0):
    """`top` divided by the root of a product of squares; NaN where one of these is not above
    `least`."""
    return top / np.prod([np.sqrt(np.where(s > least, s, np.nan)) for s in squares], axis=0)


def pearson(x, y, weights):
    def centred(values):
        mean = ((weights * values).sum(-1) / weights.sum(-1))[..., None]
        # Rounding errors of equal numbers are not differences.
        return np.where(abs(values - mean) > 1e-12 * abs(mean), values - mean, 0.0)

    x, y = centred(x), centred(y)
    return ratio(*((weights * product).sum(-1) for product in (x * y, x * x, y * y)))


def ranks(values, weights):
    """Mid-ranks in each resample, less one half."""
    other, own = values[..., None, :], values[..., :, None]
    below = (other < own) + 0.5 * (other == own)
    return weights @ below.T if values.ndim == 1 else np.einsum("dij,dj->di", below, weights)


def spearman(x, y, weights):
    return pearson(ranks(x, weights), ranks(y, weights), weights)


def kendall(x, y, weights):
    """Tau-b."""
    x, y = (np.sign(values[..., None, :] - values[..., :, None]) for values in (x, y))

    def pairs(signs):
        if signs.ndim == 2:
            return ((weights @ signs) * weights).sum(-1)
        return np.einsum("dij,di,dj->d", signs, weights, weights)

    return ratio(pairs(x * y), pairs(abs(x)), pairs(abs(y)))


def partial(coefficient, x, y, z, weights):
    """The coefficient of x and y if z is held fixed."""
    xy, xz, yz = (coefficient(a, b, weights) for a, b in ((x, y), (x, z), (y, z)))
    return np.clip(ratio(xy - xz * yz, 1 - xz**2, 1 - yz**2, least=1e-12), -1, 1)


def mean_of_defined(values, weights):
    """The weighted mean over the last axis of the values that are defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return (np.nan_to_num(values) * weights).sum(-1) / (defined * weights).sum(-1)


def correlation(level, coefficient, scores, ratings, layout, *, resample=True):
    """The coefficient (a name) at a level: its value, and then its values in the resamples."""
    of = globals()[coefficient]
    x, y = np.asarray(scores, float), np.asarray(ratings, float)
    rows = slice(None) if resample else slice(1)
    weights = layout.weights[rows]
    if level == "pooled":
        return of(x, y, weights)
    if level == "given length":
        return partial(of, x, y, layout.log_words, weights)
    if level == "story":
        own = [np.flatnonzero(layout.items == item) for item in range(layout.items.max() + 1)]
        each = np.array([of(x[at], y[at], np.ones((1, len(at))))[0] for at in own])
        return mean_of_defined(each, layout.item_weights[rows])
    systems = [np.flatnonzero(layout.systems == s) for s in range(layout.systems.max() + 1)]
    if level == "within systems":
        each = np.stack([of(x[at], y[at], weights[:, at]) for at in systems], -1)
        return mean_of_defined(each, np.ones_like(each))
    means = [
        np.stack([np.average(np.broadcast_to(v[at], weights[:, at].shape), -1, weights[:, at])
                  for at in systems], -1)
        for v in (x, y)
    ]
    return of(*means, np.ones_like(means[0]))


def estimate(sampled):
    """The value of a figure, and the interval between the quantiles of its resamples."""
    defined = sampled[1:][~np.isnan(sampled[1:])]
    low, high = np.quantile(defined, [0.025, 0.975]) if len(defined) else (np.nan, np.nan)
    return {"value": float(sampled[0]), "low": float(low), "high": float(high)}


def row(set_name, criterion, level, metric, scores, ratings, layout):
    """One line of a table: the three coefficients, as the card of a model has them."""
    three = {c: correlation(level, c, scores, ratings, layout) for c in COEFFICIENTS}
    return row_of(set_name, criterion, level, metric, len(ratings), three)


def row_of(set_name, criterion, level, metric, n, three):
    return {
        "set": set_name, "criterion": criterion, "level": level, "metric": metric, "n": n,
        **{name: estimate(sampled) for name, sampled in three.items()},
    }  # fmt: skip


def auc(scores, positive):
    """The area under the ROC curve."""
    scores, positive = np.asarray(scores), np.asarray(positive, bool)
    good, bad = scores[positive][:, None], scores[~positive]
    return float(((good > bad) + 0.5 * (good == bad)).mean())
