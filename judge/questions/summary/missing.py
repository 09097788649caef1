"""Gaps in the evidence of a summary: a list of conditions, and a function that checks which of them hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge.analysis.correlation.margins import Margin
from judge.questions.summary.answers import Answer
from judge.questions.summary.evidence import Evidence, names_of
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import Missing
from judge.questions.summary.rules import FEW_SYSTEMS, WIDE
from judge.ratings.rating_matrix import RatingMatrix

MUCH = 0.05
"""Share of missing ratings above which the loss is a gap."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of the list of possible gaps in the evidence: its name, and when it applies."""

    name: str
    when: str


CONDITIONS = (
    Condition("people", "nobody's ratings of the stories are known"),
    Condition("labels", "labels by construction stand in for people's ratings"),
    Condition("judge", "no language model was asked: the judge is a control, or its answers are scripted"),
    Condition("raters", "who gave which rating is not known: neither one more person nor the alternative annotator "
              "test stands beside the judge"),
    Condition("annotators", "raters are known, and there are no two with 30 stories each that another rated too"),
    Condition("unasked", "planned repeats have no answer"),
    Condition("lost", f"more than {100 * MUCH:.0f} % of the row's repeats have no rating"),
    Condition("repeats", "ICC does not exist: one repeat, or means of repeats"),
    Condition("prompts", "one Eval-Prompt was tried"),
    Condition("stories", f"the 95 % interval of tau reaches more than {100 * WIDE:.0f} points (x100) to a side"),
    Condition("systems", f"there are fewer than {FEW_SYSTEMS} systems"),
    Condition("held-out", "the row was picked as the highest of several on these same stories"),
    Condition("settings", "a setting was refused or ignored, or nothing is known of it"),
    Condition("seen", "contamination was not measured, by a check or by scores"),
)  # fmt: skip
"""In the order in which they are told; docs/summary.md holds the same."""


def missing(
    evidence: Evidence, matrix: RatingMatrix, best: Margin | None, answers: Sequence[Answer], seen: Seen | None
) -> tuple[Missing, ...]:
    """Gaps in the evidence for the summary of one dataset, such as no ratings by people, each with a description of
    what is missing. `best` is the best pair of judge and Eval-Prompt, `answers` are the answers of the summary, and
    `seen` is the evidence on whether models have seen the stories (None = none).
    """
    return tuple(_found(evidence, matrix, best, answers, seen))


def _found(
    evidence: Evidence, matrix: RatingMatrix, best: Margin | None, answers: Sequence[Answer], seen: Seen | None
) -> Iterator[Missing]:
    raters = evidence.raters_of(matrix.dataset)
    verdicts = {answer.label: answer.verdict.text for answer in answers if answer.verdict is not None}
    if not matrix.criteria:
        yield Missing("people", "people's ratings of these stories")
    elif raters.labels_note:
        yield Missing("labels", "people's ratings: these are labels by construction")
    facts = [fact for fact in evidence.table.facts if fact.dataset == matrix.dataset]
    if facts and all(fact.control or fact.judge.startswith("scripted/") for fact in facts):
        yield Missing("judge", "a language model")
    elif matrix.criteria and not raters.labels_note:
        yield from _annotators(matrix, verdicts)
    yield from _answers(matrix, best)
    if verdicts.get("itself") == "not known":
        yield Missing("repeats", "repeats")
    if len(names_of(matrix, "eval_prompt")) < 2:
        yield Missing("prompts", "a second Eval-Prompt")
    if best is not None:
        yield from _precision(matrix, best, sum(margin.dataset == matrix.dataset for margin in evidence.margins))
    if matrix.criteria and len(matrix.systems) < FEW_SYSTEMS:
        yield Missing("systems", f"systems: {len(matrix.systems)} are weak evidence about a ranking")
    if any(fact.not_in_force for fact in facts):
        yield Missing("settings", "settings known to be in force")
    if seen is None and not (facts and all(fact.control for fact in facts)):
        yield Missing("seen", "whether it has seen the stories")


def _annotators(matrix: RatingMatrix, verdicts: Mapping[str, str]) -> Iterator[Missing]:
    if not all(matrix.by_rater(j).known for j in range(len(matrix.criteria))):
        yield Missing("raters", "who gave which rating")
    elif verdicts.get("replace") == "cannot be tested":
        yield Missing("annotators", "two people who rated 30 stories each, to test whether it may replace one")


def _answers(matrix: RatingMatrix, best: Margin | None) -> Iterator[Missing]:
    asked = rated = unasked = 0
    for i, cell in enumerate(matrix.cells):
        unasked += matrix.missing[i].get("not_answered", 0)
        if best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt):
            asked, rated = asked + int(matrix.asked[i].sum()), rated + int(matrix.valid[i].sum())
    if unasked:
        yield Missing("unasked", f"answers to {unasked:,} planned repeats")
    if asked and (asked - rated) / asked > MUCH:
        yield Missing("lost", f"ratings of {100 * (asked - rated) / asked:.0f} % of its repeats")


def _precision(matrix: RatingMatrix, best: Margin, rows: int) -> Iterator[Missing]:
    value = best.value
    if value.value is not None and value.low is not None and value.high is not None:
        half = (value.high - value.low) / 2
        if half > WIDE:
            now = len(np.unique(matrix.story_prompt))
            wanted = int(np.ceil(now * (half / WIDE) ** 2))
            yield Missing("stories", f"stories: tau is known to ±{100 * half:.1f}; about {wanted:,} story-prompts in "
                          f"place of {now:,} would make it ±{100 * WIDE:.0f}")  # fmt: skip
    if rows > 1:
        yield Missing("held-out", "this row on other stories")
