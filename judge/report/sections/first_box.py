"""Answers in the box at the top of the report page: what the runs show, with the answers of `judge summary`."""

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
    """Answers for the box at the top of the page.

    Their subjects are, in order: what limits the page's numbers; whether the judge may replace an annotator; which
    Eval-Prompt and which judge to choose; agreement, missing ratings, consistency and explanations; systems, failures
    of the judge, whether it has seen the stories, and gaps in the evidence; next steps.
    """
    datasets = inputs.summary.datasets
    answers_all = headline.answers(inputs)
    worth = [answer for answer in answers_all if answer.question == headline.WORTH]
    others = [answer for answer in answers_all if answer.question != headline.WORTH]
    several = len(datasets) > 1
    first = [answer for dataset in datasets for answer in _of(dataset, _FIRST, several=several)]
    last = [answer for dataset in datasets for answer in _of(dataset, _LAST, several=several)]
    steps = tuple(dict.fromkeys(command for dataset in datasets for command in dataset.commands))
    return [*worth, *first, *others, *last, Answer("What next?", steps)]


def _of(of_dataset: OfDataset, labels: tuple[str, ...], *, several: bool) -> Iterator[Answer]:
    on = f" ({of_dataset.dataset})" if several else ""
    for answer in of_dataset.answers:
        if answer.label not in labels:
            continue
        about = (f"About {of_dataset.row}.",) if answer.label == "replace" else ()
        sentences = answer.sentences if answer.label != "missing" else tuple(map(_sentence, answer.sentences))
        yield Answer(f"{answer.question}{on}", (*about, *sentences), answer.verdict, answer.label)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
