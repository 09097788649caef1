"""Accuracy of scores in separating seen from unseen texts, on a labelled set: AUC, true-positive rates, thresholds."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from judge.analysis.frames import flat_frame
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.files import draft, writing
from judge.base.printing.tables import cells_of
from judge.base.wording import Advice, Note
from judge.contamination.options import AucOptions
from judge.contamination.scores_file import ScoresFile
from judge.contamination.thresholds import area, draw, of_score
from judge.stats import near_ties
from judge.stats.ordering import discrimination
from judge.stats.ordering.discrimination import auc
from judge.stats.resampling.bootstrap import Resamples
from judge.version import __version__

if TYPE_CHECKING:
    import pandas as pd


class Cells(Protocol):
    """A row of results: its cells by column."""

    @property
    def cells(self) -> dict[str, Any]: ...


Found = TypeVar("Found", bound=Cells)

TEMPORAL = (
    "labels by date (WikiMIA, BookMIA: seen = older than the model) overstate: seen and unseen texts also differ in "
    "topic, style and popularity; where they do not, such scores come close to chance (Duan et al. 2024)"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings(Generic[Found]):
    """Rows of results, with the signature line and the notes under their table."""

    rows: tuple[Found, ...]
    signature: str
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each of `rows`, with an estimate's value, ends of its interval, and reason if undefined."""
        return flat_frame((row.cells for row in self.rows), self.signature, self.notes)


@dataclass(frozen=True, slots=True)
class ScoreFound:
    """Accuracy of one score: AUC, true-positive rate at the chosen false-positive rate, best accuracy. `threshold` is
    the one stored in the scores file (None = none). `seen` and `unseen` count texts with this score, `undefined` those
    without."""

    score: str
    auc: Estimate
    tpr: Estimate
    accuracy: Estimate
    threshold: float | None
    seen: int
    unseen: int
    undefined: int

    @property
    def cells(self) -> dict[str, Any]:
        return cells_of(self, *(field.name for field in fields(self)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Areas(Findings[ScoreFound]):
    """Accuracy of every score, highest AUC first."""

    source: str
    judge: str
    options: AucOptions


def areas(scores: ScoresFile, options: AucOptions | None = None) -> Areas:
    options = options or AucOptions()
    drawn = draw(scores, options)
    rows = [_found(scores, score, options, drawn) for score in scores.names]
    best = near_ties.descending([row.auc.value for row in rows])
    ci = f"ci:{drawn.name}/{options.resamples}/seed{options.seed}"
    unit = drawn.name.removeprefix("boot-")
    flattered = f"sorted by AUC: the best of {len(rows)} on one set is flattered; choose a score beforehand"
    return Areas(
        source=scores.header["source"],
        judge=scores.judge,
        options=options,
        rows=tuple(rows[i] for i in best),
        signature=signature(scores, [f"fpr:{options.fpr:g}", f"auc:score/{unit}", ci]),
        notes=(*notes_of(scores), flattered),
    )


def _found(scores: ScoresFile, score: str, options: AucOptions, drawn: Resamples) -> ScoreFound:
    label = scores.labels
    if label is None:
        raise SpecError(
            f"{scores.header['source']} has no labels", hint="each line needs label: 1 = seen, 0 = not seen"
        )
    values = scores.score(score)
    auc_estimate, rate = area(scores, score, label), discrimination.tpr_at_fpr(values, label, options.fpr)
    keep = ~np.isnan(values)
    if rate.defined:
        rate = drawn.interval(rate, drawn.values(discrimination.resampled_tpr_at_fpr(values, label, options.fpr)))
    threshold = of_score(scores, score)
    return ScoreFound(
        score=score,
        auc=auc_estimate,
        tpr=rate,
        accuracy=Estimate(discrimination.best_accuracy(values, label), n=auc_estimate.n)
        if auc_estimate.defined
        else auc_estimate,
        threshold=None if threshold is None else threshold.value,
        seen=int(label[keep].sum()),
        unseen=int((~label[keep]).sum()),
        undefined=int((~keep).sum()),
    )


def write_curves(path: Path, scores: ScoresFile) -> None:
    """Write the scores' ROC curves to a CSV file with `score`, `threshold`, `false_positive` and `true_positive`.
    Scores without a defined AUC are left out. Raises SpecError if the texts have no labels or the file cannot be
    written."""
    label = scores.labels
    if label is None:
        raise SpecError(f"{scores.header['source']} has no labels")
    with writing(path), draft(path) as fresh, fresh.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["score", "threshold", "false_positive", "true_positive"])
        for name in scores.names:
            values = scores.score(name)
            if auc(values, label).defined:
                curve = discrimination.curve(values, label)
                columns = (curve.threshold.tolist(), curve.false_positive.tolist(), curve.true_positive.tolist())
                writer.writerows((name, *point) for point in zip(*columns, strict=True))


def signature(scores: ScoresFile, extra: list[str]) -> str:
    """Signature line of a table: the scores file's texts, model and settings, `extra`, and the program's version."""
    return "|".join([scored_by(scores), *extra, f"v{__version__}"])


def scored_by(scores: ScoresFile) -> str:
    """Part of a signature line on a scores file's texts, model and settings."""
    facts, settings = scores.facts, scores.header["settings"]
    revision = facts.revision or facts.weights
    parts = [
        f"{scores.header['source']}:{len(scores.rows)}",
        f"model:{scores.judge}" + (f"@{revision}" if revision else ""),
        f"dtype:{facts.dtype}" if facts.dtype else None,
        f"words:{settings['words']}" if settings.get("words") else None,
        f"shots:{settings['shots']}" if settings.get("shots") else None,
        f"ref:{scores.header['reference']['model']}" if scores.header.get("reference") else None,
    ]
    return "|".join(part for part in parts if part)


def notes_of(scores: ScoresFile) -> list[str]:
    """Notes for a table of scores: their direction, cut texts, reasons for undefined scores, and threshold rules. With
    labels, the last note warns that labels derived from dates overstate the accuracy."""
    notes = [
        "every score: higher = more likely seen; min_k_20 is the mean log-probability of the 20 % least likely tokens"
    ]
    notes += scores.header.get("notes", [])
    if scores.truncated:
        notes.append(
            f"{scores.truncated} of {len(scores.rows)} texts were cut to the context of {scores.facts.context} tokens"
        )
    reasons: dict[str, list[str]] = {}
    for name in scores.names:
        for reason, count in scores.why_undefined(name).items():
            reasons.setdefault(reason, []).append(f"{name} {count}")
    notes += [f"{reason} ({', '.join(names)})" for reason, names in reasons.items()]
    rules = {
        f"{threshold['rule']} on {threshold['set']}"
        for threshold in scores.header["thresholds"].values()
        if threshold.get("set")
    }
    notes += [f"thresholds: {rule}" for rule in sorted(rules)]
    notes += list(dict.fromkeys(scores.header["without_threshold"].values()))
    lengths = [row.tokens for row in scores.rows]
    # Sets that were cut to one length differ by a few tokens; half as many again is no such set.
    if lengths and max(lengths) > 1.5 * max(1, min(lengths)) and not scores.header["settings"].get("words"):
        lengths_vary = f"{min(lengths)} to {max(lengths)} tokens a text, and scores depend on length"
        notes.append(Note(lengths_vary, Advice("{words} cuts all alike", words="N"), joint=": "))
    return [*notes, TEMPORAL] if scores.labels is not None else notes
