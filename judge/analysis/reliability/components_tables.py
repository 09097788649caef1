"""Printed tables of variance components and of the D-study (decision study)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis.reliability.d_study import MOST, PlanRow, plural
from judge.analysis.reliability.variance_components import Components, DatasetComponents, Study
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.base.wording import Advice
from judge.stats.agreement.variance_components import Term

_VARIANCES = Advice("the variances themselves: {full}", full=True)
_READING = (
    "a x b: how far differences between a's levels change with b; all facets count as samples of more",
    "intervals assume normal effects; with few df a variance is estimated poorly",
)


def tables(result: Components, *, full: bool = False) -> list[Table]:
    """For each dataset, shares of variance with one column per criterion, and the D-study: the numbers that a target
    reliability requires. With `full`, or for a single criterion, the first shows the components themselves.
    """
    return [
        table
        for dataset in result.datasets
        for table in (
            _long_table(dataset) if full or len(dataset.studies) == 1 else _share_table(dataset),
            _plan_table(dataset, result.options.target),
        )
    ]


def plan_tables(result: Components) -> list[Table]:
    """Tables of the D-study only, one for each dataset."""
    return [_plan_table(dataset, result.options.target) for dataset in result.datasets]


def _share_table(dataset: DatasetComponents) -> Table:
    studies = dataset.studies
    rows: dict[str, dict[str, object]] = {}
    for study in studies:
        for term in study.terms:
            row = rows.setdefault(term.name, {"term": term.name, "df": _df(term.component.term, studies)})
            row[study.criterion] = term.share
    columns = [Column("term", "ratings vary over"), Column("df", "df")]
    columns += [Column(study.criterion, study.criterion, digits=1, factor=100, share=True) for study in studies]
    title = "Share of the variance of single ratings, % [95 %]"
    notes = (*dataset.notes, *_counted_as_0(studies), _VARIANCES, *_READING)
    return Table(title, columns, list(rows.values()), dataset.signature, notes)


def _df(term: Term, studies: Sequence[Study]) -> int | str:
    """Degrees of freedom; a range where they differ between criteria, because ratings are missing."""
    parts = (term_row.component for study in studies for term_row in study.terms)
    degrees = {part.df for part in parts if part.term == term}
    return degrees.pop() if len(degrees) == 1 else f"{min(degrees)}-{max(degrees)}"


def _counted_as_0(studies: Sequence[Study]) -> list[str]:
    parts = [term.component for study in studies if not study.impossible for term in study.terms]
    if not parts:
        return []
    count = sum(part.negative for part in parts)
    if not count:
        return ["shares of the sum of the variances"]
    why = "as a rule from sampling error around small variances"
    return [f"shares of the sum of the variances; {count} of these are estimated below 0, {why}, and counted as 0"]


def _long_table(dataset: DatasetComponents) -> Table:
    rows = [
        {
            "criterion": study.criterion,
            "term": term.name,
            "levels": term.component.variance.n,
            "df": term.component.df,
            "variance": term.component.printed,
            "share": term.share,
            "negative": "negative" if term.component.negative else "",
        }
        for study in dataset.studies
        for term in study.terms
    ]
    columns = [
        Column("criterion", "criterion"),
        Column("term", "ratings vary over"),
        *plain("levels", "df"),
        Column("variance", "variance [95 %]", digits=3),
        Column("share", "share % [95 %]", digits=1, factor=100, share=True),
    ]
    if any(row["negative"] for row in rows):
        columns.append(Column("negative", ""))
    notes = (*dataset.notes, *_counted_as_0(dataset.studies), *_READING)
    return Table("Variance components of single ratings", columns, rows, dataset.signature, notes)


def _plan_table(dataset: DatasetComponents, target: float) -> Table:
    plans = [row for study in dataset.studies for row in study.plans]
    facets = [name for name in MOST if any(name in row.levels for row in plans)]
    columns = [
        Column("criterion", "criterion"),
        Column("score", "score of"),
        Column("plan", "plan"),
        *(Column(name, plural(name)) for name in facets),
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
        "reaches: by the estimate; with the lower end of an interval below the target it is uncertain",
        "'alone' changes one number and keeps the others as run; ∞ gives the limit, where no number reaches the target",
    ]
    if not all(study.complete for study in dataset.studies):
        notes.append(
            "'as run' counts what has ratings: repeats (and stories of a system) by their mean number, rounded"
        )
    title = f"Levels of each facet needed for a reliability of {target:g} (D-study)"
    sentences = [f"{study.criterion}: {study.systems.sentence(target)}." for study in dataset.studies if study.systems]
    return Table(title, columns, [_plan(row) for row in plans], dataset.signature, tuple(notes), " ".join(sentences))


def _plan(row: PlanRow) -> dict[str, Any]:
    return {
        **cells_of(row, "criterion", "score", "plan"),
        **{name: "∞" if count is None else count for name, count in row.counts.items()},
        "reached": row.reached,
        **cells_of(row.result, "relative", "absolute", "se", "se_difference"),
    }
