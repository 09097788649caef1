"""Summaries of runs: one for those that rate stories, and one for those that compare stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.analysis.coverage.counts import VerdictCoverage, verdict_coverage
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.ranked import Ranked, ranked
from judge.contamination import report as contamination_report
from judge.contamination.check import kept
from judge.contamination.scores_file import ScoresFile
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import EvidenceOptions, Summary
from judge.questions.summary.summarize import summarize
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable, unasked
from judge.ratings.rating_matrix import built_once


def of_ratings(evidence: Evidence, named: Sequence[str], scores: Sequence[ScoresFile] = ()) -> Summary:
    """Summary of runs that rate stories; contamination is from `scores` and the scores files beside the runs."""
    files = [*scores, *(file for _, file in kept(evidence.table))]
    seen = Seen.of(contamination_report.report(evidence.table, files), files) if files else None
    with built_once():
        return summarize(evidence, named, seen)


@dataclass(frozen=True, eq=False)
class RunsCompared:
    """Runs that compare stories, and their analyses, each computed when first needed. `rates`: others rate stories."""

    preferences_table: PreferencesTable
    options: EvidenceOptions
    rates: bool = False

    @cached_property
    def preferences(self) -> Ranked:
        """Results of `judge rank`."""
        return ranked(
            self.preferences_table, RankOptions(drop_systems=self.options.drop_systems, seed=self.options.seed)
        )

    @property
    def compared_facts(self) -> tuple[ComparisonFacts, ...]:
        """Facts about the comparisons in each result folder."""
        return self.preferences_table.facts

    @cached_property
    def verdicts(self) -> VerdictCoverage:
        """Numbers of comparisons requested, answered and decided."""
        return verdict_coverage(self.preferences_table)

    @cached_property
    def unasked(self) -> int:
        """Planned repeats that have not been requested yet."""
        return unasked(self.compared_facts)
