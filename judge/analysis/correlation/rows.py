"""The rows of a correlation table for one dataset: ceiling, judges, control, and their means over criteria.

All rows use the same resamples of stories, so that differences between rows are paired. Ceiling and control are
computed on the stories that at least one judge rated. Where a judge lost some of these stories, its row also reports
ceiling and control on the stories that it rated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from judge.analysis.correlation import correlations, reference_rows
from judge.analysis.correlation.reference_rows import Beside, OnePerson, beside_control
from judge.analysis.correlation.statistic import Intervals, Known, Pair, Side, Statistic
from judge.analysis.inputs import candidates
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE, ControlMade, Kind, Predict, Remarks, control_label
from judge.analysis.options.choices import INTERVALS
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.arrays import Floats, Masks
from judge.base.errors import SpecError, unknown_value
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.correlation.coefficients import fisher_z
from judge.stats.correlation.human_ceiling import DRAWS

# The third variable that a partial correlation holds fixed: a property of the stories themselves.


def third_variable(matrix: RatingMatrix, given: str | None) -> tuple[str, Side] | None:
    """The variable held fixed, by name: length in words, or an imported feature of the stories."""
    if given is None:
        return None
    features = {str(name): matrix.features[name].to_numpy(dtype=np.float64) for name in matrix.features.columns}
    words = matrix.stories["words"].to_numpy(dtype=np.float64)
    if not np.isnan(words).all():
        features["length"] = words
    if given not in features:
        if not features:
            raise SpecError(
                Advice("{given}: nothing is known of the stories of {} but their ratings", matrix.dataset, given=given),
                hint="import them with imported_stories.csv (dataset, story, words, features)",
            )
        raise unknown_value("given", given, features)
    return f"the stories' {given}", Side(features[given])


# One row of a table: dataset, run, judge, Eval-Prompt.
About = tuple[str, str, str, str]

# Criteria whose correlations are computed together: more would take memory and no less time.
_TOGETHER = 64


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """What is compared on one criterion; `control` is on the stories that some judge rated."""

    group: candidates.CandidatesOnCriterion
    people: Side
    cells: list[int]
    one_by_one: candidates.Candidate
    person: OnePerson
    readings: list[list[Floats] | str]
    control: Side | None


class DatasetRows:
    """Computes the rows of one dataset's correlation table, all from the same resamples. With `paired`, judges' rows
    also hold resampled differences from ceiling and control; without `people_drawn`, the ceiling and differences from
    it are not resampled. With `about`, other judges have no rows. `scales` are the known ends of scales; `controls`
    names judges that are control judges."""

    def __init__(
        self,
        matrix: RatingMatrix,
        options: CorrelationOptions,
        predict: Predict | None,
        *,
        paired: bool = False,
        people_drawn: bool = True,
        about: About | None = None,
        scales: Mapping[str, tuple[float, float]] | None = None,
        controls: Collection[str] = (),
    ) -> None:
        self.matrix, self.options, self.paired, self.people_drawn = matrix, options, paired, people_drawn
        self.about = about
        self.predict = predict if options.control else None
        self.statistic = replace(Statistic.of(matrix, options), known=Known())
        self.intervals = Intervals.of(matrix, options, self.statistic)
        self.third = third_variable(matrix, options.given)
        self.scales, self.controls = scales or {}, controls
        self.remarks, self.pool = Remarks(), False
        self.remarks.note(self.intervals.notes)
        self.remarks.signature_parts.update(dict.fromkeys(self.intervals.signature_parts))
        self.control_by_criterion: dict[str, ControlMade] = {}

    def dataset(self, pairs: candidates.Match) -> correlations.CorrelatedDataset:
        """All rows: of each human criterion, means over criteria, then of criteria that nobody rated."""
        groups = candidates.by_criterion(self.matrix, pairs, self.predict, self.remarks)
        rows: list[correlations.CorrelationRow] = []
        while some := [self._compared(group) for group in islice(groups, _TOGETHER)]:
            self._learn(some)
            rows += (row for compared in some for row in self._on_criterion(compared))
        label = control_label(control.source for control in self.control_by_criterion.values())
        rows = [replace(row, subject=replace(row.subject, judge=label)) if row.kind == CONTROL else row for row in rows]
        rows += self._means(rows)
        rows += [self._unpaired(candidate) for candidate in candidates.unpaired(self.matrix, pairs)]
        return correlations.CorrelatedDataset(
            rows=tuple(rows),
            control=self.control_by_criterion,
            pool=self.pool,
            notes=tuple(self.remarks.notes),
            signature_parts=tuple(self.remarks.signature_parts),
            matrix=self.matrix,
            statistic=self.statistic,
            intervals=self.intervals,
        )

    def _unpaired(self, candidate: candidates.Candidate) -> correlations.CorrelationRow:
        estimate = Estimate.undefined(candidate.reason or "undefined")
        return correlations.CorrelationRow(
            candidate.subject, estimate, 0, 0, is_control=candidate.subject.judge in self.controls, cell=candidate.cell
        )

    def _compared(self, group: candidates.CandidatesOnCriterion) -> _Compared:
        matrix, j = self.matrix, group.criterion
        cells = [judge.cell for judge in group.judges if judge.cell is not None]
        rated: Masks = np.ones(matrix.n, dtype=np.bool_)
        if cells:
            rated = np.asarray((~np.isnan(matrix.judge[cells])).any(axis=0), dtype=np.bool_)
        if self.about is not None:
            group = replace(group, judges=tuple(judge for judge in group.judges if self._is_about(judge)))
            cells = [judge.cell for judge in group.judges if judge.cell is not None]
        one_by_one = candidates.people_one_by_one(matrix, j)
        control = None if group.control is None or group.control.ratings is None else group.control.ratings
        return _Compared(
            group=group,
            people=Side(matrix.people[j], matrix.people_codes[j]),
            cells=cells,
            one_by_one=one_by_one,
            person=OnePerson(one_by_one, rated, self.statistic, self.options.seed),
            readings=[reference_rows.of_judge(matrix, i, self.options.readings) for i in cells],
            control=None if control is None else Side(np.where(rated, control, np.nan)),
        )

    def _is_about(self, judge: candidates.Candidate) -> bool:
        subject = judge.subject
        return (subject.dataset, subject.run, subject.judge, subject.eval_prompt) == self.about

    def _learn(self, some: Sequence[_Compared]) -> None:
        plain: list[Pair] = []
        drawn: list[Pair] = []
        for compared in some:
            judges = [self.matrix.judge[i] for i in compared.cells]
            control = [] if compared.control is None else [compared.control.values]
            drawn += ((judge, compared.people.values) for judge in (*judges, *control))
            given = [reading for own in compared.readings if not isinstance(own, str) for reading in own]
            alone, beside = compared.person.pairs(given)
            plain += [*alone, *beside, *compared.person.pairs(control)[1]]
            drawn += alone if self.people_drawn else ()
            drawn += beside if self.people_drawn and self.paired else ()
        self.statistic.learn([*plain, *drawn], drawn, self.intervals.sets)

    def _on_criterion(self, compared: _Compared) -> Iterator[correlations.CorrelationRow]:
        group, people, person = compared.group, compared.people, compared.person
        ceiling = self._ceiling(compared.one_by_one, group.criterion, person)
        control = None if group.control is None else self._control(group.control, compared)
        yield ceiling
        yield from self._judges(compared, people, person, (ceiling, control, compared.control))
        if control is not None:
            yield control

    def _judges(
        self,
        compared: _Compared,
        people: Side,
        person: OnePerson,
        bars: tuple[correlations.CorrelationRow, correlations.CorrelationRow | None, Side | None],
    ) -> Iterator[correlations.CorrelationRow]:
        matrix, (ceiling, control, predicted) = self.matrix, bars
        group, cells = compared.group, compared.cells
        # All judges are resampled in one pass.
        values = self.intervals.values(matrix.judge[cells], people.values) if cells else ()
        if person.ceiling is not None:
            self._say_readings(group.criterion, cells, person, ceiling)
        readable = [of_cell for of_cell in compared.readings if not isinstance(of_cell, str)]
        if self.paired and self.people_drawn:
            persons = iter(person.resampled_beside(readable, self.intervals))
        else:
            persons = iter([person.beside(of_cell)[0] for of_cell in readable])
        for at, (i, candidate, of_cell) in enumerate(zip(cells, group.judges, compared.readings, strict=True)):
            judge = Side(matrix.judge[i], matrix.judge_codes[i])
            row = self._row(candidate, judge, people, self.statistic.estimate(judge, people))
            share = row.stories / max(1, int((~np.isnan(people.values)).sum()))
            row = self._measured(row, judge, people, tuple(values_of[at] for values_of in values))
            beside: dict[Kind, Beside] = {}
            beside[CEILING] = Beside.undefined(of_cell) if isinstance(of_cell, str) else next(persons)
            if control is not None and predicted is not None:
                beside[CONTROL] = beside_control(
                    (judge, row.estimate, row.resampled),
                    (predicted, control.estimate, control.resampled),
                    people,
                    self.statistic,
                    (lambda x: self.intervals.values(x, people.values)) if self.paired else None,
                )
            elif control is not None:
                beside[CONTROL] = Beside.undefined(control.estimate.why)
            further = self._further(i, judge, people, beside)
            yield replace(row, cell=i, share=share, beside=beside, further=further)

    def _further(self, i: int, judge: Side, people: Side, beside: Mapping[Kind, Beside]) -> dict[str, Estimate]:
        further = {correlations.ONE_OUT: beside[CEILING].judge[0], correlations.PEOPLE_SAME: beside[CEILING].bar[0]}
        if CONTROL in beside:
            further[correlations.CONTROL_SAME] = replace(beside[CONTROL].bar[0], low=None, high=None, method=None)
        gone = (self.matrix.asked[i] > 0) & np.isnan(judge.values) & ~np.isnan(people.values)
        ends = self.scales.get(self.matrix.cells[i].criterion)
        return further | correlations.with_lost(
            judge.values, gone, ends, lambda side: self.statistic.estimate(side, people)
        )

    def _say_readings(self, j: int, cells: list[int], person: OnePerson, ceiling: correlations.CorrelationRow) -> None:
        if ceiling.estimate.defined and cells:
            self.remarks.note([reference_rows.note(self.matrix, j, cells, person, self.options.readings)])
        if person.pool:
            self.pool = True
            self.remarks.signature_parts[f"pool:{DRAWS}/seed{self.options.seed}"] = None
            self.remarks.note([reference_rows.pool_note(self.matrix.dataset)])

    def _row(
        self, candidate: candidates.Candidate, x: Side, y: Side, estimate: Estimate
    ) -> correlations.CorrelationRow:
        keep = ~(np.isnan(x.values) | np.isnan(y.values))
        systems = int(np.unique(self.matrix.system[keep]).size)
        is_control = candidate.kind == JUDGE and candidate.subject.judge in self.controls
        return correlations.CorrelationRow(candidate.subject, estimate, int(keep.sum()), systems, is_control=is_control)

    def _measured(
        self, row: correlations.CorrelationRow, x: Side, y: Side, resampled: tuple[Floats, ...]
    ) -> correlations.CorrelationRow:
        estimate = row.estimate
        estimate = (
            fisher_z(estimate)
            if INTERVALS[self.intervals.how].fisher
            else self.intervals.of_values(estimate, resampled)
        )
        row = replace(row, estimate=estimate, resampled=resampled if estimate.defined else ())
        if self.third is None:
            return row
        given, values = self.statistic.given(x, y, self.third[1], self.third[0], self.intervals.sets)
        return replace(row, given=self.intervals.of_given(given, values), given_resampled=values)

    def _ceiling(self, candidate: candidates.Candidate, j: int, person: OnePerson) -> correlations.CorrelationRow:
        estimate = person.estimate
        resampled: tuple[Floats, ...] = ()
        plain = replace(estimate, method=None)
        if estimate.defined:
            resampled = person.resampled(self.intervals) if self.people_drawn else ()
            estimate = self.intervals.of_values(estimate, resampled)
        shared = person.stories
        on = Side(np.where(shared, 1.0, np.nan)) if shared is not None else Side(self.matrix.people[j])
        row = self._row(candidate, on, on, estimate)
        return replace(row, resampled=resampled, further={correlations.ONE_OUT: plain})

    def _control(self, candidate: candidates.Candidate, compared: _Compared) -> correlations.CorrelationRow:
        people, side = compared.people, compared.control
        if candidate.control is not None:
            self.control_by_criterion[candidate.subject.criterion] = candidate.control
        if side is None:
            return self._row(candidate, people, people, Estimate.undefined(candidate.reason or "undefined"))
        row = self._row(candidate, side, people, self.statistic.estimate(side, people))
        row = self._measured(row, side, people, self.intervals.values(side.values, people.values))
        return replace(row, further={correlations.ONE_OUT: compared.person.beside([side.values])[0].judge[0]})

    def _means(self, rows: Sequence[correlations.CorrelationRow]) -> Iterator[correlations.CorrelationRow]:
        groups: dict[tuple[str | None, ...], list[correlations.CorrelationRow]] = {}
        for row in rows:
            subject = row.subject
            groups.setdefault((row.kind, subject.run, subject.judge, subject.eval_prompt), []).append(row)
        order = {CEILING: 0, JUDGE: 1, CONTROL: 2}
        for group in sorted(groups.values(), key=lambda same: order[same[0].subject.kind]):
            if len(group) > 1:
                yield self._mean(group)

    def _mean(self, group: Sequence[correlations.CorrelationRow]) -> correlations.CorrelationRow:
        row = correlations.mean_row(group)
        row = replace(row, estimate=self.intervals.of_values(row.estimate, row.resampled))
        if self.third is None or group[0].given is None:
            return row
        parts: list[correlations.Part] = [
            (each.subject.criterion, each.given, each.given_resampled) for each in group if each.given is not None
        ]
        given, values = correlations.mean_of(parts)
        return replace(row, given=self.intervals.of_given(given, values))
