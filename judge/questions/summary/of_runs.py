"""Summaries of runs: one for those that rate stories, and one for those that compare stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judge.analysis.coverage.counts import VerdictCoverage, verdict_coverage
from judge.analysis.inputs.selection import Selection, narrowed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference import sides
from judge.analysis.preference.ranked import Ranked, ranked
from judge.base.errors import SpecError
from judge.contamination import report as contamination_report
from judge.contamination.check import kept
from judge.contamination.scores_file import ScoresFile
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import EvidenceOptions, Summary
from judge.questions.summary.summarize import compared, summarize
from judge.ratings import preferences_table, ratings_table
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable, comparing, unasked
from judge.ratings.rating_matrix import built_once
from judge.ratings.ratings_table.judgments import Telling, silent


def of_runs(
    runs: Sequence[str | Path],
    keep: Selection | None = None,
    options: EvidenceOptions | None = None,
    scores: Sequence[ScoresFile] = (),
    parser: str = "ours",
    telling: Telling = silent,
    named: Sequence[str] | None = None,
) -> list[Summary]:
    """One summary of the runs that rate stories and one of those that compare, as far as there are such. `named` are
    the runs in suggested commands. Raises RunFolderError for a run without results, and SpecError where `keep` has a
    name that does not occur, or all runs compare stories but an argument is for ratings only, such as `scores`.
    """
    compare, rate = comparing(runs)
    keep, options, named = keep or Selection(), options or EvidenceOptions(), named or [str(run) for run in runs]
    summaries = []
    if rate:
        table = narrowed(ratings_table.read(rate, parser, explanations=False, telling=telling), keep)
        summaries.append(of_ratings(Evidence(table, options), named, scores))
    if compare:
        if not rate and (keep.pass_rate or keep.panel or scores):
            raise SpecError(
                "a panel, a pass rate and contamination are about runs that rate stories, and these compare them",
                hint="leave it out, or add such a run",
            )
        preferred = sides.narrowed(preferences_table.read(compare), keep.criteria, keep.judges, keep.eval_prompts)
        summaries.append(compared(RunsCompared(preferred, options), named))
    return summaries


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
