"""Variance components of a run's ratings, and the D-study (decision study) computed from them.

The array of a criterion's ratings is made in `rated_design`; the statistics are in
`stats.agreement.variance_components`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.rated_design import REPEAT, rated_design
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import ComponentsOptions
from judge.analysis.reliability import d_study
from judge.analysis.reliability.d_study import MOST, PlanRow, plural
from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, plain, thousandths, titled
from judge.base.wording import Advice, joined
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.variance_components import Component, VarianceComponents, variance_components

# Draws behind the intervals.
DRAWS = 2000

# Columns of `Components.frame`, in order.
COLUMNS = [
    *("dataset", "criterion", "term", "levels", "df", "mean_square", "variance", "low", "high", "negative", "share"),
    *("reason", "ratings", "asked", "method"),
]


@dataclass(frozen=True, slots=True)
class Term:
    """One source of variance, and its share of the sum of all components, in which negative ones count as 0. A variance
    is undefined if its whole interval is below 0. If it surely is, the model does not hold: no share is defined."""

    name: str
    component: Component
    share: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Variance components of one criterion and the D-study. Unless the ratings are `complete`, estimates are by
    Henderson's Method I, which gives the values of the analysis of variance where they are. `systems` is the number of
    story-prompts needed to order the systems, with all other numbers as in the run. `ratings` are used, of `asked`
    answers requested. `impossible` says why the model does not hold."""

    criterion: str
    terms: tuple[Term, ...]
    plans: tuple[PlanRow, ...]
    systems: d_study.OrderOfSystems | None
    ratings: int
    asked: int
    complete: bool
    impossible: str | None


@dataclass(frozen=True, slots=True, eq=False)
class DatasetComponents(Signed):
    """Variance components and D-studies of one dataset, by criterion; `notes` name those that cannot be estimated."""

    name: str
    studies: tuple[Study, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Components(Signed):
    """Variance components and D-studies, by dataset."""

    datasets: tuple[DatasetComponents, ...]
    options: ComponentsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each criterion and source of variance."""
        rows = [(dataset.name, *row) for dataset in self.datasets for study in dataset.studies for row in _flat(study)]
        return self.signed(rows, COLUMNS)

    @property
    def plans(self) -> pd.DataFrame:
        """One row per dataset and design: `dataset`, then the values of `PlanRow.flat`."""
        studies = [(dataset.name, study) for dataset in self.datasets for study in dataset.studies]
        return self.signed({"dataset": name, **row.flat} for name, study in studies for row in study.plans)


def components(table: RatingsTable, options: ComponentsOptions | None = None) -> Components:
    """Variance components and the D-study of every criterion. Raises DataError if they can be estimated for none."""
    options = options or ComponentsOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    results = [_studies(table, matrix, options) for matrix in matrices]

    def parts(some: Sequence[RatingMatrix], studies: Sequence[Sequence[Study]]) -> tuple[str, ...]:
        methods = dict.fromkeys(f"components:{method(study)}" for study in studies)
        return signature_parts(table, some, options, extra=tuple(methods), intervals=f"generalized/{DRAWS}")

    datasets = [
        DatasetComponents(
            matrix.dataset, tuple(studies), signature_parts=parts([matrix], [studies]), notes=tuple(notes)
        )
        for matrix, (studies, notes) in zip(matrices, results, strict=True)
    ]
    parts_of_all = parts(matrices, [studies for studies, _ in results])
    all_notes = tuple(dict.fromkeys(note for dataset in datasets for note in dataset.notes))
    return Components(tuple(datasets), options, signature_parts=parts_of_all, notes=all_notes)


def method(studies: Sequence[Study]) -> str:
    """``anova``, or ``henderson-1`` if any criterion has a missing rating."""
    return "anova" if all(study.complete for study in studies) else "henderson-1"


def _flat(study: Study) -> Iterator[tuple[object, ...]]:
    for term in study.terms:
        part, printed = term.component, term.component.printed
        yield (
            *(study.criterion, term.name, part.variance.n, part.df, part.mean_square),
            *(printed.value, printed.low, printed.high, part.negative, term.share.value, printed.reason),
            *(study.ratings, study.asked, method([study])),
        )


def _studies(table: RatingsTable, matrix: RatingMatrix, options: ComponentsOptions) -> tuple[list[Study], list[str]]:
    """Components of each criterion; one that cannot be estimated has a note. Raises DataError if none can be."""
    controls = {(fact.run, fact.judge) for fact in table.facts if fact.control}
    asked = {(cell.run, cell.judge) for cell in matrix.cells}
    left_out = controls & asked if asked - controls else set()
    studies: list[Study] = []
    notes: dict[str, list[str]] = {}
    refused: list[DataError] = []
    for criterion in dict.fromkeys(cell.criterion for cell in matrix.cells):
        try:
            study, remarks = _study(matrix, criterion, left_out, options)
        except DataError as error:
            refused.append(error)
            continue
        studies.append(study)
        for note in remarks:
            notes.setdefault(note, []).append(criterion)
    if not studies:
        raise refused[0] if refused else DataError(f"{matrix.dataset}: no judge was asked about these stories")
    facts = [note for fact in table.facts if fact.dataset == matrix.dataset for note in fact.notes]
    sentences = list(dict.fromkeys(facts))
    sentences += [f"{', '.join(which)}: {n}" if len(which) < len(studies) else n for n, which in notes.items()]
    sentences += [joined("no components: ", error.sentence, f" ({error.hint})") for error in refused]
    if left_out:
        sentences.append("the control judge is left out: it is not a sample of what judges do")
    return studies, sentences


def _study(
    matrix: RatingMatrix, criterion: str, left_out: set[tuple[str, str]], options: ComponentsOptions
) -> tuple[Study, tuple[str, ...]]:
    """Components of one criterion, and notes on variances that its design cannot separate."""
    part = rated_design(matrix, criterion, left_out=left_out)
    rng = np.random.default_rng(options.seed)
    estimated = variance_components(part.ratings, part.facets, rng=rng, draws=DRAWS)
    impossible = estimated.impossible

    def share(component: Component) -> Estimate:
        return Estimate.undefined(impossible, n=component.variance.n) if impossible else estimated.share(component)

    study = Study(
        criterion=criterion,
        terms=tuple(
            Term(_name(component, estimated), component, share(component)) for component in estimated.components
        ),
        plans=tuple(d_study.rows(criterion, part, estimated, options.target)),
        systems=d_study.order_of_systems(estimated, options.target, estimated.levels),
        ratings=estimated.n,
        asked=part.asked,
        complete=part.complete,
        impossible=impossible,
    )
    return study, part.notes


def _name(part: Component, components: VarianceComponents) -> str:
    """Printed name; the last component without repeats adds that it contains all other variation."""
    if part.term.own == (REPEAT,):
        return "repeat (same query again)"
    last = part is components.components[-1]
    return f"{part.term}, and all else" if last else str(part.term)


# Printed tables of variance components and of the D-study (decision study).

_VARIANCES = Advice("the variances themselves: {full}", full=True)
_READING = (
    "a x b: how far differences between a's levels change with b; all facets count as samples of more",
    "intervals assume normal effects; with few df a variance is estimated poorly",
)


def tables(result: Components, *, full: bool = False) -> list[Table]:
    """For each dataset, shares of variance with one column per criterion, and the D-study: the numbers that a target
    reliability requires. With `full`, or for a single criterion, the first shows the components themselves."""
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
            row = rows.setdefault(term.name, {"term": term.name, "df": _df(term.component, studies)})
            row[study.criterion] = term.share
    columns = [Column("term", "ratings vary over"), Column("df", "df")]
    columns += [Column(study.criterion, study.criterion, digits=1, factor=100, share=True) for study in studies]
    title = "Share of the variance of single ratings, % [95 %]"
    notes = (*dataset.notes, *_counted_as_0(studies), _VARIANCES, *_READING)
    return Table(title, columns, list(rows.values()), dataset.signature, notes)


def _df(component: Component, studies: Sequence[Study]) -> int | str:
    """Degrees of freedom; a range where they differ between criteria, because ratings are missing."""
    parts = (term_row.component for study in studies for term_row in study.terms)
    degrees = {part.df for part in parts if part.term == component.term}
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
        *titled(criterion="criterion", term="ratings vary over"),
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
        *titled(criterion="criterion", score="score of", plan="plan"),
        *(Column(name, plural(name)) for name in facets),
        Column("calls", "calls"),
        Column("reached", f"reaches {target:g}"),
        *titled(relative="Ep² [95 %]", absolute="Phi [95 %]"),
        *thousandths(se="SE", se_difference="SE of difference"),
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
