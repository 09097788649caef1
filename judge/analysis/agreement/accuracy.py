"""Pairwise accuracy of judges: shares of pairs of stories, and of pairs of systems, that a judge orders as people do.

The first kind covers only pairs that people rate differently, with a judge's tie half right or wrong. The second,
acc_eq, covers all pairs and counts a tie as an answer; ratings within epsilon of each other are ties, with epsilon
fitted out of fold. The third, soft pairwise accuracy (SPA), compares how certainly the judge and people separate
systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judge.analysis.inputs.bars import Predict, Remarks
from judge.analysis.inputs.candidates import Candidate, Subject, candidates, cells, first_columns, last_columns
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.resamples import FEW_SYSTEMS, LEAST_UNITS
from judge.analysis.options.agreement_options import AccuracyOptions
from judge.analysis.options.choices import LEVELS
from judge.analysis.options.signature import Signed, signature_parts
from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, hundredths, plain
from judge.base.wording import Advice, Note
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation import human_ceiling
from judge.stats.ordering.pairwise_accuracy import Credit, TieCalibration, calibrate, pair_table, ratio_of_resamples
from judge.stats.ordering.soft_pairwise_accuracy import DEALT, Chance, by_chance, sign_flips, soft_pairwise_accuracy
from judge.stats.resampling import bootstrap
from judge.stats.resampling.bootstrap import deal

MEASURES = ("strict", "half", "acc_eq", "spa")
# Above so many story-prompts the tables of pairs by story-prompts would fill the memory: no intervals then.
_MOST_UNITS = 2000

_NUMBERS = (
    *(*MEASURES, "acc_eq_plain", "acc_eq_in_sample", "spa_chance", "spa_chance_high"),
    *("epsilon", "epsilon_low", "epsilon_high", "stories", "pairs", "comparable"),
    *("ties_people", "ties_judge", "system_pairs"),
)
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against", "repeats", "unrated", "missing")


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Pairwise accuracies (0 to 1) of one judge, of one more person or of the control judge, on one criterion.

    `half` and `strict` cover the pairs that people rate differently (`comparable`); a tie of the judge is half right,
    or wrong. In `acc_eq`, epsilon is fitted on the other folds; in `acc_eq_plain` it is 0; in `acc_eq_in_sample` it is
    fitted on the same stories. `epsilon`, `epsilon_low` and `epsilon_high` are median, minimum and maximum over folds.
    `spa_chance` is the SPA of the same ratings permuted at random; 95 % of permutations give `spa_chance_high` or less.
    `ties_people` and `ties_judge` are shares of all pairs; `system_pairs` is the number of pairs of systems in `spa`.
    """

    subject: Subject
    stories: int
    half: Estimate
    strict: Estimate
    acc_eq: Estimate
    spa: Estimate
    acc_eq_plain: Estimate | None = None
    acc_eq_in_sample: Estimate | None = None
    spa_chance: Estimate | None = None
    spa_chance_high: float | None = None
    epsilon: float | None = None
    epsilon_low: float | None = None
    epsilon_high: float | None = None
    pairs: int | None = None
    comparable: int | None = None
    ties_people: float | None = None
    ties_judge: float | None = None
    system_pairs: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Accuracies(Signed):
    """Pairwise accuracies of every judge, of one more person and of the control judge."""

    rows: tuple[AccuracyRow, ...]
    options: AccuracyOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each criterion of each judge with one Eval-Prompt, of ceiling and control. Columns are the fields
        of `AccuracyRow`; estimates have `_n` and, where they apply, `_low`, `_high` and `_reason`."""
        return self.wide([cells(row) for row in self.rows], _ABOUT, _NUMBERS)


def accuracies(
    table: RatingsTable, options: AccuracyOptions | None = None, *, predict: Predict | None = None
) -> Accuracies:
    """Pairwise accuracies on stories and on systems for judges, one more person and the control judge. One more person
    compares each person with the mean of the other people; the control predicts ratings from surface features."""
    options, remarks = options or AccuracyOptions(), Remarks()
    remarks.note(table.notes)
    table = numbers(table)
    matrices, rows = build(table, drop_systems=options.drop_systems), []
    for matrix in matrices:
        measured = _Measured(matrix, options, remarks)
        dataset_candidates = candidates(
            matrix, options.against, predict if options.control else None, remarks, ceiling=True
        )
        rows += [measured.row(candidate) for candidate in dataset_candidates]
    parts = signature_parts(table, matrices, options, extra=list(remarks.signature_parts))
    return Accuracies(tuple(rows), options, signature_parts=parts, notes=tuple(remarks.notes))


class _Measured:
    def __init__(self, matrix: RatingMatrix, options: AccuracyOptions, remarks: Remarks) -> None:
        self.matrix, self.within, self.seed = matrix, LEVELS[options.level].grouping == "within", options.seed
        prompt = matrix.story_prompt
        prompts = int(prompt.max()) + 1 if prompt.size else 0
        rng = np.random.default_rng(options.seed)
        # All rows share folds, permutations and resamples, so that they are paired.
        self.fold = deal(prompt, min(options.folds, max(1, prompts)), rng)
        self.flips = sign_flips(prompts, options.flips, rng)
        self.unit, self.resamples = prompt, None
        if len(matrix.systems) < FEW_SYSTEMS:
            remarks.notes[f"{matrix.dataset}: SPA over {len(matrix.systems)} systems is weak evidence"] = None
        if prompts > _MOST_UNITS and not self.within:
            self.unit = np.zeros(matrix.n, dtype=np.int64)
            remarks.notes[f"{matrix.dataset}: no intervals with more than {_MOST_UNITS} story-prompts"] = None
        elif options.interval != "none" and prompts < LEAST_UNITS:
            remarks.notes[f"{matrix.dataset}: no intervals, fewer than {LEAST_UNITS} story-prompts"] = None
        elif options.interval != "none":
            # A stream of its own: the same resamples as the correlation table draws from this seed.
            resampling = np.random.default_rng(options.seed)
            self.resamples = bootstrap.draw(prompt, options.resamples, resampling, options.interval)
            drawn = f"{options.resamples} resamples of story-prompts"
            note = f"intervals: expanded percentile, {drawn}, the same for every row"
            remarks.notes[f"{note}; epsilon and the systems are treated as fixed"] = None

    def row(self, candidate: Candidate) -> AccuracyRow:
        if candidate.reason:
            nothing = Estimate.undefined(candidate.reason)
            return AccuracyRow(candidate.subject, 0, half=nothing, strict=nothing, acc_eq=nothing, spa=nothing)
        if candidate.raters is not None:
            # The ceiling has no intervals, because there are few people.
            return self._ceiling(candidate.subject, candidate.raters.ratings)
        return self._judge(candidate.subject, *candidate.sides)

    def _judge(self, subject: Subject, x: Floats, y: Floats) -> AccuracyRow:
        pairs, ties = pair_table(x, y, self.unit, within=self.within), self._calibrate(x, y)
        soft = soft_pairwise_accuracy(x, y, self.matrix.system, self.matrix.story_prompt, self.flips)
        chance = self._chance(x, y)
        row = AccuracyRow(
            subject,
            stories=int((~(np.isnan(x) | np.isnan(y))).sum()),
            half=self._interval(pairs.accuracy("half"), pairs.resampled("half")),
            strict=self._interval(pairs.accuracy("strict"), pairs.resampled("strict")),
            acc_eq=self._interval(ties.held_out, ratio_of_resamples(ties.right, ties.taken, self.unit)),
            spa=soft.estimate,
            acc_eq_plain=ties.plain,
            acc_eq_in_sample=ties.in_sample,
            spa_chance=chance.estimate,
            spa_chance_high=chance.high,
            system_pairs=soft.estimate.n,
        )
        if ties.epsilons.size:
            low, middle, high = (float(f(ties.epsilons)) for f in (np.min, np.median, np.max))
            row = replace(row, epsilon=middle, epsilon_low=low, epsilon_high=high)
        counts, of_pairs = pairs.counts, pairs.counts.pairs
        if not of_pairs:
            return replace(row, pairs=0, comparable=0)
        return replace(
            row,
            pairs=of_pairs,
            comparable=counts.comparable,
            ties_people=(counts.tied_people + counts.tied_both) / of_pairs,
            ties_judge=(counts.tied_judge + counts.tied_both) / of_pairs,
        )

    def _ceiling(self, subject: Subject, ratings: Floats) -> AccuracyRow:
        system, prompt = self.matrix.system, self.matrix.story_prompt

        def paired(x: Floats, y: Floats, credit: Credit) -> Estimate:
            return pair_table(x, y, self.unit, within=self.within).accuracy(credit)

        def averaged(measure: Callable[[Floats, Floats], Estimate]) -> Estimate:
            return human_ceiling.leave_one_out(ratings, measure)

        chances: list[Chance] = []

        def by_luck(x: Floats, y: Floats) -> Estimate:
            chances.append(self._chance(x, y))
            return chances[-1].estimate

        shared = (~np.isnan(ratings)).sum(axis=1) >= 2
        spa = averaged(lambda x, y: soft_pairwise_accuracy(x, y, system, prompt, self.flips).estimate)
        chance = averaged(by_luck)
        highs = [chance.high for chance in chances if chance.high is not None]
        return AccuracyRow(
            subject,
            stories=int(shared.sum()),
            half=averaged(lambda x, y: paired(x, y, "half")),
            strict=averaged(lambda x, y: paired(x, y, "strict")),
            acc_eq=averaged(lambda x, y: self._calibrate(x, y).held_out),
            spa=spa,
            spa_chance=chance,
            spa_chance_high=float(np.mean(highs)) if highs else None,
            system_pairs=spa.n,
        )

    def _chance(self, x: Floats, y: Floats) -> Chance:
        # A generator of its own: a row does not depend on the others.
        rng = np.random.default_rng(self.seed)
        return by_chance(x, y, self.matrix.system, self.matrix.story_prompt, self.flips, rng)

    def _calibrate(self, x: Floats, y: Floats) -> TieCalibration:
        return calibrate(x, y, self.unit, self.fold, within=self.within)

    def _interval(self, estimate: Estimate, statistic: Callable[[Codes], Floats]) -> Estimate:
        if self.resamples is None or not estimate.defined:
            return estimate
        return self.resamples.interval(estimate, self.resamples.values(statistic))


# Printed table of pairwise accuracies.


def tables(result: Accuracies) -> list[Table]:
    rows = [cells(row) for row in result.rows]
    columns = [
        *first_columns(rows),
        *hundredths(half="right order %, ties 1/2", strict="ties wrong"),
        Column("comparable", "pairs"),
        *hundredths(ties_people="ties people %", ties_judge="ties judge %", acc_eq="acc_eq %"),
        Column("epsilon", "epsilon"),
        *hundredths(spa="SPA %", spa_chance="SPA by chance %", spa_chance_high="95 % below"),
        *plain("system_pairs", "stories"),
        *last_columns(),
    ]
    level = result.options.level
    averaged = LEVELS[level].grouping == "within"
    where = "pairs of stories for one story-prompt, averaged" if averaged else "all pairs of stories"
    notes = tuple(dict.fromkeys([*result.notes, *_explained(result.options)]))
    return [Table(f"Pairwise accuracy against people, {where}", columns, rows, result.signature, notes)]


def _explained(options: AccuracyOptions) -> list[str]:
    pairs: str
    averaged = LEVELS[options.level].grouping == "within"
    if averaged:
        pairs = "accuracies are means over story-prompts with such a pair; pairs counts all of them"
    else:
        pairs = Note(
            "stories for different story-prompts are compared too", Advice("{level} does not", level="by-item")
        )
    acc_eq = (
        "acc_eq %: share of all pairs on which judge and people agree, ties included (Deutsch et al. 2023); the "
        "judge's ratings that differ by epsilon or less count as tied, with epsilon fitted on other folds of "
        f"story-prompts ({options.folds}), median shown"
    )
    chance = (
        f"SPA by chance %: SPA of an uninformed judge, mean over {DEALT} random assignments of the same ratings to the "
        "systems within each story-prompt; 95 % below: the value that 95 % of these assignments do not exceed, or, "
        "where higher, that of as many assignments of whole systems; an SPA that is no higher is no evidence"
    )
    spa = (
        "SPA %: 100 - mean |p people - p judge| over pairs of systems, p of one-sided paired permutation tests on the "
        "same story-prompts (Thompson et al. 2024); it has no interval"
    )
    right = (
        "right order %: share of the pairs that people order; 50 is guessing; a pair that the judge ties counts "
        "as half right, or as wrong (guessing then gets 50 less half of the share of pairs that it ties)"
    )
    tied = f"a judge that ties every pair gets {'about ' if averaged else ''}ties people %"
    return [right, f"{acc_eq}; {tied}", spa, chance, pairs]
