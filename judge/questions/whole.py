"""Questions on runs as a whole: what came back, what it comes to, and what a further study needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis import planning
from judge.analysis.coverage import counts, coverage
from judge.analysis.coverage.counts import VerdictCoverage, count, verdict_coverage
from judge.analysis.coverage.coverage import Coverage
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.table_options import CoverageOptions, names
from judge.questions import sentences
from judge.questions.answer import Shown, Way, frame_of, shown
from judge.questions.question import Question
from judge.questions.summary import screen
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.of_runs import RunsCompared, of_ratings
from judge.questions.summary.result import EvidenceOptions
from judge.questions.summary.summarize import compared
from judge.ratings.preferences_table import PreferencesTable
from judge.ratings.ratings_table import RatingsTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from judge.analysis.inputs.bars import Predict
    from judge.base.printing.tables import Table
    from judge.questions.source import Source


class _By(Shown):
    by: tuple[str, ...] = shown(
        "groups of the frame: judge, criterion, eval_prompt, system", default=("judge", "criterion", "eval_prompt")
    )


class _Long(Shown):
    long: bool = shown("long layout: one row for each number")


# Ratings, or the preferences of runs that all compare stories.
_Asked = RatingsTable | PreferencesTable


def _asked(source: Source, _options: Any) -> _Asked:
    return source.preferences if source.compares else source.table


def _asked_whole(source: Source, _options: Any) -> _Asked:
    return source.preferences if source.compares else source.read(source.parser, perturbed=True)


def _named(source: Source, _table: _Asked) -> Mapping[str, Any]:
    return {"named": source.named, "control": source.control}


def _summary(table: _Asked, options: EvidenceOptions, *, named: list[str], control: Predict) -> Any:
    if isinstance(table, PreferencesTable):
        return compared(RunsCompared(table, options), named)
    return of_ratings(Evidence(table, options, control), named)


def _coverage(table: _Asked, options: CoverageOptions) -> Coverage | VerdictCoverage:
    return verdict_coverage(table) if isinstance(table, PreferencesTable) else coverage.coverage(table, options)


def _coverage_tables(found: Coverage | VerdictCoverage, **_shown: Any) -> list[Table]:
    return counts.tables(found) if isinstance(found, VerdictCoverage) else coverage.tables(found)


def _coverage_words(found: Coverage | VerdictCoverage) -> str:
    return "" if isinstance(found, VerdictCoverage) else sentences.coverage(found)


def _counts(found: Coverage | VerdictCoverage, table: _Asked, *, by: tuple[str, ...]) -> pd.DataFrame:
    if isinstance(found, VerdictCoverage) or isinstance(table, PreferencesTable):
        return frame_of(_coverage_tables(found))
    return count(table, names(by), drop_systems=found.options.drop_systems).frame


SUMMARY = Question(
    "summary",
    """Summary of the runs: whether the judge may replace a rater, the best Eval-Prompt, problems, recommended steps.

    `.value` is a `judge.questions.summary.result.Summary`; `judge.questions.summary.screen.text` prints it on one
    screen.""",
    {
        "screen": Way(
            options=EvidenceOptions,
            compute=_summary,
            table=_asked,
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
            compute=_coverage,
            table=_asked_whole,
            tables=_coverage_tables,
            frame_of_table=_counts,
            sentence=_coverage_words,
            shown=_By,
        )
    },
)

PLAN = Question(
    "plan",
    """Number of stories, people, repeats and Eval-Prompts that a study needs, with these runs as its pilot.""",
    {"sizes": Way(options=PlanOptions, compute=planning.plan, tables=planning.tables, shown=_Long)},
)
