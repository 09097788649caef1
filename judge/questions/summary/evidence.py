"""The row that a summary is about, where it is the best of several, and what can be said of it without flattery.

A row is a judge with an Eval-Prompt. The highest of several rows looks better on the stories that chose it than on
others. What a summary claims of it (its tau, the comparison with people, whether it may replace an annotator) is
therefore cross-fitted over story-prompts: for each of five folds the row is chosen on the other folds, and the ratings
of the fold's stories are those of the row so chosen. Where all folds choose one row, they are its own ratings.

Cross-fitting takes the flattery away on average. In a single study it leaves more spread than an interval of one row
has, since rows that are as good as each other may be chosen by all folds alike. Intervals and tests are therefore those
of all rows at once that are not told apart from the best one (Bonferroni over these contenders). A clear winner has
none but itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judge.analysis import correlation, diagnose
from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement import tests_of_judges
from judge.analysis.comparison.pairing import Contrast
from judge.analysis.comparison.result import distances
from judge.analysis.correlation import Correlations, margins
from judge.analysis.correlation.correlations import Part, mean_of
from judge.analysis.correlation.margins import Margin
from judge.analysis.correlation.rows import About
from judge.analysis.coverage.coverage import Coverage, coverage
from judge.analysis.diagnose import Diagnosis
from judge.analysis.inputs.bars import JUDGE, Predict
from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.control import RememberedControl
from judge.analysis.inputs.selection import asked_for, narrowed
from judge.analysis.labels import Confusions, confusions
from judge.analysis.options.agreement_options import ConfusionOptions, ReplacementOptions
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import (
    CompareOptions,
    ConsistencyOptions,
    CoverageOptions,
    Factor,
    from_words,
)
from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import Consistency, ConsistentCell, consistency
from judge.base.estimate import Estimate
from judge.questions.summary.result import EvidenceOptions
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats import near_ties
from judge.stats.correlation import kendall
from judge.stats.resampling.bootstrap import deal

# Statistical analyses on which a summary is based. Each is computed once, when it is first needed.


@dataclass(frozen=True, eq=False)
class Evidence:
    """Analyses of one table of ratings, from which a summary is written; each is computed when first needed. `control`
    predicts the ratings of the control. `every_row`: differences from the bars are needed of every row, as in a report,
    and not of the best alone.
    """

    table: RatingsTable
    options: EvidenceOptions = field(default_factory=EvidenceOptions)
    control: Predict = field(default_factory=RememberedControl)
    every_row: bool = False
    _diagnosed: dict[tuple[str, str, str, str], Diagnosis] = field(default_factory=dict, repr=False)

    @cached_property
    def matrices(self) -> tuple[RatingMatrix, ...]:
        """Ratings of each dataset, without the excluded systems."""
        return build(self.table, drop_systems=self.options.drop_systems)

    @cached_property
    def coverage(self) -> Coverage:
        return coverage(asked_for(self.table), CoverageOptions(drop_systems=self.options.drop_systems))

    @cached_property
    def consistency(self) -> Consistency:
        return consistency(self.table, ConsistencyOptions(drop_systems=self.options.drop_systems))

    @property
    def consistent_judges(self) -> tuple[ConsistentCell, ...]:
        """As `consistency`, of judges alone, which takes less time where people's is not asked for."""
        return self.consistency.judged if "consistency" in vars(self) else self._consistent_judges

    @cached_property
    def _consistent_judges(self) -> tuple[ConsistentCell, ...]:
        options = ConsistencyOptions(drop_systems=self.options.drop_systems)
        return consistency(self.table, options, people=False).judged

    def among_people(self, dataset: str) -> list[float]:
        """People's ICC(1,1) on each criterion of a dataset where it is defined."""
        cells = [cell for cell in self.consistency.cells if cell.is_people and cell.dataset == dataset]
        iccs = [estimate.value for cell in cells if (estimate := cell.estimate("ICC(1,1)")) is not None]
        return [icc for icc in iccs if icc is not None]

    @cached_property
    def correlations(self) -> Correlations:
        """Correlations over all stories, with paired differences from ceiling and control."""
        return correlation.correlations(self.table, self.options.correlation(), self.control, paired=True)

    @cached_property
    def correlations_over_systems(self) -> Correlations:
        """Correlations over system means."""
        return correlation.correlations(self.table, self.options.correlation("system"), self.control, paired=True)

    def over_systems(self, best: Margin) -> Correlations:
        """As `correlations_over_systems`, of one row and without intervals of people's own, which a summary does not
        print.
        """
        if self.every_row:
            return self.correlations_over_systems
        options = self.options.correlation("system")
        return correlation.correlations(
            self.table, options, self.control, paired=True, people_drawn=False, about=_about(best)
        )

    @cached_property
    def ranked(self) -> Correlations:
        """As `correlations`; without paired differences where only the best of several rows needs them, since they take
        longer than all else.
        """
        cells = {(matrix.dataset, *cell[:3]) for matrix in self.matrices for cell in matrix.cells}
        if self.every_row or len(cells) < 2:
            return self.correlations
        return correlation.correlations(self.table, self.options.correlation(), self.control)

    def beside_bars(self, row: Margin) -> Correlations:
        """Correlations with paired differences from ceiling and control, at least those of this row."""
        if self.ranked.paired:
            return self.ranked
        key = _about(row)
        if key not in self._beside_bars:
            options = self.options.correlation()
            self._beside_bars[key] = correlation.correlations(self.table, options, self.control, paired=True, about=key)
        return self._beside_bars[key]

    @cached_property
    def _beside_bars(self) -> dict[About, Correlations]:
        return {}

    @cached_property
    def margins(self) -> list[Margin]:
        """Margins of each judge x Eval-Prompt over all stories; empty without human ratings or labels. Where
        `ranked` has no paired differences, those from ceiling and control have no intervals; `with_bars` has them.
        """
        return margins.margins(self.ranked) if self.has_people else []

    def with_bars(self, row: Margin) -> Margin:
        """This row of `margins`, with intervals of its differences from ceiling and control."""
        found = next(each for each in margins.margins(self.beside_bars(row)) if _about(each) == _about(row))
        return replace(found, rivals=row.rivals)

    @cached_property
    def confusions(self) -> Confusions | None:
        """Agreement of labels; None where no criterion has labels, or people's ratings are not known."""
        if not self.has_people or not any(matrix.labels for matrix in self.matrices):
            return None
        chosen = self.options
        words = {"drop_systems": chosen.drop_systems, "resamples": chosen.resamples, "seed": chosen.seed}
        return confusions(self.table, from_words(ConfusionOptions, **words))

    @cached_property
    def has_people(self) -> bool:
        """Whether any story has human ratings or labels."""
        return any(matrix.criteria for matrix in self.matrices)

    def raters_of(self, dataset: str) -> Raters:
        return Raters.of(self.table, dataset)

    def alternative_annotator(self, best: Margin) -> list[AltTestRow]:
        """The alternative annotator tests of one judge x Eval-Prompt, one row for each criterion."""
        chosen = self.options
        words = {
            "drop_systems": chosen.drop_systems,
            "epsilon": chosen.epsilon,
            "positions": chosen.positions,
            "resamples": chosen.resamples,
            "seed": chosen.seed,
        }
        options = from_words(ReplacementOptions, **words)
        return tests_of_judges(self._only(best), options, self.control, self.beside_bars(best))

    def diagnosis(self, best: Margin) -> Diagnosis:
        """Tests of one judge x Eval-Prompt for faults, with p adjusted over these."""
        row = (best.dataset, best.run, best.judge, best.eval_prompt)
        if row not in self._diagnosed:
            self._diagnosed[row] = diagnose.diagnose(self._only(best), self.options.diagnosis())
        return self._diagnosed[row]

    def against_best(self, best: Margin, by: Factor) -> list[tuple[str, Contrast, Estimate, Estimate | None]]:
        """The best judge x Eval-Prompt against the judge's other Eval-Prompts, or against other judges under it."""
        keep = (best.judge, None) if by == "eval_prompt" else (None, best.eval_prompt)
        chosen = self.options
        options = CompareOptions(
            by=by,
            baseline=best.eval_prompt if by == "eval_prompt" else best.judge,
            drop_systems=chosen.drop_systems,
            resamples=chosen.resamples,
            seed=chosen.seed,
        )
        return distances(narrowed(self.table, Selection.of(None, *keep)), options)

    def _only(self, best: Margin) -> RatingsTable:
        rows = {(cell.judge, cell.eval_prompt) for matrix in self.matrices for cell in matrix.cells}
        if rows == {(best.judge, best.eval_prompt)} and all(fact.judge == best.judge for fact in self.table.facts):
            return self.table
        return narrowed(self.table, Selection.of(None, best.judge, best.eval_prompt))


def names_of(matrix: RatingMatrix, field_name: str) -> Sequence[str]:
    """Names of judges, Eval-Prompts or criteria (`field_name`) of a dataset, in order of appearance."""
    return tuple(dict.fromkeys(getattr(cell, field_name) for cell in matrix.cells))


FOLDS = 5
# Story-prompts from which on the choice can be cross-fitted.
LEAST = 3

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The row that a summary is about, and the evidence for what it claims of this row. `best` has the highest tau of
    `rows`; `elsewhere` counts folds that choose another (None = not cross-fitted). `contenders` counts rows whose tau
    is not shown to lie below that of the best, with it; intervals and tests are for so many at once. `evidence` is of
    the cross-fitted ratings where a fold chooses another row, and `claimed` their agreement with people, with the
    intervals for all contenders.
    """

    best: Margin
    rows: int
    elsewhere: int | None
    contenders: int
    evidence: Evidence
    claimed: Margin

    @property
    def signature_part(self) -> str:
        """How the row was chosen, which changes its intervals; empty for an only row."""
        if self.rows < 2:
            return ""
        crossed = "" if self.elsewhere is None else f"/{FOLDS}-fold/intervals for {self.contenders}"
        return f"row:highest of {self.rows}{crossed}"

    @property
    def words(self) -> str:
        """How the row was chosen, in parentheses behind its name; empty for an only row."""
        if self.rows < 2:
            return ""
        text = f"the highest tau of {self.rows} rows"
        if self.elsewhere is None:
            return f" ({text}, which flatters it)"
        if self.contenders == 1 and not self.elsewhere:
            return f" ({text}, and above every other of them)"
        return (
            f" ({text}; {self.contenders - 1} not told apart from it, so intervals are for {self.contenders} rows at "
            "once, wider than a row's own in tables; "
            f"cross-fitted: {self.elsewhere} of {FOLDS} folds choose another row)"
        )


def chosen(evidence: Evidence, matrix: RatingMatrix, best: Margin, rows: Sequence[Margin]) -> Choice:
    """The choice of `best` among `rows`, cross-fitted. With fewer story-prompts than folds, each is a fold. With two or
    fewer, too little is left to choose on, and the row's own ratings are kept.
    """
    prompts = np.unique(matrix.story_prompt).size
    if len(rows) < 2 or prompts < LEAST:
        return Choice(best, len(rows), None, 1, evidence, best)
    fold = deal(matrix.story_prompt, FOLDS, np.random.default_rng(evidence.options.seed))
    own = [_picked(matrix, rows, fold != held) or best for held in range(FOLDS)]
    elsewhere = sum(row is not best for row in own)
    crossed, claimed = evidence, best
    if elsewhere:
        crossed = Evidence(_crossed(evidence.table, matrix, best, own, fold), evidence.options, evidence.control)
        (claimed,) = map(crossed.with_bars, crossed.margins)
    contenders = _contenders(evidence, best, rows)
    return Choice(best, len(rows), elsewhere, contenders, crossed, _for_all(claimed, contenders, prompts))


def _contenders(evidence: Evidence, best: Margin, rows: Sequence[Margin]) -> int:
    """Rows whose mean tau is not shown to lie below that of the best one by the paired interval, with it."""
    (dataset,) = (each for each in evidence.ranked.datasets if each.name == best.dataset)
    parts: dict[tuple[str, str, str], list[Part]] = {}
    for cell in dataset.rows:
        subject = cell.subject
        if cell.kind == JUDGE and subject.against is not None:
            key = (str(subject.run), subject.judge, str(subject.eval_prompt))
            parts.setdefault(key, []).append((subject.criterion, cell.estimate, cell.resampled))
    means = {key: mean_of(own) for key, own in parts.items()}
    ours, our_values = means[_key(best)]
    count = 1
    for row in rows:
        theirs, values = means[_key(row)]
        if row is best:
            continue
        if ours.value is None or theirs.value is None or not values or not our_values:
            count += 1
            continue
        over = Estimate(ours.value - theirs.value, n=min(ours.n, theirs.n))
        apart = dataset.intervals.of_values(over, tuple(a - b for a, b in zip(our_values, values, strict=True)))
        count += apart.low is None or apart.low <= 0
    return count


def _key(margin: Margin) -> tuple[str, str, str]:
    return margin.run, margin.judge, margin.eval_prompt


def _about(margin: Margin) -> About:
    return margin.dataset, margin.run, margin.judge, margin.eval_prompt


def _for_all(margin: Margin, count: int, story_prompts: int) -> Margin:
    """Intervals for `count` rows at once (Bonferroni), by Student's t with story-prompts - 1 degrees of freedom."""
    from scipy.special import stdtrit

    if count == 1:
        return margin
    by = float(stdtrit(story_prompts - 1, 1 - 0.025 / count) / stdtrit(story_prompts - 1, 0.975))
    over = {bar: _wider(estimate, by, 2.0) for bar, estimate in margin.over.items()}
    return replace(margin, value=_wider(margin.value, by, 1.0), over=over, average=_wider(margin.average, by, 2.0))


def _wider(estimate: Estimate, by: float, most: float) -> Estimate:
    """Each half of the interval times a factor, within -most to most."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = (estimate.value + by * (end - estimate.value) for end in (estimate.low, estimate.high))
    return replace(estimate, low=max(low, -most), high=min(high, most))


def _picked(matrix: RatingMatrix, rows: Sequence[Margin], keep: NDArray[np.bool_]) -> Margin | None:
    values = [_mean_tau(matrix, row, keep) for row in rows]
    defined = [i for i, value in enumerate(values) if value is not None]
    return rows[defined[near_ties.highest([values[i] for i in defined])]] if defined else None


def _mean_tau(matrix: RatingMatrix, row: Margin, keep: NDArray[np.bool_]) -> float | None:
    taus = []
    for i, (cell, j) in enumerate(zip(matrix.cells, match(matrix).partner, strict=True)):
        if (cell.run, cell.judge, cell.eval_prompt) == (row.run, row.judge, row.eval_prompt) and j is not None:
            judge, people = (np.where(keep, ratings, np.nan) for ratings in (matrix.judge[i], matrix.people[j]))
            taus.append(kendall.tau_b(kendall.codes(judge), kendall.codes(people)))
    mean = float(np.mean(taus)) if taus else np.nan
    return None if np.isnan(mean) else mean


def _crossed(
    table: RatingsTable, matrix: RatingMatrix, best: Margin, picked: Sequence[Margin], fold: Codes
) -> RatingsTable:
    """Judges' ratings are by the row picked for each story's fold, under the best row's name."""
    frame = table.frame[table.frame["dataset"] == matrix.dataset]
    fold_of = dict(zip(matrix.stories["story"], fold.tolist(), strict=True))
    in_fold = frame["story"].map(fold_of)
    judged = frame["source"] == "judge"
    wanted = ~judged
    for held, row in enumerate(picked):
        own = (frame["run"] == row.run) & (frame["judge"] == row.judge) & (frame["eval_prompt"] == row.eval_prompt)
        wanted |= judged & own & (in_fold == held)
    kept = frame[wanted].copy()
    of_judge = kept["source"] == "judge"
    kept.loc[of_judge, ["run", "judge", "eval_prompt"]] = [best.run, best.judge, best.eval_prompt]
    facts = [fact for fact in table.facts if fact.dataset == matrix.dataset and fact.run == best.run]
    labels = {key: scale for key, scale in table.labels.items() if key[0] == matrix.dataset}
    return replace(table, frame=kept, facts=tuple(facts), labels=labels)
