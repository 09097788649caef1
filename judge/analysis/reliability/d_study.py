"""How many repeats, judges, Eval-Prompts and story-prompts a reliability takes. Never plans what a run cannot tell.

The statistics are in `stats.agreement.d_study`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from judge.analysis.inputs.rated_design import EVAL_PROMPT, JUDGE, REPEAT, STORY, STORY_PROMPT, SYSTEM, RatedDesign
from judge.printing.tables import Column, Table
from judge.stats.agreement.d_study import INFINITE, Coefficient, Plan, Reliability, d_study, smallest
from judge.stats.agreement.variance_components import VarianceComponents

MOST = {REPEAT: 100, EVAL_PROMPT: 50, JUDGE: 50, STORY_PROMPT: 10_000, STORY: 10_000}
"""Levels up to which designs are searched."""


class Study(NamedTuple):
    """One criterion of a run: its ratings and what they vary over."""

    criterion: str
    part: RatedDesign
    found: VarianceComponents


def rows(study: Study, target: float) -> Iterator[dict[str, Any]]:
    """The design as run, the number of each facet alone that reaches the target, and the designs with fewest calls.

    For the mean of a system (where there are two or more) and for the score of a story. `levels` of facets and `calls`
    are None where they are infinite; `relative` and `absolute` are Ep² and Phi, `reached` tells of the one asked for.
    """
    found = study.found
    for label, objects in _objects(study.part):
        run: dict[str, float] = {name: found.levels[name] for name in found.levels if name not in objects}
        if not run:
            continue
        base = {"criterion": study.criterion, "score": label}
        first = base | {"plan": "as run"} | _row(d_study(found, objects, run), run, target, "relative")
        if found.impossible:
            yield first
            continue
        plans = list(_plans(found, objects, run, target))
        if all(answer.limit == 0 for _, _, answer in plans):
            yield first | {"reached": "no: variance 0"}
            continue
        yield first
        for plan, coefficient, answer in plans:
            levels = answer.levels or {**run, **dict.fromkeys(_free(plan, run), INFINITE)}
            row = _row(d_study(found, objects, levels), levels, target, coefficient)
            if not answer.levels and answer.limit >= target:
                row["reached"] = f"beyond {' x '.join(str(MOST[name]) for name in _free(plan, run))}"
            yield base | {"plan": plan} | row


def table(studies: Sequence[Study], line: str, target: float) -> Table:
    """The D-study of all criteria as printed."""
    found = [row for study in studies for row in rows(study, target)]
    facets = [name for name in MOST if any(name in row for row in found)]
    counts = (*facets, "calls")
    printed = [{key: "∞" if value is None and key in counts else value for key, value in row.items()} for row in found]
    columns = [
        Column("criterion", "criterion"),
        Column("score", "score of"),
        Column("plan", "plan"),
        *(Column(name, _plural(name)) for name in facets),
        Column("calls", "calls"),
        Column("reached", f"reaches {target:g}"),
        Column("relative", "Ep² [95 %]"),
        Column("absolute", "Phi [95 %]"),
        Column("se", "SE", digits=3),
        Column("se_difference", "SE of difference", digits=3),
    ]
    notes = [
        "Ep²: reliability of the order of systems (or stories); Phi: of their values; negative variances count as 0",
        "calls: for one system (or story); SE in points of the scale, of its score and of the difference of two",
        "reaches: by the estimate; with the lower end of an interval below the target it is not sure",
        "'alone' changes one number and keeps the others as run; ∞ gives the limit, where no number reaches the target",
    ]
    if not all(study.part.whole for study in studies):
        notes.append(
            "'as run' counts what has ratings: repeats (and stories of a system) by their mean number, rounded"
        )
    return Table(f"How many are needed for a reliability of {target:g} (D-study)", columns, printed, line, tuple(notes))


def _objects(part: RatedDesign) -> list[tuple[str, tuple[str, ...]]]:
    systems = [("system", (SYSTEM,))] if SYSTEM in part.story else []
    return [*systems, ("story", part.story)]


def _plans(
    found: VarianceComponents, objects: Sequence[str], run: Mapping[str, float], target: float
) -> Iterator[tuple[str, Coefficient, Plan]]:
    """Label, coefficient asked for, and answer; the plans for Ep² and Phi are one where they are the same."""

    def ask(plan: str, coefficient: Coefficient) -> tuple[str, Coefficient, Plan]:
        names = _free(plan, run)
        kept = {name: count for name, count in run.items() if name not in names}
        free = {name: MOST[name] for name in names}
        return plan, coefficient, smallest(found, objects, target, free=free, kept=kept, coefficient=coefficient)

    for name in run:
        yield ask(f"{_plural(name)} alone", "relative")
    if len(run) > 1:
        relative, absolute = ask("fewest calls (Ep²)", "relative"), ask("fewest calls (Phi)", "absolute")
        if relative[2] == absolute[2]:
            yield ("fewest calls", "absolute", absolute[2])
        else:
            yield from (relative, absolute)


def _free(plan: str, run: Mapping[str, float]) -> list[str]:
    """Facets that a plan varies: the one it names, or all."""
    return [name for name in run if plan == f"{_plural(name)} alone"] or list(run)


def _plural(name: str) -> str:
    return "stories" if name == STORY else f"{name}s"


def _row(result: Reliability, levels: Mapping[str, float], target: float, coefficient: Coefficient) -> dict[str, Any]:
    calls = float(np.prod(list(levels.values())))
    value = getattr(result, coefficient).value
    return {
        **{name: int(count) if np.isfinite(count) else None for name, count in levels.items()},
        "calls": int(calls) if np.isfinite(calls) else None,
        "reached": "undefined" if value is None else "yes" if value >= target - 1e-9 else "no",
        "relative": result.relative,
        "absolute": result.absolute,
        "se": result.se,
        "se_difference": result.se_difference,
    }
