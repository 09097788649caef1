"""Consistency of a judge over repeats, with the agreement among people for comparison.

Imported means of repeats have no single repeats, so their consistency is undefined."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judge.analysis.frames import long_table
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import ConsistencyOptions
from judge.base.arrays import Floats
from judge.base.errors import MissingExtraError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import icc
from judge.stats.agreement.crossed_effects import crossed_effects
from judge.stats.agreement.disagreement import Agreement, agreement
from judge.stats.bias.scale_use import remark

# The ICC family as computed by the package pingouin, for comparison with this program's own computation.


@dataclass(frozen=True, slots=True)
class PingouinRow:
    """One form of the ICC; `form` is pingouin's name for it."""

    form: str
    icc: float
    f: float
    df1: int
    df2: int
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PingouinFamily:
    """All forms of the ICC of one array of ratings, or the `reason` why there are none; `version` is pingouin's."""

    version: str
    rows: tuple[PingouinRow, ...]
    reason: str | None = None


def pingouin_family(ratings: Floats) -> PingouinFamily:
    """ICC family of ratings of shape (stories, columns), NaN = none. Raises MissingExtraError without pingouin."""
    try:
        import pingouin
    except ImportError as error:
        raise MissingExtraError(Advice("judge consistency {engine}", engine="pingouin"), "stats") from error
    ours = icc.family(ratings).rows[0].estimate
    if not ours.defined:
        return PingouinFamily(pingouin.__version__, (), ours.reason)
    long = (
        pd.DataFrame(ratings).rename_axis("story").reset_index().melt("story", var_name="column", value_name="rating")
    )
    long["column"] = long["column"].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pingouin 0.7 calls what pandas 3.1 deprecates
        frame = pingouin.intraclass_corr(long, targets="story", raters="column", ratings="rating", nan_policy="omit")
    rows = [
        PingouinRow(row["Type"], row["ICC"], row["F"], row["df1"], row["df2"], row["pval"], *map(float, row["CI95"]))
        for row in frame.to_dict("records")
    ]
    return PingouinFamily(pingouin.__version__, tuple(rows))


PEOPLE = "people"

# Forms for known raters who did not all rate the same stories: crossed random effects instead of mean squares.
REML = ("ICC(A,1) REML", "ICC(A,k) REML")

IMPORTED = "undefined for imported ratings: repeats are not in the file, only their mean"

# Columns of `Consistency.frame`, in order.
COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "form", "icc", "low", "high", "f", "df1", "df2", "p"),
    *("tail", "n", "incomplete", "k", "exact", "flip", "within_sd", "reason"),
]


@dataclass(frozen=True, slots=True)
class ConsistentCell:
    """Consistency on one criterion: of a judge over its repeats, or of people (`PEOPLE`, without run and Eval-Prompt)
    over raters. Two-way forms of the ICC are given only where the same identified raters rated every story. Otherwise
    one-way forms are given and, where raters are identified, also two-way forms estimated by restricted maximum
    likelihood (REML); `notes` give the reason. `pingouin` is the family of that package, where requested."""

    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    family: icc.IccFamily
    agreement: Agreement
    notes: tuple[str, ...] = ()
    pingouin: PingouinFamily | None = None

    @property
    def is_people(self) -> bool:
        return self.judge == PEOPLE

    @property
    def has_agreement(self) -> bool:
        """Whether agreement can be computed: for people, if most stories have two ratings or more."""
        return not self.is_people or self.family.k >= 2

    def estimate(self, form: str) -> Estimate | None:
        """Estimate of one form of the ICC; None if it was not computed."""
        return next((row.estimate for row in self.family.rows if row.form == form), None)


@dataclass(frozen=True, slots=True)
class Consistency(Signed):
    """All forms of the ICC, and exact agreement, of judges over repeats and people over raters, by criterion."""

    cells: tuple[ConsistentCell, ...]
    options: ConsistencyOptions

    @property
    def judged(self) -> tuple[ConsistentCell, ...]:
        return tuple(cell for cell in self.cells if not cell.is_people)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge (or people), criterion and form of the ICC. `n` counts stories without a missing
        rating, `incomplete` those with one."""
        return self.signed((row for cell in self.cells for row in _flat(cell)), COLUMNS)


def consistency(table: RatingsTable, options: ConsistencyOptions | None = None, *, people: bool = True) -> Consistency:
    """All forms of the ICC, and the agreement of repeats, for every judge, Eval-Prompt and criterion, and for `people`.
    Raises MissingExtraError where pingouin is requested and not installed."""
    options = options or ConsistencyOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    theirs = options.engine == "pingouin"
    cells = tuple(cell for matrix in matrices for cell in _cells(matrix, people=people, theirs=theirs))
    notes = list(table.notes)
    for cell in cells:
        notes += cell.notes if cell.has_agreement else ["people: undefined, no story was rated twice"]
    fitted = (cell.estimate(form) for cell in cells for form in REML)
    crossed = options.engine == "ours" and any(fit is not None and fit.low is not None for fit in fitted)
    extra = ("reml:profile-likelihood",) if crossed else ()
    parts = signature_parts(table, matrices, options, intervals="f", extra=extra)
    return Consistency(cells, options, signature_parts=parts, notes=tuple(notes))


def _flat(cell: ConsistentCell) -> Iterator[tuple[object, ...]]:
    agreed = cell.agreement
    for row in cell.family.rows:
        estimate = row.estimate
        yield (
            *(cell.dataset, cell.run, cell.judge, cell.eval_prompt, cell.criterion, row.form),
            *(estimate.value, estimate.low, estimate.high, row.f, row.df1, row.df2, row.p),
            *(None if row.p is None else "greater", estimate.n, cell.family.incomplete, cell.family.k),
            *(agreed.exact.value, agreed.flip.value, agreed.within_sd.value, estimate.reason),
        )


def _cells(matrix: RatingMatrix, *, people: bool, theirs: bool) -> Iterator[ConsistentCell]:
    def asked(ratings: Floats) -> PingouinFamily | None:
        return pingouin_family(ratings) if theirs else None

    for i, cell in enumerate(matrix.cells):
        ratings = matrix.repeats(i)
        agreed, family = agreement(ratings), icc.from_0(icc.family(ratings))
        if matrix.means[i]:
            nothing = Estimate.undefined(IMPORTED)
            agreed = Agreement(nothing, nothing, nothing, left_out=ratings.shape[0])
            rows = tuple(icc.IccRow(form, nothing) for form in icc.FORMS)
            family = icc.IccFamily(rows, n=0, k=ratings.shape[1], incomplete=family.incomplete)
        yield ConsistentCell(matrix.dataset, **cell._asdict(), family=family, agreement=agreed, pingouin=asked(ratings))
    for j, criterion in enumerate(matrix.criteria if people else ()):
        ratings = matrix.by_rater(j).ratings
        ratings = ratings[~np.isnan(ratings).all(axis=1)]
        family, agreed, why = _people(matrix, j, ratings)
        yield ConsistentCell(matrix.dataset, None, PEOPLE, None, criterion, family, agreed, why, asked(ratings))


def people_family(matrix: RatingMatrix, criterion: int) -> icc.IccFamily:
    """ICC family of human ratings on one criterion, in the forms that the data allow."""
    ratings = matrix.by_rater(criterion).ratings
    return _people(matrix, criterion, ratings[~np.isnan(ratings).all(axis=1)])[0]


def _people(matrix: RatingMatrix, criterion: int, ratings: Floats) -> tuple[icc.IccFamily, Agreement, tuple[str, ...]]:
    """ICC family, agreement and notes, without stories that nobody rated; for the forms see `ConsistentCell`."""
    raters = matrix.by_rater(criterion)
    if raters.known and ratings.size and not np.isnan(ratings).any():
        family = icc.from_0(icc.family(ratings, columns="raters", names=raters.names))
        return family, agreement(ratings, columns="raters"), _turned(matrix.criteria[criterion], ratings, raters.names)
    packed = _packed(ratings)
    names = raters.names if raters.known else ()
    family = icc.from_0(icc.family(packed, columns="raters", names=names, raters=ratings if raters.known else None))
    why = raters.reason or "not every rater rated every story"
    undefined = Estimate.undefined(f"two-way forms are undefined for people: {why}", n=family.n)
    rows = [row if row.form in icc.ONE_WAY else icc.IccRow(row.form, undefined) for row in family.rows]
    notes = [f"{matrix.dataset}: {why}"]
    if raters.known and ratings.size:
        story, rater = np.nonzero(~np.isnan(ratings))
        fit = crossed_effects(story, rater, ratings[story, rater], k=packed.shape[1])
        estimates = (fit.single, fit.average)
        rows += [icc.IccRow(form, estimate) for form, estimate in zip(REML, estimates, strict=True)]
        notes.append(
            f"{matrix.dataset}: ICC(A,.) REML tells the leniency of {fit.raters} raters from noise (crossed random "
            f"effects, all ratings), ICC(1,.) counts it as noise; k = {fit.k:g}"
        )
        if fit.boundary:
            notes.append(f"{matrix.criteria[criterion]}, ICC(A,.) REML: {fit.boundary}")
        notes += _turned(matrix.criteria[criterion], ratings, raters.names)
    agreed = agreement(packed, columns="raters")
    return icc.IccFamily(tuple(rows), n=family.n, k=family.k, incomplete=family.incomplete), agreed, tuple(notes)


def _turned(criterion: str, ratings: Floats, names: Sequence[str]) -> tuple[str, ...]:
    text = remark(ratings, names, "people")
    return (f"{criterion}: {text}",) if text else ()


def _packed(ratings: Floats) -> Floats:
    """Ratings shifted left and cut to the most frequent number per story: columns are positions."""
    rated = ~np.isnan(ratings)
    counts = rated.sum(axis=1)
    if not counts.size:
        return ratings
    # Stories with fewer ratings count as incomplete; of those with more, the first ratings stored are used.
    k = int(np.bincount(counts).argmax())
    order = np.argsort(~rated, axis=1, kind="stable")
    return np.take_along_axis(ratings, order, axis=1)[:, :k]


# Printed tables of the consistency of judges over repeats, and of people over raters.

# Forms in the printed table: one repeat and the mean of k, exchangeable, and the form that the HANNA study reports.
SHOWN = ("ICC(1,1)", "ICC(1,k)", "ICC(2,k)")

_READING = (
    Note(
        "ICC with F intervals, 95 %; (1,.) columns exchangeable, (2,.) absolute agreement",
        Advice("all six forms: {full}", full=True),
        joint="; ",
    ),
    "flip %: how often two repeats of one story differ; high consistency is not validity",
)


def tables(result: Consistency, *, full: bool = False) -> list[Table]:
    """One row for each judge (or people) and criterion; with `full`, for each form of the ICC, with F, degrees of
    freedom and p. The engine pingouin gives its own table for each judge and criterion instead."""
    if result.options.engine == "pingouin":
        return [_pingouin(cell, cell.pingouin, result.signature) for cell in result.cells if cell.pingouin]
    return [_every_form(result) if full else _wide(result)]


def _every_form(result: Consistency) -> Table:
    table = long_table("Consistency, every form", result.frame.drop(columns="dataset"), result.signature)
    columns = [replace(column, digits=3, p="row" if column.key == "p" else "") for column in table.columns]
    return replace(table, columns=columns, notes=result.notes)


def _wide(result: Consistency) -> Table:
    cells = [cell for cell in result.cells if cell.has_agreement]
    forms = [*SHOWN, *(form for form in REML if any(cell.estimate(form) for cell in cells))]
    columns = [
        *plain("judge", "eval_prompt", "criterion"),
        Column("n", "stories"),
        *plain("incomplete", "k"),
        *(Column(form, form) for form in forms),
        *hundredths(exact="all equal %", flip="flip %"),
        Column("within_sd", "sd within"),
    ]
    people = ", and agreement of people" * any(cell.is_people for cell in cells)
    rows = [_row(cell) for cell in cells]
    return Table(f"Consistency over repeats{people}", columns, rows, result.signature, (*result.notes, *_READING))


def _row(cell: ConsistentCell) -> dict[str, Any]:
    family, agreement = cell.family, cell.agreement
    return (
        cells_of(cell, "judge", "eval_prompt", "criterion")
        | cells_of(family, "n", "incomplete", "k")
        | {row.form: row.estimate for row in family.rows}
        | cells_of(agreement, "exact", "flip", "within_sd")
    )


def _pingouin(cell: ConsistentCell, family: PingouinFamily, line: str) -> Table:
    whose = f"{PEOPLE}, {cell.criterion}" if cell.is_people else f"{cell.judge}, {cell.eval_prompt}, {cell.criterion}"
    columns = [Column(name, name, digits=3) for name in ("Type", "ICC", "F", "df1", "df2", "pval", "CI95")]
    rows = [
        {"Type": row.form, "ICC": row.icc, "F": row.f, "df1": row.df1, "df2": row.df2, "pval": row.p}
        | {"CI95": f"[{row.low:.2f}, {row.high:.2f}]"}
        for row in family.rows
    ]
    notes = (family.reason,) if family.reason else ()
    return Table(f"pingouin {family.version}: {whose}", columns, rows, line, notes)
