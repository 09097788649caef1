"""Consistency of a judge over repeats, with the agreement among people for comparison.

Imported means of repeats have no single repeats, so their consistency is undefined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import ConsistencyOptions
from judge.analysis.reliability import pingouin_icc
from judge.analysis.reliability.pingouin_icc import PingouinFamily
from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.agreement import icc
from judge.stats.agreement.crossed_effects import CrossedEffects, crossed_effects
from judge.stats.agreement.disagreement import Agreement, agreement
from judge.stats.bias.scale_use import remark

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

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
    likelihood (REML); `notes` give the reason. `pingouin` is the family of that package, where requested.
    """

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
        rating, `incomplete` those with one.
        """
        return self.signed((row for cell in self.cells for row in _flat(cell)), COLUMNS)


def consistency(table: RatingsTable, options: ConsistencyOptions | None = None, *, people: bool = True) -> Consistency:
    """All forms of the ICC, and the agreement of repeats, for every judge, Eval-Prompt and criterion, and for `people`.
    Raises MissingExtraError where pingouin is requested and not installed.
    """
    options = options or ConsistencyOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    theirs = options.engine == "pingouin"
    cells = tuple(cell for matrix in matrices for cell in _cells(matrix, people=people, theirs=theirs))
    notes = [note for fact in table.facts for note in fact.notes]
    for cell in cells:
        notes += cell.notes if cell.has_agreement else ["people: undefined, no story was rated twice"]
    fitted = (cell.estimate(form) for cell in cells for form in REML)
    crossed = options.engine == "ours" and any(fit is not None and fit.low is not None for fit in fitted)
    extra = ("reml:profile-likelihood",) if crossed else ()
    parts = signature_parts(table, matrices, options, intervals="f", extra=extra)
    return Consistency(cells, options, signature_parts=parts, notes=tuple(dict.fromkeys(notes)))


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
        return pingouin_icc.family(ratings) if theirs else None

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
        fit = _crossed(ratings, packed.shape[1])
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


def _crossed(ratings: Floats, k: int) -> CrossedEffects:
    story, rater = np.nonzero(~np.isnan(ratings))
    return crossed_effects(story, rater, ratings[story, rater], k=k)


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
