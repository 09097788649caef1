"""Perturbations of a story's layout that keep its words: Markdown, or capitals."""

from __future__ import annotations

import re
from random import Random

from judge.inputs.perturbations.english.sentences import protected, words
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Unfit

_HEADING = "# Story\n\n"
_LONG = 5
_EACH = 10


def markdown(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001  there is one
    """Adds a heading and sets a tenth of the words in bold, at least one, of five or more letters where there are any;
    `Unfit` without words."""
    text = material.story.text
    spans = list(words(text))
    if not spans:
        return Unfit("no word")
    long = [span for span in spans if span.end - span.start >= _LONG] or spans
    bold = sorted(rng.sample(long, min(len(long), max(1, len(spans) // _EACH))))
    return [Edit(0, 0, _HEADING)] + [Edit(*span, f"**{text[span.start : span.end]}**") for span in bold]


def uppercase(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """Writes every word but placeholders such as `[MALE]` in capitals; `Unfit` if all are already."""
    text = material.story.text
    edits: list[Edit] = []
    begin = 0
    for start, end in (*protected(text), (len(text), len(text))):
        for run in re.finditer(r"\S(?:.*\S)?", text[begin:start], re.DOTALL):
            if (letters := run.group()) != letters.upper():
                edits.append(Edit(begin + run.start(), begin + run.end(), letters.upper()))
        begin = end
    return edits or Unfit("capitals already")
