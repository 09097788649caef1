"""Questions on runs as a whole: what came back, what it comes to, and what a further study needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis import planning
from judge.analysis.coverage import coverage
from judge.analysis.coverage import tables as coverage_tables
from judge.analysis.coverage.counts import count
from judge.analysis.options.planning_options import PlanOptions
from judge.analysis.options.table_options import CoverageOptions, names
from judge.questions import sentences
from judge.questions.question import Question
from judge.questions.way import Shown, Way, shown
from judge.summary import screen
from judge.summary.evidence import Evidence
from judge.summary.options import EvidenceOptions
from judge.summary.summarize import summarize

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge.questions.source import Source
    from judge.ratings_table import RatingsTable


class _By(Shown):
    """How counts are grouped."""

    by: tuple[str, ...] = shown(
        "groups of the frame: judge, criterion, eval_prompt, system", default=("judge", "criterion", "eval_prompt")
    )


def _counts(found: Any, table: RatingsTable, *, by: tuple[str, ...]) -> pd.DataFrame:
    return count(table, names(by), drop_systems=found.options.drop_systems).frame


def _folders(source: Source, _table: RatingsTable) -> Mapping[str, Any]:
    return {"runs": [str(folder) for folder in source.folders]}


def _summary(table: RatingsTable, options: EvidenceOptions, *, runs: list[str]) -> Any:
    return summarize(Evidence(table, options), runs)


SUMMARY = Question(
    "summary",
    """Summary of the runs: whether the judge may replace a rater, the best Eval-Prompt, problems, recommended steps.

    `.value` is a `judge.summary.result.Summary`; `judge.summary.screen.text` prints it on one screen.""",
    {
        "screen": Way(
            options=EvidenceOptions, compute=_summary, further=_folders, tables=screen.summary_tables, explanations=True
        )
    },
)

COVERAGE = Question(
    "coverage",
    """Counts of what was requested, answered and rated, tests whether ratings are missing at random, bounds.""",
    {
        "counts": Way(
            options=CoverageOptions,
            compute=coverage.coverage,
            tables=lambda found, **_shown: coverage_tables.tables(found),
            frame_of_table=_counts,
            sentence=sentences.coverage,
            shown=_By,
        )
    },
)

PLAN = Question(
    "plan",
    """Number of stories, people, repeats and Eval-Prompts that a study needs, with these runs as its pilot.""",
    {"sizes": Way(options=PlanOptions, compute=planning.plan, tables=planning.tables)},
)
