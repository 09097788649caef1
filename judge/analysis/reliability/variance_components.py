"""What ratings vary over: variance components of a run, and the D-study beside them. Never fills a gap in a design.

The array of a criterion's ratings is made in `rated_design`, the statistics are in
`stats.agreement.variance_components`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.inputs.rated_design import REPEAT, rated_design
from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import ComponentsOptions
from judge.analysis.reliability import d_study
from judge.analysis.reliability.d_study import Study
from judge.errors import DataError
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats.agreement.analogous_anova import Term
from judge.stats.agreement.variance_components import Component, VarianceComponents, variance_components
from judge.stats.estimate import Estimate
from judge.wording import Advice, joined

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable


def components(table: RatingsTable, options: ComponentsOptions | None = None) -> pd.DataFrame:
    """Variance components, long: one row for each criterion and term.

    Returns
    -------
    DataFrame
        `dataset, criterion, term, levels, df, mean_square, variance, low, high, negative, share, reason, ratings,
        asked, method`; `share` is of the sum of the components, negative ones as 0; `ratings` of the `asked` answers
        are used. A variance whose whole interval is below 0 is undefined, and where that is sure, so are all shares.
        A criterion whose variances cannot be told apart has no rows.

    Raises
    ------
    DataError
        The variances of no criterion can be told apart.
    """
    options = options or ComponentsOptions()
    rows = [
        {
            "dataset": matrix.dataset,
            "criterion": study.criterion,
            "term": _name(part, study.found),
            "levels": part.variance.n,
            "df": part.df,
            "mean_square": part.mean_square,
            "variance": part.printed.value,
            "low": part.printed.low,
            "high": part.printed.high,
            "negative": part.negative,
            "share": _share(study, part).value,
            "reason": part.printed.reason,
            "ratings": study.found.n,
            "asked": study.part.asked,
            "method": _method([study]),
        }
        for matrix in build(table, drop_systems=options.drop_systems)
        for study in _studies(table, matrix, options)[0]
        for part in study.found.components
    ]
    return pd.DataFrame(rows)


def plans(table: RatingsTable, options: ComponentsOptions | None = None) -> pd.DataFrame:
    """The D-study, long: `dataset` and what `d_study.rows` gives, estimates as value and `_low`, `_high`."""
    options = options or ComponentsOptions()
    rows = []
    for matrix in build(table, drop_systems=options.drop_systems):
        for study in _studies(table, matrix, options)[0]:
            for row in d_study.rows(study, options.target):
                flat: dict[str, object] = {"dataset": matrix.dataset}
                for key, value in row.items():
                    if isinstance(value, Estimate):
                        flat |= {key: value.value, f"{key}_low": value.low, f"{key}_high": value.high}
                    else:
                        flat[key] = value
                rows.append(flat)
    return pd.DataFrame(rows)


def tables(table: RatingsTable, options: ComponentsOptions | None = None, *, full: bool = False) -> list[Table]:
    """For each dataset the shares of variance (with `full`, or for one criterion, the components) and the D-study."""
    options = options or ComponentsOptions()
    found = []
    for matrix in build(table, drop_systems=options.drop_systems):
        studies, notes = _studies(table, matrix, options)
        how = f"components:{_method(studies)}"
        line = signature(table, [matrix], options, extra=(how,), intervals=f"generalized/{DRAWS}")
        facts = [note for fact in table.facts if fact.dataset == matrix.dataset for note in fact.notes]
        make = _long_table if full or len(studies) == 1 else _share_table
        found.append(make(studies, line, [*dict.fromkeys(facts), *notes]))
        found.append(d_study.table(studies, line, options.target))
    return found


def _studies(table: RatingsTable, matrix: RatingMatrix, options: ComponentsOptions) -> tuple[list[Study], list[str]]:
    """One study a criterion, and notes; a criterion that cannot be told becomes a note, all of them an error."""
    controls = {(fact.run, fact.judge) for fact in table.facts if fact.control}
    asked = {(cell.run, cell.judge) for cell in matrix.cells}
    left_out = controls & asked if asked - controls else set()
    studies: list[Study] = []
    notes: dict[str, list[str]] = {}
    refused: list[DataError] = []
    for criterion in dict.fromkeys(cell.criterion for cell in matrix.cells):
        try:
            part = rated_design(matrix, criterion, left_out=left_out)
            rng = np.random.default_rng(options.seed)
            found = variance_components(part.ratings, part.facets, rng=rng, draws=DRAWS)
            studies.append(Study(criterion, part, found))
        except DataError as error:
            refused.append(error)
            continue
        for note in part.notes:
            notes.setdefault(note, []).append(criterion)
    if not studies:
        raise refused[0] if refused else DataError(f"{matrix.dataset}: no judge was asked about these stories")
    sentences = [f"{', '.join(which)}: {n}" if len(which) < len(studies) else n for n, which in notes.items()]
    sentences += [joined("no components: ", error.sentence, f" ({error.hint})") for error in refused]
    if left_out:
        sentences.append("the control judge is left out: it is not a sample of what judges do")
    return studies, sentences


def _method(studies: Sequence[Study]) -> str:
    """How the components are estimated; the two are the same where nothing is missing."""
    return "anova" if all(study.part.whole for study in studies) else "henderson-1"


def _name(part: Component, found: VarianceComponents) -> str:
    """The term as printed: repeats without their nest; where there are none, the last term with what hides in it."""
    if part.term.own == (REPEAT,):
        return "repeat (same query again)"
    last = part is found.components[-1]
    return f"{part.term}, and all else" if last else str(part.term)


DRAWS = 2000
"""Draws behind the intervals."""

_VARIANCES = Advice("the variances themselves: {full}", full=True)
_READING = (
    "a x b: how far differences between a's levels change with b; all facets count as samples of more",
    "intervals assume normal effects; with few df a variance is hardly known",
)


def _share_table(studies: Sequence[Study], line: str, notes: Sequence[str]) -> Table:
    """Terms by criteria, shares in per cent."""
    rows: dict[str, dict[str, object]] = {}
    for study in studies:
        for part in study.found.components:
            name = _name(part, study.found)
            row = rows.setdefault(name, {"term": name, "df": _df(part.term, studies)})
            row[study.criterion] = _share(study, part)
    columns = [Column("term", "ratings vary over"), Column("df", "df")]
    columns += [Column(study.criterion, study.criterion, digits=1, factor=100, share=True) for study in studies]
    added = (*notes, *_counted_as_0(studies), _VARIANCES, *_READING)
    return Table("Share of the variance of single ratings, % [95 %]", columns, list(rows.values()), line, added)


def _share(study: Study, part: Component) -> Estimate:
    """The term's share; undefined where the model does not hold."""
    reason = study.found.impossible
    return Estimate.undefined(reason, n=part.variance.n) if reason else study.found.share(part)


def _df(term: Term, studies: Sequence[Study]) -> int | str:
    """Degrees of freedom; from fewest to most where gaps make them differ between criteria."""
    found = {part.df for study in studies for part in study.found.components if part.term == term}
    return found.pop() if len(found) == 1 else f"{min(found)}-{max(found)}"


def _counted_as_0(studies: Sequence[Study]) -> list[str]:
    """What a share of 0 is."""
    parts = [part for study in studies if not study.found.impossible for part in study.found.components]
    if not parts:
        return []
    count = sum(part.negative for part in parts)
    if not count:
        return ["shares of the sum of the variances"]
    why = "as a rule from sampling error around small variances"
    return [f"shares of the sum of the variances; {count} of these are estimated below 0, {why}, and counted as 0"]


def _long_table(studies: Sequence[Study], line: str, notes: Sequence[str]) -> Table:
    rows = [
        {
            "criterion": study.criterion,
            "term": _name(part, study.found),
            "levels": part.variance.n,
            "df": part.df,
            "variance": part.printed,
            "share": _share(study, part),
            "negative": "negative" if part.negative else "",
        }
        for study in studies
        for part in study.found.components
    ]
    columns = [
        Column("criterion", "criterion"),
        Column("term", "ratings vary over"),
        Column("levels", "levels"),
        Column("df", "df"),
        Column("variance", "variance [95 %]", digits=3),
        Column("share", "share % [95 %]", digits=1, factor=100, share=True),
    ]
    if any(row["negative"] for row in rows):
        columns.append(Column("negative", ""))
    added = (*notes, *_counted_as_0(studies), *_READING)
    return Table("Variance components of single ratings", columns, rows, line, added)
