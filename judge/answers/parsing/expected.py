"""Expected rating over the points of a scale, from the token log-probabilities at the position where the answer states
its rating.

The expected rating is the sum of k p(k) over the points k, divided by the sum of p(k). Liu et al. (2023, G-Eval,
section 2.3) do not divide. A token with a space before the point counts as this point too. Points of several tokens
(10, 4.5) are followed along the generated tokens. Alternatives that were not generated cannot be followed. Their
probability is counted as undecided if they could begin several points.

Labels are followed in the same way. With two labels, the expected code is the second label's probability divided by the
sum of both labels' probabilities. With more labels, it is the mean of the codes if the labels are ordered; otherwise
the stated label stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judge.answers.parsing.answer_tokens import Mass, Token, position, read_tokens
from judge.answers.parsing.expected_labels import follow_labels
from judge.base.records import Judgment, Response, Scale

# A mean over a smaller mass would be a ratio of rounding errors.
_TOLERANCE = 1e-9
_PAIR = 2


def expected_judgment(judgment: Judgment, response: Response, scale: Scale) -> Judgment:
    """The judgment with its stated rating replaced by the expected rating.

    Flags give the share of the probability that is outside the scale (or was not reported by the server), and the
    undecided share: `outside=0.031`, `undecided=0.2`. A judgment without a rating, or with an imputed one, stays as it
    is. The status is `no_rating` where the rating's tokens cannot be located in the log-probabilities, or no
    probability is on the scale (flag `no_logprobs`), and where what the server reported there are no probabilities: one
    is above 1, or they add up to more than 1 (flag `unusable_logprobs`).
    """
    if judgment.rating is None or "imputed" in judgment.flags:
        return judgment
    if judgment.span is None:
        return _lost(judgment, "no_logprobs")
    tokens = read_tokens(response.logprobs)
    start = position(tokens, response.text, judgment.span[0])
    if start is None:
        return _lost(judgment, "no_logprobs")
    mass = _label_mass(tokens[start:], scale) if scale.labels else _point_mass(tokens[start:], scale)
    if mass.improbable:
        return _lost(judgment, "unusable_logprobs")
    on_scale = sum(mass.points.values())
    if on_scale <= _TOLERANCE:
        return _lost(judgment, "no_logprobs")
    rating = sum(point * p for point, p in mass.points.items()) / on_scale
    if len(scale.labels) > _PAIR and not scale.ordered:
        # Between labels without an order there is no expected one: the label that was stated stays.
        rating = judgment.rating
    flags = [*judgment.flags, f"outside={max(0.0, 1 - on_scale - mass.undecided):.3f}"]
    if mass.undecided > _TOLERANCE:
        flags.append(f"undecided={mass.undecided:.3f}")
    return replace(judgment, rating=rating, flags=tuple(flags))


def _lost(judgment: Judgment, flag: str) -> Judgment:
    return replace(judgment, status="no_rating", rating=None, span=None, flags=(*judgment.flags, flag))


def _point_mass(tokens: Sequence[Token], scale: Scale) -> Mass:
    forms = {f"{point:g}": float(point) for point in scale.points()}
    mass = Mass(dict.fromkeys(forms.values(), 0.0))
    _follow(tokens, "", 1.0, forms, mass)
    return mass


def _label_mass(tokens: Sequence[Token], scale: Scale) -> Mass:
    forms = {" ".join(label.lower().split()): float(code) for code, label in enumerate(scale.labels)}
    mass = Mass(dict.fromkeys(forms.values(), 0.0))
    follow_labels(tokens, "", 1.0, forms, mass)
    return mass


def _follow(tokens: Sequence[Token], prefix: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    """Distribute the probability `weight` of the text `prefix` over the points of the scale that the text can become.
    `forms` maps a point's text to its value. Results are added to `mass`.
    """
    for token in tokens:
        onward: tuple[str, float] | None = None
        for text, probability in mass.alternatives(token).items():
            part = text.lstrip() if not prefix else text
            word = prefix + part
            digits = bool(part) and part[0] in "0123456789."
            if not digits:
                # The number ended with the token before.
                if prefix:
                    _settle(prefix, weight * probability, forms, mass)
            elif not any(form.startswith(word.rstrip()) for form in forms):
                continue
            elif not any(form.startswith(word) and form != word for form in forms):
                _settle(word.rstrip(), weight * probability, forms, mass)
            elif text == token.text:
                onward = word, weight * probability
            else:
                mass.undecided += weight * probability
        if onward is None:
            return
        prefix, weight = onward
    _settle(prefix, weight, forms, mass)


def _settle(word: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    if word in forms:
        mass.points[forms[word]] += weight
