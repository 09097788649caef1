"""Comparison of judges' labels with human labels, by criterion and over all binary criteria."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judge.analysis.agreement import alternative_annotator
from judge.analysis.inputs.bars import CEILING, CONTROL, PEOPLE_NAME, Kind, Remarks
from judge.analysis.inputs.candidates import Subject, judge_cell, match
from judge.analysis.inputs.label_criteria import scale_of
from judge.analysis.inputs.resamples import drawn_with_note
from judge.analysis.labels.items import Items, Labelling, all_criteria, of_part, parts_of
from judge.analysis.labels.result import STATISTICS, Beside, ConfusionRow, Confusions, Shares
from judge.analysis.options.agreement_options import ConfusionOptions
from judge.analysis.options.signature import signature_parts
from judge.base.arrays import Floats, Masks
from judge.base.errors import SpecError
from judge.base.estimate import Estimate, Reason
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement.confusion import Confusion, Majority, confusion, majority, of_cells, of_the_others
from judge.stats.correlation.human_ceiling import is_panel
from judge.stats.resampling.bootstrap import Resamples

# Compares one person, and a judge, with the majority of the other people on the same items.


FEW = "one more person is undefined: no story was labelled by two people of whom the others agree"


class OnePerson:
    """Labels of people one at a time, to be compared with the majority of the other people. `pool` is true if different
    people labelled different stories, false for a panel, in which every rater labelled nearly every story."""

    def __init__(self, items: Items, stories: Masks, resamples: Resamples | None) -> None:
        self.items, self.resamples = items, resamples
        self.people = np.where(stories[:, None], items.people, np.nan)
        self.others = of_the_others(self.people, items.q)
        self.tied = int(((self.others.tied) & ~np.isnan(self.people)).sum())
        self.labels = int((~np.isnan(self.people)).sum())
        self.pool = self.people.shape[1] > 1 and not is_panel(self.people)
        voters = (~np.isnan(self.people)).sum(axis=1)
        self._weight = 1.0 / np.maximum(1, voters)

    def confusions(self, kept: Masks) -> list[Confusion]:
        """Confusion matrices of single people against the majority of the others, on the items in a mask: one per rater
        of a panel, or a single one for a pool."""
        return self._made(self.people, kept)

    def ceiling(self) -> tuple[dict[str, Estimate], Floats]:
        """Every statistic of one person against the others' majority, as mean, and the summed confusion matrix."""
        matrices = self.confusions(np.ones(len(self.people), dtype=np.bool_))
        counts = (
            np.sum([rater.counts for rater in matrices], axis=0) if matrices else np.zeros((self.items.q, self.items.q))
        )
        n = self._n(matrices)
        if not n:
            return dict.fromkeys(STATISTICS, Estimate.undefined(FEW)), counts
        values, plain = self._values(matrices), [rater.statistics() for rater in matrices]
        return {name: self._mean([rater[name] for rater in plain], values, name, n) for name in STATISTICS}, counts

    def beside(self, label: Floats) -> Mapping[str, Beside]:
        """Each statistic of judge and people against the same majorities; `label` has shape (items,)."""
        kept = ~np.isnan(label)
        labels = np.where(np.isnan(self.people), np.nan, label[:, None])
        judge, people = self._made(labels, kept), self.confusions(kept)
        n = self._n(people)
        if not n:
            none = Estimate.undefined(FEW)
            return dict.fromkeys(STATISTICS, Beside(none, none, none))
        sides = [[matrix.statistics() for matrix in side] for side in (judge, people)]
        drawn = [self._values(side) for side in (judge, people)]
        return {name: self._both(name, sides, drawn, n) for name in STATISTICS}

    def _both(
        self,
        name: str,
        sides: Sequence[Sequence[Mapping[str, Estimate]]],
        drawn: Sequence[Sequence[Mapping[str, Floats]]],
        n: int,
    ) -> Beside:
        """Means over the raters for whom the judge's and the person's value are both defined."""
        both = [i for i in range(len(sides[0])) if all(side[i][name].defined for side in sides)]
        if not both:
            reason = next(side[i][name].reason for i in range(len(sides[0])) for side in sides if side[i][name].reason)
            none = Estimate.undefined(reason or FEW, n)
            return Beside(none, none, none)
        judge, people = (float(np.mean([side[i][name].value for i in both])) for side in sides)
        estimates = [Estimate(judge, n), Estimate(people, n), Estimate(judge - people, n)]
        if self.resamples is not None:
            mine, theirs = (np.stack([values_of[i][name] for i in both]) for values_of in drawn)
            values = (_mean(mine), _mean(theirs), _mean(mine - theirs))
            estimates = [self.resamples.interval(values_of, v) for values_of, v in zip(estimates, values, strict=True)]
        return Beside(*estimates)

    def _made(self, labels: Floats, kept: Masks) -> list[Confusion]:
        q, positive = self.items.q, self.items.positive
        labelled = ~np.isnan(labels) & ~np.isnan(self.people) & ~np.isnan(self.others.label) & kept[:, None]
        row, rater = np.nonzero(labelled)
        theirs, mine = self.others.label[row, rater].astype(np.int64), labels[row, rater].astype(np.int64)
        if self.pool:
            cells = np.zeros((len(labels), q, q))
            np.add.at(cells, (row, theirs, mine), self._weight[row])
            return [of_cells(cells, positive=positive)]
        by_rater = np.zeros((labels.shape[1], len(labels), q, q))
        by_rater[rater, row, theirs, mine] = 1.0
        return [of_cells(rater_cells, positive=positive) for rater_cells in by_rater]

    def _values(self, matrices: Sequence[Confusion]) -> list[dict[str, Floats]]:
        return [matrix.values(self.resamples) for matrix in matrices] if self.resamples is not None else []

    def _mean(self, plain: Sequence[Estimate], values: Sequence[Mapping[str, Floats]], name: str, n: int) -> Estimate:
        # Over the raters for whom the statistic is defined.
        defined = [i for i, estimate in enumerate(plain) if estimate.defined]
        if not defined:
            return Estimate.undefined(plain[0].reason or FEW, n)
        mean = Estimate(float(np.mean([plain[i].value for i in defined])), n)
        if not self.pool:
            mean = replace(mean, method=f"leave-one-out, {len(defined)} of {len(plain)} raters")
        if self.resamples is None:
            return mean
        return self.resamples.interval(mean, _mean(np.stack([values[i][name] for i in defined])))

    def _n(self, matrices: Sequence[Confusion]) -> int:
        if not matrices:
            return 0
        return int(np.any([matrix.cells.any(axis=(1, 2)) for matrix in matrices], axis=0).sum())


def _mean(values: Floats) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a resample in which nobody is defined is NaN
        return np.asarray(np.nanmean(values, axis=0), dtype=np.float64)


def confusions(table: RatingsTable, options: ConfusionOptions | None = None) -> Confusions:
    """Agreement of the labels of judges, people one by one and null judges with people's majority labels, by criterion.
    Raises SpecError if no criterion of a judge has labels."""
    options, remarks = options or ConfusionOptions(), Remarks()
    matrices = build(table, drop_systems=options.drop_systems)
    if not any(scale_of(matrix, cell.criterion) for matrix in matrices for cell in matrix.cells):
        raise SpecError(
            "no criterion in these runs has labels",
            hint=Advice(
                "judge correlate RUN {layout} sets judges of numbers beside a rule on people's ratings",
                layout="separation",
            ),
        )
    remarks.note(table.notes)
    rows = [row for matrix in matrices for row in _Dataset(matrix, options, remarks).rows()]
    parts = signature_parts(table, matrices, options, extra=["labels:majority", *remarks.signature_parts])
    return Confusions(tuple(rows), options, signature_parts=parts, notes=tuple(remarks.notes))


class _Dataset:
    def __init__(self, matrix: RatingMatrix, options: ConfusionOptions, remarks: Remarks) -> None:
        self.matrix, self.options, self.remarks = matrix, options, remarks
        self.drawn = drawn_with_note(matrix, options, remarks)
        self.tied = np.zeros(3, dtype=np.int64)

    def rows(self) -> Iterator[ConfusionRow]:
        """Rows of each human criterion, of all binary criteria together, then of criteria without human labels."""
        pairs = match(self.matrix, self.options.against)
        parts, alone, notes = parts_of(self.matrix, pairs.partner)
        self.remarks.note([*pairs.notes, *notes])
        each = [of_part(self.matrix, part) for part in parts]
        whole = all_criteria(parts, each)
        for items in [*each, *([whole] if whole is not None else [])]:
            yield from self._of_items(items)
        self.remarks.note(self._ties())
        reason = Reason(pairs.reason or "nobody labelled this criterion")
        yield from (self._unpaired(i, reason) for i in alone)

    def _of_items(self, items: Items) -> Iterator[ConfusionRow]:
        people, resamples = majority(items.people, items.q), items.resamples(self.drawn)
        person = OnePerson(items, items.labelled, resamples) if items.raters_known else None
        yield self._ceiling(items, person)
        for key, labelling in items.judges.items():
            yield self._judge(items, key, labelling, people, person, resamples)
        # Null judges label the items that some judge labelled.
        label = np.where(items.labelled, people.label, np.nan)
        yield from self._nulls(items, label, resamples)
        self._say(items, people, person)

    def _judge(
        self,
        items: Items,
        key: tuple[str, str, str],
        mine: Labelling,
        people: Majority,
        person: OnePerson | None,
        resamples: Resamples | None,
    ) -> ConfusionRow:
        label = mine.majority.label
        counted = confusion(label, people.label, items.q, positive=items.positive)
        row = self._row(self._subject(items, key), items, counted, resamples)
        voted = (~np.isnan(items.people)).any(axis=1)
        causes = {
            "unlabelled": mine.asked & ~mine.voted,
            "repeats_tied": mine.asked & mine.majority.tied,
            "people_tied": mine.asked & ~np.isnan(label) & people.tied,
            "nobody": mine.asked & ~np.isnan(label) & ~voted,
        }
        lost = {name: int(some.sum()) for name, some in causes.items()}
        beside = person.beside(label) if person is not None else {}
        return replace(row, items=int(mine.asked.sum()), lost=lost, beside=beside)

    def _ceiling(self, items: Items, person: OnePerson | None) -> ConfusionRow:
        subject = self._nobody(CEILING, PEOPLE_NAME, items)
        positive = items.labels[items.positive] if items.positive is not None else None
        if person is None:
            why = items.unknown_because or "who gave which label is not known"
            none = Estimate.undefined(Reason(why, unavailable="one more person"))
            return ConfusionRow(subject, items.labels, positive, dict.fromkeys(STATISTICS, none))
        statistics, counts = person.ceiling()
        lost = {"others_tied": person.tied}
        return ConfusionRow(subject, items.labels, positive, statistics, *_counted(counts), person.labels, lost)

    def _nulls(self, items: Items, people: Floats, resamples: Resamples | None) -> Iterator[ConfusionRow]:
        labelled = ~np.isnan(people)
        if not labelled.any():
            return
        constant = alternative_annotator.commonest(people[:, None], labelled)
        name = f"{alternative_annotator.MODE} ({items.labels[int(constant[labelled][0])]})"
        counted = confusion(constant, people, items.q, positive=items.positive)
        yield self._row(self._nobody(CONTROL, name, items), items, counted, resamples)
        counted = alternative_annotator.at_random(people, items.q, items.positive)
        # Expected counts: what chance could make of them is not in resamples of stories.
        yield self._row(self._nobody(CONTROL, alternative_annotator.RANDOM, items), items, counted, None)

    def _row(self, subject: Subject, items: Items, counted: Confusion, resamples: Resamples | None) -> ConfusionRow:
        positive = items.labels[items.positive] if items.positive is not None else None
        return ConfusionRow(subject, items.labels, positive, counted.statistics(resamples), *_counted(counted.counts))

    def _subject(self, items: Items, key: tuple[str, str, str]) -> Subject:
        """Names of a judge and criterion, with its lost labels summed over the criteria of the items."""
        cells = [part.cells[key] for part in items.parts if key in part.cells]
        each = [judge_cell(self.matrix, i, items.name, None).subject for i in cells]
        if len(items.parts) == 1:
            return each[0]
        missing: dict[str, int] = {}
        for cell in each:
            for status, count in cell.missing.items():
                missing[status] = missing.get(status, 0) + count
        valid = self.matrix.valid[cells]
        repeats = float(valid[valid > 0].mean()) if (valid > 0).any() else 0.0
        unrated = sum(cell.unrated or 0 for cell in each)
        return replace(each[0], criterion=items.name, repeats=repeats, unrated=unrated, missing=missing)

    def _nobody(self, kind: Kind, name: str, items: Items) -> Subject:
        return Subject(kind, self.matrix.dataset, None, name, None, items.name, items.name)

    def _unpaired(self, i: int, reason: Reason) -> ConfusionRow:
        scale = scale_of(self.matrix, self.matrix.cells[i].criterion)
        labels, positive = (scale.labels, scale.positive) if scale is not None else ((), None)
        none = Estimate.undefined(reason)
        subject = judge_cell(self.matrix, i, None, None).subject
        return ConfusionRow(subject, labels, positive, dict.fromkeys(STATISTICS, none))

    def _say(self, items: Items, people: Majority, person: OnePerson | None) -> None:
        if person is not None and person.pool:
            pool = "people are a pool, not a panel: one more person is one random rater of each story against the"
            self.remarks.note([f"{self.matrix.dataset}: {pool} majority of that story's others"])
        if len(items.parts) == 1:
            mine = [int((labelling.majority.tied & labelling.asked).sum()) for labelling in items.judges.values()]
            self.tied += np.array([int((people.tied & items.asked).sum()), int(items.asked.sum()), sum(mine)])

    def _ties(self) -> Iterator[str]:
        people, asked, repeats = (int(count) for count in self.tied)
        if people:
            yield f"{self.matrix.dataset}: people are tied on {people} of {asked} stories x criteria: no label"
        if repeats:
            yield f"{self.matrix.dataset}: a judge's repeats are tied {repeats} times: no label"


def _counted(counts: Floats) -> tuple[tuple[tuple[float, ...], ...], Shares, Shares]:
    """The matrix as tuples, and the share of each label among people's and among the judge's."""
    total = float(counts.sum())
    rows, columns = (tuple(float(n) / total if total else None for n in counts.sum(axis=axis)) for axis in (1, 0))
    return tuple(tuple(float(n) for n in row) for row in counts), rows, columns
