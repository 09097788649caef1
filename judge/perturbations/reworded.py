"""Sentences said in other words: beside the sentence, or in its place. The other words come with the material."""

from __future__ import annotations

from random import Random

from judge.perturbations.edit import Edit
from judge.perturbations.perturbation import Made, Material, Unfit
from judge.perturbations.sentences import Sentence, sentences

_NONE = Unfit("too few sentences with a paraphrase")


def semantic_repetition(material: Material, strength: int, rng: Random) -> Made:
    """A sentence followed by its paraphrase."""
    drawn = _drawn(material, strength, rng)
    return [Edit(span.end, span.end, f" {said}") for span, said in drawn] or _NONE


def paraphrases(material: Material, strength: int, rng: Random) -> Made:
    """As many sentences replaced by their paraphrases as the strength says."""
    return [Edit(*span, said) for span, said in _drawn(material, strength, rng)] or _NONE


def _drawn(material: Material, strength: int, rng: Random) -> list[tuple[Sentence, str]]:
    """Sentences with their paraphrases; none where fewer have one than are asked for."""
    text = material.story.text
    known = [
        (span, said)
        for span in sentences(text)
        if (said := material.paraphrases.get(text[span.start : span.end])) and said != text[span.start : span.end]
    ]
    rng.shuffle(known)
    return known[:strength] if len(known) >= strength else []
