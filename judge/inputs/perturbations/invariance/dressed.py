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
    """The edits that add a heading before the story and set a tenth of its words in bold, at least one; an `Unfit` if
    the text has no words. Words of five or more letters are chosen where there are any.
    """
    text = material.story.text
    spans = list(words(text))
    if not spans:
        return Unfit("no word")
    long = [span for span in spans if span.end - span.start >= _LONG] or spans
    bold = sorted(rng.sample(long, min(len(long), max(1, len(spans) // _EACH))))
    return [Edit(0, 0, _HEADING)] + [Edit(*span, f"**{text[span.start : span.end]}**") for span in bold]


def uppercase(material: Material, strength: int, rng: Random) -> Made:  # noqa: ARG001
    """The edits that write every word in capitals; an `Unfit` if all words are in capitals already. Placeholders such
    as `[MALE]` stay as they are.
    """
    text = material.story.text
    edits: list[Edit] = []
    begin = 0
    for start, end in (*protected(text), (len(text), len(text))):
        for run in re.finditer(r"\S(?:.*\S)?", text[begin:start], re.DOTALL):
            if (letters := run.group()) != letters.upper():
                edits.append(Edit(begin + run.start(), begin + run.end(), letters.upper()))
        begin = end
    return edits or Unfit("capitals already")
