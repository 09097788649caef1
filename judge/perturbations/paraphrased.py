"""Sentences of a story for which the material holds paraphrases."""

from __future__ import annotations

from random import Random

from judge.perturbations.english.sentences import Sentence, sentences
from judge.perturbations.perturbation import Material, Unfit

NONE = Unfit("too few sentences with a paraphrase")


def drawn(material: Material, strength: int, rng: Random) -> list[tuple[Sentence, str]]:
    """Random sentences with their paraphrases, as many as the strength; none where fewer sentences have one."""
    text = material.story.text
    available = [
        (span, paraphrase)
        for span in sentences(text)
        if (paraphrase := material.paraphrases.get(text[span.start : span.end]))
        and paraphrase != text[span.start : span.end]
    ]
    rng.shuffle(available)
    return available[:strength] if len(available) >= strength else []
