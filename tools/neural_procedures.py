"""MoverScore, BaryScore and DepthScore, computed the way their released code computes them.

The code is this project's own and follows the published procedures: one pass of the network per
metric, the same solvers (pyemd or POT) and the same matrices. It serves two purposes: fixtures for
tests (tools/neural_fixtures_transport.py) and the measurements of benches/peers/neural.py.
"""

import string
from collections import Counter, defaultdict
from math import log

import numpy
import ot
import torch

# The stop words of SummEval's MoverScore: NLTK's English list of 2018.
STOP_WORDS = set(
    """i me my myself we our ours ourselves you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves what which who whom this
    that these those am is are was were be been being have has had having do does did doing a an
    the and but if or because as until while of at by for with about against between into through
    during before after above below to from up down in out on off over under again further then
    once here there when where why how all any both each few more most other some such no nor not
    only own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn
    didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won
    wouldn""".split()
)
PUNCTUATION = set(string.punctuation)
REGULARISATIONS = [10, 5, 1, 0.5, 0.1, 0.01, 0.001]


class Encoder:
    """A tokeniser and a network that gives all hidden states."""

    def __init__(self, folder, with_masked_head=False):
        from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        kind = AutoModelForMaskedLM if with_masked_head else AutoModel
        self.model = kind.from_pretrained(folder, output_hidden_states=True).eval()

    def states(self, texts):
        """Hidden states (layers, texts, tokens, width) of a padded batch, and the batch."""
        batch = self.tokenizer(
            texts, return_tensors="pt", padding=True, truncation=True, max_length=512
        )
        with torch.no_grad():
            hidden = self.model(**batch).hidden_states
        return hidden, batch

    def clouds(self, text, layers):
        """The vectors of one text at each of the layers, divided by their norms, as float64."""
        hidden, _ = self.states([text])
        unit = [torch.nn.functional.normalize(hidden[layer][0], dim=-1) for layer in layers]
        return [cloud.double().numpy() for cloud in unit]

    def tokens(self, text):
        return self.tokenizer.convert_ids_to_tokens(self.ids(text))

    def ids(self, text):
        return self.tokenizer(text, truncation=True, max_length=512)["input_ids"]


def inverse_frequencies(documents):
    """ln((N + 1) / (df + 1)) for every token id of a list of documents (lists of ids)."""
    counts = Counter(token for document in documents for token in set(document))
    total = len(documents)
    table = defaultdict(lambda: log(total + 1))
    table.update({token: log((total + 1) / (count + 1)) for token, count in counts.items()})
    return table


def dropped(token, stops):
    return token in stops or "##" in token or token in PUNCTUATION


def moverscore_v2(encoder, hypothesis, reference, weights=None, stops=frozenset()):
    """1 / (1 + EMD) over the last layer. `weights` is a pair of tables, (hypothesis, reference).

    Distances are computed in 64 bits here. The released code computes them in 32 bits.
    """
    sides = []
    for side, text in enumerate((hypothesis, reference)):
        ids, tokens = encoder.ids(text), encoder.tokens(text)
        (cloud,) = encoder.clouds(text, [-1])
        keep = numpy.array([not dropped(token, stops) for token in tokens])
        mass = numpy.array([1.0 if weights is None else weights[side][token] for token in ids])
        cloud = numpy.where(keep[:, None], cloud, 0.0)
        sides.append((cloud, numpy.where(keep, mass, 0.0)))
    (x, a), (y, b) = sides
    squared = (x * x).sum(1)[:, None] + (y * y).sum(1)[None, :] - 2.0 * x @ y.T
    distance = numpy.sqrt(numpy.maximum(squared, 1e-30))
    a, b = a / (a.sum() + 1e-30), b / (b.sum() + 1e-30)
    used = numpy.ix_(a > 0, b > 0)
    return 1.0 / (1.0 + ot.emd2(a[a > 0], b[b > 0], distance[used]))


def moverscore_v1(encoder, hypothesis, reference, n=1, weights=None, stops=frozenset()):
    """1 - EMD over n-grams of [min; mean; max] of the last five layers, with squared distances."""
    from pyemd import emd

    sides = []
    for side, text in enumerate((hypothesis, reference)):
        ids, tokens = encoder.ids(text), encoder.tokens(text)
        layers = numpy.stack(encoder.clouds(text, range(-5, 0)))
        vectors = numpy.concatenate([layers.min(0), layers.mean(0), layers.max(0)], axis=1)
        keep = [k for k, token in enumerate(tokens) if not dropped(token, stops)]
        mass = numpy.array([1.0 if weights is None else weights[side][ids[k]] for k in keep])
        vectors = vectors[keep]
        size = min(n, len(keep))
        grams, masses = [], []
        for start in range(len(keep) - size + 1):
            window = slice(start, start + size)
            total = mass[window].sum()
            gram = (mass[window] / (total + 1e-5)) @ vectors[window]
            grams.append(gram / (numpy.linalg.norm(gram) + 1e-6))
            masses.append(total)
        masses = numpy.array(masses)
        sides.append((numpy.array(grams), masses / (masses.sum() + 1e-5)))
    (x, a), (y, b) = sides
    both = numpy.concatenate([x, y])
    squared = (both * both).sum(1)
    cost = numpy.maximum(squared[:, None] + squared[None, :] - 2.0 * both @ both.T, 0.0)
    first = numpy.concatenate([a, numpy.zeros(len(b))])
    second = numpy.concatenate([numpy.zeros(len(a)), b])
    return 1.0 - emd(first, second, cost)


def barycentre(clouds, start="zeros"):
    """The free-support barycentre of the layers' clouds; `start` is "zeros" or "mean".

    From the mean of the layers no iteration is made: the mean is a fixed point.
    """
    if start == "mean":
        return numpy.mean(clouds, axis=0)
    count, width = clouds[0].shape
    uniform = numpy.full(count, 1.0 / count)
    return ot.lp.free_support_barycenter(
        list(clouds),
        [uniform] * len(clouds),
        numpy.zeros((count, width)),
        b=uniform,
        numItermax=1000,
    )


def baryscore(hypothesis, reference, start="zeros", method="sinkhorn"):
    """W and the costs of the entropic plans between the barycentres of two lists of clouds."""
    x, y = barycentre(reference, start), barycentre(hypothesis, start)
    cost = ot.dist(x, y)
    a, b = numpy.full(len(x), 1.0 / len(x)), numpy.full(len(y), 1.0 / len(y))
    scores = {"w": float(ot.emd2(a, b, cost))}
    for strength in REGULARISATIONS:
        value = ot.sinkhorn2(a, b, cost, reg=strength, numItermax=10000, method=method, warn=False)
        scores[f"sd-{strength}"] = float(value)
    return scores


def directions(width, count=10000):
    """Random unit vectors, drawn as the released code draws them."""
    drawn = numpy.random.multivariate_normal(numpy.zeros(width), numpy.identity(width), count)
    return drawn / numpy.linalg.norm(drawn, axis=1, keepdims=True)


def integrated_rank_depth(cloud):
    numpy.random.seed(0)
    projected = cloud @ directions(cloud.shape[1]).T
    count = len(cloud)
    order = numpy.argsort(projected, axis=0)
    ranks = numpy.zeros(projected.shape)
    sequence = numpy.arange(1, count + 1)
    for column in range(projected.shape[1]):
        ranks[order[:, column], column] = sequence
    share = ranks / count
    return numpy.minimum(share, 1.0 - share).mean(axis=1)


def depthscore(hypothesis, reference):
    """The signed depth-region distance of two clouds, power 5, five levels from 30% to 100%."""
    x, y = reference, hypothesis
    depth_x, depth_y = integrated_rank_depth(x), integrated_rank_depth(y)
    # The generator goes on where the second depth left it.
    sphere = directions(x.shape[1])
    projected_x, projected_y = x @ sphere.T, y @ sphere.T
    total = 0.0
    for level in numpy.linspace(30, 100, 5):
        support_x = projected_x[depth_x >= numpy.percentile(depth_x, level)].max(axis=0)
        support_y = projected_y[depth_y >= numpy.percentile(depth_y, level)].max(axis=0)
        total += ((support_x - support_y) ** 5).max()
    return float((total / 5) ** (1 / 5))
