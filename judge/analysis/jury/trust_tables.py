"""Printed tables of a jury's effective number of judges, prediction intervals, and calibration by system."""

from __future__ import annotations

from judge.analysis.jury.result import ALPHA, Juries, criterion_cells, criterion_columns
from judge.base.printing.tables import Column, Table, cells_of

# Printed tables of a jury's errors and reliability, before and after calibration.


def tables(juries: Juries) -> list[Table]:
    """Errors by criterion, and mean human ratings by bins of the jury's, both before and after calibration."""
    return [_errors(juries), _bins(juries)]


def _errors(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict) | cells_of(calibrated, "stage", "rmse", "bias", "gap", "spread", "n")
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
    ]
    columns = [
        *criterion_columns(juries),
        Column("stage", "calibration"),
        Column("rmse", "RMSE", digits=3),
        Column("bias", "rating - people", digits=3),
        Column("gap", "calibration error", digits=3),
        Column("spread", "sd of ratings", digits=3),
        Column("n", "stories"),
    ]
    notes = [
        f"calibration: {juries.options.calibrate}, fitted on training stories out of inner fold, for held-out stories",
        "all figures in points of people's scale, over all foldings",
        "calibration error: mean distance between mean rating and people's mean over 10 bins, weighted by stories",
    ]
    return Table("Calibration of the jury, out of fold", columns, rows, juries.signature, notes)


def _bins(juries: Juries) -> Table:
    rows = [
        criterion_cells(held, verdict)
        | cells_of(
            each, "low", "high", "predicted", "people", "gap", stage=calibrated.stage, n=each.n / calibrated.foldings
        )
        for held, verdict in juries.verdicts()
        for calibrated in verdict.calibrated
        for each in calibrated.bins
    ]
    columns = [
        *criterion_columns(juries),
        Column("stage", "calibration"),
        Column("low", "ratings from"),
        Column("high", "to"),
        Column("n", "stories", digits=1),
        Column("predicted", "mean rating"),
        Column("people", "people's mean"),
        Column("gap", "rating - people"),
    ]
    notes = [f"bins of about equally many stories; stories: mean over {juries.options.foldings} foldings"]
    title = "Reliability: people's mean rating of stories with similar ratings, out of fold"
    return Table(title, columns, rows, juries.bare_signature, notes)


def effective(juries: Juries) -> Table:
    """By criterion, the number of judges with independent errors whose mean would have the members' error."""
    rows = [
        criterion_cells(held, verdict)
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
    """The prediction interval of one story's human rating, and its coverage."""
    rows = [
        criterion_cells(held, verdict)
        | cells_of(interval, "reach", "coverage", "worst", "worst_coverage", n=interval.coverage.n)
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
    """Whether the calibration holds for each system: the mean differs from people's by less than a margin."""
    rows = [
        criterion_cells(held, verdict)
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
