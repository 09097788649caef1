"""Probabilities of the labels of a scale at the position of the rating in an answer, from token log-probabilities.
Labels are followed along the generated tokens, without regard to letter case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.answers.parsing.answer_tokens import Mass, Token


def follow_labels(tokens: Sequence[Token], prefix: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    """Distribute the probability `weight` of the text `prefix` over the labels that the text can become. `forms` maps
    labels in lower case to codes. Results are added to `mass`.
    """
    for token in tokens:
        onward: tuple[str, float] | None = None
        for text, probability in mass.alternatives(token).items():
            word = prefix + (text.lstrip() if not prefix else text).lower()
            word = " ".join(word.split()) + (" " if word[-1:].isspace() else "")
            longer = any(form.startswith(word) and form != word for form in forms)
            if longer and text == token.text:
                onward = word, weight * probability
            elif longer:
                mass.undecided += weight * probability
            elif word.strip() in forms:
                _settle(word, weight * probability, forms, mass)
            elif prefix and not text[:1].isalnum():
                # The label ended with the token before: "Agree" and not "Agree strongly".
                _settle(prefix, weight * probability, forms, mass)
            elif not prefix and word.rstrip(".,:;!*\n ") in forms:
                _settle(word.rstrip(".,:;!*\n "), weight * probability, forms, mass)
        if onward is None:
            return
        prefix, weight = onward
    _settle(prefix, weight, forms, mass)


def _settle(word: str, weight: float, forms: Mapping[str, float], mass: Mass) -> None:
    code = forms.get(word.strip())
    if code is not None:
        mass.points[code] += weight
