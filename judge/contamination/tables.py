"""Tables of `judge contamination`: AUC of scores, the contamination report, and agreement in two halves of the
stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.candidates import Candidate, Subject, comparable, first_columns
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import signature as signature_of_runs
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, plain
from judge.base.wording import Advice, Note
from judge.contamination.auc import Areas, Findings, scored_by
from judge.contamination.options import ValidityOptions
from judge.contamination.report import ContaminationReport, join, refuse_strangers, same_name
from judge.contamination.scores_file import ScoresFile
from judge.contamination.thresholds import of_score
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats import near_ties
from judge.stats.correlation import kendall
from judge.stats.resampling import bootstrap
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Resamples

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Compares a judge's agreement with human ratings on stories that a model seems to have seen and on the other stories.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Of `Halves`, in order.
PARTS = ("high", "low", "difference")


@dataclass(frozen=True, slots=True)
class Halves:
    """A statistic on stories with high and with low scores, and the difference (high minus low)."""

    high: Estimate
    low: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class ValidityRow:
    """Results of one judge with one model's scores: tau-b with people and mean distance (`error`) in each half. `model`
    computed the scores. `cut` divides the stories; None if no rated story has a score. `mixture` says how the shares of
    systems differ between the halves."""

    model: str
    subject: Subject
    cut: float | None
    high: int
    low: int
    tau: Halves
    error: Halves
    mixture: str | None

    @property
    def cells(self) -> dict[str, Any]:
        both = (("tau", self.tau), ("error", self.error))
        parts = {f"{key}_{part}": getattr(halves_of, part) for key, halves_of in both for part in PARTS}
        about = {"model": self.model, **self.subject.labels, "kind": self.subject.kind}
        return {**about, "cut": self.cut, "high": self.high, "low": self.low, **parts}


@dataclass(frozen=True, eq=False, kw_only=True)
class Validity(Findings[ValidityRow]):
    """Agreement with people on stories with high and low scores, one row for each scores file and judge."""

    options: ValidityOptions


def validity(runs: RatingsTable, files: Sequence[ScoresFile], options: ValidityOptions | None = None) -> Validity:
    """Tau-b and mean |judge - people| on stories with high and with low scores, for each scores file and judge."""
    options = options or ValidityOptions()
    runs = numbers(runs)
    matrices = build(runs)
    candidates, remarks = comparable(matrices, options.against, None)
    rows: list[ValidityRow] = []
    strangers = []
    for scores in files:
        own = [
            (matrix, candidate) for matrix, candidate in candidates if same_name(scores.judge, candidate.subject.judge)
        ]
        if not own:
            strangers.append(f"no judge of these runs is {scores.judge} by name: the halves are another model's")
        cut = _cut(scores, options)
        joined = {id(matrix): join(matrix, scores, options.score) for matrix in matrices}
        refuse_strangers(scores, matrices)
        drawn: dict[int, Resamples] = {}
        for matrix, candidate in own or candidates:
            values = joined[id(matrix)]
            if id(matrix) not in drawn:
                rng = np.random.default_rng(options.seed)
                drawn[id(matrix)] = bootstrap.draw(matrix.story_prompt, options.resamples, rng, "boot-inputs")
            rows.append(_row(scores, matrix, candidate, values, cut, drawn[id(matrix)], options))
    extra = [
        f"score:{options.score}",
        f"split:{options.split}",
        f"least:{options.least}",
        *([f"against:{options.against}"] if options.against else []),
        f"ci:boot-inputs/{options.resamples}/seed{options.seed}",
        *(scored_by(file) for file in files),
    ]
    notes = [
        "high: score at or above the cut; difference: high less low, from the same resamples of story-prompts",
        "high and low differ in more than contamination (systems, topic, length): a difference is no effect of it",
        *strangers,
        *_mixtures(rows),
        *([f"of {len(rows)} differences 1 in 20 excludes 0 by chance alone"] if len(rows) > 1 else []),
        *remarks.notes,
    ]
    line = signature_of_runs(runs, matrices, extra=extra)
    return Validity(options=options, rows=tuple(rows), signature=line, notes=tuple(dict.fromkeys(notes)))


def halves(judge: Floats, people: Floats, high: Flags, low: Flags, drawn: Resamples) -> tuple[Halves, Halves]:
    """Tau-b, and mean absolute difference, on two disjoint sets of stories where both have ratings. Each has a
    percentile interval, expanded for small numbers of story-prompts, on each set and for high minus low. Arrays have
    shape (n stories,), NaN = no rating; `drawn` are resamples of the n stories."""
    both = []
    for statistic in (_tau, _error):
        parts = []
        for chosen in (high, low):
            rows = np.flatnonzero(chosen)
            value, values = statistic(judge[rows], people[rows], drawn.of(rows))
            bare = Estimate(value, n=rows.size) if not np.isnan(value) else Estimate.undefined(_CONSTANT, n=rows.size)
            parts.append((bare, values))
        (up, ups), (down, downs) = parts
        n = up.n + down.n
        if up.value is None or down.value is None:
            between = Estimate.undefined(_CONSTANT, n=n)
        else:
            between = Estimate(up.value - down.value, n=n)
        ends = (drawn.interval(e, v) for e, v in ((up, ups), (down, downs), (between, ups - downs)))
        both.append(Halves(*ends))
    return both[0], both[1]


_CONSTANT = "undefined because one side's ratings are all equal"


def _tau(judge: Floats, people: Floats, drawn: Resamples) -> tuple[float, Floats]:
    x, y = kendall.codes(judge), kendall.codes(people)
    return kendall.tau_b(x, y), resampled_tau.tau_b(drawn, x, y)


def _error(judge: Floats, people: Floats, drawn: Resamples) -> tuple[float, Floats]:
    away = np.abs(judge - people)

    def mean(weights: Codes) -> Floats:
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ away) / total, dtype=np.float64)

    return float(away.mean()), drawn.values(mean)


def _row(
    scores: ScoresFile,
    matrix: RatingMatrix,
    candidate: Candidate,
    values: Floats,
    cut: float | None,
    drawn: Resamples,
    options: ValidityOptions,
) -> ValidityRow:
    judge, people = candidate.sides
    rated = ~np.isnan(judge) & ~np.isnan(people) & ~np.isnan(values)
    at = float(np.median(values[rated])) if cut is None and rated.any() else cut
    # Of stories at the median itself none is above it.
    above = values > at if cut is None and at is not None else values >= (np.inf if at is None else at)
    high, low = rated & above, rated & ~above
    counts = int(high.sum()), int(low.sum())
    if min(counts) < options.least:
        reason = f"refused: {counts[0]} stories high and {counts[1]} low, and {options.least} of each are needed"
        refused = Estimate.undefined(Note(reason, Advice("{least}")), n=sum(counts))
        tau = error = Halves(refused, refused, refused)
    else:
        tau, error = halves(judge, people, high, low, drawn)
    mixture = _mixture(scores, matrix, high, low)
    return ValidityRow(scores.judge, candidate.subject, at, *counts, tau=tau, error=error, mixture=mixture)


def _cut(scores: ScoresFile, options: ValidityOptions) -> float | None:
    """None for the median; SpecError if no threshold is stored."""
    if options.split == "median":
        return None
    threshold = of_score(scores, options.score)
    if threshold is None:
        raise SpecError(
            f"the scores of {scores.judge} hold no threshold for {options.score}",
            hint=Advice("{split}, or make the scores with {calibration}", split="median"),
        )
    return threshold.value


def _mixture(scores: ScoresFile, matrix: RatingMatrix, high: Flags, low: Flags) -> str | None:
    """None if a half is empty, or if the shares differ by less than 0.01."""
    if not high.any() or not low.any():
        return None
    count = len(matrix.systems)
    up = np.bincount(matrix.system[high], minlength=count) / high.sum()
    down = np.bincount(matrix.system[low], minlength=count) / low.sum()
    most = near_ties.highest(np.abs(up - down).tolist())
    if abs(up[most] - down[most]) < 0.01:
        return None
    return (
        f"{scores.judge}, {matrix.dataset}: the halves' systems differ most in {matrix.systems[most]}, "
        f"{100 * up[most]:.0f} % of high and {100 * down[most]:.0f} % of low"
    )


def _mixtures(rows: Sequence[ValidityRow]) -> list[str]:
    first: dict[tuple[str, str], str] = {}
    for row in rows:
        if row.mixture:
            first.setdefault((row.model, row.subject.dataset), row.mixture)
    return list(first.values())


def auc_table(areas: Areas) -> Table:
    """AUC, true-positive rate, best accuracy and threshold of every score, highest AUC first."""
    columns = [
        Column("score", "score"),
        Column("auc", "AUC", digits=3),
        Column("tpr", f"TPR at {100 * areas.options.fpr:g} % FPR x100", digits=1, factor=100),
        Column("accuracy", "best accuracy x100", digits=1, factor=100),
        Column("threshold", "threshold", digits=4),
        *plain("seen", "unseen", "undefined"),
    ]
    rows = [row.cells for row in areas.rows]
    title = f"Seen against unseen texts of {areas.source}, {areas.judge}"
    return Table(title, columns, rows, areas.signature, areas.notes)


def report_table(report: ContaminationReport) -> Table:
    """One row for each scores file."""
    columns = [
        Column("model", "model"),
        Column("set", "story set"),
        Column("rate", "seems seen x100", digits=1, factor=100),
        Column("unseen", "of unseen texts x100", digits=1, factor=100),
        Column("corrected", "seen, corrected x100", digits=1, factor=100),
        *plain("stories", "undefined"),
        Column("threshold", "threshold", digits=4),
        Column("rule", "rule"),
        Column("auc", "AUC", digits=3),
        Column("labelled", "labelled set"),
        Column("own", "own stories of"),
        Column("people", "rated by people"),
        Column("judges", "rated by judges"),
    ]
    rows = [row.cells for row in report.rows]
    return Table(f"Contamination by {report.options.score}", columns, rows, report.signature, report.notes)


def validity_table(validity: Validity) -> Table:
    """Agreement on stories with high and low scores, one row for each scores file and judge."""
    rows = [row.cells for row in validity.rows]
    columns = [
        Column("model", "scored by"),
        *first_columns(rows),
        Column("cut", "cut", digits=3),
        Column("high", "n high"),
        Column("low", "n low"),
        *(
            Column(f"{key}_{part}", f"{title} {part}{' x100' if key == 'tau' else ''}", digits=digits, factor=factor)
            for key, title, digits, factor in (("tau", "tau-b", 1, 100), ("error", "|judge - people|", 2, 1))
            for part in PARTS
        ),
    ]
    title = "Agreement with people where contamination is high and low"
    return Table(title, columns, rows, validity.signature, validity.notes)
