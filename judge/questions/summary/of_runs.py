"""Summaries of runs: one for the runs that rate stories, and one for the runs that compare stories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judge.analysis import preferences
from judge.analysis.coverage.counts import VerdictCoverage, verdict_coverage
from judge.analysis.inputs.selection import Selection, narrowed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.ranked import Ranked, ranked
from judge.base.errors import SpecError
from judge.contamination import report as contamination_report
from judge.contamination.check import kept
from judge.contamination.scores_file import ScoresFile
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.options import EvidenceOptions
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import Summary
from judge.questions.summary.summarize import compared, summarize
from judge.ratings import preferences_table, ratings_table
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable, comparing
from judge.ratings.preferences_table.unasked import unasked
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
    """List of summaries: one of the runs that rate stories and one of the runs that compare stories, as far as there
    are such runs. `keep` selects judges, Eval-Prompts and criteria, `scores` are files of contamination scores, and
    `parser` names the parser of answers. `telling` shows the progress of reading answers. `named` are the names of the
    runs in suggested commands.

    Raises RunFolderError where a run has no results. Raises SpecError where `keep` has a name that does not occur, and
    where all runs compare stories but an argument is for ratings only, such as `scores`.
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
        summaries.append(compared(RunsCompared(tuple(compare), options, keep), named))
    return summaries


def of_ratings(evidence: Evidence, named: Sequence[str], scores: Sequence[ScoresFile] = ()) -> Summary:
    """Summary of runs that rate stories, with what is known of contamination: from `scores`, and from the scores files
    kept beside the runs.
    """
    files = [*scores, *(file for _, file in kept(evidence.table))]
    seen = Seen.of(contamination_report.report(evidence.table, files), files) if files else None
    with built_once():
        return summarize(evidence, named, seen)


@dataclass(frozen=True, eq=False)
class RunsCompared:
    """Result folders of runs that compare stories, and their analyses. Each analysis is computed once, when it is first
    needed. `rates` says whether runs that rate stories are summarised too.
    """

    folders: tuple[Path, ...]
    options: EvidenceOptions
    keep: Selection
    rates: bool = False

    @cached_property
    def preferences_table(self) -> PreferencesTable:
        """Table of the preferences that judges gave in comparisons."""
        keep = self.keep
        return preferences.narrowed(preferences_table.read(self.folders), keep.criteria, keep.judges, keep.eval_prompts)

    @cached_property
    def preferences(self) -> Ranked:
        """Results of `judge rank` from the preferences that judges gave in comparisons, such as agreement with people
        and rankings of systems.
        """
        return ranked(
            self.preferences_table, RankOptions(drop_systems=self.options.drop_systems, seed=self.options.seed)
        )

    @property
    def compared_facts(self) -> tuple[ComparisonFacts, ...]:
        """Facts about the comparisons in each result folder, such as dataset and judge."""
        return self.preferences_table.facts

    @cached_property
    def verdicts(self) -> VerdictCoverage:
        """Numbers of comparisons of stories that were requested, answered and decided."""
        return verdict_coverage(self.preferences_table)

    @cached_property
    def unasked(self) -> int:
        """Number of planned repeats of comparisons that have not been requested yet."""
        return unasked(self.compared_facts)
