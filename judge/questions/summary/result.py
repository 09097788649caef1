"""A summary: a dataset's answers in reading order, missing evidence, and the next commands."""

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
    """The answer to a question in a few words, and the rule by which it was chosen."""

    text: str
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A reader's question, its verdict where a rule gives one, and sentences with the numbers. `label` is a short name
    of the question; `brief` replaces `sentences` on a screen where they are too long.
    """

    question: str
    sentences: tuple[str, ...]
    verdict: Verdict | None = None
    label: str = ""
    brief: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """A gap in the evidence, from the list in docs/summary.md, and the command that supplies it."""

    name: str
    words: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class OfDataset:
    """The summary of one dataset, on one screen. `about` says what was rated and by whom; `row` names the judge x
    Eval-Prompt that the answers are about.
    """

    dataset: str
    about: str
    row: str
    answers: tuple[Answer, ...]
    missing: tuple[Missing, ...] = ()
    commands: tuple[str, ...] = ()

    def verdict(self, label: str) -> str | None:
        """Text of the verdict with this label; None without answer or verdict."""
        verdict = next((answer.verdict for answer in self.answers if answer.label == label), None)
        return None if verdict is None else verdict.text


@dataclass(frozen=True, slots=True, eq=False)
class Summary(Signed):
    """Summary of runs by dataset; `caveats` on the limits of the figures come first."""

    datasets: tuple[OfDataset, ...]
    caveats: tuple[str, ...] = field(default=())

    @property
    def frame(self) -> pd.DataFrame:
        """For each dataset, one row per answer, then one per suggested command (`answer` is then `next`)."""
        columns = ["dataset", "row", "answer", "question", "verdict", "rule", "text"]
        return self.signed([row for dataset in self.datasets for row in rows(dataset)], columns)


def in_a_row(answer: Answer, *, brief: bool = False) -> str:
    """The sentences of an answer as one text, `brief` where there is a short form; missing evidence is numbered."""
    if answer.label == "missing":
        return "; ".join(f"({i}) {words}" for i, words in enumerate(answer.sentences, 1))
    return " ".join((brief and answer.brief) or answer.sentences)


def rows(dataset: OfDataset) -> list[dict[str, object]]:
    """One row for each question answered, then one for each suggested command."""
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
