"""Printed tables of agreement within and between panels, and of judges with panels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judge.analysis.inputs.candidates import Subject
from judge.analysis.panels.result import Panels
from judge.base.printing.tables import Column, Table

_SAME = (
    "differences stand on the stories that the judge and both panels rated, drawn together: an interval that leaves 0 "
    "out is called differ; opposite says that the intervals of both correlations lie on either side of 0"
)
_ONE = (
    "icc: ICC(1,1) of one rating and ICC(1,k) of a story's mean, F intervals; alpha: Krippendorff's, interval level, "
    "resampled stories; both take stories as independent"
)


def tables(result: Panels) -> list[Table]:
    """Printed tables about panels of raters.

    They show agreement within panels, agreement between panels, and agreement of judges with panels, with the
    differences between panels.
    """
    return [_within(result), _between(result), _against(result), _differences(result)]


def _dataset(result: Panels) -> list[Column]:
    names = {row.dataset for row in result.within}
    return [Column("dataset", "dataset")] if len(names) > 1 else []


def _correlation(key: str, title: str) -> Column:
    return Column(key, title, digits=1, factor=100)


def _within(result: Panels) -> Table:
    columns = [
        *_dataset(result),
        Column("criterion", "criterion"),
        Column("panel", "panel"),
        Column("raters", "raters"),
        Column("stories", "stories"),
        Column("ratings", "ratings"),
        Column("single", "ICC(1,1)"),
        Column("mean", "ICC(1,k)"),
        Column("alpha", "alpha"),
        _correlation("ceiling", "people, leave one out x100"),
    ]
    rows = [
        {
            "dataset": row.dataset,
            "criterion": row.criterion,
            "panel": row.panel,
            "raters": row.raters,
            "stories": row.stories,
            "ratings": row.ratings,
            "single": row.icc.get("ICC(1,1)"),
            "mean": row.icc.get("ICC(1,k)"),
            "alpha": row.alpha,
            "ceiling": row.ceiling,
        }
        for row in result.within
    ]
    return Table("Agreement within panels", columns, rows, result.signature, [*result.notes, _ONE])


def _between(result: Panels) -> Table:
    columns = [
        *_dataset(result),
        Column("criterion", "criterion"),
        Column("one", "panel"),
        Column("other", "and"),
        _correlation("value", "correlation of means x100"),
        Column("higher", "first minus second"),
        Column("stories", "stories"),
    ]
    rows = [
        {
            "dataset": row.dataset,
            "criterion": row.criterion,
            "one": row.first,
            "other": row.other,
            "value": row.value,
            "higher": row.higher,
            "stories": row.stories,
        }
        for row in result.between
    ]
    return Table("Agreement between panels", columns, rows, "")


def _about(subject: Subject) -> dict[str, Any]:
    return {name: subject.labels[name] for name in ("dataset", "judge", "eval_prompt", "criterion", "against")}


def _first(result: Panels) -> list[Column]:
    subjects = [row.subject for row in result.against]
    columns = [*_dataset(result), Column("criterion", "criterion"), Column("judge", "judge")]
    columns.append(Column("eval_prompt", "eval prompt"))
    if any(subject.against not in (None, subject.criterion) for subject in subjects):
        columns.append(Column("against", "against people's"))
    return columns


def _against(result: Panels) -> Table:
    columns = [*_first(result), Column("people", "people"), _correlation("value", "correlation x100"), Column("n", "n")]
    return Table("Judges against each panel", columns, list(_sides(result)), "")


def _sides(result: Panels) -> Iterator[dict[str, Any]]:
    for row in result.against:
        for name, value in (("all", row.pooled), *((side.panel, side.value) for side in row.sides)):
            yield {**_about(row.subject), "people": name, "value": value, "n": value.n}


def _differences(result: Panels) -> Table:
    columns = [
        *_first(result),
        Column("one", "panel"),
        Column("other", "and"),
        _correlation("first", "first x100"),
        _correlation("second", "second x100"),
        _correlation("over", "difference x100"),
        Column("stories", "stories"),
        Column("verdict", "panels"),
    ]
    rows = [
        {
            **_about(row.subject),
            "one": row.first.panel,
            "other": row.other.panel,
            "first": row.first.value,
            "second": row.other.value,
            "over": row.over,
            "stories": row.stories,
            "verdict": row.verdict,
        }
        for row in result.differences
    ]
    return Table("Judges: differences between panels", columns, rows, "", [_SAME])
