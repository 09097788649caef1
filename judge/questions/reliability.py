"""Question on agreement with oneself: does a judge give the same rating again, and how many repeats does it take?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge.analysis import repeats
from judge.analysis.options.table_options import ComponentsOptions, ConsistencyOptions, RepeatsOptions
from judge.analysis.reliability import components_tables, consistency, consistency_tables, variance_components
from judge.questions import pictures, sentences
from judge.questions.question import Question
from judge.questions.way import Shown, Way, shown

if TYPE_CHECKING:
    from judge.questions.source import Source
    from judge.ratings.ratings_table import RatingsTable


class _Full(Shown):
    full: bool = shown(
        "everything: all rows, columns and notes; of ICC one row a form with F, degrees of freedom and p"
    )


def _stated(source: Source, _options: Any) -> RatingsTable:
    # Beside ratings computed from log-probabilities, those that the answers state as text.
    return repeats.with_stated(source.table, source.parser)


CONSISTENCY = Question(
    "consistency",
    """Agreement of a judge with itself over repeats: ICC, exact agreement, flip rate; people's for comparison.

    Layouts: coefficients (icc); how many repeats are needed and how to combine them, with distributions beside
    people's (repeats); variance components, and the repeats, judges and Eval-Prompts that a reliability takes
    (components, d-study).

    Example: judge consistency runs/mans-roc --full --format csv -o icc.csv

    Example: judge consistency runs/hanna --layout components --target 0.9""",
    {
        "icc": Way(
            options=ConsistencyOptions,
            compute=consistency.consistency,
            tables=consistency_tables.tables,
            sentence=sentences.consistency,
            shown=_Full,
            helps={"engine": "program that computes the ICC; pingouin prints its own table"},
            picture=pictures.consistency,
        ),
        "repeats": Way(
            options=RepeatsOptions,
            compute=repeats.repeats,
            tables=repeats.tables,
            sentence=sentences.repeats,
            table=_stated,
            coverage_once=True,
        ),
        "components": Way(
            options=ComponentsOptions,
            compute=variance_components.components,
            tables=components_tables.tables,
            shown=_Full,
            helps={"target": "reliability to plan for"},
        ),
        "d-study": Way(
            options=ComponentsOptions,
            compute=variance_components.components,
            tables=components_tables.plan_tables,
            frame=lambda found: found.plans,
        ),
    },
)
