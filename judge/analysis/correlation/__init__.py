"""Correlations of judges' ratings with human ratings, with counts of lost ratings.

Every criterion has a row of one more person, one correlation for each judge x Eval-Prompt, and the control judge, which
predicts ratings from surface features. All intervals use the same resamples. A judge's row is computed on the stories
that it rated, and also reports ceiling and control on these. Compared with the ceiling, the judge is scored as one
person is, against the mean of the other people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.correlation.correlations import (
    CONTROL_SAME,
    LOWEST,
    NOTE,
    ONE_OUT,
    PEOPLE_SAME,
    TITLES,
    CorrelatedDataset,
    CorrelationRow,
    Correlations,
)
from judge.analysis.correlation.rows import About, DatasetRows
from judge.analysis.coverage import coverage
from judge.analysis.coverage.coverage import scales_of
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, ControlPredictions, Predict, Remarks
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.label_criteria import numbers, phi_note
from judge.analysis.inputs.resamples import few_systems
from judge.analysis.inputs.selection import of_panel, panels_of
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.signature import abbreviations, signature_parts
from judge.analysis.options.table_options import LENGTH, NOTHING_GIVEN, CorrelationOptions
from judge.base.printing.tables import Column, Table, titled
from judge.base.wording import Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation import paired_differences
from judge.stats.resampling import true_means

__all__ = ["ControlPredictions", "CorrelatedDataset", "CorrelationRow", "Correlations", "Predict"]

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Printed correlation table.

_FURTHER = {ONE_OUT: "leave-one-out", PEOPLE_SAME: "people, same", CONTROL_SAME: "control, same", **TITLES}
_SAME_NOTE = "people, same; control, same: one more person, and the control on the stories of the judge's own row"


def tables(result: Correlations) -> list[Table]:
    title = f"{result.statistic} with people, {result.over}"
    return [
        Table(
            title,
            _columns(result),
            [{**_printed(row), "people": name} for name, row in result.by_people],
            result.signature,
            notes(result),
            first=frozenset(i for i, (_, row) in enumerate(result.by_people) if row.averaged),
        )
    ]


def notes(result: Correlations) -> tuple[str, ...]:
    """Notes beneath the table: warnings about the numbers, and the meaning of additional columns."""
    keys = {column.key for column in _further_columns(result)}
    sentences = [*result.notes]
    sentences += [_SAME_NOTE] if keys & {PEOPLE_SAME, CONTROL_SAME} else []
    sentences += [NOTE] if LOWEST in keys else []
    return tuple(dict.fromkeys(sentences))


def _printed(row: CorrelationRow) -> dict[str, Any]:
    return {
        **row.subject.labels,
        "kind": row.kind,
        "stories": row.stories,
        "systems": row.systems,
        "value": row.estimate,
        "given": row.given,
        "n": row.estimate.n,
        "missing": row.subject.lost,
        **row.further,
    }


def _columns(result: Correlations) -> list[Column]:
    columns = [Column("dataset", "dataset")] if len(result.datasets) > 1 else []
    columns += [Column("criterion", "criterion"), Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    if any(row.subject.against not in (None, row.subject.criterion) for row in result.rows):
        columns.append(Column("against", "against people's"))
    if result.panels:
        columns.append(Column("people", "people"))
    columns.append(Column("value", f"{result.statistic} x100", digits=1, factor=100))
    if result.given:
        columns.append(Column("given", f"given {result.given}", digits=1, factor=100))
    columns += _further_columns(result)
    columns.append(Column("n", result.unit))
    if LEVELS[result.level].grouping != "overall":
        columns.append(Column("stories", "stories"))
    return [*columns, Column("repeats", "repeats", digits=1), *titled(unrated="unrated", missing="repeats lost")]


def _further_columns(result: Correlations) -> list[Column]:
    rows = result.rows
    defined = {name for row in rows for name, number in row.further.items() if number.defined}
    # Ceiling and control on a judge's stories are shown only where rows are based on different stories.
    bars = {(row.subject.dataset, row.kind, row.subject.criterion): row.stories for row in rows}
    apart = any(
        row.stories < bars.get((row.subject.dataset, kind, row.subject.against), 0)
        for row in rows
        if row.kind == JUDGE and row.subject.against is not None
        for kind in (CEILING, CONTROL)
    )
    same = () if apart else (PEOPLE_SAME, CONTROL_SAME)
    return [
        Column(name, title, digits=1, factor=100)
        for name, title in _FURTHER.items()
        if name in defined and name not in same
    ]


# Computation of correlations from a ratings table: every dataset's rows, with notes.

# Notes on how well mean human ratings separate the systems. System-level correlations depend on this.


def dataset_notes(matrix: RatingMatrix) -> Iterator[str]:
    """Notes for a system-level table on how well mean human ratings separate the systems: significant pairs, and the
    reliability of the means. Also whether systems do not share their story-prompts."""
    systems = len(matrix.systems)
    if systems < 2:
        return
    sentences, shared = [], True
    for name, people in zip(matrix.criteria, matrix.people, strict=True):
        if np.isnan(people).all():
            continue
        table = paired_differences.by_story_prompt(people, matrix.system, matrix.story_prompt, systems)
        family = paired_differences.adjusted(paired_differences.all_pairs(table))
        apart = int(paired_differences.told_apart(family, systems).sum())
        rated = ~np.isnan(table)
        shared &= bool((rated.all(axis=1) | ~rated.any(axis=1)).all())
        reliability = true_means.reliability(people, matrix.system, matrix.story_prompt)
        reliable = f"{reliability.value:.2f}" if reliability.value is not None else str(reliability.reason)
        sentences.append(f"{name} {apart} of {len(family)} pairs, reliability {reliable}")
    if sentences:
        yield (
            f"{matrix.dataset}: systems that people's means tell apart (paired t over story-prompts, Holm, 5 %), and "
            f"the share of the means' variance that is not noise: {'; '.join(sentences)}"
        )
    if not shared:
        yield (
            f"{matrix.dataset}: the systems do not share their story-prompts, so that differences between their means "
            "are also differences between their story-prompts"
        )


# Shares of the stories that judges rated may differ by so much before a note says so.
_APART = 0.02


def correlations(
    table: RatingsTable,
    options: CorrelationOptions | None = None,
    predict: Predict | None = None,
    *,
    paired: bool = False,
    people_drawn: bool = True,
    about: About | None = None,
) -> Correlations:
    """Correlations of every judge with people, with one more person and the control judge.

    `predict` gives the control judge's out-of-fold ratings; None = no control judge. `paired`: also compute each
    judge's difference from ceiling and control in every resample, as `margins` needs; this takes longer and changes no
    row. Without `people_drawn`, the ceiling and differences from it have no intervals, and there is no note on how far
    people tell systems apart; no other number changes. With `about`, only that row is computed, beside its bars and
    without panels; each number is as in the whole table."""
    options, remarks = _with_given(table, options or CorrelationOptions()), Remarks()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    if about is not None:
        matrices = tuple(matrix for matrix in matrices if matrix.dataset == about[0])
    scales, controls = scales_of(table), frozenset(fact.judge for fact in table.facts if fact.control)
    datasets = []
    remarks.note(table.notes)
    for matrix in matrices:
        pairs = match(matrix, options.against)
        remarks.note(phi_note(matrix))
        maker = DatasetRows(
            matrix,
            options,
            predict,
            paired=paired,
            people_drawn=people_drawn,
            about=about,
            scales=scales,
            controls=controls,
        )
        dataset = maker.dataset(pairs)
        remarks.note([*pairs.notes, *dataset.notes, *_share_notes(dataset.name, dataset.rows)])
        remarks.signature_parts.update(dict.fromkeys(dataset.signature_parts))
        datasets.append(dataset)
    lost = coverage.findings(coverage.tests_against_people(matrices))
    remarks.note(lost)
    remarks.note(_lower_is_better(table))
    if people_drawn and LEVELS[options.level].grouping == "means":
        remarks.note(_system_notes(matrices))
    return Correlations(
        datasets=tuple(datasets),
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=list(remarks.signature_parts)),
        notes=tuple(remarks.notes),
        lost=lost,
        abbreviations=abbreviations(table),
        paired=paired,
        panels={
            name: correlations(of_panel(table, name), options, predict, paired=paired, people_drawn=people_drawn)
            for name in (panels_of(table) if about is None else ())
        },
    )


def _with_given(table: RatingsTable, options: CorrelationOptions) -> CorrelationOptions:
    """Options with text length held fixed if a measure declares this, it is possible, and the user chose nothing."""
    if options.given == NOTHING_GIVEN:
        return replace(options, given=None)
    wanted = next((fact.given for fact in table.facts if fact.given), None)
    if wanted != LENGTH or options.given is not None or LEVELS[options.level].grouping == "within":
        return options
    counted = table.stories["words"].notna().groupby(level="dataset").any()
    return replace(options, given=wanted) if len(counted) and counted.all() else options


def _lower_is_better(table: RatingsTable) -> Iterator[str]:
    # Of these automatic measures lower values are better; their negative correlation is good.
    lower = dict.fromkeys(name for fact in table.facts for name, way in fact.directions.items() if way == -1)
    judged = set(table.frame["judge"].dropna().unique()) if lower else set()
    names = [name for name in lower if name in judged]
    if names:
        yield f"lower is better of {', '.join(names)}: where they follow people, their correlations are negative"


def _share_notes(dataset: str, rows: Sequence[CorrelationRow]) -> list[str]:
    shares = [row.share for row in rows if row.kind == JUDGE and row.share is not None]
    if not shares or max(shares) - min(shares) <= _APART:
        return []
    ends = f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"
    note = f"{dataset}: judges rated {ends} of the stories that people rated: their rows rest on different stories and"
    instead = "judge compare and the layout margins of judge correlate take the stories that both have"
    return [Note(f"{note} do not show which is the closest", instead, joint="; ")]


def _system_notes(matrices: Sequence[RatingMatrix]) -> Iterator[str]:
    yield from (note for matrix in matrices for note in few_systems(matrix))
    yield from (note for matrix in matrices for note in dataset_notes(matrix))


def correlate(
    table: RatingsTable, options: CorrelationOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Correlations of judges with people as a data frame, for notebooks. `predict` gives the control's out-of-fold
    ratings; None = no control row.

    `n` counts the units of the correlation (stories, systems or groups). `unrated` counts requested stories without a
    rating, `missing` counts repeats without one by cause. `given` is the partial correlation with the third variable of
    `options.given` held fixed. `leave_one_out` is the row's correlation with the means of all people but one, as for
    the ceiling. `people_same` and `control_same` are ceiling and control on this row's stories. `lost_lowest,
    lost_highest, lost_middle` are the correlation if all lost stories are rated at the lowest point, the highest point
    or the judge's median (`lost_ratings`), null where none was lost. Undefined values are null with a `reason`."""
    return correlations(table, options, predict).frame
