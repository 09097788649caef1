"""How far a judge agrees with itself over repeats, people with each other beside it. Never reads means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.options.signature import signature
from judge.analysis.options.table_options import ConsistencyOptions
from judge.errors import MissingExtraError
from judge.printing.tables import Column, Table
from judge.rating_matrix import RatingMatrix, build
from judge.stats.agreement import icc
from judge.stats.agreement.crossed_effects import CrossedEffects, crossed_effects
from judge.stats.agreement.repeat_agreement import Agreement, agreement
from judge.stats.bias.reversed_scale import remark
from judge.stats.estimate import Estimate
from judge.wording import Advice, Note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]
PEOPLE = "people"

SHOWN = ("ICC(1,1)", "ICC(1,k)", "ICC(2,k)")
"""Forms in the printed table: one repeat and the mean of k, exchangeable, and the form that the HANNA study reports."""

REML = ("ICC(A,1) REML", "ICC(A,k) REML")
"""Forms for known raters who did not all rate the same stories: crossed random effects instead of mean squares."""

IMPORTED = "undefined for imported ratings: repeats are not in the file, only their mean"


def consistency(table: RatingsTable, options: ConsistencyOptions | None = None) -> pd.DataFrame:
    """The ICC family and agreement of repeats, long: one row for each cell and form.

    Known people who did not all rate every story have the forms `REML` besides.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, form, icc, low, high, f, df1, df2, p, tail, n, incomplete, k,
        exact, flip, within_sd, reason`. For people `judge` is "people": two-way forms only where the same known raters
        rated every story, else one-way forms. `n` counts complete stories, `incomplete` those with a missing repeat.
    """
    options = options or ConsistencyOptions()
    rows: list[dict[str, Any]] = []
    for entry in _entries(build(table, drop_systems=options.drop_systems)):
        for row in entry["family"].rows:
            estimate = row.estimate
            rows.append(
                {
                    **{key: entry[key] for key in ("dataset", "run", "judge", "eval_prompt", "criterion")},
                    "form": row.form,
                    "icc": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "f": row.f,
                    "df1": row.df1,
                    "df2": row.df2,
                    "p": row.p,
                    "tail": None if row.p is None else "greater",
                    "n": estimate.n,
                    "incomplete": entry["family"].incomplete,
                    "k": entry["family"].k,
                    "exact": entry["agreement"].exact.value,
                    "flip": entry["agreement"].flip.value,
                    "within_sd": entry["agreement"].within_sd.value,
                    "reason": estimate.reason,
                }
            )
    return pd.DataFrame(rows)


def tables(table: RatingsTable, options: ConsistencyOptions | None = None, *, full: bool = False) -> list[Table]:
    """The consistency table as printed; with `full` one row a form, with F, degrees of freedom and p; or pingouin's."""
    options = options or ConsistencyOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    line = signature(table, matrices, options, intervals="f")
    if options.engine == "pingouin":
        return _pingouin_tables(matrices, line)
    if full:
        frame = consistency(table, options)
        named = [str(name) for name in frame.columns if name != "dataset"]
        columns = [Column(name, name, digits=3, p="row" if name == "p" else "") for name in named]
        rows = [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
        crossed = any(row["form"] in REML and row["low"] is not None for row in rows)
        return [Table("Consistency, every form", columns, rows, _line(table, matrices, options, crossed=crossed))]
    wide = _wide_table(matrices, line)
    crossed = any(
        isinstance(row.get(form), Estimate) and row[form].low is not None for row in wide.rows for form in REML
    )
    wide = replace(wide, signature=_line(table, matrices, options, crossed=crossed))
    facts = [note for fact in table.facts for note in fact.notes]
    return [replace(wide, notes=tuple(dict.fromkeys([*facts, *wide.notes])))]


def _line(table: RatingsTable, matrices: Sequence[RatingMatrix], options: ConsistencyOptions, *, crossed: bool) -> str:
    """The signature: F intervals, and, where there are crossed effects, the profile likelihood's."""
    return signature(table, matrices, options, intervals="f", extra=("reml:profile-likelihood",) if crossed else ())


def _wide_table(matrices: Sequence[RatingMatrix], line: str) -> Table:
    rows = []
    notes: dict[str, None] = {}
    for entry in _entries(matrices):
        family: icc.IccFamily = entry["family"]
        found: Agreement = entry["agreement"]
        if entry["judge"] == PEOPLE and family.k < 2:
            notes["people: undefined, no story was rated twice"] = None
            continue
        rows.append(
            {key: entry[key] for key in ("judge", "eval_prompt", "criterion")}
            | {"n": family.n, "incomplete": family.incomplete, "k": family.k}
            | {row.form: row.estimate for row in family.rows}
            | {"exact": found.exact, "flip": found.flip, "within_sd": found.within_sd}
        )
        notes |= dict.fromkeys(entry["notes"])
    forms = [*SHOWN, *(form for form in REML if any(form in row for row in rows))]
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("n", "stories"),
        Column("incomplete", "incomplete"),
        Column("k", "k"),
        *(Column(form, form) for form in forms),
        Column("exact", "all equal %", digits=1, factor=100),
        Column("flip", "flip %", digits=1, factor=100),
        Column("within_sd", "sd within"),
    ]
    forms_note = "ICC with F intervals, 95 %; (1,.) columns exchangeable, (2,.) absolute agreement"
    notes[Note(forms_note, Advice("all six forms: {full}", full=True), joint="; ")] = None
    notes["flip %: how often two repeats of one story differ; high consistency is not validity"] = None
    title = "Consistency over repeats" + (", and agreement of people" * any(row["judge"] == PEOPLE for row in rows))
    return Table(title, columns, rows, line, tuple(notes))


def _entries(matrices: Sequence[RatingMatrix]) -> Iterator[dict[str, Any]]:
    """Each judge cell, then people's ratings of each criterion, with their ICC family and agreement."""
    for matrix in matrices:
        for i, cell in enumerate(matrix.cells):
            ratings = matrix.repeats(i)
            found, family = agreement(ratings), icc.family(ratings)
            if matrix.means[i]:
                nothing = Estimate.undefined(IMPORTED)
                found = Agreement(nothing, nothing, nothing, left_out=ratings.shape[0])
                rows = tuple(icc.IccRow(form, nothing) for form in icc.FORMS)
                family = icc.IccFamily(rows, n=0, k=ratings.shape[1], incomplete=family.incomplete)
            yield {"dataset": matrix.dataset, **cell._asdict(), "family": family, "agreement": found, "notes": ()}
        for j, criterion in enumerate(matrix.criteria):
            family, found, why = _people(matrix, j)
            labels = {
                "dataset": matrix.dataset,
                "run": None,
                "judge": PEOPLE,
                "eval_prompt": None,
                "criterion": criterion,
            }
            yield {**labels, "family": family, "agreement": found, "notes": why}


def _people(matrix: RatingMatrix, criterion: int) -> tuple[icc.IccFamily, Agreement, tuple[str, ...]]:
    """One-way where columns are not the same persons throughout; two-way where every rater rated every story."""
    raters = matrix.by_rater(criterion)
    ratings = raters.ratings[~np.isnan(raters.ratings).all(axis=1)]
    if raters.known and ratings.size and not np.isnan(ratings).any():
        family = icc.family(ratings, columns="raters", names=raters.names)
        return family, agreement(ratings, columns="raters"), _turned(matrix.criteria[criterion], ratings, raters.names)
    packed = _packed(ratings)
    names = raters.names if raters.known else ()
    family = icc.family(packed, columns="raters", names=names, raters=ratings if raters.known else None)
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
    found = agreement(packed, columns="raters")
    return icc.IccFamily(tuple(rows), n=family.n, k=family.k, incomplete=family.incomplete), found, tuple(notes)


def _turned(criterion: str, ratings: Floats, names: Sequence[str]) -> tuple[str, ...]:
    """A note on people whose ratings run against the others'."""
    said = remark(ratings, names, "people")
    return (f"{criterion}: {said}",) if said else ()


def _crossed(ratings: np.ndarray[Any, np.dtype[np.float64]], k: int) -> CrossedEffects:
    story, rater = np.nonzero(~np.isnan(ratings))
    return crossed_effects(story, rater, ratings[story, rater], k=k)


def _packed(ratings: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Ratings moved to the left, cut to the commonest number of raters a story: columns are positions, not persons.

    Stories with fewer count as incomplete. Of stories with more, the first ones stored are used.
    """
    known = ~np.isnan(ratings)
    counts = known.sum(axis=1)
    if not counts.size:
        return ratings
    k = int(np.bincount(counts).argmax())
    order = np.argsort(~known, axis=1, kind="stable")
    return np.take_along_axis(ratings, order, axis=1)[:, :k]


def _pingouin_tables(matrices: Sequence[RatingMatrix], line: str) -> list[Table]:
    """pingouin's own table for each judge cell and for people, as it prints it."""
    try:
        import pingouin
    except ImportError as error:
        raise MissingExtraError(Advice("judge consistency {engine}", engine="pingouin"), "stats") from error
    found = []
    for matrix in matrices:
        named = [(f"{c.judge}, {c.eval_prompt}, {c.criterion}", matrix.repeats(i)) for i, c in enumerate(matrix.cells)]
        for j, name in enumerate(matrix.criteria):
            ratings = matrix.by_rater(j).ratings
            named.append((f"{PEOPLE}, {name}", ratings[~np.isnan(ratings).all(axis=1)]))
        for title, ratings in named:
            found.append(_pingouin_table(pingouin, f"pingouin {pingouin.__version__}: {title}", ratings, line))
    return found


def _pingouin_table(pingouin: Any, title: str, ratings: np.ndarray[Any, np.dtype[np.float64]], line: str) -> Table:
    names = ("Type", "ICC", "F", "df1", "df2", "pval", "CI95")
    columns = [Column(name, name, digits=3) for name in names]
    reason = icc.family(ratings).rows[0].estimate.reason
    if reason and reason.startswith("undefined"):
        return Table(title, columns, [], line, (reason,))
    long = (
        pd.DataFrame(ratings).rename_axis("story").reset_index().melt("story", var_name="column", value_name="rating")
    )
    long["column"] = long["column"].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pingouin 0.7 calls what pandas 3.1 deprecates
        frame = pingouin.intraclass_corr(long, targets="story", raters="column", ratings="rating", nan_policy="omit")
    rows = []
    for record in frame.to_dict("records"):
        low, high = record["CI95"]
        rows.append({name: record[name] for name in names} | {"CI95": f"[{low:.2f}, {high:.2f}]"})
    return Table(title, columns, rows, line)


def _plain(value: object) -> object:
    return None if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)) else value
