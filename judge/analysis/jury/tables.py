"""Printed tables of a jury: agreement with people, weights, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judge.analysis.inputs.bars import control_label
from judge.analysis.jury import calibration_tables, trust_tables, weights_tables
from judge.analysis.jury.criterion_columns import cells_of, criterion_columns
from judge.analysis.jury.result import BESIDE, CONTROL, IN_SAMPLE, JURY, MEAN, SINGLE, Held, Juries
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.table_options import JuryOptions
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, Note

_LABELS = {
    JURY: "jury",
    MEAN: "plain mean of the members",
    SINGLE: "best single judge, chosen in training folds",
    IN_SAMPLE: "best single judge, chosen in sample (optimistic)",
}
_NAMES = {
    SINGLE: "the best single judge chosen in training folds",
    IN_SAMPLE: "the best single judge chosen in sample (which biases it upwards)",
    MEAN: "the plain mean",
    CONTROL: "the control",
}
"""What the jury is compared with, as sentences name it."""

_ROUNDING = 1e-9
"""A gain below this is that of sums in another order: the two are the same ratings."""


def tables(juries: Juries, *, weights: bool = False, long: bool = False, effective: bool = False) -> list[Table]:
    """The jury table, and further tables where requested or where the options call for them.

    `weights` adds the members' weights, and with `long` also each predictor's. `effective` adds the effective number of
    judges. Options for calibration, prediction intervals and calibration by system add a table each.
    """
    printed = [_main(juries)]
    printed += weights_tables.tables(juries, predictors=long) if weights else []
    printed += calibration_tables.tables(juries) if juries.options.calibrate != "none" else []
    printed += [trust_tables.effective(juries)] if effective else []
    printed += [trust_tables.intervals(juries)] if juries.options.predict is not None else []
    printed += [trust_tables.carry_over(juries)] if juries.options.carry_over is not None else []
    return printed


def _main(juries: Juries) -> Table:
    rows = [
        cells_of(held, verdict)
        | {
            "kind": control_label([held.control_source]) if row.kind == CONTROL else _LABELS[row.kind],
            "used": row.used,
            "value": row.tau,
            "n": row.tau.n,
            "range": _range(row.scored.by_folding),
            "gain": row.gain,
        }
        for held, verdict, row in juries.rows()
    ]
    columns = [
        *criterion_columns(juries),
        Column("kind", "rated by"),
        Column("used", "judge or combiner"),
        Column("value", "Kendall's tau-b x100", digits=1, factor=100),
        Column("range", "over foldings"),
        Column("n", "stories"),
        Column("gain", "jury less this", digits=1, factor=100),
    ]
    notes = [*juries.notes, *_method(juries.options), *(note for held in juries.held for note in held.notes)]
    notes += [sentence for held in juries.held for sentence in sentences(held)]
    title = "A jury of judges against people: Kendall's tau-b over all stories, out of fold"
    return Table(title, columns, rows, juries.signature, tuple(dict.fromkeys(notes)))


def _method(options: JuryOptions) -> Iterator[str]:
    unit = "story-prompts" if options.hold_out == "story-prompt" else "systems"
    yield (
        f"fitted where: {options.foldings} times, {unit} were dealt to {options.folds} folds, and each fold's "
        "stories were rated by a jury scaled, weighted and "
        "chosen on the other folds' stories (choices by inner folds of those); "
        "figures are means over the foldings"
    )
    yield (
        "fitted ratings, the control's too, are ranked after their training stories' mean rating "
        "was subtracted, which is one number for each fold; calibration comes after that"
    )
    if options.hold_out == "story-prompt":
        yield Note(
            (
                "the same systems are among the training and the held-out stories of every fold: results are for new "
                "story-prompts and these systems"
            ),
            Advice("{hold_out} scores new systems", hold_out="system"),
        )
    resampled = INTERVALS[options.ci]
    if resampled.resampled:
        kind = "percentile" if len(resampled.resampled) > 1 else "expanded percentile"
        yield (
            f"intervals: {kind}, {options.resamples} resamples of {resampled.units} of the out-of-fold ratings, the "
            "same for every row; nothing is refitted in them, so they do not include the variation from fitting"
        )


def sentences(held: Held, kinds: Sequence[str] = BESIDE) -> Iterator[str]:
    """Yield sentences on how far the jury's agreement with people is above or below other raters'.

    They are its best member (chosen out of fold, and chosen in sample), the mean of its members, and the control judge.
    """
    if not held.verdicts:
        return
    several = len(held.verdicts) > 1
    where = f"over {len(held.verdicts)} criteria" if several else f"on {held.verdicts[0].criterion}"
    if several:
        where = f"on average {where}"
    for kind in kinds:
        bar, gain = _NAMES[kind], held.mean_gains[kind]
        if gain.value is None:
            yield f"{held.dataset}: the jury cannot be compared with {bar}: {gain.reason}"
            continue
        interval, doubt = "", ""
        if gain.low is not None and gain.high is not None:
            interval = f" [{100 * gain.low:.1f}, {100 * gain.high:.1f}]"
            doubt = ", a difference that chance alone could give" if gain.low <= 0 <= gain.high else ""
        if abs(gain.value) < _ROUNDING:
            yield f"{held.dataset}: {where} the jury equals {bar}"
            continue
        verb = f"beats {bar} by" if gain.value > 0 else f"falls behind {bar}:"
        yield f"{held.dataset}: {where} the jury {verb} {100 * gain.value:.1f}{interval}{doubt}"


def _range(by_folding: Sequence[Estimate]) -> str | None:
    values = [100 * each.value for each in by_folding if each.value is not None]
    return f"{min(values):.1f} to {max(values):.1f}" if values and min(values) < max(values) else None
