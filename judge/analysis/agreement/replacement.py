"""Whether a judge may replace people: the alternative annotator test, and means of systems from few human ratings.

The test needs identified people, unless the option `positions` lets the position of a rating stand for a person. The
agreement among people is reported with it: where people hardly agree, even a judge that always gives the mean rating is
closer to the other people than one of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pandas as pd

from judge.analysis.agreement.alternative_annotator import (
    DEALT,
    MEAN,
    MODE,
    NULL,
    PERMUTED,
    AltTestRow,
    Uninformed,
    leads_of,
    levels_of,
    tested_rows,
)
from judge.analysis.agreement.replacement_verdict import ReplacementVerdict, Word, verdict_of
from judge.analysis.correlation import Correlations, correlations
from judge.analysis.correlation.margins import beside_people, margins
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, Predict, Remarks
from judge.analysis.inputs.candidates import Subject, candidates, cells, comparable, first_columns
from judge.analysis.inputs.control import Control
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.signature import Signed, signature, signature_parts
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.arrays import Masks
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, flat_row, hundredths, titled
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.alt_test import LEVEL, MEASURES, PASS, AgainstPerson
from judge.stats.estimation.means import FEW, powered_mean

_ABOUT = ("dataset", "run", "judge", "eval_prompt", "criterion", "against")
_TEST = (
    *(
        Column(name, name)
        for name in ("winning_rate", "clustered_rate", "advantage", "people_icc", "people_equal", "lead", "within")
    ),
    *(Column(name, name, p="less") for name in ("p", "clustered_p")),
)
_MEANS = ("powered", "people", "all_people", "judge_mean", "power", "worth")


@dataclass(frozen=True, slots=True)
class MeanRow:
    """Mean rating of one system by people with a judge's help (PPI++), by people alone, and by the judge alone.
    `powered` and `people` cover the same stories, those that the judge lost included. `all_people` is the mean of all
    human ratings where some were hidden; `power` is the weight lambda of the judge's ratings;  `worth` is the variance
    without the judge over that with it. `both`, `judge_only` and `lost` (not rated by the judge) count stories."""

    subject: Subject
    system: str
    powered: Estimate
    people: Estimate
    judge_mean: float | None
    power: float | None
    worth: float | None
    both: int
    judge_only: int
    lost: int
    all_people: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Replacement(Signed):
    """The alternative annotator test of every judge and of null judges, and mean ratings of systems. `beside_people`
    holds each judge's tau minus that of one more person, as the mean over criteria, by dataset, run, judge and
    Eval-Prompt; empty where no test could be made."""

    tests: tuple[AltTestRow, ...]
    means: tuple[MeanRow, ...]
    options: ReplacementOptions
    means_signature: str
    means_notes: tuple[str, ...]
    beside_people: Mapping[tuple[str, str, str, str], Estimate] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[tuple[str, str, str, str], ReplacementVerdict]:
        """By dataset, run, judge and Eval-Prompt."""
        rows: dict[tuple[str, str, str, str], list[AltTestRow]] = {}
        for row in self.tests:
            if row.kind == JUDGE:
                rows.setdefault(_key(row.subject)[:4], []).append(row)
        return {key: verdict_of(own, self.beside_people.get(key)) for key, own in rows.items()}

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each test. Columns are the fields of `AltTestRow`; estimates have `_n` and, where they apply,
        `_low`, `_high` and `_reason`. `tail` says whether `p` and `clustered_p` are one- or two-sided."""
        more = ("passed", "clustered_passed", "clusters", "epsilon", "too_few", "least_stories", "most_stories")
        rows = [cells(test) | leads_of(test) for test in self.tests]
        return self.signed([{key: row[key] for key in ("kind", *_ABOUT, *more)} | flat_row(row, _TEST) for row in rows])

    @property
    def people_frame(self) -> pd.DataFrame:
        """One row for each person left out of a judge's test. `p_adjusted` is Benjamini and Yekutieli's over the people
        of one judge, Eval-Prompt and criterion; `clustered_...` columns have errors clustered by story-prompt."""
        judges = [row for row in self.tests if row.kind == JUDGE]
        return pd.DataFrame([_by_person(row, person) for row in judges for person in row.people])

    @property
    def means_frame(self) -> pd.DataFrame:
        """One row for each judge, Eval-Prompt, criterion and system. Columns are the fields of `MeanRow`; estimates
        have `_low`, `_high`, `_n` and `_reason`."""
        about = (*_ABOUT, "system", "both", "judge_only", "lost")
        columns = [Column(name, name) for name in _MEANS]
        rows = [cells(row) for row in self.means]
        return pd.DataFrame([{key: row[key] for key in about} | flat_row(row, columns) for row in rows])


def replacement(
    table: RatingsTable,
    options: ReplacementOptions | None = None,
    predict: Predict | None = None,
    correlated: Correlations | None = None,
) -> Replacement:
    """The alternative annotator test of all judges, and systems' means from some human ratings and all of the judge's.
    `predict` gives the control's out-of-fold ratings; None = `analysis.inputs.control.Control`. `correlated`: paired
    correlations over all stories of the table's judges, computed here if None. They say who is below one more person.
    """
    options = options or ReplacementOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    # Draws are made only where ratings are hidden; the means have no epsilon, and persons no part in them.
    drawn = () if options.rated else ("seed",)
    tests, remarks = tested_rows(matrices, options, nulls=True)
    counted = numbers(table)
    of_numbers = matrices if counted is table else build(counted, drop_systems=options.drop_systems)
    beside = {}
    if any(row.kind == JUDGE and row.winning_rate.defined for row in tests):
        correlated = correlated or correlations(table, _paired(options), None, paired=True)
        tests = informed_rows(tests, of_numbers, options, predict or Control(), correlated, remarks)
        beside = {(m.dataset, m.run, m.judge, m.eval_prompt): m.over[CEILING] for m in margins(correlated)}
    means, more = _mean_rows(of_numbers, options)
    options = _with_measure(options, tests)
    lost = ("lost:as-judge-mean",) if any(row.lost for row in means) else ()
    without = ("epsilon", "positions", *drawn)
    return Replacement(
        tests=tuple(tests),
        means=tuple(means),
        options=options,
        signature_parts=signature_parts(table, matrices, options, intervals="f", without=("rated",)),
        means_signature=signature(table, matrices, options, intervals="t", without=without, extra=lost),
        notes=(*table.notes, *remarks.notes),
        means_notes=tuple(dict.fromkeys([*counted.notes, *more.notes])),
        beside_people=beside,
    )


def tests_of_judges(
    table: RatingsTable, options: ReplacementOptions, predict: Predict, correlated: Correlations
) -> list[AltTestRow]:
    """The tests of judges alone, as of `replacement`: without null judges and systems' means."""
    matrices = build(table, drop_systems=options.drop_systems)
    tests, remarks = tested_rows(matrices, options, nulls=False)
    counted = numbers(table)
    of_numbers = matrices if counted is table else build(counted, drop_systems=options.drop_systems)
    return informed_rows(tests, of_numbers, options, predict, correlated, remarks)


def _paired(options: ReplacementOptions) -> CorrelationOptions:
    return CorrelationOptions(
        drop_systems=options.drop_systems, against=options.against, resamples=options.resamples, seed=options.seed
    )


def informed_rows(
    tests: Sequence[AltTestRow],
    matrices: Sequence[RatingMatrix],
    options: ReplacementOptions,
    predict: Predict,
    correlated: Correlations,
    remarks: Remarks,
) -> list[AltTestRow]:
    """The tests with judges' leads over uninformed judges and their difference from one more person. `matrices` hold
    ratings in numbers, without criteria of labels that have no order."""
    judged = [(matrix, candidate) for matrix in matrices
              for candidate in candidates(matrix, options.against, predict, remarks, ceiling=False)
              if candidate.people is not None]  # fmt: skip
    levels = {matrix.dataset: levels_of(matrix, _paired(options)) for matrix in matrices}
    rivals = {
        (matrix.dataset, str(control.subject.against)): Uninformed(matrix, control, levels[matrix.dataset])
        for matrix, control in judged
        if control.kind == CONTROL
    }
    ratings = {_key(judge.subject): judge.ratings for _, judge in judged if judge.kind == JUDGE}
    beside = beside_people(correlated)
    rows = []
    for row in tests:
        own = ratings.get(_key(row.subject))
        rival = rivals.get((row.subject.dataset, str(row.subject.against)))
        if row.kind != JUDGE or not row.winning_rate.defined or own is None or rival is None:
            rows.append(row)
            continue
        lead, within = rival.lead(own, "overall"), rival.lead(own, "by-system")
        rows.append(replace(row, lead=lead, within=within, beside=beside.get(_key(row.subject))))
    return rows


def _key(subject: Subject) -> tuple[str, str, str, str, str]:
    return subject.dataset, str(subject.run), subject.judge, str(subject.eval_prompt), subject.criterion


def _with_measure(options: ReplacementOptions, tests: Sequence[AltTestRow]) -> ReplacementOptions:
    """The options with ``auto`` replaced by the measure of closeness that all tests used."""
    measures = {row.measure for row in tests} or {"rmse"}
    return replace(options, measure=measures.pop()) if options.measure == "auto" and len(measures) == 1 else options


def _by_person(row: AltTestRow, person: AgainstPerson) -> dict[str, object]:
    labels = row.subject.labels
    return (
        {key: labels[key] for key in _ABOUT}
        | {"person": row.names[person.column], **cells_of(person, "stories", "judge_closer", "person_closer", "p")}
        | {"tail": "less", "p_adjusted": person.adjusted, "won": person.won, "story_prompts": person.clusters}
        | {"clustered_p": person.clustered_p, "clustered_p_adjusted": person.clustered_adjusted}
        | {"clustered_won": person.clustered_won}
    )


def _mean_rows(matrices: Sequence[RatingMatrix], options: ReplacementOptions) -> tuple[list[MeanRow], Remarks]:
    matrix_candidates, remarks = comparable(matrices, options.against, None)
    hidden = {matrix.dataset: _hidden(matrix, options) for matrix in matrices}
    rows = []
    for matrix, candidate in matrix_candidates:
        judge, people = candidate.sides
        shown = people if options.rated is None else np.where(hidden[matrix.dataset], np.nan, people)
        for code, system in enumerate(matrix.systems):
            own = matrix.system == code
            result = powered_mean(shown[own], judge[own], small_sample=True)
            comparable_means = options.rated is not None and not np.isnan(people[own]).all()
            rows.append(
                MeanRow(
                    candidate.subject,
                    system,
                    **cells_of(result, "people", "power", "worth", "both", "judge_only", "lost"),
                    powered=result.estimate,
                    judge_mean=result.judge,
                    all_people=float(np.nanmean(people[own])) if comparable_means else None,
                )
            )
    return rows, remarks


def _hidden(matrix: RatingMatrix, options: ReplacementOptions) -> Masks:
    """Mask, shape (n stories,), of hidden human ratings: all but `rated` per system, drawn at random."""
    hidden = np.zeros(matrix.n, dtype=bool)
    if options.rated is None:
        return hidden
    rng = np.random.default_rng(options.seed)
    for code in range(len(matrix.systems)):
        own = np.flatnonzero((matrix.system == code) & (matrix.raters > 0).any(axis=0))
        hidden[rng.permutation(own)[options.rated :]] = True
    return hidden


# Printed tables of the alternative annotator test and of means of systems.


def tables(result: Replacement) -> list[Table]:
    """The alternative annotator test, and systems' means from some human ratings with the judge's help."""
    return [_test_table(result), _mean_table(result)]


def _test_table(result: Replacement) -> Table:
    options = result.options
    rows = [cells(test) | {"people_share": test.people_share} | leads_of(test) for test in result.tests]
    labelled = any(row.labels for row in result.tests)
    columns = [*first_columns(rows), *_OF_TEST]
    test = (
        "alt-test (Calderon et al. 2025): one person is left out at a time; the judge wins where it lies closer to the "
        f"other people than that person, who may be better by epsilon = {options.epsilon:g} (one-sided t test; "
        f"Benjamini-Yekutieli at {LEVEL:g} over people); it passes with {100 * PASS:.0f} % or more"
    )
    agreed = (
        "where people agree little (ICC near 0) a judge that always gives the middle passes too: interpret the winning "
        "rate together with people's ICC; people equal %: share of pairs of people who give a story the same rating"
    )
    rho = (
        "rho: share of stories where the judge lies at least as close to the others as the person left out, mean over "
        "people: compare judges by it; people's share: where that person does (ties count for both)"
    )
    clustered = (
        "by story-prompt: the same test with standard errors over story-prompts (t with one degree of freedom less "
        "than story-prompts); prefer it where stories share story-prompts, since the published "
        "test treats stories as independent; p: the smallest level at which the judge would pass"
    )
    same = " or ".join(dict.fromkeys(MODE if row.labels else MEAN for row in result.tests)) or MEAN
    null = (
        f"{same}, {PERMUTED}: uninformed judges (one rating for all stories; people's ratings assigned to the stories "
        f"at random, mean of {DEALT} assignments): a judge with no higher rate has shown nothing"
    )
    above = (
        "above uninformed, within systems: the judge's tau with people minus that of the best uninformed judge "
        "(chance, the control, the number of words); on all stories and within systems, 95 % over story-prompts; a yes "
        "needs both above 0"
    )
    own = [test, clustered, rho, above, null, *_null_passes(result), agreed]
    if labelled:
        own.append(
            "closeness of labels: whether they are equal; a judge's label is the one that most of its repeats "
            "gave, and none where repeats tie"
        )
    if any(MEASURES[row.measure].whole and not row.labels for row in result.tests):
        own.append("closeness: equal ratings, the judge's mean over repeats rounded to whole points")
    title = "May the judge replace a person?"
    return Table(title, columns, rows, result.signature, (*result.notes, *own), above=verdict(result))


def verdict(result: Replacement) -> str:
    """Whether judges may replace a person: one judge's verdict with its reasons, or the counts of each verdict."""
    verdicts = result.verdicts
    question = "May a judge replace a person?"
    if len(verdicts) == 1:
        (only,) = verdicts.values()
        return f"{question} {only.text.upper()}. {only.sentence()}"
    counts: dict[str, list[str]] = {}
    for (_, _, judge, eval_prompt), own in verdicts.items():
        counts.setdefault(own.word, []).append(judge if eval_prompt == "-" else f"{judge} with {eval_prompt}")
    said = [
        f"{word.upper()}: {', '.join(counts[word])}" if word in ("yes", "on some criteria") else
        f"{word.upper()}: {len(counts[word])} of {len(verdicts)}"
        for word in get_args(Word) if word in counts
    ]  # fmt: skip
    return f"{question} {'; '.join(said)}."


_OF_TEST = (
    Column("winning_rate", "winning rate %", digits=0, factor=100, main=True),
    Column("passed", "passes"),
    Column("p", "p", digits=3, p="less"),
    Column("clustered_rate", "rate by story-prompt %", digits=0, factor=100),
    Column("clustered_passed", "passes by story-prompt"),
    Column("clustered_p", "p by story-prompt", digits=3, p="less"),
    *titled(
        advantage="rho",
        people_share="people's share",
        compared="people",
        too_few="left out",
        least_stories="stories, least",
        most_stories="most",
        people_icc="people's ICC(1,1)",
    ),
    Column("people_equal", "people equal %", digits=0, factor=100),
    *hundredths(lead="above uninformed x100", within="within systems x100"),
)


def _null_passes(result: Replacement) -> list[str]:
    passed = dict.fromkeys(row.subject.criterion for row in result.tests if row.kind == NULL and row.passed)
    if not passed:
        return []
    return [f"an uninformed judge passes on {', '.join(passed)}: there, passing is no evidence for a judge"]


def _mean_table(result: Replacement) -> Table:
    options, rows = result.options, [cells(row) for row in result.means]
    lost = any(row.lost for row in result.means)
    columns = [
        *first_columns(rows),
        Column("system", "system"),
        Column("powered", "people + judge", main=True),
        Column("people", "people alone"),
        *([Column("all_people", "all people")] if options.rated else []),
        *titled(judge_mean="judge alone", both="rated by both", judge_only="by judge only"),
        *([Column("lost", "not by judge")] if lost else []),
        Column("power", "lambda", digits=3),
        Column("worth", "worth"),
    ]
    powered = (
        "people + judge: prediction-powered mean (PPI++, Angelopoulos et al. 2023), an estimate of people's mean "
        "rating of all stories, if the stories that they rated are a random sample"
    )
    weight = (
        "lambda: weight of the judge, 0 = none; worth: number of human ratings that one is worth with the judge's help"
    )
    own = [powered, weight]
    if lost:
        own.append(
            "people alone: all their ratings, also of stories that the judge did not rate; in people + judge such a "
            "story counts with the mean of the judge's other ratings, so that what the judge lost biases neither"
        )
    few = sum(0 < row.people.n < FEW for row in result.means)
    if few:
        own.append(
            f"{few} of {len(rows)} rows rest on fewer than {FEW} stories that people rated: their intervals are "
            "too narrow"
        )
    if options.rated:
        own.append(f"people's ratings of all but {options.rated} stories of each system, drawn at random, were hidden")
    title = "Mean ratings of systems, from people's ratings and the judge's together"
    return Table(title, columns, rows, result.means_signature, (*result.means_notes, *own))
