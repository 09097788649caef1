"""Could a judge replace people, or spare some of them? The alt-test, and means of systems with few human ratings.

Never run on people who are not known one from another unless told so, and never without the people's own agreement
beside it: where people hardly agree, any smooth judge comes closer to the others than one of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.agreement.alternative_annotator import JUDGE, NULL, tested_rows
from judge.analysis.agreement.null_judges import DEALT, MEAN, PERMUTED
from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import comparable, first_columns
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.signature import signature
from judge.printing.tables import Column, Table, flat_row
from judge.rating_matrix import RatingMatrix, build
from judge.stats.agreement.alt_test import LEVEL, PASS
from judge.stats.estimation.prediction_powered import FEW, powered_mean

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

_ABOUT = ("dataset", "run", "judge", "eval_prompt", "criterion", "against")
_TEST = (
    *(Column(name, name) for name in ("winning_rate", "clustered_rate", "advantage", "people_icc", "people_equal")),
    *(Column(name, name, p="less") for name in ("p", "clustered_p")),
)
_MEANS = tuple(Column(name, name) for name in ("powered", "people", "all_people", "judge_mean", "power", "worth"))


def replaceability(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """The alternative annotator test of every judge cell and of judges that know nothing, with the people's agreement.

    Returns
    -------
    DataFrame
        `kind` (``judge`` or ``null``: see `null_judges`), `dataset, run, judge, eval_prompt, criterion, against`;
        `winning_rate` and `advantage` (rho) with `_n` (people compared) and `_reason`; `passed`; `p`, the least level
        at which it would; `clustered_rate, clustered_passed, clustered_p`: the same with standard errors over
        `clusters` story-prompts (fewest of a person); `tail`; `epsilon`; `too_few` (people with fewer than 30 stories);
        `least_stories, most_stories` (of the people compared); `people_icc` (ICC(1,1)) with its interval,
        `people_equal` (share of pairs of people who give a story the same rating).
    """
    options = options or ReplacementOptions()
    rows, _ = tested_rows(build(table, drop_systems=options.drop_systems), options)
    more = ("passed", "clustered_passed", "clusters", "epsilon", "too_few", "least_stories", "most_stories")
    return pd.DataFrame([{key: row[key] for key in ("kind", *_ABOUT, *more)} | flat_row(row, _TEST) for row in rows])


def by_person(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """The alt-test person by person: `dataset, run, judge, eval_prompt, criterion, against, person, stories,
    judge_closer, person_closer, p, tail, p_adjusted` (Benjamini-Yekutieli over the people of the cell)`, won`;
    `story_prompts, clustered_p, clustered_p_adjusted, clustered_won` with the standard error over story-prompts."""
    options = options or ReplacementOptions()
    rows, _ = tested_rows(build(table, drop_systems=options.drop_systems), options)
    return pd.DataFrame(
        [
            {key: row[key] for key in _ABOUT}
            | {"person": row["names"][one.column], "stories": one.stories, "judge_closer": one.judge_closer}
            | {"person_closer": one.person_closer, "p": one.p, "tail": "less"}
            | {"p_adjusted": one.adjusted, "won": one.won, "story_prompts": one.clusters}
            | {"clustered_p": one.clustered_p, "clustered_p_adjusted": one.clustered_adjusted}
            | {"clustered_won": one.clustered_won}
            for row in rows
            if row["kind"] == JUDGE
            for one in row["result"].people
        ]
    )


def powered_means(table: RatingsTable, options: ReplacementOptions | None = None) -> pd.DataFrame:
    """Mean ratings of systems from some human ratings and all of the judge's (PPI++), for every judge cell and system.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, against, system`; `powered` with `_low, _high, _n` (stories that
        people rated), `_reason`; `people` (the same stories, people alone, whether the judge rated them or not);
        `all_people` (of all stories people rated, where some were hidden by `options.rated`); `judge_mean`; `power`
        (lambda); `worth` (how many human ratings one is worth); `both, judge_only` stories, `lost` (stories without the
        judge's rating).
    """
    options = options or ReplacementOptions()
    rows, _ = _mean_rows(build(table, drop_systems=options.drop_systems), options)
    more = ("system", "both", "judge_only", "lost")
    return pd.DataFrame([{key: row[key] for key in (*_ABOUT, *more)} | flat_row(row, _MEANS) for row in rows])


def tables(table: RatingsTable, options: ReplacementOptions | None = None) -> list[Table]:
    """Both tables as printed: the alt-test, and prediction-powered means of systems."""
    options = options or ReplacementOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    # Draws are made only where ratings are hidden; the means have no epsilon, and persons no part in them.
    drawn = () if options.rated else ("seed",)
    line = signature(table, matrices, options, intervals="f", without=("rated",))
    facts = [note for fact in table.facts for note in fact.notes]
    tests, remarks = tested_rows(matrices, options)
    means, more = _mean_rows(matrices, options)
    lost = ("lost:as-judge-mean",) if any(row["lost"] for row in means) else ()
    without = ("epsilon", "positions", *drawn)
    means_line = signature(table, matrices, options, intervals="t", without=without, extra=lost)
    return [
        _test_table(tests, options, line, [*facts, *remarks.notes]),
        _mean_table(means, options, means_line, [*facts, *more.notes]),
    ]


def _test_table(rows: list[dict[str, Any]], options: ReplacementOptions, line: str, notes: list[str]) -> Table:
    columns = [
        *first_columns(rows),
        Column("winning_rate", "winning rate %", digits=0, factor=100),
        Column("passed", "passes"),
        Column("p", "p", digits=3, p="less"),
        Column("clustered_rate", "rate by story-prompt %", digits=0, factor=100),
        Column("clustered_passed", "passes by story-prompt"),
        Column("clustered_p", "p by story-prompt", digits=3, p="less"),
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
    clustered = (
        "by story-prompt: the same test with standard errors over story-prompts (t with one degree of freedom less "
        "than story-prompts); believe it where stories share story-prompts, for the published one takes stories as "
        "independent; p: the least level at which the judge would pass"
    )
    null = (
        f"{MEAN}, {PERMUTED}: judges that know nothing of the stories (one rating for all; people's ratings dealt to "
        f"the stories at random, means of {DEALT} times): a judge that gets no more has shown nothing"
    )
    own = [test, clustered, rho, null, *_null_passes(rows), agreed]
    if options.measure == "exact":
        own.append("closeness: equal ratings, the judge's mean over repeats rounded to whole points")
    return Table("May the judge replace a person?", columns, rows, line, tuple(dict.fromkeys([*notes, *own])))


def _null_passes(rows: list[dict[str, Any]]) -> list[str]:
    """Where a judge that knows nothing passes."""
    passed = dict.fromkeys(row["criterion"] for row in rows if row["kind"] == NULL and row["passed"])
    if not passed:
        return []
    return [f"a judge that knows nothing passes on {', '.join(passed)}: there, passing says nothing of a judge"]


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
        *([Column("lost", "not by judge")] if any(row["lost"] for row in rows) else []),
        Column("power", "lambda", digits=3),
        Column("worth", "worth"),
    ]
    powered = (
        "people + judge: prediction-powered mean (PPI++, Angelopoulos et al. 2023), what people would give all stories "
        "if those that they rated were drawn at random"
    )
    weight = "lambda: weight of the judge, 0 = none; worth: how many human ratings one is worth with the judge's help"
    own = [powered, weight]
    if any(row["lost"] for row in rows):
        own.append(
            "people alone: all their ratings, also of stories that the judge did not rate; in people + judge such a "
            "story counts with the mean of the judge's other ratings, so that what the judge lost biases neither"
        )
    few = sum(0 < row["people"].n < FEW for row in rows)
    if few:
        own.append(
            f"{few} of {len(rows)} rows rest on fewer than {FEW} stories that people rated: intervals too narrow"
        )
    if options.rated:
        own.append(f"people's ratings of all but {options.rated} stories of each system, drawn at random, were hidden")
    title = "Mean ratings of systems, people helped by the judge"
    return Table(title, columns, rows, line, tuple(dict.fromkeys([*notes, *own])))


def _mean_rows(matrices: Sequence[RatingMatrix], options: ReplacementOptions) -> tuple[list[dict[str, Any]], Remarks]:
    found, remarks = comparable(matrices, options.against, None)
    hidden = {matrix.dataset: _hidden(matrix, options) for matrix in matrices}
    rows = []
    for matrix, one in found:
        judge, people = one.sides
        shown = people if options.rated is None else np.where(hidden[matrix.dataset], np.nan, people)
        for code, system in enumerate(matrix.systems):
            own = matrix.system == code
            result = powered_mean(shown[own], judge[own], small_sample=True)
            row = {**one.labels, "system": system, "powered": result.estimate, "people": result.people}
            row |= {"judge_mean": result.judge, "power": result.power, "worth": result.worth}
            row |= {"both": result.both, "judge_only": result.judge_only, "lost": result.lost, "all_people": None}
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
