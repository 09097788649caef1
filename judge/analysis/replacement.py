"""Could a judge replace people, or spare some of them? The alt-test, and means of systems with few human ratings.

Never run on people who are not known one from another unless told so, and never without the people's own agreement
beside it: where people hardly agree, any smooth judge comes closer to the others than one of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.contenders import Contender, comparable, first_columns
from judge.analysis.correlation.rows import Remarks
from judge.analysis.people_options import ReplacementOptions
from judge.analysis.signature import signature
from judge.rating_matrix import Raters, RatingMatrix, build
from judge.stats import icc
from judge.stats.agreement import agreement
from judge.stats.alt_test import LEVEL, PASS, AltTest, alt_test
from judge.stats.estimate import Estimate
from judge.stats.prediction_powered import FEW, powered_mean
from judge.tables import Column, Table, flat_row

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]

_ABOUT = ("dataset", "run", "judge", "eval_prompt", "criterion", "against")
_TEST = tuple(Column(name, name) for name in ("winning_rate", "advantage", "people_icc", "people_equal"))
_MEANS = tuple(Column(name, name) for name in ("powered", "people", "all_people", "judge_mean", "power", "worth"))


def replaceability(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """The alternative annotator test of every judge cell, with the people's agreement.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, against`; `winning_rate` and `advantage` (rho) with `_n` (people
        compared) and `_reason`; `passed`; `epsilon`; `too_few` (people with fewer than 30 stories); `least_stories,
        most_stories` (of the people compared); `people_icc` (ICC(1,1)) with its interval, `people_equal` (share of
        pairs of people who give a story the same rating).
    """
    options = options or ReplacementOptions()
    rows, _ = _test_rows(build(table, drop_systems=options.drop_systems), options)
    more = ("passed", "epsilon", "too_few", "least_stories", "most_stories")
    return pd.DataFrame([{key: row[key] for key in (*_ABOUT, *more)} | flat_row(row, _TEST) for row in rows])


def by_person(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """The alt-test person by person: `dataset, run, judge, eval_prompt, criterion, against, person, stories,
    judge_closer, person_closer, p, tail, p_adjusted` (Benjamini-Yekutieli over the people of the cell)`, won`."""
    options = options or ReplacementOptions()
    rows, _ = _test_rows(build(table, drop_systems=options.drop_systems), options)
    return pd.DataFrame(
        [
            {key: row[key] for key in _ABOUT}
            | {"person": row["names"][one.column], "stories": one.stories, "judge_closer": one.judge_closer}
            | {"person_closer": one.person_closer, "p": one.p, "tail": "less"}
            | {"p_adjusted": one.adjusted, "won": one.won}
            for row in rows
            for one in row["result"].people
        ]
    )


def powered_means(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """Mean ratings of systems from some human ratings and all of the judge's (PPI++), for every judge cell and system.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, against, system`; `powered` with `_low, _high, _n` (stories rated
        by both), `_reason`; `people` (the same stories, people alone); `all_people` (of all stories people rated, where
        some were hidden by `options.rated`); `judge_mean`; `power` (lambda); `worth` (how many human ratings one is
        worth); `both, judge_only` stories.
    """
    options = options or ReplacementOptions()
    rows, _ = _mean_rows(build(table, drop_systems=options.drop_systems), options)
    more = ("system", "both", "judge_only")
    return pd.DataFrame([{key: row[key] for key in (*_ABOUT, *more)} | flat_row(row, _MEANS) for row in rows])


def tables(table: RatingsTable, options: ReplacementOptions | None = None) -> list[Table]:
    """Both tables as printed: the alt-test, and prediction-powered means of systems."""
    options = options or ReplacementOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    # Draws are made only where ratings are hidden; the means have no epsilon, and persons no part in them.
    drawn = () if options.rated else ("seed",)
    line = signature(table, matrices, options, intervals="f", without=("seed", "rated"))
    means_line = signature(table, matrices, options, intervals="normal", without=("epsilon", "positions", *drawn))
    facts = [note for fact in table.facts for note in fact.notes]
    tests, remarks = _test_rows(matrices, options)
    means, more = _mean_rows(matrices, options)
    return [
        _test_table(tests, options, line, [*facts, *remarks.notes]),
        _mean_table(means, options, means_line, [*facts, *more.notes]),
    ]


def _test_table(rows: list[dict[str, Any]], options: ReplacementOptions, line: str, notes: list[str]) -> Table:
    columns = [
        *first_columns(rows),
        Column("winning_rate", "winning rate %", digits=0, factor=100),
        Column("passed", "passes"),
        Column("advantage", "rho"),
        Column("compared", "people"),
        Column("too_few", "left out"),
        Column("least_stories", "stories, least"),
        Column("most_stories", "most"),
        Column("people_icc", "people's ICC(1,1)"),
        Column("people_equal", "people equal %", digits=0, factor=100),
    ]
    test = (
        "alt-test (Calderon et al. 2025): one person is left out at a time; the judge wins where it lies closer to the "
        f"other people than that person, who may be better by epsilon = {options.epsilon:g} (one-sided t test; "
        f"Benjamini-Yekutieli at {LEVEL:g} over people); it passes with {100 * PASS:.0f} % or more"
    )
    agreed = (
        "where people agree little (ICC near 0) a judge that always gives the middle passes too: read the rate beside "
        "their ICC; people equal %: pairs of people who give a story the same rating"
    )
    rho = "rho: share of stories where the judge lies at least as close, mean over people: compare judges by it"
    own = [test, rho, agreed]
    if options.measure == "exact":
        own.append("closeness: equal ratings, the judge's mean over repeats rounded to whole points")
    return Table("May the judge replace a person?", columns, rows, line, tuple(dict.fromkeys([*notes, *own])))


def _mean_table(rows: list[dict[str, Any]], options: ReplacementOptions, line: str, notes: list[str]) -> Table:
    columns = [
        *first_columns(rows),
        Column("system", "system"),
        Column("powered", "people + judge"),
        Column("people", "people alone"),
        *([Column("all_people", "all people")] if options.rated else []),
        Column("judge_mean", "judge alone"),
        Column("both", "rated by both"),
        Column("judge_only", "by judge only"),
        Column("power", "lambda", digits=3),
        Column("worth", "worth"),
    ]
    powered = (
        "people + judge: prediction-powered mean (PPI++, Angelopoulos et al. 2023), what people would give all stories "
        "if those that they rated were drawn at random"
    )
    weight = "lambda: weight of the judge, 0 = none; worth: how many human ratings one is worth with the judge's help"
    own = [powered, weight]
    few = sum(0 < row["both"] < FEW for row in rows)
    if few:
        own.append(f"{few} of {len(rows)} rows rest on fewer than {FEW} stories rated by both: intervals too narrow")
    if options.rated:
        own.append(f"people's ratings of all but {options.rated} stories of each system, drawn at random, were hidden")
    title = "Mean ratings of systems, people helped by the judge"
    return Table(title, columns, rows, line, tuple(dict.fromkeys([*notes, *own])))


def _test_rows(matrices: Sequence[RatingMatrix], options: ReplacementOptions) -> tuple[list[dict[str, Any]], Remarks]:
    found, remarks = comparable(matrices, options.against, None)
    people: dict[tuple[str, str], tuple[Raters, str | None, dict[str, Any]]] = {}
    rows = []
    for matrix, one in found:
        key = (matrix.dataset, one.labels["against"])
        if key not in people:
            people[key] = _people(matrix, one.labels["against"], options, remarks)
        raters, reason, agreed = people[key]
        rows.append({**one.labels, **agreed, **_tested(one, raters, reason, options)})
    return rows, remarks


def _tested(one: Contender, raters: Raters, reason: str | None, options: ReplacementOptions) -> dict[str, Any]:
    judge = one.sides[0]
    if options.measure == "exact":
        judge = np.floor(judge + 0.5)
    if reason:
        nothing = Estimate.undefined(reason)
        result = AltTest(nothing, nothing, (), 0, options.epsilon)
    else:
        result = alt_test(judge, raters.ratings, epsilon=options.epsilon, measure=options.measure)
    stories = [person.stories for person in result.people]
    names = raters.names or tuple(f"position {i + 1}" for i in range(raters.ratings.shape[1]))
    return {
        "winning_rate": result.winning_rate,
        "advantage": result.advantage,
        "passed": result.passed,
        "epsilon": options.epsilon,
        "compared": len(result.people),
        "too_few": result.too_few,
        "least_stories": min(stories, default=None),
        "most_stories": max(stories, default=None),
        "names": names,
        "result": result,
    }


def _people(
    matrix: RatingMatrix, criterion: str, options: ReplacementOptions, remarks: Remarks
) -> tuple[Raters, str | None, dict[str, Any]]:
    """The raters of a criterion, why they cannot be left out one at a time, and how far they agree."""
    raters = matrix.by_rater(matrix.criteria.index(criterion))
    packed = _packed(raters.ratings)
    equal = agreement(packed, columns="people").flip
    if equal.value is not None:
        equal = replace(equal, value=1 - equal.value)
    forms = {row.form: row.estimate for row in icc.family(packed, columns="people").rows}
    agreed = {"people_icc": forms["ICC(1,1)"], "people_equal": equal}
    if raters.known:
        return raters, None, agreed
    if not (np.diff(raters.ratings, axis=1) < 0).any():
        reason = f"refused: {raters.reason}, so positions are lowest to highest rating, not persons"
        return raters, reason, agreed
    if not options.positions:
        return raters, f"refused: {raters.reason} (--positions takes first, second, ... rating for persons)", agreed
    note = f"{matrix.dataset}: {raters.reason}; first, second, ... rating stand in for persons, who may be several each"
    remarks.notes[note] = None
    return raters, None, agreed


def _packed(ratings: Floats) -> Floats:
    """Each story's ratings moved to the left, as many columns as most stories have ratings; stories with 2 or more.

    Columns are then positions: for agreement among whoever rated, one-way.
    """
    known = ~np.isnan(ratings)
    rows, count = ratings[known.sum(axis=1) >= 2], known.sum(axis=1)
    if not rows.size:
        return np.asarray(rows, dtype=np.float64)
    width = int(np.bincount(count[count >= 2]).argmax())
    order = np.argsort(np.isnan(rows), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(rows, order, axis=1)[:, :width], dtype=np.float64)


def _mean_rows(matrices: Sequence[RatingMatrix], options: ReplacementOptions) -> tuple[list[dict[str, Any]], Remarks]:
    found, remarks = comparable(matrices, options.against, None)
    hidden = {matrix.dataset: _hidden(matrix, options) for matrix in matrices}
    rows = []
    for matrix, one in found:
        judge, people = one.sides
        shown = people if options.rated is None else np.where(hidden[matrix.dataset], np.nan, people)
        for code, system in enumerate(matrix.systems):
            own = matrix.system == code
            result = powered_mean(shown[own], judge[own])
            row = {**one.labels, "system": system, "powered": result.estimate, "people": result.people}
            row |= {"judge_mean": result.judge, "power": result.power, "worth": result.worth}
            row |= {"both": result.both, "judge_only": result.judge_only, "all_people": None}
            if options.rated is not None and not np.isnan(people[own]).all():
                row["all_people"] = float(np.nanmean(people[own]))
            rows.append(row)
    return rows, remarks


def _hidden(matrix: RatingMatrix, options: ReplacementOptions) -> NDArray[np.bool_]:
    """Stories whose human ratings are hidden: in each system all but `rated`, the same for every criterion."""
    hidden = np.zeros(matrix.n, dtype=bool)
    if options.rated is None:
        return hidden
    rng = np.random.default_rng(options.seed)
    for code in range(len(matrix.systems)):
        own = np.flatnonzero((matrix.system == code) & (matrix.raters > 0).any(axis=0))
        hidden[rng.permutation(own)[options.rated :]] = True
    return hidden
