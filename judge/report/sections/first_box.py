"""The first box of a page: what the runs show in sentences, and the answers of `judge summary` between them."""

from __future__ import annotations

from collections.abc import Iterator

from judge.report.inputs import ReportInputs
from judge.report.sections import headline
from judge.summary.answers import Answer
from judge.summary.result import OfDataset

_FIRST = ("replace", "prompts", "judges")
_LAST = ("systems", "wrong", "seen", "missing")
"""Answers of a summary; what the others say stands in the sentences with more words."""


def answers(inputs: ReportInputs) -> list[Answer]:
    """What the figures are worth, may the judge replace an annotator, which prompt; agreement, loss, consistency,
    explanations; systems, what goes wrong, what is missing, what next."""
    found = inputs.summary.datasets
    said = headline.answers(inputs)
    worth = [one for one in said if one.question == headline.WORTH]
    others = [one for one in said if one.question != headline.WORTH]
    several = len(found) > 1
    first = [answer for one in found for answer in _of(one, _FIRST, several=several)]
    last = [answer for one in found for answer in _of(one, _LAST, several=several)]
    steps = tuple(dict.fromkeys(command for one in found for command in one.commands))
    return [*worth, *first, *others, *last, Answer("What next?", steps)]


def _of(one: OfDataset, labels: tuple[str, ...], *, several: bool) -> Iterator[Answer]:
    on = f" ({one.dataset})" if several else ""
    for answer in one.answers:
        if answer.label not in labels:
            continue
        about = (f"About {one.row}.",) if answer.label == "replace" else ()
        said = answer.sentences if answer.label != "missing" else tuple(map(_sentence, answer.sentences))
        yield Answer(f"{answer.question}{on}", (*about, *said), answer.verdict, answer.label)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
