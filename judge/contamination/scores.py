"""Scores that tell texts a model has seen in training from texts it has not. Arrays in, one number out; asks no model.

Sign convention of every score here: **higher = more likely seen**. The reference implementation of Min-K% Prob (Shi et
al.) prints its scores with the opposite sign and turns them round before the ROC; those are minus ours, except where a
docstring says more. Log-probabilities are natural (nats), one for each token, NaN where there is none (the first token
of a text that nothing stands before); those positions are left out. A text without any, or too short for a score, has
no score and says why.

What a score says: how surprising the model finds a text, set against something that stands for how surprising the
text is in itself. It is evidence, not proof: easy texts look seen. Only a labelled set tells how good it is for a
model.
"""

from __future__ import annotations

import zlib as _zlib
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from judge.stats.estimate import Estimate

Floats = NDArray[np.float64]

SWEEP = (5, 10, 20, 30, 40, 50, 60)
"""Shares in per cent that the reference implementation of Min-K% Prob goes through."""

EMPTY = "undefined: the text has no token with a log-probability"
CERTAIN = "undefined: every token has probability 1"

RECITED = 50
"""Tokens in a row that make a recital (Carlini et al. 2023, Quantifying Memorization Across Neural Language Models)."""

_COPIED = 8
"""Tokens in a row that stood in the text before: what follows can be copied from there."""


def loss(logprobs: Floats) -> Estimate:
    """Mean log-probability of the tokens, in nats: minus the language-model loss, minus the log of the perplexity.

    Yeom, Giacomelli, Fredrikson & Jha 2018, Privacy Risk in Machine Learning (CSF), as an attack by the loss.
    `logprobs` has shape (tokens,). Undefined for a text of one token.
    """
    defined = _known(logprobs)
    return Estimate(float(defined.mean()), n=defined.size) if defined.size else Estimate.undefined(EMPTY)


def min_k(logprobs: Floats, k: float = 20) -> Estimate:
    """Min-K% Prob: mean log-probability, in nats, of the k % least likely tokens.

    Shi, Ajith, Xia, Huang, Liu, Blevins, Chen & Zettlemoyer 2024, Detecting Pretraining Data from Large Language Models
    (ICLR), equation 1. As in their code the number of tokens is int(n k / 100), cut off and not rounded, over the n
    tokens that have a log-probability; their code prints minus this. Undefined where that number is 0 (with k = 20:
    fewer than 5 such tokens), where theirs gives NaN.
    """
    return _lowest_mean(_known(logprobs), k)


def min_k_plus_plus(logprobs: Floats, mean: Floats, variance: Floats, k: float = 20) -> Estimate:
    """Min-K%++: mean of the k % lowest standardised log-probabilities (log p - mu) / sigma; no unit.

    Zhang, Sun, Yeats, Ouyang, Kuo, Zhang, Yang & Li 2025, Min-K%++: Improved Baseline for Detecting Pre-Training Data
    from Large Language Models (ICLR), section 3: mu and sigma^2 are mean and variance of log p of the next token under
    the model's own distribution there. Positions whose distribution has no variance (below 1e-12) are left out. The
    number of tokens is as in `min_k`.

    Parameters
    ----------
    logprobs, mean, variance : array, shape (tokens,)
        As `TokenLogprobs` holds them.
    """
    usable = ~np.isnan(logprobs) & (variance > 1e-12)
    z = (logprobs[usable] - mean[usable]) / np.sqrt(variance[usable])
    return _lowest_mean(z, k)


def zlib(logprobs: Floats, text: str) -> Estimate:
    """Mean log-probability divided by the bytes of the text after zlib compression (nats for a byte).

    Carlini et al. 2021, Extracting Training Data from Large Language Models (USENIX Security), section 5:
    log-perplexity against zlib entropy, as the code of Shi et al. computes it (log-perplexity over
    len(zlib.compress(utf-8)), minus ours).
    """
    plain = loss(logprobs)
    if plain.value is None:
        return plain
    return Estimate(plain.value / len(_zlib.compress(text.encode("utf-8"))), n=plain.n)


def lowercase(logprobs: Floats, lowered: Floats) -> Estimate:
    """Log-perplexity of the text in lower case over that of the text as it is; no unit; 1 = no difference.

    Carlini et al. 2021, section 5; the code of Shi et al. prints minus this. `lowered` are the log-probabilities of
    `text.lower()`, which may have another number of tokens.
    """
    return _ratio(loss(lowered), loss(logprobs))


def reference_difference(logprobs: Floats, reference: Floats) -> Estimate:
    """Mean log-probability less that of a reference model of the same text, in nats for a token.

    The code of Shi et al.: loss of the model less loss of a (smaller) reference model, minus ours. With tokenizers that
    cut texts differently the two means are over different tokens.
    """
    ours, theirs = loss(logprobs), loss(reference)
    if ours.value is None or theirs.value is None:
        return ours if ours.value is None else theirs
    return Estimate(ours.value - theirs.value, n=ours.n)


def reference_ratio(logprobs: Floats, reference: Floats) -> Estimate:
    """Log-perplexity under a reference model over that under the model; no unit.

    Carlini et al. 2021, section 5 (small or medium against the model in question).
    """
    return _ratio(loss(reference), loss(logprobs))


def recall(logprobs: Floats, conditional: Floats) -> Estimate:
    """ReCaLL: mean log-probability after texts known as not seen, over that without them; no unit.

    Xie, Wang, Huang, Zhang, Ge, Pei, Gong & Dhingra 2024, ReCaLL: Membership Inference via Relative Conditional
    Log-Likelihoods (EMNLP), equation 1. Such a prefix makes seen texts less likely, and log-probabilities are negative.
    `conditional` are those of the same text after the prefix; the first token, which has one there alone, is left out
    of both.
    """
    paired = ~np.isnan(logprobs) & ~np.isnan(conditional)
    return _ratio(loss(conditional[paired]), loss(logprobs[paired]))


def recital(logprobs: Floats, tokens: Sequence[Hashable], length: int = RECITED) -> Estimate:
    """Log-probability, in nats, of the likeliest `length` tokens in a row, each given all before it.

    The probability that a model which is given the text up to there goes on with these very words when it samples:
    Hayes et al. 2025, Measuring memorization in language models via probabilistic extraction (NAACL), p_z, with the
    whole text before in place of 50 tokens of it. Stretches that hold `_COPIED` tokens in a row which stood in the text
    before are left out: a text that repeats itself is recited by any model.
    """
    first: set[tuple[Hashable, ...]] = set()
    usable = ~np.isnan(logprobs)
    for i in range(_COPIED, len(tokens) + 1):
        piece = tuple(tokens[i - _COPIED : i])
        if piece in first:
            usable[i - 1] = False
        first.add(piece)
    if logprobs.size < length:
        return Estimate.undefined(f"undefined: fewer than {length} tokens", n=int(logprobs.size))
    lost = np.convolve(~usable, np.ones(length, dtype=np.int64), "valid")
    sums = np.convolve(np.where(usable, logprobs, 0.0), np.ones(length), "valid")[lost == 0]
    if not sums.size:
        return Estimate.undefined(f"undefined: no {length} tokens in a row without a repetition")
    return Estimate(float(sums.max()), n=int(sums.size))


def _known(logprobs: Floats) -> Floats:
    return np.asarray(logprobs[~np.isnan(logprobs)], dtype=np.float64)


def _lowest_mean(values: Floats, k: float) -> Estimate:
    """Mean of the int(n k / 100) lowest of n values."""
    if not 0 < k <= 100:
        raise ValueError(f"k = {k:g} is not a share in per cent")
    count = int(values.size * (k / 100))
    if count == 0:
        reason = EMPTY if not values.size else f"undefined: too short, {k:g} % of its tokens are fewer than one"
        return Estimate.undefined(reason, n=values.size)
    return Estimate(float(np.partition(values, count - 1)[:count].mean()), n=count)


def _ratio(over: Estimate, under: Estimate) -> Estimate:
    """One mean over another; undefined where either is, or where the lower one is 0."""
    if over.value is None or under.value is None:
        return over if over.value is None else under
    if under.value == 0.0:
        return Estimate.undefined(CERTAIN, n=under.n)
    return Estimate(over.value / under.value, n=under.n)
