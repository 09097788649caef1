"""A summary: the options that change its numbers, a dataset's answers in reading order, missing evidence, and the next
commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.alternatives import option
from judge.analysis.options.choices import Level
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import CorrelationOptions, DiagnoseOptions, from_words
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """`margin` is the difference of tau from the average person within which a judge counts as not below people.
    `epsilon` is the advantage that `judge replace` grants a judge over an annotator. `readings` of a judge are compared
    with one person's: ``mean`` of its repeats, or ``single``. With `positions`, columns of ratings by unknown people
    count as raters in the test. `own` and `no_own` name the judge's own systems for the test of self-preference, or
    state that there is none.
    """

    drop_systems: tuple[str, ...] = ()
    epsilon: float = option("advantage granted to a judge over a person, as in judge replace", default=0.1)
    margin: float = option(
        "difference of tau from the average person within which a judge counts as not below people", default=0.1
    )
    resamples: int = RESAMPLES
    readings: str = option(
        "judge's ratings compared with one person's: mean (of its repeats) or single (each repeat)", default="mean"
    )
    positions: bool = option(
        "columns of unidentified raters, each taken for one person, as in judge replace", default=False
    )
    seed: int = 1
    own: tuple[str, ...] = option(
        "system that is the judge's own model (default: by name), as in judge diagnose", default=()
    )
    no_own: bool = option("statement that no system is the judge's own model, as in judge diagnose", default=False)

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")
        if not 0 < self.margin <= 1:
            raise OptionError("margin", self.margin, "must lie above 0 and not above 1: it is a difference of tau")
        ReplacementOptions(epsilon=self.epsilon)  # refuses what is no share
        self.diagnosis()  # refuses what contradicts itself

    @property
    def signature_part(self) -> str:
        """The choices that the correlations' signature does not show."""
        own = f"|own:{','.join(self.own)}" if self.own else "|own:none" if self.no_own else ""
        positions = "|positions:yes" if self.positions else ""
        return f"epsilon:{self.epsilon:g}|margin:{self.margin:g}{positions}{own}"

    def diagnosis(self) -> DiagnoseOptions:
        return DiagnoseOptions(drop_systems=self.drop_systems, own=self.own, no_own=self.no_own)

    def correlation(self, level: Level = "overall") -> CorrelationOptions:
        return from_words(
            CorrelationOptions,
            level=level,
            drop_systems=self.drop_systems,
            resamples=self.resamples,
            readings=self.readings,
            seed=self.seed,
        )


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
