"""Computes stress tests from a ratings table that contains perturbed stories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judge.analysis.inputs.bars import JUDGE, Remarks
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import abbreviations, signature_parts
from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress.contrasts import adjusted, contrasts
from judge.analysis.stress.findings import finding
from judge.analysis.stress.lost import lost_by_perturbation
from judge.analysis.stress.pairing import Pairing, pairing
from judge.analysis.stress.quality_control import quality_control
from judge.analysis.stress.rated import Rated, controls, judges
from judge.analysis.stress.result import Dose, Null, Paired, QualityControl, Selectivity, Stress
from judge.analysis.stress.selectivity import selectivity
from judge.analysis.stress.statistics import dose, null, paired
from judge.base.errors import SpecError
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation.multiplicity import adjust

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def stress(table: RatingsTable, options: StressOptions | None = None) -> Stress:
    """Results of stress tests for every judge, Eval-Prompt, criterion, perturbation (kind of change) and strength.

    Raises
    ------
    SpecError
        The table has no pair of a perturbed and an untouched story, as identified by story ids.
    """
    options, remarks = options or StressOptions(), Remarks()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    paired_matrices = [(matrix, own) for matrix in matrices if (own := pairing(matrix)) is not None]
    if not any(len(own.origins) and own.changed for _, own in paired_matrices):
        raise SpecError(
            "no story of these runs was perturbed, as ids ORIGIN@PERTURBATION.STRENGTH beside ORIGIN@none tell: make "
            "such stories with judge stress make DATASET -o stress.jsonl, and let judge run rate them",
        )
    remarks.note(note for fact in table.facts for note in fact.notes)
    sets = [_Dataset(table, matrix, own, options, remarks) for matrix, own in paired_matrices]
    rows, tests = _adjusted([row for dataset in sets for row in dataset.rows()], options)
    return Stress(
        rows=rows,
        nulls=tuple(row for dataset in sets for row in dataset.nulls()),
        doses=tuple(row for dataset in sets for row in dataset.doses()),
        selectivity=tuple(row for dataset in sets for row in dataset.selectivity()),
        contrasts=adjusted(
            [row for dataset in sets for row in contrasts(dataset.judges, dataset.pairs)], options.adjust
        ),
        lost=tuple(row for dataset in sets for row in lost_by_perturbation(table, dataset.matrix.dataset)),
        quality=tuple(row for dataset in sets for row in dataset.quality()),
        tests=tests,
        options=options,
        abbreviations=abbreviations(table),
        signature_parts=signature_parts(
            table, matrices, options, intervals="score-clustered+t-clustered", extra=["pairs:origin"]
        ),
        notes=tuple(remarks.notes),
    )


def _adjusted(rows: Sequence[Paired], options: StressOptions) -> tuple[tuple[Paired, ...], int]:
    """Rows of stress tests with adjusted p and with their findings, and the number of adjusted tests.

    p is adjusted over the tests of judges; those of controls have no adjusted p.
    """
    p = [row.p if row.subject.kind == JUDGE and row.p is not None else np.nan for row in rows]
    adjustment = adjust(np.array(p), options.adjust, family="all tests of this report")
    with_p = [
        replace(row, adjusted=None if np.isnan(q) else float(q)) for row, q in zip(rows, adjustment.p, strict=True)
    ]
    return tuple(replace(row, finding=finding(row, options)) for row in with_p), adjustment.tests


def _of_measures(rated: Sequence[Rated]) -> Iterator[str]:
    """Yield notes on how to read the rows of automatic measures in a report on stress tests."""
    if any(judge.measure is not None for judge in rated):
        yield (
            "measures: detection is the share of pairs in which the untouched story has the better value; without "
            "points, nothing is said of the margin, flips, ends of the scale or the quality control"
        )
    lower = [judge.subject.judge for judge in rated if judge.measure is not None and judge.measure.better == -1]
    if lower:
        yield f"lower is better of {', '.join(dict.fromkeys(lower))}"
    for judge in rated:
        if judge.measure is not None and judge.measure.reason is not None:
            yield f"{judge.subject.judge}: detection is undefined: {judge.measure.reason}"


class _Dataset:
    """One dataset of perturbed and untouched stories, with the judges, measures and controls that are stress-tested."""

    def __init__(
        self, table: RatingsTable, matrix: RatingMatrix, pairs: Pairing, options: StressOptions, remarks: Remarks
    ) -> None:
        self.matrix, self.pairs, self.options = matrix, pairs, options
        self.judges = list(judges(table, matrix))
        self.controls: list[Rated] = []
        remarks.note(_of_measures(self.judges))
        if pairs.unknown:
            names = ", ".join(pairs.unknown)
            remarks.note([f"{matrix.dataset}: perturbations that this version does not know are left out: {names}"])
        if pairs.alone:
            remarks.note([f"{matrix.dataset}: {pairs.alone} perturbed stories have no untouched story beside them"])
        if options.control and not all(fact.control for fact in table.facts):
            criteria = list(dict.fromkeys(judge.subject.criterion for judge in self.judges))
            self.controls, notes = controls(matrix, criteria)
            remarks.note(notes)

    def _groups(self) -> dict[tuple[str | None, ...], list[Rated]]:
        """Map from (run, judge, Eval-Prompt) to its ratings, one entry per criterion; controls come last."""
        groups: dict[tuple[str | None, ...], list[Rated]] = {}
        for source in (*self.judges, *self.controls):
            groups.setdefault((source.subject.run, source.subject.judge, source.subject.eval_prompt), []).append(source)
        return groups

    def _in_points(self) -> list[Rated]:
        """Ratings by the judges that rate in points of a scale, that is without automatic measures."""
        return [judge for judge in self.judges if judge.measure is None]

    def rows(self) -> Iterator[Paired]:
        for group in self._groups().values():
            asked = {source.subject.criterion.casefold() for source in group}
            for source in group:
                for changed in self.pairs.changed:
                    aims = asked & set(changed.facts.aims)
                    expected = source.subject.criterion.casefold() in aims or not aims
                    yield paired(source, self.pairs, changed, self.options, expected=expected)

    def nulls(self) -> Iterator[Null]:
        return (null(judge, self.pairs) for judge in self._in_points())

    def doses(self) -> Iterator[Dose]:
        for source in (*self._in_points(), *self.controls):
            yield from dose(source, self.pairs)

    def selectivity(self) -> Iterator[Selectivity]:
        for group in self._groups().values():
            if group[0].measure is None:  # a measure says the same of every criterion
                yield from selectivity(group, self.pairs)

    def quality(self) -> Iterator[QualityControl]:
        rated = self._in_points()
        for source in (*rated, *(self.controls if rated else ())):
            yield from quality_control(source, self.pairs, self.matrix)
