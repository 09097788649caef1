"""Printed tables of a jury's effective number of judges, prediction intervals, and calibration by system."""

from __future__ import annotations

from judge.analysis.jury.carry_over import ALPHA
from judge.analysis.jury.criterion_columns import cells_of, criterion_columns
from judge.analysis.jury.result import Juries
from judge.base.printing.tables import Column, Table


def effective(juries: Juries) -> Table:
    """Table of the effective number of judges in a jury for each criterion.

    It is the number of judges with independent errors whose mean would have the same error as the mean of the jury's
    members.
    """
    rows = [
        cells_of(held, verdict)
        | {"members": verdict.panel.members, "effective": verdict.effective, "n": verdict.effective.n}
        for held, verdict in juries.verdicts()
    ]
    columns = [
        *criterion_columns(juries),
        Column("members", "members"),
        Column("effective", "independent judges", digits=1),
        Column("n", "stories"),
    ]
    notes = [
        (
            "independent judges: number of judges with independent errors whose mean would have the same error as the "
            "mean of these members"
        ),
        (
            "people's noise, estimated from their ratings of the same story, does not count as shared error; "
            "intervals: jackknife"
        ),
    ]
    return Table("How many independent judges is this jury worth?", columns, rows, juries.bare_signature, notes)


def intervals(juries: Juries) -> Table:
    """Table of the prediction interval of one story's human rating, and its coverage."""
    rows = [
        cells_of(held, verdict)
        | {
            "reach": interval.reach,
            "coverage": interval.coverage,
            "n": interval.coverage.n,
            "worst": interval.worst,
            "worst_coverage": interval.worst_coverage,
        }
        for held, verdict in juries.verdicts()
        if (interval := verdict.interval) is not None
    ]
    level = juries.options.predict or 0.0
    columns = [
        *criterion_columns(juries),
        Column("reach", "reaches ± points"),
        Column("coverage", "holds people's rating %", digits=1, factor=100),
        Column("n", "stories"),
        Column("worst", "least for system"),
        Column("worst_coverage", "there %", digits=1, factor=100),
    ]
    notes = [
        (
            "split conformal over story-prompts: intervals that hold people's mean rating of a new story in "
            f"{100 * level:g} % or more"
        ),
        (
            "this holds on average over systems, for any distribution of errors; for a single system it may be less: "
            "see least for system"
        ),
        (
            "one fold is rated, errors are measured on the next one, and the jury is fitted on the others; over all "
            "foldings"
        ),
    ]
    return Table("How precise is one story's rating?", columns, rows, juries.bare_signature, notes)


def carry_over(juries: Juries) -> Table:
    """Table that shows for each system whether the jury's calibration holds.

    It holds if the jury's mean rating is shown to differ from the mean human rating by less than a margin.
    """
    rows = [
        cells_of(held, verdict)
        | {
            "system": carried.system,
            "before": carried.before.value,
            "after": carried.after.difference,
            "p": carried.adjusted,
            "equivalent": carried.after.p,
            "holds": carried.holds,
        }
        for held, verdict in juries.verdicts()
        for carried in verdict.carried
    ]
    columns = [
        *criterion_columns(juries),
        Column("system", "system"),
        Column("before", "rating - people before"),
        Column("after", "after [90 %]"),
        Column("p", "p, Holm", digits=3, p="two-sided"),
        Column("equivalent", "p of the margin", digits=3, p="two one-sided"),
        Column("holds", "carries over"),
    ]
    counts = {word: sum(row["holds"] == word for row in rows) for word in ("yes", "no", "not shown", "no test")}
    counted = ", ".join(f"{word} {count}" for word, count in counts.items() if count)
    margin = juries.options.carry_over or 0.0
    notes = [
        f"of {len(rows)} systems and criteria: {counted}",
        f"yes: two one-sided tests show the mean error within ±{margin:g} points",
        f"no: significant at {ALPHA:g} after Holm over the systems of a criterion",
        "all out of fold, standard errors over story-prompts",
    ]
    return Table("Does the calibration carry over to each system?", columns, rows, juries.bare_signature, notes)
