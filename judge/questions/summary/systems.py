"""Answers of a summary on systems: tau over system means, and which systems judge and people prefer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judge.analysis.agreement import replacement_verdict
from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement_verdict import ReplacementVerdict
from judge.analysis.correlation import Correlations, margins
from judge.analysis.correlation.correlations import CorrelationRow
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.analysis.inputs.bars import CEILING as PEOPLE_ROW
from judge.analysis.inputs.bars import JUDGE
from judge.base.estimate import Estimate
from judge.questions.charts.shared import worded, worded_difference
from judge.questions.summary import rules
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.result import Answer, Verdict
from judge.ratings.rating_matrix import RatingMatrix

# Answer of a summary on whether the judge may replace a human annotator.

# Criteria that a list names on a screen.
_REPLACEMENT_NAMED = 3

_RULE = (
    "the alternative annotator test, agreement above every uninformed judge, and tau not shown to lie below that of "
    "one more person, over story-prompts"
)


def answer(evidence: Evidence, best: Margin, faults: str = "", rows: int = 1) -> Answer:
    """The verdict on replacement and what it rests on. `faults` names those found and stands in the line of the
    verdict. The tests are for so many rows at once.
    """
    question, label = "May it replace an annotator?", "replace"
    if evidence.raters_of(best.dataset).labels_note:
        nobody = "No person rated these stories: there is no annotator to replace."
        return Answer(question, (nobody,), Verdict("cannot be tested", "no person rated the stories"), label)
    if best.control:
        control = "The control is no language model: nobody would ask it to."
        return Answer(question, (control,), Verdict("cannot be tested", "no language model was asked"), label)
    verdict, tests = verdict_of(evidence, best, rows)
    first = ("Each column of ratings is taken for one person here.",) if evidence.options.positions else ()
    whole, some = ((*first, verdict.sentence(most) + _of_people(tests)) for most in (None, _REPLACEMENT_NAMED))
    joint = ", but " if verdict.word in ("yes", "on some criteria") else ", and "
    text = f"{verdict.text}{joint}{faults}" if faults and verdict.word != "cannot be tested" else verdict.text
    rule = (
        "no criterion has two people known one by one with 30 stories each"
        if verdict.word == "cannot be tested"
        else _RULE
    )
    return Answer(question, whole, Verdict(text, rule), label, some)


def verdict_of(evidence: Evidence, best: Margin, rows: int = 1) -> tuple[ReplacementVerdict, list[AltTestRow]]:
    """The verdict on replacement, by tests for so many `rows` at once, and the tests by criterion."""
    tests = [
        test
        for test in evidence.alternative_annotator(best)
        if test.kind == JUDGE and (test.subject.dataset, test.subject.run) == (best.dataset, best.run)
    ]
    return replacement_verdict.verdict_of(tests, best.over.get(CEILING), rows), tests


def _of_people(tests: Sequence[AltTestRow]) -> str:
    tested = [test for test in tests if test.winning_rate.defined]
    if not tested:
        return ""
    iccs = [test.people_icc.value for test in tested if test.people_icc.value is not None]
    ends = dict.fromkeys(f"{end:.2f}" for end in (min(iccs), max(iccs))) if iccs else {}
    icc = f" People agree with each other at ICC(1,1) {' to '.join(ends)}." if ends else ""
    left = f" Not testable: {len(tests) - len(tested)} criteria." if len(tests) > len(tested) else ""
    return icc + left


Floats = NDArray[np.float64]
_NAMED = 2


def systems(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Answer:
    """Tau between the judge's and people's system means, beside one more person's and the control's."""
    question = f"Does it rank systems as {evidence.raters_of(best.dataset).noun} do?"
    over_systems = evidence.over_systems(best)
    rows = [row for row in over_systems.rows if row.subject.dataset == best.dataset]
    key = (best.run, best.judge, best.eval_prompt)
    mine = _mean([row for row in rows if (row.subject.run, row.subject.judge, row.subject.eval_prompt) == key], JUDGE)
    if mine is None:
        nothing = Estimate.undefined("there is no row over systems")
        return Answer(question, ("There is no row over systems.",), rules.of_systems(nothing, 0), "systems")
    verdict = rules.of_systems(mine.estimate, len(matrix.systems))
    if mine.estimate.value is None:
        return Answer(question, (f"Tau is {mine.estimate.reason}.",), verdict, "systems")
    bars = [_control(over_systems, best)]
    person = _mean([row for row in rows if row.subject.kind == PEOPLE_ROW], PEOPLE_ROW)
    if person is not None and person.estimate.value is not None:
        bars.append(f"one more person {100 * person.estimate.value:.1f}".replace("-", "−"))
    beside = "".join(f"; {bar}" for bar in bars if bar)
    means_of = "the means of one system" if len(matrix.systems) == 1 else f"the means of {len(matrix.systems)} systems"
    return Answer(question, (f"Tau-b x100 {worded(mine.estimate)} over {means_of}{beside}.",), verdict, "systems")


def _control(over_systems: Correlations, best: Margin) -> str:
    key = (best.dataset, best.run, best.judge, best.eval_prompt)
    mine = [margin for margin in margins.margins(over_systems)
            if (margin.dataset, margin.run, margin.judge, margin.eval_prompt) == key]  # fmt: skip
    if not mine or mine[0].bars[CONTROL].value is None:
        return ""
    bar, over = mine[0].bars[CONTROL], mine[0].over[CONTROL]
    text = f"the control {100 * (bar.value or 0.0):.1f}{mine[0].counted_as_0}"
    if over.value is None or best.control:
        return text
    return f"{text}, difference {worded_difference(over, mine[0].value, bar)}"


def _mean(rows: Sequence[CorrelationRow], kind: str) -> CorrelationRow | None:
    own = [row for row in rows if row.subject.kind == kind]
    return next((row for row in own if row.averaged), own[0] if len(own) == 1 else None)


def better(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Answer | None:
    """The first two systems by judge and people, and pairs that both order alike; None without comparable pairs."""
    sides = _means(matrix, best)
    if sides is None or len(matrix.systems) < 2:
        return None
    mine, theirs = sides
    raters = evidence.raters_of(best.dataset)
    agreed = turned = pairs = 0
    # A pair counts once, by means over criteria, as in the table of systems; else two units would stand side by side.
    over_judge, over_people = mine.mean(axis=0), theirs.mean(axis=0)
    for first, second in combinations(range(len(matrix.systems)), 2):
        apart = (over_judge[first] - over_judge[second]) * (over_people[first] - over_people[second])
        pairs += bool(np.isfinite(apart))
        agreed += bool(apart > 0)
        turned += bool(apart < 0)
    if not pairs:
        return None
    by_judge, by_people = (_first(matrix.systems, side) for side in sides)
    over = f" (means over {mine.shape[0]} criteria)" if mine.shape[0] > 1 else ""
    places = f"First and second by the judge: {by_judge}; by {raters.noun}: {by_people}."
    alike = f"{agreed:,} of {pairs:,} pairs of systems have the same order by both{over}."
    verdict = rules.of_order(agreed, turned, pairs, len(matrix.systems))
    brief = f"{agreed:,} of {pairs:,} pairs of systems alike{over}."
    return Answer("Which system is better?", (places, alike), verdict, "better", (places, brief))


def _means(matrix: RatingMatrix, best: Margin) -> tuple[Floats, Floats] | None:
    """Means by judge and people over the stories that both rated, shape (criteria, systems)."""
    mine: list[Floats] = []
    theirs: list[Floats] = []
    names = {name.casefold(): j for j, name in enumerate(matrix.criteria)}
    for i, cell in enumerate(matrix.cells):
        declared = matrix.declared.get((cell.run, cell.criterion.casefold()), cell.criterion).casefold()
        if (cell.run, cell.judge, cell.eval_prompt) != (best.run, best.judge, best.eval_prompt):
            continue
        if declared not in names or cell.criterion.casefold() in matrix.labels:
            continue
        people = matrix.people[names[declared]]
        both = np.isfinite(matrix.judge[i]) & np.isfinite(people)
        count = np.bincount(matrix.system[both], minlength=len(matrix.systems)).astype(np.float64)
        count[count == 0] = np.nan
        for side, into in ((matrix.judge[i], mine), (people, theirs)):
            total = np.bincount(matrix.system[both], weights=side[both], minlength=len(matrix.systems))
            into.append(total / count)
    return (np.array(mine), np.array(theirs)) if mine else None


def _first(systems: Sequence[str], means: Floats) -> str:
    """The first two systems; `means` has shape (criteria, systems)."""
    over = means.mean(axis=0)
    # Systems with equal means stay in the order of the runs.
    order = [i for i in np.argsort(-over, kind="stable") if np.isfinite(over[i])]
    return ", ".join(f"{systems[i]} {over[i]:.2f}" for i in order[:_NAMED])
