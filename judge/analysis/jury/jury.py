"""A jury combines the ratings of several judges (its members) into one, out of fold.

It is compared with its best member, the mean of its members, and the control judge. Nothing that is fitted or chosen
has seen the story-prompt on which it is scored (`nested_folds`); two rows are exceptions and are marked. All rows of a
criterion are scored against the same mean human ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import ControlSource, control_label
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.jury import reliability_curve, result
from judge.analysis.jury.nested_folds import Folding, run_foldings, story_interval
from judge.analysis.jury.panel import Panel, Panels, best_single, panels
from judge.analysis.jury.scores import Scorer, calibrated
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.signature import NO_INTERVAL, signature, signature_parts
from judge.analysis.options.table_options import JuryOptions
from judge.base.arrays import Floats, ratio
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, titled
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.effective_judges import effective_judges, noise_of_means

# Printed tables of a jury: agreement with people, weights, calibration.

_LABELS = {
    result.JURY: "jury",
    result.MEAN: "plain mean of the members",
    result.SINGLE: "best single judge, chosen in training folds",
    result.IN_SAMPLE: "best single judge, chosen in sample (optimistic)",
}
# What the jury is compared with, as sentences name it.
_NAMES = {
    result.SINGLE: "the best single judge chosen in training folds",
    result.IN_SAMPLE: "the best single judge chosen in sample (which biases it upwards)",
    result.MEAN: "the plain mean",
    result.CONTROL: "the control",
}

# A gain below this is that of sums in another order: the two are the same ratings.
_ROUNDING = 1e-9


def tables(juries: result.Juries, *, weights: bool = False, long: bool = False, effective: bool = False) -> list[Table]:
    """The jury table, and further tables where requested or where the options call for them. `weights` adds the
    members' weights, with `long` also each predictor's; `effective` the effective number of judges."""
    printed = [_main(juries)]
    printed += result.tables(juries, predictors=long) if weights else []
    printed += reliability_curve.tables(juries) if juries.options.calibrate != "none" else []
    printed += [reliability_curve.effective(juries)] if effective else []
    printed += [reliability_curve.intervals(juries)] if juries.options.predict is not None else []
    printed += [reliability_curve.carry_over(juries)] if juries.options.carry_over is not None else []
    return printed


def _main(juries: result.Juries) -> Table:
    rows = [
        result.criterion_cells(held, verdict)
        | {
            "kind": control_label([held.control_source]) if row.kind == result.CONTROL else _LABELS[row.kind],
            "used": row.used,
            "value": row.tau,
            "n": row.tau.n,
            "range": _range(row.scored.by_folding),
            "gain": row.gain,
        }
        for held, verdict, row in juries.rows()
    ]
    columns = [
        *result.criterion_columns(juries),
        *titled(kind="rated by", used="judge or combiner"),
        Column("value", "Kendall's tau-b x100", digits=1, factor=100),
        *titled(range="over foldings", n="stories"),
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
        "stories rated by a jury scaled, weighted and chosen on the others (choices by their inner folds); "
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


def sentences(held: result.Held, kinds: Sequence[str] = result.BESIDE) -> Iterator[str]:
    """Sentences on how far the jury's agreement with people is above or below that of its best member (chosen out of
    fold, and in sample), the mean of its members, and the control judge."""
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


# The jury's ratings as a ratings table, from which every other table can be made.

EVAL_PROMPT = "-"


def jury_name(held: result.Held) -> str:
    """`jury/COMBINER`, followed by `+features` and the calibration."""
    options = held.options
    parts = [options.combiner, *(["features"] if options.with_features else [])]
    parts += [options.calibrate] if options.calibrate != "none" else []
    return "jury/" + "+".join(parts)


def ratings_of(held: result.Held, table: RatingsTable) -> pd.DataFrame:
    """Rows of a ratings table: the jury's ratings, with status `imported` or `no_rating`, and people's unchanged.
    Raises SpecError if no jury could be computed."""
    matrix = held.matrix
    if not held.verdicts:
        raise SpecError(
            f"{matrix.dataset}: there are no ratings of a jury to write", hint="; ".join(held.notes) or None
        )
    stories = matrix.stories[["story", "story_prompt", "system"]]
    parts = []
    for verdict in held.verdicts:
        rating = _rating(verdict)
        status = np.where(np.isnan(rating), "no_rating", "imported")
        parts.append(stories.assign(criterion=verdict.criterion, rating=rating, status=status))
    judged = pd.concat(parts, ignore_index=True).assign(
        run="jury", judge=jury_name(held), dataset=matrix.dataset, eval_prompt=EVAL_PROMPT, source="judge", flags=""
    )
    frame = table.frame
    people = frame[
        (frame["source"] == "rater")
        & (frame["dataset"] == matrix.dataset)
        & ~frame["system"].isin(list(held.options.drop_systems))
    ]
    return pd.concat([judged.reindex(columns=list(people.columns)), people], ignore_index=True)


def _rating(verdict: result.Verdict) -> Floats:
    panel = verdict.panel
    level = float(panel.people[panel.usable].mean())
    levelled = []
    for folding in verdict.foldings:
        # In fitted ratings, the mean over all rated stories replaces that of each fold's training stories.
        rating = np.where(np.isnan(folding.level), folding.jury, folding.jury - folding.level + level)
        levelled.append(np.clip(rating, np.nanmin(folding.jury), np.nanmax(folding.jury)))
    return np.asarray(np.mean(levelled, axis=0), dtype=np.float64)


def notes_of(held: result.Held) -> list[str]:
    """Notes for every table that is made from a jury's ratings."""
    options = held.options
    unit = "story-prompts" if options.hold_out == "story-prompt" else "systems"
    first = (
        f"{jury_name(held)}: out-of-fold ratings, means over {options.foldings} "
        f"folding{'s' if options.foldings > 1 else ''} of {options.folds} folds by "
        f"{unit}, seed {options.seed}; what is fitted is levelled over folds"
    )
    return [first, *held.notes]


# With fewer rated stories a warning stands under the table.
FEW_STORIES = 100


def jury(table: RatingsTable, options: JuryOptions | None = None) -> result.Juries:
    """Jury on each dataset, compared with its members and the control judge. With a single member and ``auto`` nothing
    is combined: its ratings are the jury's (for example, to calibrate them). Raises SpecError if a member or system
    does not exist, or features are not known."""
    options = options or JuryOptions()
    controls = {fact.judge for fact in table.facts if fact.control}
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    held = tuple(_hold(matrix, options, controls) for matrix in matrices)
    how = tuple(dict.fromkeys(f"control:{each.control}" for each in held if each.control))
    return result.Juries(
        held=held,
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=how),
        bare_signature=signature(table, matrices, options, extra=how, intervals=NO_INTERVAL),
        notes=table.notes,
    )


def _hold(matrix: RatingMatrix, asked: JuryOptions, controls: Collection[str]) -> result.Held:
    matrix_panels = panels(matrix, asked, controls)
    options, notes = _for_one_member(matrix_panels, asked)
    notes = [*matrix_panels.notes, *notes]
    able = [panel for panel in matrix_panels.panels if panel.reason is None]
    notes += [f"{panel.criterion}: {panel.reason}" for panel in matrix_panels.panels if panel.reason is not None]
    notes += _few(matrix, able)
    scorer = Scorer(matrix, options)
    if scorer.refused:
        notes.append(f"{matrix.dataset}: {scorer.refused}")
    control = _Control(matrix_panels, options)
    foldings = run_foldings(able, options) if able else []
    verdicts = tuple(
        _verdict(panel, tuple(panel_foldings), control, scorer, matrix)
        for panel, panel_foldings in zip(able, foldings, strict=True)
    )
    for panel_foldings in foldings:
        notes += [reason for folding in panel_foldings for reason in folding.reasons]
    notes += [_lost(matrix_panels), *control.reasons]
    mean_gains = {
        kind: scorer.gain([(v.row(result.JURY).scored, v.row(kind).scored) for v in verdicts]) for kind in result.BESIDE
    }
    kept = tuple(dict.fromkeys(note for note in notes if note))
    return result.Held(matrix_panels, options, verdicts, mean_gains, control.how, control.source, kept)


def _for_one_member(dataset_panels: Panels, options: JuryOptions) -> tuple[JuryOptions, list[str]]:
    if (
        options.combiner != "auto"
        or not dataset_panels.panels
        or any(panel.own.sum() > 1 for panel in dataset_panels.panels)
    ):
        return options, []
    reads = Advice("{combiner} reads its other criteria too", combiner="ridge")
    note = Note("one member: its own ratings stand for the jury's", reads)
    return replace(options, combiner="mean"), [note]


def _verdict(
    panel: Panel, foldings: tuple[Folding, ...], control: _Control, scorer: Scorer, matrix: RatingMatrix
) -> result.Verdict:
    own = panel.predictors[:, panel.own]
    mean = np.where(panel.present, ratio(np.nansum(own, axis=1), (~np.isnan(own)).sum(axis=1)), np.nan)
    # Chosen on the stories on which it is scored: its score is biased upwards.
    best = best_single(panel)
    predictions: dict[str, tuple[str, Sequence[Floats]]] = {
        result.JURY: (_counted(name for each in foldings for name in each.chosen), [each.ranked for each in foldings]),
        result.MEAN: (f"{panel.members} member{'s' if panel.members > 1 else ''}", [mean]),
        result.SINGLE: (
            _counted(name for each in foldings for name in each.singles),
            [each.single for each in foldings],
        ),
        result.IN_SAMPLE: (panel.labels[best], [panel.predictors[:, best]]),
        result.CONTROL: (control.reads, control.predictions(panel)),
    }
    rows: list[result.Row] = []
    for kind, (used, values) in predictions.items():
        scored = scorer.score(values, panel.people)
        gain = scorer.gain([(rows[0].scored, scored)]) if rows else None
        rows.append(result.Row(kind, used, scored, scorer.tau(scored), gain))
    stages = calibrated(panel, foldings, scorer) if control.options.calibrate != "none" else ()
    options, places = control.options, (matrix.story_prompt, matrix.system, matrix.systems)
    noise = noise_of_means(matrix.by_position(matrix.criteria.index(panel.criterion)))
    return result.Verdict(
        panel,
        foldings,
        tuple(rows),
        result.weights_of(panel, foldings),
        stages,
        effective=effective_judges(panel.predictors[:, panel.own], panel.people, noise, matrix.story_prompt),
        interval=None if options.predict is None else story_interval(panel, options, options.predict, *places),
        carried=() if options.carry_over is None else result.carried(panel, foldings, options.carry_over, *places),
    )


def _few(matrix: RatingMatrix, able: Sequence[Panel]) -> list[str]:
    rated = min((int(panel.usable.sum()) for panel in able), default=FEW_STORIES)
    if rated >= FEW_STORIES:
        return []
    sentence = f"{matrix.dataset}: what is fitted on {rated} rated stories depends mostly on chance"
    return [Note(sentence, Advice("{combiner} fits nothing", combiner="mean"), joint="; ")]


class _Control:
    def __init__(self, dataset_panels: Panels, options: JuryOptions) -> None:
        self.found, self.options = dataset_panels, options
        self.how: str | None = None
        self.source = ControlSource.UNAVAILABLE
        self.reads = (
            f"{len(dataset_panels.surface.names)} {'imported' if dataset_panels.surface.imported else 'text'} features"
        )
        self.reasons: dict[str, None] = {}

    def predictions(self, panel: Panel) -> list[Floats]:
        surface, options = self.found.surface, self.options
        people = pd.Series(panel.people, index=surface.index)
        # On the same folds as the jury's, without the mean of each fold's training stories.
        predictions = [
            surface.predictions(
                people,
                panel.criterion,
                seed=options.seed + number,
                folds=options.folds,
                foldings=1,
                groups=self.found.groups,
            )
            for number in range(self.options.foldings)
        ]
        self.how = predictions[0].how.partition("/seed")[0]
        self.source = predictions[0].source
        self.reasons.update({f"control: {each.reason}": None for each in predictions if each.reason})
        return [each.values for each in predictions]  # noqa: PD011  no frame


def _counted(names: object) -> str:
    counts = Counter(names)  # type: ignore[call-overload]
    total = sum(counts.values())
    if len(counts) == 1:
        return str(next(iter(counts)))
    return ", ".join(f"{name} {count}/{total}" for name, count in counts.most_common())


def _lost(dataset_panels: Panels) -> str:
    lost = asked = 0
    for panel in dataset_panels.panels:
        own = panel.predictors[:, panel.own]
        lost, asked = lost + int(np.isnan(own).sum()), asked + own.size
    if not lost:
        return ""
    without = sum(int((~panel.present & ~np.isnan(panel.people)).sum()) for panel in dataset_panels.panels)
    return (
        f"{lost} of {asked} ratings by members are missing: mean, median and calibrated leave them out, regressions "
        f"read the training mean as 'no information'; {without} rated stories have too few members for a jury's rating"
    )
