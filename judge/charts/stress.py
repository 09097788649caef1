"""Detection of perturbed stories as dots with whiskers: a row a perturbation, the untouched stories' repeats behind."""

from __future__ import annotations

from judge.analysis.inputs.bars import CONTROL
from judge.analysis.inputs.candidates import Subject
from judge.analysis.stress.result import Paired, Stress
from judge.charts.forest import Band, Forest, Line, signs
from judge.stats.estimate import Estimate

_CHANCE = 0.5


def forest(found: Stress, dataset: str, *, signature: str = "") -> Forest:
    """Each perturbation at its highest strength; a sign for each judge with its Eval-Prompt, a panel a criterion.

    `signature` is left out where tables of the same numbers, which carry theirs, stand beside.
    """
    strongest = _strongest([row for row in found.rows if row.subject.dataset == dataset])
    named = list(dict.fromkeys(_named(row.subject) for row in strongest))
    criteria = tuple(dict.fromkeys(row.subject.criterion for row in strongest))
    series = tuple(zip(named, signs(named, "judges with their Eval-Prompts"), strict=True))
    shown: dict[tuple[str, str, str], Estimate] = {
        (row.facts.name, row.subject.criterion, _named(row.subject)): row.detection.estimate for row in strongest
    }
    lines = tuple(
        Line(test, name, tuple(tuple(shown.get((name, one, who)) for who in named) for one in criteria))
        for name, test in {row.facts.name: row.facts.test for row in strongest}.items()
    )
    return Forest(
        title=f"Detection of perturbed stories, {dataset}",
        panels=criteria,
        short=tuple(found.abbreviations.get(one, one) for one in criteria),
        lines=lines,
        series=series,
        bands=_bands(found, dataset, criteria),
        axis="detection",
        caption=(
            "Share of pairs in which the untouched story is rated higher, ties one half, with 95 % intervals clustered "
            "by story-prompt; each perturbation at its highest strength. A judge that ought to notice lies to the "
            "right of one half, one that ought not to be moved upon it."
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


def _named(subject: Subject) -> str:
    return "control" if subject.kind == CONTROL else f"{subject.judge} {subject.eval_prompt}"


def _bands(found: Stress, dataset: str, criteria: tuple[str, ...]) -> tuple[Band, ...]:
    """The null of the one judge with several repeats; else one half alone."""
    nulls = [one for one in found.nulls if one.subject.dataset == dataset and one.detection.estimate.defined]
    if len({_named(one.subject) for one in nulls}) == 1:
        by_criterion = {one.subject.criterion: one.detection.estimate for one in nulls}
        none = Estimate.undefined("no repeats")
        return (Band("null: untouched repeats", tuple(by_criterion.get(one, none) for one in criteria)),)
    return (Band("one half: chance", tuple(Estimate(_CHANCE, n=0) for _ in criteria)),)
