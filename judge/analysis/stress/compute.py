"""Computes stress tests from a ratings table that contains perturbed stories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judge.analysis.inputs.bars import JUDGE, Remarks
from judge.analysis.inputs.candidates import Subject
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import abbreviations, signature_parts
from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress import result
from judge.analysis.stress.statistics import Changed, Pairing, Rated, controls, dose, judges, null, paired, pairing
from judge.base.arrays import Codes, Masks, renumbered
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.inputs.perturbations.perturbation import CATALOGUE
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable, perturbed_names
from judge.stats.estimation import means
from judge.stats.estimation.paired_differences import Method, adjust
from judge.stats.estimation.proportions import wilson
from judge.stats.ordering.detection import credit, detection

# Applies to a judge the quality control that a published study applied to crowd workers.

# Perturbations that make the spoilt story: repeated, or shuffled.
SPOILT = ("lexical-repetition", "sentence-shuffle", "word-shuffle")

# Share of workers' ratings that were kept (1 - .387 and 1 - .754): Guan et al. 2021.
PUBLISHED = {"ROC": 0.613, "WP": 0.246}

_HUMAN = ("human", "gold", "reference")
# 4 and 2 of a scale from 1 to 5, as parts of its length.
_HIGH, _LOW = 0.75, 0.25


def quality_control(rated: Rated, pairs: Pairing, matrix: RatingMatrix) -> Iterator[result.QualityControl]:
    """How often the judge would pass the quality control of Guan et al. 2021 (a high rating of the human story and a
    low one of the spoilt story), for each perturbation that spoils a story, at its highest strength. Only stories by
    people are used, or all if the dataset names no human author."""
    systems = np.array([str(name).casefold() for name in matrix.stories["system"]], dtype=object)[pairs.untouched]
    human = np.isin(systems, _HUMAN)
    if not human.any():
        human = np.ones(systems.size, dtype=np.bool_)
    highest = {changed.facts.name: changed for changed in pairs.changed if changed.facts.name in SPOILT}
    length, low = rated.scale.max - rated.scale.min, rated.scale.min
    for changed in highest.values():
        there = human & (changed.story >= 0)
        before, after = rated.means[pairs.untouched[there]], rated.means[changed.story[there]]
        both_rated = ~(np.isnan(before) | np.isnan(after))
        high = before[both_rated] >= low + _HIGH * length - 1e-9
        spoilt = after[both_rated] <= low + _LOW * length + 1e-9
        prompt = pairs.prompt[there][both_rated]
        shares = [_share(hits, prompt) for hits in (high & spoilt, high, spoilt)]
        yield result.QualityControl(rated.subject, changed.facts, changed.strength, *shares)


def _share(hits: Masks, prompt: Codes) -> Estimate:
    """Share of hits by story-prompt, averaged over these, with a Wilson interval."""
    if not hits.size:
        return Estimate.undefined("undefined without a pair of rated stories")
    group = renumbered(prompt)
    each = np.bincount(group, weights=hits.astype(np.float64)) / np.bincount(group)
    return wilson(float(each.sum()), each.size)


# Classifies each row of a stress test as a finding in one or two words, such as ``found``, ``missed`` or ``fell for``.

# Detection of a judge that notices half of the pairs and guesses at the others.
HALF_FOUND = 0.75

_HALF = 0.5


def finding(row: result.Paired, options: StressOptions) -> result.Finding | None:
    """The finding on a row, from its intervals and its (adjusted) p. None if an interval is missing, or if the
    perturbation should lower ratings, but not on this criterion."""
    if row.detection.estimate.low is None or not (row.expected or row.facts.test != "discrimination"):
        return None
    if row.facts.test == "discrimination":
        return _discrimination(row, options)
    if row.facts.test == "invariance":
        return _invariance(row, options)
    if row.facts.test == "attack":
        return _attack(row, options)
    return _degenerate(row)


def _significant(row: result.Paired, options: StressOptions) -> bool:
    p = row.p if row.adjusted is None else row.adjusted
    return p is not None and p <= options.alpha


def _discrimination(row: result.Paired, options: StressOptions) -> result.Finding:
    share = row.detection.estimate
    if _significant(row, options):
        if (share.value or 0) < _HALF:
            return "prefers"
        return "found" if (share.value or 0) >= HALF_FOUND else "weak"
    return "missed" if share.high is not None and share.high < HALF_FOUND else "open"


def _invariance(row: result.Paired, options: StressOptions) -> result.Finding:
    if row.same is not None:
        p, drop = row.same.p, row.same.difference.value
        if p is not None and p <= options.alpha:
            return "same"
        if p is None and drop is not None and abs(drop) < options.margin:
            return "same"  # all differences are equal, and small: there is nothing to test
    return "moved" if _significant(row, options) else "open"


def _attack(row: result.Paired, options: StressOptions) -> result.Finding:
    if row.measured:  # there are no points, hence no margin
        low = row.detection.estimate.low
        return "withstood" if low is not None and low >= _HALF else "fell for" if _significant(row, options) else "open"
    least = row.drop.value if row.drop.low is None else row.drop.low
    if least is not None and least > -options.margin:
        return "withstood"
    return "fell for" if _significant(row, options) and (row.drop.value or 0) < 0 else "open"


def _degenerate(row: result.Paired) -> result.Finding | None:
    share = row.lowest
    if share is None or share.low is None or share.high is None:
        return None
    return "seen" if share.low > _HALF else "fell for" if share.high < _HALF else "open"


# Compares the Eval-Prompts of a judge in a stress test: with which of them the judge notices more perturbations.


def contrasts(rated: Sequence[Rated], pairs: Pairing) -> Iterator[result.Contrast]:
    """Every two Eval-Prompts of a judge, by criterion and perturbation that should be noticed (at its highest
    strength): detection with the second minus with the first, over original stories with ratings with both."""
    groups: dict[tuple[str | None, ...], list[Rated]] = {}
    for source in rated:
        if source.subject.kind == JUDGE:
            groups.setdefault((source.subject.run, source.subject.judge, source.subject.criterion), []).append(source)
    highest = {changed.facts.name: changed for changed in pairs.changed if changed.facts.test == "discrimination"}
    for group in groups.values():
        for first, second in combinations(group, 2):
            yield from (_contrast(first, second, pairs, changed) for changed in highest.values())


def _contrast(first: Rated, second: Rated, pairs: Pairing, changed: Changed) -> result.Contrast:
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    sides = [credit(side.merit[before] - side.merit[after]) for side in (first, second)]
    difference = sides[1] - sides[0]
    defined = ~np.isnan(difference)
    names = (str(first.subject.eval_prompt), str(second.subject.eval_prompt))
    if not defined.any():
        nothing = Estimate.undefined("no pair was rated with both")
        return result.Contrast(first.subject, changed.facts, changed.strength, *names, nothing, None)
    codes = renumbered(prompt[defined])
    estimate = means.clustered(difference[defined], codes, bounds=means.OF_SHARES)
    return result.Contrast(
        first.subject, changed.facts, changed.strength, *names, estimate, means.clustered_p(difference[defined], codes)
    )


def adjusted(rows: Sequence[result.Contrast], method: Method) -> tuple[result.Contrast, ...]:
    """The contrasts with p adjusted for their number."""
    p = np.array([np.nan if row.p is None else row.p for row in rows], dtype=np.float64)
    p_adjusted = adjust(p, method, family="all contrasts of this report").p
    return tuple(
        replace(row, adjusted=None if np.isnan(q) else float(q)) for row, q in zip(rows, p_adjusted, strict=True)
    )


# Computes selectivity: whether a judge notices a perturbation more often on the criteria that it aims at than on the
# other criteria (Hu et al. 2024).


def selectivity(group: Sequence[Rated], pairs: Pairing) -> Iterator[result.Selectivity]:
    """Selectivity for each perturbation that should be noticed, at its highest strength: mean detection on the criteria
    that it aims at, minus that on the others. `group` has a judge's ratings by criterion, two or more."""
    if len(group) < 2:
        return
    highest = {changed.facts.name: changed for changed in pairs.changed}
    for changed in highest.values():
        if changed.facts.test == "discrimination":
            yield _of_judge(group, pairs, changed)


def _of_judge(group: Sequence[Rated], pairs: Pairing, changed: Changed) -> result.Selectivity:
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    gaps = {rated.subject.criterion: rated.merit[before] - rated.merit[after] for rated in group}
    shares = {name: detection(gap, prompt).estimate for name, gap in gaps.items()}
    aimed = tuple(name for name in gaps if name.casefold() in changed.facts.aims)
    others = [name for name in gaps if name not in aimed]
    subject = replace(group[0].subject, criterion="all criteria")
    if not aimed or not others:
        why = "no criterion that it aims at was asked about" if others else "every criterion asked about is aimed at"
        return result.Selectivity(subject, changed.facts, changed.strength, shares, aimed, Estimate.undefined(why))
    won = {name: credit(gap) for name, gap in gaps.items()}
    difference = np.mean([won[name] for name in aimed], axis=0) - np.mean([won[name] for name in others], axis=0)
    defined = ~np.isnan(difference)
    if not defined.any():
        nothing = Estimate.undefined("no pair is rated on all criteria")
        return result.Selectivity(subject, changed.facts, changed.strength, shares, aimed, nothing)
    codes = renumbered(prompt[defined])
    estimate = means.clustered(difference[defined], codes, bounds=means.OF_SHARES)
    return result.Selectivity(subject, changed.facts, changed.strength, shares, aimed, estimate)


# Counts answers without a rating for each perturbation.


def lost_by_perturbation(table: RatingsTable, dataset: str) -> Iterator[result.Lost]:
    """Answers without a rating by judge and Eval-Prompt: on untouched stories, then by perturbation."""
    frame = table.frame[(table.frame["source"] == "judge") & (table.frame["dataset"] == dataset)]
    names = perturbed_names(frame["story"].unique())
    kinds = {story: name.perturbation or "" for story, name in names.items()}
    frame = frame.assign(perturbation=frame["story"].astype(str).map(kinds), lost=frame["rating"].isna())
    for (run, judge, prompt), part in frame.groupby(["run", "judge", "eval_prompt"], observed=True, sort=False):
        subject = Subject(JUDGE, dataset, str(run), str(judge), str(prompt), "all criteria", None)
        for name in ("", *CATALOGUE):
            some = part[part["perturbation"] == name]
            if len(some):
                gone = some.loc[some["lost"], "status"].astype(str).value_counts()
                statuses = {str(status): int(count) for status, count in sorted(gone.items())}
                rated = int((~some["lost"]).sum())
                yield result.Lost(subject, CATALOGUE.get(name), len(some), rated, statuses)


def stress(table: RatingsTable, options: StressOptions | None = None) -> result.Stress:
    """Stress tests for every judge, Eval-Prompt, criterion, perturbation and strength. Raises SpecError if the table
    has no pair of a perturbed and an untouched story, as identified by story ids."""
    options, remarks = options or StressOptions(), Remarks()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    paired_matrices = [(matrix, own) for matrix in matrices if (own := pairing(matrix)) is not None]
    if not any(len(own.origins) and own.changed for _, own in paired_matrices):
        raise SpecError(
            "no story of these runs was perturbed, as ids ORIGIN@PERTURBATION.STRENGTH beside ORIGIN@none tell; make "
            "such stories with judge stress make DATASET -o stress.jsonl, and let judge run rate them"
        )
    remarks.note(table.notes)
    sets = [_Dataset(table, matrix, own, options, remarks) for matrix, own in paired_matrices]
    rows, tests = _adjusted([row for dataset in sets for row in dataset.rows()], options)
    return result.Stress(
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


def _adjusted(rows: Sequence[result.Paired], options: StressOptions) -> tuple[tuple[result.Paired, ...], int]:
    p = [row.p if row.subject.kind == JUDGE and row.p is not None else np.nan for row in rows]
    adjustment = adjust(np.array(p), options.adjust, family="all tests of this report")
    with_p = [
        replace(row, adjusted=None if np.isnan(q) else float(q)) for row, q in zip(rows, adjustment.p, strict=True)
    ]
    return tuple(replace(row, finding=finding(row, options)) for row in with_p), adjustment.tests


def _of_measures(rated: Sequence[Rated]) -> Iterator[str]:
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
        """Ratings by (run, judge, Eval-Prompt), one entry per criterion; controls come last."""
        groups: dict[tuple[str | None, ...], list[Rated]] = {}
        for source in (*self.judges, *self.controls):
            groups.setdefault((source.subject.run, source.subject.judge, source.subject.eval_prompt), []).append(source)
        return groups

    def _in_points(self) -> list[Rated]:
        return [judge for judge in self.judges if judge.measure is None]

    def rows(self) -> Iterator[result.Paired]:
        for group in self._groups().values():
            asked = {source.subject.criterion.casefold() for source in group}
            for source in group:
                for changed in self.pairs.changed:
                    aims = asked & set(changed.facts.aims)
                    expected = source.subject.criterion.casefold() in aims or not aims
                    yield paired(source, self.pairs, changed, self.options, expected=expected)

    def nulls(self) -> Iterator[result.Null]:
        return (null(judge, self.pairs) for judge in self._in_points())

    def doses(self) -> Iterator[result.Dose]:
        for source in (*self._in_points(), *self.controls):
            yield from dose(source, self.pairs)

    def selectivity(self) -> Iterator[result.Selectivity]:
        for group in self._groups().values():
            if group[0].measure is None:  # a measure says the same of every criterion
                yield from selectivity(group, self.pairs)

    def quality(self) -> Iterator[result.QualityControl]:
        rated = self._in_points()
        for source in (*rated, *(self.controls if rated else ())):
            yield from quality_control(source, self.pairs, self.matrix)
