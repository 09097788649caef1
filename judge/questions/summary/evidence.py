"""Statistical analyses on which a summary is based. Each is computed once, when it is first needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from judge.analysis import correlation, diagnose
from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement import tests_of_judges
from judge.analysis.comparison.comparison import compared
from judge.analysis.comparison.result import Comparison
from judge.analysis.correlation import Correlations, margins
from judge.analysis.correlation.margins import Margin
from judge.analysis.coverage.coverage import Coverage, coverage
from judge.analysis.diagnose import Diagnosis
from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.pass_rate import asked_for
from judge.analysis.inputs.remembered_control import RememberedControl
from judge.analysis.inputs.selection import Selection, narrowed
from judge.analysis.labels import Confusions, confusions
from judge.analysis.options.agreement_options import ConfusionOptions, ReplacementOptions
from judge.analysis.options.table_options import (
    CompareOptions,
    ConsistencyOptions,
    CoverageOptions,
    Factor,
    from_words,
)
from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import Consistency, ConsistentCell, consistency
from judge.questions.summary.options import EvidenceOptions
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable


@dataclass(frozen=True, eq=False)
class Evidence:
    """Statistical analyses of one table of ratings, from which a summary is written. `control` is the function that
    predicts the ratings of the control (a surface-feature baseline).
    """

    table: RatingsTable
    options: EvidenceOptions = field(default_factory=EvidenceOptions)
    control: Predict = field(default_factory=RememberedControl)

    @cached_property
    def matrices(self) -> tuple[RatingMatrix, ...]:
        """Ratings of each dataset as arrays, without the excluded systems."""
        return build(self.table, drop_systems=self.options.drop_systems)

    @cached_property
    def coverage(self) -> Coverage:
        """Coverage of the ratings: the numbers of repeats requested, answered and rated."""
        return coverage(asked_for(self.table), CoverageOptions(drop_systems=self.options.drop_systems))

    @cached_property
    def consistency(self) -> Consistency:
        """Consistency of judges with themselves, and of people with each other."""
        return consistency(self.table, ConsistencyOptions(drop_systems=self.options.drop_systems))

    @property
    def consistent_judges(self) -> tuple[ConsistentCell, ...]:
        """As `consistency`, of judges alone, which takes less time where people's is not asked for."""
        return self.consistency.judged if "consistency" in vars(self) else self._consistent_judges

    @cached_property
    def _consistent_judges(self) -> tuple[ConsistentCell, ...]:
        options = ConsistencyOptions(drop_systems=self.options.drop_systems)
        return consistency(self.table, options, people=False).judged

    @cached_property
    def correlations(self) -> Correlations:
        """Correlations of judges with people over all stories. Each judge is compared with the ceiling (the agreement
        of one more human rater) and with the control (a surface-feature baseline) by paired differences: the judge's
        correlation minus that of the ceiling or the control.
        """
        return correlation.correlations(self.table, self.options.correlation(), self.control, paired=True)

    @cached_property
    def correlations_over_systems(self) -> Correlations:
        """Correlations of judges with people over system means."""
        return correlation.correlations(self.table, self.options.correlation("system"), self.control, paired=True)

    @cached_property
    def judges_over_systems(self) -> Correlations:
        """As `correlations_over_systems`, but people's own correlations are not resampled and have no intervals, which
        a summary does not print.
        """
        options = self.options.correlation("system")
        return correlation.correlations(self.table, options, self.control, paired=True, people_drawn=False)

    @cached_property
    def margins(self) -> list[Margin]:
        """Correlation of each pair of judge and Eval-Prompt with people over all stories, with its differences from the
        control (a surface-feature baseline) and from the ceiling (one more human rater). Empty where there are neither
        human ratings nor labels.
        """
        return margins.margins(self.correlations) if self.has_people else []

    @cached_property
    def confusions(self) -> Confusions | None:
        """Agreement of the judges' labels with those of people; None where no criterion has labels, or no ratings by
        people are known.
        """
        if not self.has_people or not any(matrix.labels for matrix in self.matrices):
            return None
        chosen = self.options
        words = {"drop_systems": chosen.drop_systems, "resamples": chosen.resamples, "seed": chosen.seed}
        return confusions(self.table, from_words(ConfusionOptions, **words))

    @cached_property
    def has_people(self) -> bool:
        """Whether any story has ratings with which judges can be compared: human ratings or labels."""
        return any(matrix.criteria for matrix in self.matrices)

    def raters_of(self, dataset: str) -> Raters:
        """The raters with whom judges are compared on a dataset: people, or labels that follow from how the stories
        were made.
        """
        return Raters.of(self.table, dataset)

    def alternative_annotator(self, best: Margin) -> list[AltTestRow]:
        """The alternative annotator tests (whether a judge may replace a human annotator) of one pair of judge and
        Eval-Prompt, one row for each criterion.
        """
        chosen = self.options
        words = {
            "drop_systems": chosen.drop_systems,
            "epsilon": chosen.epsilon,
            "positions": chosen.positions,
            "resamples": chosen.resamples,
            "seed": chosen.seed,
        }
        options = from_words(ReplacementOptions, **words)
        return tests_of_judges(self._only(best), options, self.control, self.correlations)

    def diagnosis(self, best: Margin) -> Diagnosis:
        """Tests of one pair of judge and Eval-Prompt for typical faults of judges; p values are adjusted over this
        pair's tests.
        """
        return diagnose.diagnose(self._only(best), self.options.diagnosis())

    def against_best(self, best: Margin, by: Factor) -> Comparison:
        """Comparison of the best pair of judge and Eval-Prompt with other pairs. If `by` is "eval_prompt", these are
        the same judge's other Eval-Prompts, otherwise other judges under the same Eval-Prompt.
        """
        keep = (best.judge, None) if by == "eval_prompt" else (None, best.eval_prompt)
        chosen = self.options
        options = CompareOptions(
            by=by,
            baseline=best.eval_prompt if by == "eval_prompt" else best.judge,
            drop_systems=chosen.drop_systems,
            resamples=chosen.resamples,
            permutations=1,  # a summary prints intervals and no p value
            seed=chosen.seed,
        )
        return compared(narrowed(self.table, Selection.of(None, *keep)), options)

    def _only(self, best: Margin) -> RatingsTable:
        rows = {(cell.judge, cell.eval_prompt) for matrix in self.matrices for cell in matrix.cells}
        if rows == {(best.judge, best.eval_prompt)} and all(fact.judge == best.judge for fact in self.table.facts):
            return self.table
        return narrowed(self.table, Selection.of(None, best.judge, best.eval_prompt))


def names_of(matrix: RatingMatrix, field_name: str) -> Sequence[str]:
    """Names of the judges, Eval-Prompts or criteria of a dataset (according to `field_name`), in order of
    appearance.
    """
    return tuple(dict.fromkeys(getattr(cell, field_name) for cell in matrix.cells))
