"""Analyses of a run as a whole: summary, counts of answers, and the plan of a further study."""

from __future__ import annotations

from typing import Any

from judge.analysis import planning
from judge.analysis.coverage import coverage as answered
from judge.analysis.coverage import tables
from judge.analysis.coverage.counts import count
from judge.analysis.options.planning_options import PlanOptions
from judge.analysis.options.table_options import CoverageOptions, from_words, names
from judge.api.result import Result
from judge.api.source import Source


def summary(source: Source, **words: Any) -> Result:
    """Summary of the results, as `judge summary` prints it.

    `source` holds the opened runs, and `words` are fields of `EvidenceOptions`.
    """
    from judge.summary import screen
    from judge.summary.evidence import Evidence
    from judge.summary.options import EvidenceOptions
    from judge.summary.summarize import summarize

    evidence = Evidence(source.table, from_words(EvidenceOptions, **words))
    summaries = summarize(evidence, [str(folder) for folder in source.folders])
    return Result(summaries.frame, screen.summary_tables(summaries), value=summaries)


def coverage(source: Source, by: Any, **words: Any) -> Result:
    """Counts of repeats that were requested, answered and rated.

    `by` says how they are grouped: by any of judge, criterion, eval_prompt, system. `source` holds the opened runs, and
    `words` are fields of `CoverageOptions`.
    """
    shares = answered.coverage(source.table, from_words(CoverageOptions, **words))
    counts = count(source.table, names(by), drop_systems=shares.options.drop_systems)
    return Result(counts.frame, tables.tables(shares), value=shares)


def plan(source: Source, **words: Any) -> Result:
    """Plan of a study, with the results of the opened runs (`source`) as its pilot study.

    `words` are fields of `PlanOptions`.
    """
    sizes = planning.plan(source.table, from_words(PlanOptions, **words))
    return Result(sizes.frame, planning.tables(sizes), value=sizes)
