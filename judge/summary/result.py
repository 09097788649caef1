"""A summary as a value: a dataset's answers in reading order, what is missing, and the next commands. Never prints."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from judge.analysis.options.signed import Signed
from judge.summary.answers import Answer


@dataclass(frozen=True, slots=True)
class Missing:
    """A condition of the list in docs/summary.md that holds: its name, what is missing in words, the command for it."""

    name: str
    words: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class OfDataset:
    """One dataset's screen.

    `about` says what was rated by whom, `row` which judge and Eval-Prompt the answers are about, `answers` come in
    reading order. `verdicts` are the answers' by their short names.
    """

    dataset: str
    about: str
    row: str
    answers: tuple[Answer, ...]
    missing: tuple[Missing, ...] = ()
    commands: tuple[str, ...] = ()

    def verdict(self, label: str) -> str | None:
        """The verdict of the answer with this short name."""
        found = next((one.verdict for one in self.answers if one.label == label), None)
        return None if found is None else found.text


@dataclass(frozen=True, slots=True, eq=False)
class Summary(Signed):
    """What runs show, dataset by dataset; `caveats` come first: what the figures are worth."""

    datasets: tuple[OfDataset, ...]
    caveats: tuple[str, ...] = field(default=())

    @property
    def frame(self) -> pd.DataFrame:
        """One row an answer: `dataset, row, answer, question, verdict, rule, text`, then one a command (`next`)."""
        columns = ["dataset", "row", "answer", "question", "verdict", "rule", "text"]
        return self.signed([row for one in self.datasets for row in rows(one)], columns)


def in_a_row(answer: Answer) -> str:
    """An answer's sentences as one text; the gaps of a list, which are no sentences, are numbered."""
    if answer.label == "missing":
        return "; ".join(f"({i}) {words}" for i, words in enumerate(answer.sentences, 1))
    return " ".join(answer.sentences)


def rows(one: OfDataset) -> list[dict[str, object]]:
    """A dataset's answers, then its commands, as plain rows."""
    made: list[dict[str, object]] = []
    for answer in one.answers:
        verdict = answer.verdict
        said = {"verdict": verdict and verdict.text, "rule": verdict and verdict.rule}
        text = in_a_row(answer)
        made.append(_about(one) | {"answer": answer.label, "question": answer.question} | said | {"text": text})
    nothing = {"question": "What next?", "verdict": None, "rule": None}
    return [*made, *(_about(one) | {"answer": "next"} | nothing | {"text": command} for command in one.commands)]


def _about(one: OfDataset) -> dict[str, object]:
    return {"dataset": one.dataset, "row": one.row}
