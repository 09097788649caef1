"""Printed tables of coverage, and the line on coverage that is printed before statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.analysis.coverage.counts import WHY_AMBIGUOUS, Counts, count
from judge.analysis.coverage.coverage import Bound, Coverage, LossTest
from judge.analysis.options.signature import joined
from judge.base.printing.tables import Column, Table, cells_of, plain

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

_WHY_NOTES = {
    "list": '(list): ambiguous answers whose only number is the "1." of a list',
    "quoted": "(quoted): ambiguous answers whose only rating is quoted from the story or from somebody's speech",
}
_ALPHA = 0.05
_CODES = "the mean of labels is that of their codes, 0 upwards: of two labels the share of the second"


def tables(result: Coverage) -> list[Table]:
    """Counts by Eval-Prompt, criterion and system, tests of loss, and bounds of mean ratings."""
    counts = (result.by_eval_prompt, result.by_criterion, result.by_system)
    return [
        *(_count_table(run_count, result) for run_count in counts),
        _association_table(result),
        _bounds_table(result),
    ]


def sentence(total: Counts) -> str:
    """The numbers of repeats requested, answered and rated, and of lost repeats by status."""
    if not total.rows:
        return "no judge was asked"
    (row,) = total.rows
    lost = [f"{name} {number}" for name, number in row.lost.items() if number]
    tail = f" ({', '.join(lost)})" if lost else ""
    answered = f", {row.answered} answered" if total.came != "imported" else ""
    return f"{row.asked} {total.came}{answered}, {row.rated} rated, {100 * row.share:.1f} %{tail}"


def with_coverage(
    table: RatingsTable, printed: Sequence[Table], form: str, drop_systems: Sequence[str] = ()
) -> list[Table]:
    """The tables with a line on coverage: above the first for ``table`` and ``md``, else as first note of each."""
    line = f"coverage: {sentence(count(table, ('source',), drop_systems=drop_systems))}"
    if form in ("table", "md"):
        return [replace(other, above=_above(other.above, line)) if i == 0 else other for i, other in enumerate(printed)]
    return [replace(other, notes=(line, *other.notes)) for other in printed]


def _above(verdict: str, line: str) -> str:
    return f"{verdict} ({line})" if verdict else line


def _count_table(counts: Counts, result: Coverage) -> Table:
    columns = [Column(name, name.replace("_", " ")) for name in (*counts.by, "stories")]
    columns += [Column("asked", counts.came), *plain("answered", "rated")]
    columns.append(Column("share", "rated %", digits=1, factor=100))
    columns += [
        Column(name, f"({name})" if name in WHY_AMBIGUOUS else name) for name in (*counts.causes, *counts.flags)
    ]
    title = "Coverage by " + " and ".join(name.replace("eval_prompt", "Eval-Prompt") for name in counts.by)
    rows: list[dict[str, Any]] = [
        dict(zip(counts.by, row.labels, strict=True))
        | cells_of(row, "stories", "asked", "answered", "rated", "share")
        | {**row.lost, **row.why}
        for row in counts.rows
    ]
    notes = dict.fromkeys([*result.notes, *(_WHY_NOTES[flag] for flag in counts.flags)])
    return Table(title, columns, rows, result.signature, tuple(notes))


def _association_table(result: Coverage) -> Table:
    p_values = [test.test.p for test in result.tests if test.test.p is not None]
    strong = sum(p < _ALPHA for p in p_values)
    if not result.tests:
        notes = [f"nothing was lost: every {result.total.came} repeat has a rating"]
    else:
        notes = [
            "unit: the story, lost when one of its repeats has no rating; p is not adjusted",
            f"{len(p_values)} tests, {strong} with p < .05 ({_ALPHA * len(p_values):.1f} expected from chance alone)",
            "effect: Cramér's V for systems; for numbers the chance that a lost story has the higher one (.50 = none)",
        ]
    columns = [
        *plain("judge", "eval_prompt", "criterion"),
        Column("with", "loss and"),
        Column("n", "stories"),
        *plain("lost", "test", "effect"),
        Column("correlation", "r"),
        Column("p", "p", digits=3, p="row"),
        Column("tail", "tail"),
        Column("reason", "why not"),
    ]
    rows = [_tested(test) for test in result.tests]
    return Table("Is loss associated with the stories?", columns, rows, joined(result.tested_parts), notes)


def _tested(loss: LossTest) -> dict[str, Any]:
    test = loss.test
    return {
        **cells_of(loss, "judge", "eval_prompt", "criterion"),
        "with": loss.against,
        **cells_of(test, "n", "lost", "test", "effect", "correlation", "p", "tail", "reason"),
    }


def _bounds_table(result: Coverage) -> Table:
    columns = [
        *plain("judge", "eval_prompt", "criterion", "missing", "scale"),
        Column("mean", "mean [worst, best]", digits=2),
    ]
    labelled = any(bound.ends is not None for bound in result.bounds)
    note = "bounds, not confidence intervals: every missing repeat at the lowest, or at the highest, point of the scale"
    rows = [_bounded(bound) for bound in result.bounds]
    return Table(
        "Mean rating and its bounds", columns, rows, joined(result.bound_parts), [note, *([_CODES] if labelled else [])]
    )


def _bounded(bound: Bound) -> dict[str, Any]:
    ends = bound.ends or (None if bound.scale is None else tuple(f"{end:g}" for end in bound.scale))
    return {
        **cells_of(bound, "judge", "eval_prompt", "criterion", "missing", "mean"),
        "scale": None if ends is None else "-".join(ends),
    }
