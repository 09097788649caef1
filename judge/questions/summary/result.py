"""Data classes for a summary: a dataset's answers in reading order, missing evidence, and the next commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge.analysis.options.signature import Signed

if TYPE_CHECKING:
    import pandas as pd


# Data classes for the answers of a summary: a reader's question, a verdict with its rule, and sentences with the
# numbers.


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question of a summary in a few words, and the rule by which it was chosen."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a summary: the reader's question, a verdict in a few words where a rule gives one, and sentences
    with the numbers.

    `label` is a short name of the question, printed next to the answer on a screen. `brief` holds shorter sentences for
    a screen where `sentences` are too long for it; all other formats use `sentences`.
    """

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
    label: str = ""
    brief: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """A gap in the evidence, from the list in docs/summary.md: its name, a description of what is missing, and the
    command that supplies it (None = no command).
    """

    name: str
    words: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class OfDataset:
    """The summary of one dataset, printed on one screen.

    `about` says what was rated and by whom. `row` names the pair of judge and Eval-Prompt that the answers are about.
    `answers` are in reading order.
    """

    dataset: str
    about: str
    row: str
    answers: tuple[Answer, ...]
    missing: tuple[Missing, ...] = ()
    commands: tuple[str, ...] = ()

    def verdict(self, label: str) -> str | None:
        """Text of the verdict of the answer whose short name is `label`; None without such an answer, and where it has
        no verdict.
        """
        verdict = next((answer.verdict for answer in self.answers if answer.label == label), None)
        return None if verdict is None else verdict.text


@dataclass(frozen=True, slots=True, eq=False)
class Summary(Signed):
    """Summary of runs, with one part for each dataset. `caveats` are sentences about the limits of the figures, shown
    first.
    """

    datasets: tuple[OfDataset, ...]
    caveats: tuple[str, ...] = field(default=())

    @property
    def frame(self) -> pd.DataFrame:
        """The summary as a data frame. For each dataset it has one row per answer (columns `dataset, row, answer,
        question, verdict, rule, text`), followed by one row per suggested command (`answer` is then `next`).
        """
        columns = ["dataset", "row", "answer", "question", "verdict", "rule", "text"]
        return self.signed([row for dataset in self.datasets for row in rows(dataset)], columns)


def in_a_row(answer: Answer, *, brief: bool = False) -> str:
    """The sentences of an answer as one text. If `brief`, it is the answer's short form for a screen, where there is
    one. The items of the list of missing evidence are numbered.
    """
    if answer.label == "missing":
        return "; ".join(f"({i}) {words}" for i, words in enumerate(answer.sentences, 1))
    return " ".join((brief and answer.brief) or answer.sentences)


def rows(dataset: OfDataset) -> list[dict[str, object]]:
    """A dataset's part of the summary as rows of a table, each a dict: first one row for each question that the summary
    answers about the dataset, then one row for each suggested command.
    """
    cells: list[dict[str, object]] = []
    for answer in dataset.answers:
        verdict = answer.verdict
        judgement = {"verdict": verdict and verdict.text, "rule": verdict and verdict.rule}
        text = in_a_row(answer)
        cells.append(
            _about(dataset) | {"answer": answer.label, "question": answer.question} | judgement | {"text": text}
        )
    nothing = {"question": "What next?", "verdict": None, "rule": None}
    return [
        *cells,
        *(_about(dataset) | {"answer": "next"} | nothing | {"text": command} for command in dataset.commands),
    ]


def _about(dataset: OfDataset) -> dict[str, object]:
    return {"dataset": dataset.dataset, "row": dataset.row}
