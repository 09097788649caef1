"""A jury's verdict as tables: against people, its weights, its calibration. Never prints a figure without its folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judge.analysis.inputs.bars import control_label
from judge.analysis.jury import calibration
from judge.analysis.jury import weights as jury_weights
from judge.analysis.jury.jury import BESIDE, CONTROL, LABELS, Held, hold
from judge.analysis.jury.weights import place_columns
from judge.analysis.options.signature import NO_INTERVAL, signature
from judge.analysis.options.table_options import JuryOptions
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate
from judge.wording import Advice, Note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable


def tables(
    table: RatingsTable,
    options: JuryOptions | None = None,
    *,
    weights: bool = False,
    predictors: bool = False,
    held: Sequence[Held] | None = None,
) -> list[Table]:
    """The jury table, with `weights` the members' weights (with `predictors` also each predictor's), and, with a
    calibration, what it mends.

    `held` is `hold(table, options)` where the caller has it already.
    """
    options = options or JuryOptions()
    juries = hold(table, options) if held is None else held
    how = dict.fromkeys(f"control:{each.control}" for each in juries if each.control)
    line = signature(table, [each.matrix for each in juries], options, extra=tuple(how))
    facts = [note for fact in table.facts for note in fact.notes]
    bare = signature(table, [each.matrix for each in juries], options, extra=tuple(how), intervals=NO_INTERVAL)
    found = [_main(juries, options, line, facts)]
    if weights:
        found += jury_weights.tables(juries, bare, predictors=predictors)
    if options.calibrate != "none":
        found += calibration.tables(juries, options, line, bare)
    return found


def _main(juries: Sequence[Held], options: JuryOptions, line: str, facts: Sequence[str]) -> Table:
    rows = [
        {
            "dataset": held.matrix.dataset,
            "criterion": verdict.panel.criterion,
            "kind": control_label([held.control_source]) if row.kind == CONTROL else LABELS[row.kind],
            "used": row.used,
            "value": row.tau,
            "n": row.tau.n,
            "range": _range(row.scored.by_folding),
            "gain": verdict.gains.get(row.kind),
        }
        for held in juries
        for verdict in held.verdicts
        for row in verdict.rows
    ]
    columns = [
        *place_columns(juries),
        Column("kind", "rated by"),
        Column("used", "what that was"),
        Column("value", "Kendall's tau-b x100", digits=1, factor=100),
        Column("range", "over foldings"),
        Column("n", "stories"),
        Column("gain", "jury less this", digits=1, factor=100),
    ]
    notes = [*facts, *_method(options), *(note for held in juries for note in held.notes)]
    notes += [sentence for held in juries for sentence in _sentences(held)]
    title = "A jury of judges against people: Kendall's tau-b over all stories, out of fold"
    return Table(title, columns, rows, line, tuple(dict.fromkeys(notes)))


def _method(options: JuryOptions) -> Iterator[str]:
    unit = "story-prompts" if options.hold_out == "story-prompt" else "systems"
    yield (
        f"fitted where: {options.foldings} times, {unit} were dealt to {options.folds} folds, and each fold's stories "
        "rated by what was scaled, weighted and chosen on the other folds' stories (choices by inner folds of those); "
        "figures are means over the foldings"
    )
    yield (
        "fitted ratings, the control's too, are ranked less the mean rating of their training stories, which is one "
        "number a fold; calibration comes after"
    )
    if options.hold_out == "story-prompt":
        yield Note(
            "the same systems stand on both sides of every fold: this is about new story-prompts for these systems",
            Advice("{hold_out} asks about new systems", hold_out="system"),
        )
    if options.ci != "none":
        both = options.ci != "boot-inputs"
        drawn, kind = ("systems and story-prompts", "percentile") if both else ("story-prompts", "expanded percentile")
        yield (
            f"intervals: {kind}, {options.resamples} resamples of {drawn} of the out-of-fold ratings, the "
            "same for every row; nothing is refitted in them, so the luck of fitting is not in them"
        )


def _sentences(held: Held) -> Iterator[str]:
    """By how much the jury beats the best single judge, the mean and the control, over all criteria."""
    if not held.verdicts:
        return
    several = len(held.verdicts) > 1
    where = f"over {len(held.verdicts)} criteria" if several else f"on {held.verdicts[0].panel.criterion}"
    if several:
        where = f"on average {where}"
    for kind, what in BESIDE.items():
        gain = held.mean_gains[kind]
        if gain.value is None:
            yield f"{held.matrix.dataset}: the jury cannot be compared with {what}: {gain.reason}"
            continue
        interval, doubt = "", ""
        if gain.low is not None and gain.high is not None:
            interval = f" [{100 * gain.low:.1f}, {100 * gain.high:.1f}]"
            doubt = ", which chance alone could give" if gain.low <= 0 <= gain.high else ""
        verb = f"beats {what} by" if gain.value > 0 else f"falls behind {what}:"
        yield f"{held.matrix.dataset}: {where} the jury {verb} {100 * gain.value:.1f}{interval}{doubt}"


def _range(by_folding: Sequence[Estimate]) -> str | None:
    values = [100 * each.value for each in by_folding if each.value is not None]
    return f"{min(values):.1f} to {max(values):.1f}" if values and min(values) < max(values) else None
