"""Questions on runs as a whole: what came back, what it comes to, and what a further study needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis import planning
from judge.analysis.coverage import coverage
from judge.analysis.coverage.counts import count
from judge.analysis.coverage.coverage import tables as coverage_tables
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.table_options import CoverageOptions, names
from judge.questions import sentences
from judge.questions.answer import Shown, Way, shown
from judge.questions.question import Question
from judge.questions.summary import screen
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.of_runs import of_ratings
from judge.questions.summary.result import EvidenceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge.analysis.inputs.bars import Predict
    from judge.questions.source import Source
    from judge.ratings.ratings_table import RatingsTable


class _By(Shown):
    by: tuple[str, ...] = shown(
        "groups of the frame: judge, criterion, eval_prompt, system", default=("judge", "criterion", "eval_prompt")
    )


class _Long(Shown):
    long: bool = shown("long layout: one row for each number")


def _counts(found: Any, table: RatingsTable, *, by: tuple[str, ...]) -> pd.DataFrame:
    return count(table, names(by), drop_systems=found.options.drop_systems).frame


def _named(source: Source, _table: RatingsTable) -> Mapping[str, Any]:
    return {"named": source.named, "control": source.control}


def _summary(table: RatingsTable, options: EvidenceOptions, *, named: list[str], control: Predict) -> Any:
    return of_ratings(Evidence(table, options, control), named)


def _whole(source: Source, _options: Any) -> RatingsTable:
    return source.read(source.parser, perturbed=True)


SUMMARY = Question(
    "summary",
    """Summary of the runs: whether the judge may replace a rater, the best Eval-Prompt, problems, recommended steps.

    `.value` is a `judge.questions.summary.result.Summary`; `judge.questions.summary.screen.text` prints it on one
    screen.""",
    {
        "screen": Way(
            options=EvidenceOptions,
            compute=_summary,
            further=_named,
            tables=screen.summary_tables,
            names_raters=True,
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
            table=_whole,
            tables=lambda found, **_shown: coverage_tables(found),
            frame_of_table=_counts,
            sentence=sentences.coverage,
            shown=_By,
        )
    },
)

PLAN = Question(
    "plan",
    """Number of stories, people, repeats and Eval-Prompts that a study needs, with these runs as its pilot.""",
    {"sizes": Way(options=PlanOptions, compute=planning.plan, tables=planning.tables, shown=_Long)},
)
