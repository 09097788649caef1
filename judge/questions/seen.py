"""Question on contamination: which stories have the models seen, and does agreement with people depend on it?"""

from __future__ import annotations

from dataclasses import MISSING, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.contamination import report, scores_file, tables
from judge.contamination.options import ReportOptions, ValidityOptions
from judge.contamination.tables import report_table, validity_table
from judge.questions.frames import frame_of
from judge.questions.question import Question
from judge.questions.way import Way

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def _with_scores(options: type) -> type:
    """These options, and the files of scores, which must be given."""
    scores = ("scores", tuple[Path, ...], field(default=MISSING, kw_only=True))
    return make_dataclass(f"{options.__name__}WithScores", [scores], bases=(options,), frozen=True)


def _report(table: RatingsTable, options: Any) -> Any:
    return report_table(report.report(table, [scores_file.read(path) for path in options.scores], options))


def _validity(table: RatingsTable, options: Any) -> Any:
    return validity_table(tables.validity(table, [scores_file.read(path) for path in options.scores], options))


_SCORES = {"scores": "scores file of judge contamination score; may be given several times"}

CONTAMINATION = Question(
    "contamination",
    """Share of stories that each model seems to have seen, AUC, and ratings of each model's own stories.

    Layout validity: agreement with people where contamination is high and where it is low, and the difference.

    Example: judge contamination report runs/hanna --scores beluga.scores.jsonl --system Human

    Example: judge contamination report runs/hanna --layout validity --scores beluga.scores.jsonl --set split=median""",
    {
        "seen": Way(
            options=_with_scores(ReportOptions),
            compute=_report,
            tables=lambda table: [table],
            frame=lambda table: frame_of([table]),
            helps=_SCORES
            | {
                "score": "name of the score that stories are classified by",
                "systems": "system whose stories form the story set; may be given several times",
                "own_systems": "system that is a model's own; may be given several times",
            },
        ),
        "validity": Way(
            options=_with_scores(ValidityOptions),
            compute=_validity,
            tables=lambda table: [table],
            frame=lambda table: frame_of([table]),
            helps=_SCORES
            | {
                "score": "name of the score that stories are classified by",
                "split": "score that separates high from low contamination",
                "least": "smallest number of stories in each half",
            },
        ),
    },
)
