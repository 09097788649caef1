"""How often judges put stories, and systems, in people's order: the accuracy table. Never hides what ties were worth.

Beside the correlation it answers in shares of pairs: of two stories that people tell apart, how often does the judge
prefer the same one (a tie of the judge being half right, or wrong); how often is it right if ties are answers too
(acc_eq, with epsilon fitted out of fold); and does it separate systems as surely as people do (SPA).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.bars import Predict, Remarks
from judge.analysis.inputs.candidates import Candidate, candidates, first_columns, last_columns
from judge.analysis.options.agreement_options import AccuracyOptions
from judge.analysis.options.signature import signature
from judge.printing.tables import Column, Table, flat_row
from judge.rating_matrix import RatingMatrix, build
from judge.stats.correlation import human_ceiling
from judge.stats.estimate import Estimate
from judge.stats.ordering.pairwise_accuracy import PairCounts, pair_table, ratio_of_resamples
from judge.stats.ordering.soft_pairwise_accuracy import DEALT, Chance, by_chance, sign_flips, soft_pairwise_accuracy
from judge.stats.ordering.tie_calibration import TieCalibration, calibrate
from judge.stats.resampling import bootstrap
from judge.stats.resampling.grouped_folds import deal
from judge.wording import Advice, Note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]

MEASURES = ("strict", "half", "acc_eq", "spa")
_MOST_UNITS = 2000
"""Above so many story-prompts the tables of pairs by story-prompts would fill the memory: no intervals then."""

_MIN_UNITS, _FEW_SYSTEMS = 5, 10

_NUMBERS = (
    *(Column(name, name) for name in (*MEASURES, "acc_eq_plain", "acc_eq_in_sample")),
    *(Column(name, name) for name in ("spa_chance", "spa_chance_high")),
    *(Column(name, name) for name in ("epsilon", "epsilon_low", "epsilon_high")),
    *(Column(name, name) for name in ("stories", "pairs", "comparable", "ties_people", "ties_judge", "system_pairs")),
)
_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against", "repeats", "unrated", "missing")


def accuracy(
    table: RatingsTable, options: AccuracyOptions | None = None, *, predict: Predict | None = None
) -> pd.DataFrame:
    """Pairwise accuracies of every judge cell, the people's one by one, and the control's.

    Returns
    -------
    DataFrame
        `dataset, kind` (judge, ceiling, control), `run, judge, eval_prompt, criterion, against, repeats, unrated,
        missing`; `strict, half, acc_eq` (epsilon of other folds), `spa`, `spa_chance` (of the same ratings dealt at
        random; 95 % of dealings lie at or below `spa_chance_high`), `acc_eq_plain` (epsilon 0) and
        `acc_eq_in_sample`, each with `_n`, and where there is one `_low, _high, _reason`; `epsilon` (median over
        folds), `epsilon_low, epsilon_high` (their range); `stories, pairs, comparable, ties_people, ties_judge` (shares
        of all pairs), `system_pairs`. Shares lie in 0..1. Undefined values are null with a reason.
    """
    options = options or AccuracyOptions()
    rows, _ = _rows(build(table, drop_systems=options.drop_systems), options, predict)
    flat = [{key: row.get(key) for key in _ABOUT} | flat_row(row, _NUMBERS) for row in rows]
    return pd.DataFrame(flat)


def tables(
    table: RatingsTable, options: AccuracyOptions | None = None, *, predict: Predict | None = None
) -> list[Table]:
    """The accuracy table as printed."""
    options = options or AccuracyOptions()
    matrices = build(table, drop_systems=options.drop_systems)
    rows, remarks = _rows(matrices, options, predict)
    columns = [
        *first_columns(rows),
        Column("half", "right order %, ties 1/2", digits=1, factor=100),
        Column("strict", "ties wrong", digits=1, factor=100),
        Column("comparable", "pairs"),
        Column("ties_people", "ties people %", digits=1, factor=100),
        Column("ties_judge", "ties judge %", digits=1, factor=100),
        Column("acc_eq", "acc_eq %", digits=1, factor=100),
        Column("epsilon", "epsilon"),
        Column("spa", "SPA %", digits=1, factor=100),
        Column("spa_chance", "SPA by chance %", digits=1, factor=100),
        Column("spa_chance_high", "95 % below", digits=1, factor=100),
        Column("system_pairs", "system pairs"),
        Column("stories", "stories"),
        *last_columns(),
    ]
    facts = [note for fact in table.facts for note in fact.notes]
    notes = tuple(dict.fromkeys([*facts, *remarks.notes, *_explained(options)]))
    line = signature(table, matrices, options, extra=list(remarks.signature_parts))
    where = "all pairs of stories" if options.level == "overall" else "pairs of stories for one story-prompt, averaged"
    return [Table(f"Pairwise accuracy against people, {where}", columns, rows, line, notes)]


def _explained(options: AccuracyOptions) -> list[str]:
    pairs: str
    if options.level == "by-item":
        pairs = "accuracies are means over story-prompts with such a pair; pairs counts all of them"
    else:
        pairs = Note(
            "stories for different story-prompts are compared too", Advice("{level} does not", level="by-item")
        )
    acc_eq = (
        "acc_eq %: of all pairs, a tie being right where people tie too (Deutsch et al. 2023); the judge ties what "
        f"differs by epsilon or less, epsilon fitted on other folds of story-prompts ({options.folds}), median shown"
    )
    chance = (
        "SPA by chance %: of a judge that knows nothing, mean over "
        f"{DEALT} dealings of the same ratings to the systems within each story-prompt; 95 % below: of those dealings, "
        "or, where higher, of as many of whole systems; an SPA no higher shows nothing"
    )
    spa = (
        "SPA %: 100 - mean |p people - p judge| over pairs of systems, p of one-sided paired permutation tests on the "
        "same story-prompts (Thompson et al. 2024); it has no interval"
    )
    right = (
        "right order %: of the pairs that people order; 50 is guessing; a pair the judge ties is half right, or wrong "
        "(guessing then gets 50 less half of the pairs that it ties)"
    )
    tied = f"a judge that ties every pair gets {'about ' if options.level == 'by-item' else ''}ties people %"
    return [right, f"{acc_eq}; {tied}", spa, chance, pairs]


def _rows(
    matrices: tuple[RatingMatrix, ...], options: AccuracyOptions, predict: Predict | None
) -> tuple[list[dict[str, Any]], Remarks]:
    remarks, rows = Remarks(), []
    for matrix in matrices:
        measured = _Measured(matrix, options, remarks)
        found = candidates(matrix, options.against, predict if options.control else None, remarks, ceiling=True)
        rows += [measured.row(one) for one in found]
    return rows, remarks


class _Measured:
    """One dataset: folds, permutations and resamples are drawn once, so that rows are paired."""

    def __init__(self, matrix: RatingMatrix, options: AccuracyOptions, remarks: Remarks) -> None:
        self.matrix, self.within, self.seed = matrix, options.level == "by-item", options.seed
        prompt = matrix.story_prompt
        prompts = int(prompt.max()) + 1 if prompt.size else 0
        rng = np.random.default_rng(options.seed)
        self.fold = deal(prompt, min(options.folds, max(1, prompts)), rng)
        self.flips = sign_flips(prompts, options.flips, rng)
        self.unit, self.resamples = prompt, None
        if len(matrix.systems) < _FEW_SYSTEMS:
            remarks.notes[f"{matrix.dataset}: SPA over {len(matrix.systems)} systems proves little"] = None
        if prompts > _MOST_UNITS and not self.within:
            self.unit = np.zeros(matrix.n, dtype=np.int64)
            remarks.notes[f"{matrix.dataset}: no intervals with more than {_MOST_UNITS} story-prompts"] = None
        elif options.interval != "none" and prompts < _MIN_UNITS:
            remarks.notes[f"{matrix.dataset}: no intervals, fewer than {_MIN_UNITS} story-prompts"] = None
        elif options.interval != "none":
            # A stream of its own: the same resamples as the correlation table draws from this seed.
            resampling = np.random.default_rng(options.seed)
            self.resamples = bootstrap.draw(prompt, options.resamples, resampling, options.interval)
            drawn = f"{options.resamples} resamples of story-prompts"
            note = f"intervals: expanded percentile, {drawn}, the same for every row"
            remarks.notes[f"{note}; epsilon and the systems are taken as they are"] = None

    def row(self, one: Candidate) -> dict[str, Any]:
        """All measures of a contender, or the reason why there are none."""
        row: dict[str, Any] = {**one.labels, "kind": one.kind}
        if one.reason:
            return row | dict.fromkeys(MEASURES, Estimate.undefined(one.reason)) | {"stories": 0}
        if one.raters is not None:
            return row | self._ceiling(one.raters.ratings)
        return row | self._judge(*one.sides)

    def _judge(self, x: Floats, y: Floats) -> dict[str, Any]:
        pairs, ties = pair_table(x, y, self.unit, within=self.within), self._calibrate(x, y)
        soft = soft_pairwise_accuracy(x, y, self.matrix.system, self.matrix.story_prompt, self.flips)
        chance = self._chance(x, y)
        found: dict[str, Any] = {
            "half": self._interval(pairs.accuracy("half"), pairs.resampled("half")),
            "strict": self._interval(pairs.accuracy("strict"), pairs.resampled("strict")),
            "acc_eq": self._interval(ties.held_out, ratio_of_resamples(ties.right, ties.taken, self.unit)),
            "acc_eq_plain": ties.plain,
            "acc_eq_in_sample": ties.in_sample,
            "spa": soft.estimate,
            "spa_chance": chance.estimate,
            "spa_chance_high": chance.high,
            "system_pairs": soft.estimate.n,
            "stories": int((~(np.isnan(x) | np.isnan(y))).sum()),
        }
        return found | _epsilon(ties) | _tied(pairs.counts)

    def _ceiling(self, ratings: Floats) -> dict[str, Any]:
        """Each person against the mean of the others, averaged; without intervals, for people are few."""
        system, prompt = self.matrix.system, self.matrix.story_prompt

        def paired(x: Floats, y: Floats, credit: Any) -> Estimate:
            return pair_table(x, y, self.unit, within=self.within).accuracy(credit)

        measures: dict[str, Callable[[Floats, Floats], Estimate]] = {
            "half": lambda x, y: paired(x, y, "half"),
            "strict": lambda x, y: paired(x, y, "strict"),
            "acc_eq": lambda x, y: self._calibrate(x, y).held_out,
            "spa": lambda x, y: soft_pairwise_accuracy(x, y, system, prompt, self.flips).estimate,
        }
        found: dict[str, Any] = {name: human_ceiling.leave_one_out(ratings, one) for name, one in measures.items()}
        chances: list[Chance] = []

        def by_luck(x: Floats, y: Floats) -> Estimate:
            chances.append(self._chance(x, y))
            return chances[-1].estimate

        found["spa_chance"] = human_ceiling.leave_one_out(ratings, by_luck)
        highs = [chance.high for chance in chances if chance.high is not None]
        found["spa_chance_high"] = float(np.mean(highs)) if highs else None
        shared = (~np.isnan(ratings)).sum(axis=1) >= 2
        return found | {"stories": int(shared.sum()), "system_pairs": found["spa"].n}

    def _chance(self, x: Floats, y: Floats) -> Chance:
        # A generator of its own: a row does not depend on the others.
        rng = np.random.default_rng(self.seed)
        return by_chance(x, y, self.matrix.system, self.matrix.story_prompt, self.flips, rng)

    def _calibrate(self, x: Floats, y: Floats) -> TieCalibration:
        return calibrate(x, y, self.unit, self.fold, within=self.within)

    def _interval(self, estimate: Estimate, statistic: Callable[[NDArray[np.int64]], Floats]) -> Estimate:
        if self.resamples is None or not estimate.defined:
            return estimate
        return self.resamples.interval(estimate, self.resamples.values(statistic))


def _epsilon(ties: TieCalibration) -> dict[str, float | None]:
    if not ties.epsilons.size:
        return {"epsilon": None, "epsilon_low": None, "epsilon_high": None}
    low, middle, high = (float(f(ties.epsilons)) for f in (np.min, np.median, np.max))
    return {"epsilon": middle, "epsilon_low": low, "epsilon_high": high}


def _tied(counts: PairCounts) -> dict[str, Any]:
    pairs = counts.pairs
    if not pairs:
        return {"pairs": 0, "comparable": 0, "ties_people": None, "ties_judge": None}
    return {
        "pairs": pairs,
        "comparable": counts.comparable,
        "ties_people": (counts.tied_people + counts.tied_both) / pairs,
        "ties_judge": (counts.tied_judge + counts.tied_both) / pairs,
    }
