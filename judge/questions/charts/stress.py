"""Stress chart: detection rates of perturbed stories with intervals, compared with repeats of untouched stories."""

from __future__ import annotations

from judge.analysis.inputs.bars import CONTROL
from judge.analysis.inputs.candidates import Subject
from judge.analysis.stress.result import Paired, Stress
from judge.base.estimate import Estimate
from judge.questions.charts.forest import Band, Forest, Line, signs

_CHANCE = 0.5


def forest(stress: Stress, dataset: str, *, signature: str = "") -> Forest:
    """How often each perturbation is detected at its highest strength, with a sign for each judge and Eval-Prompt, and
    a panel for each criterion. Detection is the share of pairs in which the untouched story is rated higher.
    `signature` is empty next to tables of the same numbers, which show it.
    """
    strongest = _strongest([row for row in stress.rows if row.subject.dataset == dataset])
    named = list(dict.fromkeys(_named(row.subject) for row in strongest))
    criteria = tuple(dict.fromkeys(row.subject.criterion for row in strongest))
    series = tuple(zip(named, signs(named, "judges with their Eval-Prompts"), strict=True))
    shown: dict[tuple[str, str, str], Estimate] = {
        (row.facts.name, row.subject.criterion, _named(row.subject)): row.detection.estimate for row in strongest
    }
    lines = tuple(
        Line(test, name, tuple(tuple(shown.get((name, criterion, who)) for who in named) for criterion in criteria))
        for name, test in {row.facts.name: row.facts.test for row in strongest}.items()
    )
    return Forest(
        title=f"Detection of perturbed stories, {dataset}",
        panels=criteria,
        short=tuple(stress.abbreviations.get(criterion, criterion) for criterion in criteria),
        lines=lines,
        series=series,
        bands=_bands(stress, dataset, criteria),
        axis="detection",
        caption=(
            f"Share of pairs in which the untouched story is rated higher{_of_measures(strongest)}, ties one half, "
            "with 95 % intervals clustered by story-prompt; each perturbation at its highest strength. A judge that "
            "should notice the change lies to the right of one half, a judge that should not react lies at one half"
            f"{_of_attacks(strongest)}."
        ),
        signature=signature,
        counted="pairs",
        digits=2,
    )


def _strongest(rows: list[Paired]) -> list[Paired]:
    highest: dict[str, int] = {}
    for row in rows:
        highest[row.facts.name] = max(row.strength, highest.get(row.facts.name, 0))
    return [row for row in rows if row.strength == highest[row.facts.name]]


def _of_measures(rows: list[Paired]) -> str:
    return " (of measures: has the better value)" if any(row.measured for row in rows) else ""


def _of_attacks(rows: list[Paired]) -> str:
    return "; where an attack works, it lies to the left" if any(row.facts.test == "attack" for row in rows) else ""


def _named(subject: Subject) -> str:
    return "control" if subject.kind == CONTROL else f"{subject.judge} {subject.eval_prompt or ''}".removesuffix(" -")


def _bands(stress: Stress, dataset: str, criteria: tuple[str, ...]) -> tuple[Band, ...]:
    """Detection between repeats of untouched stories if exactly one judge has them, else one half (chance)."""
    nulls = [null for null in stress.nulls if null.subject.dataset == dataset and null.detection.estimate.defined]
    if len({_named(null.subject) for null in nulls}) == 1:
        by_criterion = {null.subject.criterion: null.detection.estimate for null in nulls}
        none = Estimate.undefined("no repeats")
        return (
            Band("criterion: untouched repeats", tuple(by_criterion.get(criterion, none) for criterion in criteria)),
        )
    return (Band("one half: chance", tuple(Estimate(_CHANCE, n=0) for _ in criteria)),)
