"""Scores that separate texts that a model has seen in training from unseen texts. Functions of arrays; no model is run.
Sign convention of every score here: **higher = more likely seen**. The reference implementation of Min-K% Prob (Shi et
al.) prints scores with the opposite sign and reverses them before the ROC; its printed scores are minus ours, except
where a docstring states another relation. Log-probabilities are natural (nats), one for each token. They are NaN where
a token has none (the first token of a text without a prefix), and these tokens are left out. A text without any
log-probability, or too short for a score, has an undefined score with a reason. A score compares how surprising the
model finds a text with how surprising the text is in itself. It is evidence, not proof: easy texts look seen. Only a
labelled set shows how accurate a score is for a model."""

from __future__ import annotations

import zlib as _zlib
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from judge.base.estimate import Estimate

Floats = NDArray[np.float64]

# Shares in per cent that the reference implementation of Min-K% Prob goes through.
SWEEP = (5, 10, 20, 30, 40, 50, 60)

EMPTY = "undefined: the text has no token with a log-probability"
CERTAIN = "undefined: every token has probability 1"

# Tokens in a row that make a recital (Carlini et al. 2023, Quantifying Memorization Across Neural Language Models).
RECITED = 50

# Tokens in a row that stood in the text before: what follows can be copied from there.
_COPIED = 8


def loss(logprobs: Floats) -> Estimate:
    """Mean log-probability, in nats: minus the language-model loss, and minus the log of the perplexity. Yeom,
    Giacomelli, Fredrikson & Jha 2018, Privacy Risk in Machine Learning (CSF), who use the loss as an attack. Undefined
    for a text of one token."""
    defined = _known(logprobs)
    return Estimate(float(defined.mean()), n=defined.size) if defined.size else Estimate.undefined(EMPTY)


def min_k(logprobs: Floats, k: float = 20) -> Estimate:
    """Min-K% Prob: mean log-probability, in nats, of the k % least likely tokens.

    Shi, Ajith, Xia, Huang, Liu, Blevins, Chen & Zettlemoyer 2024, Detecting Pretraining Data from Large Language Models
    (ICLR), equation 1; their code prints minus this value. As there the mean is over int(n k / 100) of n tokens with a
    log-probability. Undefined if this is 0 (for k = 20, if n is below 5), where their code gives NaN."""
    return _lowest_mean(_known(logprobs), k)


def min_k_plus_plus(logprobs: Floats, mean: Floats, variance: Floats, k: float = 20) -> Estimate:
    """Min-K%++: mean of the k % lowest standardised log-probabilities (log p - mu) / sigma, without a unit.

    Zhang, Sun, Yeats, Ouyang, Kuo, Zhang, Yang & Li 2025, Min-K%++: Improved Baseline for Detecting Pre-Training Data
    from Large Language Models (ICLR), section 3. mu and sigma^2 are mean and variance of log p of the next token under
    the model's predicted distribution at that position. Positions with a variance below 1e-12 are left out. The number
    of tokens is as in `min_k`. All arrays have shape (tokens,), as in `TokenLogprobs`."""
    usable = ~np.isnan(logprobs) & (variance > 1e-12)
    z = (logprobs[usable] - mean[usable]) / np.sqrt(variance[usable])
    return _lowest_mean(z, k)


def zlib(logprobs: Floats, text: str) -> Estimate:
    """Mean log-probability divided by the size of the zlib-compressed text (nats per byte). Carlini et al. 2021,
    Extracting Training Data from Large Language Models (USENIX Security), section 5, compare log-perplexity with zlib
    entropy. The code of Shi et al. computes minus this value: log-perplexity divided by len(zlib.compress(utf-8))."""
    plain = loss(logprobs)
    if plain.value is None:
        return plain
    return Estimate(plain.value / len(_zlib.compress(text.encode("utf-8"))), n=plain.n)


def lowercase(logprobs: Floats, lowered: Floats) -> Estimate:
    """Log-perplexity of the text in lower case divided by that of the unchanged text; 1 = no difference. Carlini et al.
    2021, section 5; the code of Shi et al. prints minus this value. `lowered` holds the log-probabilities of
    `text.lower()`, which may have another number of tokens."""
    return _ratio(loss(lowered), loss(logprobs))


def reference_difference(logprobs: Floats, reference: Floats) -> Estimate:
    """Mean log-probability minus that of the same text under a reference model, in nats per token. The code of Shi et
    al. computes minus this value: the loss minus that of a (smaller) reference model. Each mean is over the model's own
    tokens."""
    ours, theirs = loss(logprobs), loss(reference)
    if ours.value is None or theirs.value is None:
        return ours if ours.value is None else theirs
    return Estimate(ours.value - theirs.value, n=ours.n)


def reference_ratio(logprobs: Floats, reference: Floats) -> Estimate:
    """Log-perplexity under a reference model divided by that under the model, without a unit. Carlini et al. 2021,
    section 5, where a small or medium model is the reference for a larger model."""
    return _ratio(loss(reference), loss(logprobs))


def recall(logprobs: Floats, conditional: Floats) -> Estimate:
    """ReCaLL: mean log-probability after a prefix of unseen texts divided by that without it, without a unit.

    Xie, Wang, Huang, Zhang, Ge, Pei, Gong & Dhingra 2024, ReCaLL: Membership Inference via Relative Conditional
    Log-Likelihoods (EMNLP), equation 1. The prefix makes seen texts less likely; log-probabilities are negative, so the
    ratio is higher for seen texts. Tokens without both log-probabilities are left out, such as the first."""
    paired = ~np.isnan(logprobs) & ~np.isnan(conditional)
    return _ratio(loss(conditional[paired]), loss(logprobs[paired]))


def recital(logprobs: Floats, tokens: Sequence[Hashable], length: int = RECITED) -> Estimate:
    """Log-probability, in nats, of the likeliest `length` consecutive tokens, each conditional on all before it.

    The log of the probability that a model, given the text so far, samples exactly these tokens: p_z of Hayes et al.
    2025, Measuring memorization in language models via probabilistic extraction (NAACL), conditional on the whole
    preceding text in place of 50 tokens. Stretches with a token that ends a repetition of `_COPIED` (8) or more tokens
    from earlier are left out: every model can continue a text that repeats itself. Undefined if none is left."""
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
    if not 0 < k <= 100:
        raise ValueError(f"k = {k:g} is not a share in per cent")
    count = int(values.size * (k / 100))
    if count == 0:
        reason = EMPTY if not values.size else f"undefined: too short, {k:g} % of its tokens are fewer than one"
        return Estimate.undefined(reason, n=values.size)
    return Estimate(float(np.partition(values, count - 1)[:count].mean()), n=count)


def _ratio(over: Estimate, under: Estimate) -> Estimate:
    if over.value is None or under.value is None:
        return over if over.value is None else under
    if under.value == 0.0:
        return Estimate.undefined(CERTAIN, n=under.n)
    return Estimate(over.value / under.value, n=under.n)
