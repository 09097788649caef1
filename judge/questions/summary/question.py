"""The question what runs come to. What computes its answer is imported where no computed one is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.analysis.options.alternatives import option
from judge.base.errors import SpecError
from judge.questions.answer import Way
from judge.questions.question import Question
from judge.questions.summary import screen
from judge.questions.summary.kept import kept
from judge.questions.summary.result import EvidenceOptions, Summary

if TYPE_CHECKING:
    from judge.analysis.inputs.bars import Predict
    from judge.questions.source import Source
    from judge.ratings.preferences_table import PreferencesTable
    from judge.ratings.ratings_table import RatingsTable

_OF_RATINGS = "a panel, a pass rate and contamination are about runs that rate stories, and these compare them"


@dataclass(frozen=True, slots=True)
class SummaryOptions(EvidenceOptions):
    """As `EvidenceOptions`; `contamination` are files of `judge contamination score` beside those of the runs."""

    contamination: tuple[Path, ...] = option("scores file of judge contamination score", default=(), metavar="FILE")


def _asked(source: Source, options: SummaryOptions) -> RatingsTable | PreferencesTable:
    if not source.judged.compares:
        return source.table
    of_ratings_alone = options.contamination or any(keep.panel or keep.pass_rate for keep in source.kept)
    if of_ratings_alone and not source.beside_ratings:
        raise SpecError(_OF_RATINGS, hint="leave it out, or add such a run")
    return source.preferences


def _named(source: Source, _table: object) -> Mapping[str, Any]:
    return {"named": source.named, "control": source.control}


def _summary(
    table: RatingsTable | PreferencesTable, options: SummaryOptions, *, named: list[str], control: Predict
) -> Summary:
    from judge.contamination import scores_file
    from judge.questions.summary.evidence import Evidence
    from judge.questions.summary.of_runs import RunsCompared, of_ratings
    from judge.questions.summary.summarize import compared
    from judge.ratings.preferences_table import PreferencesTable

    if isinstance(table, PreferencesTable):
        return compared(RunsCompared(table, options), named)
    scores = [scores_file.read(file) for file in options.contamination]
    return of_ratings(Evidence(table, options, control), named, scores)


SUMMARY = Question(
    "summary",
    """Summary on one screen: whether the judge may replace a person, the best prompt, faults, what is missing.

    The summary is of the judge and Eval-Prompt with the highest agreement; docs/summary.md has the rule of every
    verdict.

    Example: judge summary runs/hanna

    Example: judge summary runs/hanna --judge openai/my-model --eval-prompt ep1 --format md""",
    {
        "screen": Way(
            options=SummaryOptions,
            compute=_summary,
            kept=kept,
            table=_asked,
            further=_named,
            tables=screen.summary_tables,
            screen=lambda found: screen.printed([found]),
            coverage="none",
            kinds=True,
            names_raters=True,
        )
    },
)
