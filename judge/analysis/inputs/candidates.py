"""Candidates for comparison with people: the judges, the control judge (out of fold), and people one by one.

Every table that compares judges with people takes its candidates from here, so that all compare identical ratings and
report in one way which ratings cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd

from judge.analysis.inputs import bars
from judge.base.arrays import Floats
from judge.base.errors import unknown_value
from judge.base.estimate import Reason
from judge.base.printing.tables import Column, cells_of, plain
from judge.base.wording import Advice, Note, joined
from judge.inputs.criteria import other_names, set_against
from judge.ratings.rating_matrix import Raters, RatingMatrix
from judge.stats.correlation import coefficients

# Matching of judges' criteria with human criteria. Each matched pair with different names gets a note.


@dataclass(frozen=True, slots=True)
class Match:
    """The human criterion that each row of judges' ratings is compared with, as `partner`; None for the `reason`.
    `other` holds the pairs (judge's criterion, human criterion) with different names, each once."""

    partner: tuple[int | None, ...]
    notes: tuple[str, ...] = ()
    reason: str | None = None
    other: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """Sentence on the pairs of criteria whose names differ; empty if none do."""
        return other_names(self.other)


def match(matrix: RatingMatrix, against: str | None = None) -> Match:
    """The human criterion for each judge's criterion, by the rule that every table, figure and page uses.

    `against` pairs every judge criterion with this human criterion. Otherwise a criterion is paired with the human
    criterion that its run declares (`people` in run.yaml), or else with that of the same name (ignoring letter case).
    Where no name matches, none is declared and people rated only one criterion, this is used, with a note. Raises
    SpecError if people did not rate `against`."""
    people = {name.casefold(): j for j, name in enumerate(matrix.criteria)}
    if not people:
        return Match((None,) * len(matrix.cells), reason=f"no person rated the stories of {matrix.dataset}")
    if against is not None:
        if against.casefold() not in people:
            raise unknown_value("against", against, matrix.criteria)
        return _match(matrix, (people[against.casefold()],) * len(matrix.cells))
    declared = [matrix.declared.get((cell.run, cell.criterion.casefold())) for cell in matrix.cells]
    named = [cell.criterion for cell in matrix.cells]
    partner, only_one = set_against(list(zip(named, declared, strict=True)), matrix.criteria)
    if only_one:
        only = matrix.criteria[0]
        note = f"{matrix.dataset}: people rated only {only}; every criterion of the judge is compared with it"
        return _match(matrix, partner, (note,))
    pairs = dict.fromkeys(
        (cell.criterion, wanted) for cell, wanted in zip(matrix.cells, declared, strict=True) if wanted
    )
    notes = [f"{matrix.dataset}: {mine} is set against people's {theirs}, as the run says" for mine, theirs in pairs]
    missing = [theirs for _, theirs in pairs if theirs.casefold() not in people]
    reason = f"people did not rate {missing[0] if missing else 'this criterion'}; they rated "
    advice = Advice("see {against}")
    return _match(matrix, partner, tuple(notes), Note(f"{reason}{', '.join(matrix.criteria)}", advice))


def _match(
    matrix: RatingMatrix, partner: tuple[int | None, ...], notes: tuple[str, ...] = (), reason: str | None = None
) -> Match:
    pairs = ((cell.criterion, j) for cell, j in zip(matrix.cells, partner, strict=True) if j is not None)
    other = ((mine, matrix.criteria[j]) for mine, j in pairs if mine.casefold() != matrix.criteria[j].casefold())
    return Match(partner, notes, reason, tuple(dict.fromkeys(other)))


NO_TEXTS = Reason("the stories' texts are not in the result folder", unavailable="control")
_NOT_MADE = bars.ControlMade(bars.ControlSource.UNAVAILABLE, NO_TEXTS.fact)


@dataclass(frozen=True, slots=True)
class Subject:
    """The rater and criterion of a table row, and counts of lost ratings. `run` and `eval_prompt` are None where the
    row is not a judge's, whose name is then what the judge column shows. `against` is the human criterion compared
    with; None = none. `repeats` is the mean number of rated repeats per story, over stories that have any. `unrated`
    counts requested stories without a rating, `missing` repeats without one by status."""

    kind: bars.Kind
    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    against: str | None
    repeats: float | None = None
    unrated: int | None = None
    missing: Mapping[str, int] = field(default_factory=dict)

    @property
    def lost(self) -> str:
        """The judge's repeats without a rating by status, in words, e.g. ``no_rating 3``."""
        return ", ".join(f"{status} {count}" for status, count in self.missing.items())

    @property
    def labels(self) -> dict[str, Any]:
        """Values of the columns that identify a table row (e.g. `dataset`, `judge`)."""
        return {
            **cells_of(self, "dataset", "run", "judge", "eval_prompt", "criterion", "against", "repeats", "unrated"),
            "missing": self.lost if self.kind == bars.JUDGE else None,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rater whose ratings of n stories are compared with people: one judge with one Eval-Prompt, the control judge,
    or one more person (each person against the mean of the other people). `ratings` and `people` (mean human ratings)
    have shape (n,); None where `reason` says why, and `ratings` for the ceiling, which has `raters`. For a judge,
    `cell` is its row in the matrix; for the control, `control` is the source of its ratings."""

    subject: Subject
    ratings: Floats | None
    people: Floats | None
    raters: Raters | None = None
    cell: int | None = None
    control: bars.ControlMade | None = None
    reason: Reason | None = None

    @property
    def kind(self) -> bars.Kind:
        return self.subject.kind

    @property
    def labels(self) -> dict[str, Any]:
        return self.subject.labels

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """Ratings and mean human ratings, shape (n stories,). Raises ValueError if one is lacking."""
        if self.ratings is None or self.people is None:
            raise ValueError(str(self.reason or "people one by one have no single rating"))
        return self.ratings, self.people


@dataclass(frozen=True, slots=True, eq=False)
class CandidatesOnCriterion:
    """Judges and the control judge that are compared with people on one criterion (its index in the matrix)."""

    criterion: int
    judges: tuple[Candidate, ...]
    control: Candidate | None


def comparable(
    matrices: Sequence[RatingMatrix], against: str | None, predict: bars.Predict | None
) -> tuple[list[tuple[RatingMatrix, Candidate]], bars.Remarks]:
    """Judges and controls that can be compared with people, each with its matrix; remarks name the others. `against` is
    the human criterion (None: that of the judge's criterion); `predict` gives the control (None: no control)."""
    remarks = bars.Remarks()
    kept = []
    for matrix in matrices:
        for candidate in candidates(matrix, against, predict, remarks, ceiling=False):
            if candidate.ratings is None or candidate.people is None:
                where = f"{matrix.dataset}, {candidate.subject.criterion}: "
                remarks.note([joined(where, str(candidate.reason or ""))])
            else:
                kept.append((matrix, candidate))
    return kept, remarks


def candidates(
    matrix: RatingMatrix, against: str | None, predict: bars.Predict | None, remarks: bars.Remarks, *, ceiling: bool
) -> Iterator[Candidate]:
    """On each human criterion, the ceiling if requested, judges and control; then judges on unrated criteria. `against`
    is the human criterion (None: that of the judge's criterion); `predict` gives the control (None: no control)."""
    pairs = match(matrix, against)
    remarks.note(pairs.notes)
    for group in by_criterion(matrix, pairs, predict, remarks):
        if ceiling:
            yield people_one_by_one(matrix, group.criterion)
        yield from group.judges
        if group.control is not None:
            yield group.control
    yield from unpaired(matrix, pairs)


def by_criterion(
    matrix: RatingMatrix, pairs: Match, predict: bars.Predict | None, remarks: bars.Remarks
) -> Iterator[CandidatesOnCriterion]:
    """The judges and the control for each human criterion that judges were asked about; without judges, for all."""
    cells_by_criterion: dict[int, list[int]] = {}
    for i, partner in enumerate(pairs.partner):
        if partner is not None:
            cells_by_criterion.setdefault(partner, []).append(i)
    known = bool(matrix.stories["text"].astype(bool).any() or len(matrix.features.columns))
    for j, criterion in enumerate(matrix.criteria):
        cells = cells_by_criterion.get(j, [])
        if not cells and matrix.cells:
            continue
        yield CandidatesOnCriterion(
            j,
            tuple(judge_cell(matrix, i, criterion, matrix.people[j]) for i in cells),
            control(matrix, j, predict if known else None, remarks) if predict is not None else None,
        )


def judge_cell(matrix: RatingMatrix, i: int, against: str | None, people: Floats | None) -> Candidate:
    """The judge in row i. `people` holds the mean human ratings of `against`; None if that is not yet known."""
    asked, valid = matrix.asked[i], matrix.valid[i]
    rated = valid[valid > 0]
    subject = Subject(
        bars.JUDGE,
        matrix.dataset,
        *matrix.cells[i],
        against,
        repeats=float(rated.mean()) if rated.size else 0.0,
        unrated=int(((asked > 0) & (valid == 0)).sum()),
        missing=matrix.missing[i],
    )
    return Candidate(subject, matrix.judge[i], people, cell=i)


def control(matrix: RatingMatrix, j: int, predict: bars.Predict | None, remarks: bars.Remarks) -> Candidate:
    """The control judge on human criterion j, predicted out of fold or by the shipped model. It has no ratings without
    `predict` (neither texts nor features), and with fewer than three predictions, for their reason."""
    subject, people = _of_people(matrix, bars.CONTROL, bars.CONTROL_NAME, j), matrix.people[j]
    if predict is None:
        return Candidate(subject, None, people, control=_NOT_MADE, reason=NO_TEXTS)
    predicted = predict(matrix.stories, pd.Series(people, index=matrix.stories.index), matrix.criteria[j])
    remarks.signature_parts[f"control:{predicted.how}"] = None
    ratings = np.asarray(predicted.values, dtype=np.float64)
    if predicted.reason and (~np.isnan(ratings)).sum() < coefficients.MIN_PAIRS:
        # Why there are no predictions is the reason, not that few ratings are left.
        made = bars.ControlMade(bars.ControlSource.UNAVAILABLE, predicted.reason)
        return Candidate(subject, None, people, control=made, reason=Reason(predicted.reason, unavailable="control"))
    control_notes = (bars.control_note(predicted.source), predicted.reason and f"control: {predicted.reason}")
    remarks.note(note for note in control_notes if note)
    subject = replace(subject, judge=bars.control_label([predicted.source]))
    return Candidate(subject, ratings, people, control=bars.ControlMade(predicted.source, predicted.reason))


def people_one_by_one(matrix: RatingMatrix, j: int) -> Candidate:
    """One more person on criterion j; a reason instead if it is not known who gave which rating."""
    raters, subject = matrix.by_rater(j), _of_people(matrix, bars.CEILING, bars.PEOPLE_NAME, j)
    if not raters.known:
        reason = Reason(raters.reason or "who gave which rating is not known", unavailable="one more person")
        return Candidate(subject, None, None, raters=raters, reason=reason)
    return Candidate(subject, None, matrix.people[j], raters=raters)


def unpaired(matrix: RatingMatrix, pairs: Match) -> Iterator[Candidate]:
    """The judges on criteria that no person rated; each has a reason instead of ratings."""
    reason = Reason(pairs.reason or "nobody rated this criterion")
    for i, partner in enumerate(pairs.partner):
        if partner is None:
            yield replace(judge_cell(matrix, i, None, None), ratings=None, reason=reason)


def first_columns(rows: list[dict[str, Any]]) -> list[Column]:
    """Columns that identify a row: the dataset only if there are several, people's criterion only if a name differs."""
    columns = [Column("dataset", "dataset")] if len({row["dataset"] for row in rows}) > 1 else []
    columns += plain("criterion", "judge", "eval_prompt")
    if any(row["against"] not in (None, row["criterion"]) for row in rows):
        columns.append(Column("against", "against people's"))
    return columns


def last_columns() -> list[Column]:
    return [Column("unrated", "unrated"), Column("missing", "repeats lost")]


def _of_people(matrix: RatingMatrix, kind: bars.Kind, name: str, j: int) -> Subject:
    criterion = matrix.criteria[j]
    return Subject(kind, matrix.dataset, None, name, None, criterion, criterion)


# Rows of results about judges, people and the control judge, flattened for frames and tables.


class AboutSubject(Protocol):
    """A dataclass with a `subject` (the rater and criterion) and numbers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def subject(self) -> Subject: ...


def cells(row: AboutSubject) -> dict[str, Any]:
    """Values by column: the names of the row's rater and criterion, and its other fields."""
    numbers = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "subject"}
    return {**row.subject.labels, "kind": row.subject.kind, **numbers}
