"""Selects sentences of a story for which paraphrases are available."""

from __future__ import annotations

from random import Random

from judge.inputs.perturbations.english.sentences import Sentence, sentences
from judge.inputs.perturbations.perturbation import Material, Unfit

NONE = Unfit("too few sentences with a paraphrase")


def drawn(material: Material, strength: int, rng: Random) -> list[tuple[Sentence, str]]:
    """`strength` random sentences, each with its paraphrase; empty if fewer have one."""
    text = material.story.text
    available = [
        (span, paraphrase)
        for span in sentences(text)
        if (paraphrase := material.paraphrases.get(text[span.start : span.end]))
        and paraphrase != text[span.start : span.end]
    ]
    rng.shuffle(available)
    return available[:strength] if len(available) >= strength else []
