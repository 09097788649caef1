"""Questions on agreement with people: does the judge rate as they do, and may it replace one of them?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from judge.analysis.options.agreement_options import (
    AccuracyOptions,
    ConfusionOptions,
    DriftOptions,
    LabelOptions,
    ReplacementOptions,
)
from judge.analysis.options.table_options import (
    AspectsOptions,
    ComponentsOptions,
    ConsistencyOptions,
    CorrelationOptions,
    RepeatsOptions,
)
from judge.questions import pictures, sentences
from judge.questions.answer import Shown, Way, late, shown
from judge.questions.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge.analysis import aspects, classes, correlation, labels, repeats
    from judge.analysis import panels as of_panels
    from judge.analysis.agreement import accuracy, binary_labels, correlation_grid, drift, replacement, sliding_sets
    from judge.analysis.correlation import margins
    from judge.analysis.reliability import consistency, variance_components
    from judge.base.printing.tables import Table
    from judge.questions.source import Source
    from judge.ratings.ratings_table import RatingsTable
else:
    aspects, classes, correlation, labels, margins, of_panels, repeats = late(
        "judge.analysis", "aspects", "classes", "correlation", "labels", "correlation.margins", "panels", "repeats"
    )
    accuracy, binary_labels, correlation_grid, drift, replacement, sliding_sets = late(
        "judge.analysis.agreement",
        *("accuracy", "binary_labels", "correlation_grid", "drift", "replacement", "sliding_sets"),
    )
    consistency, variance_components = late("judge.analysis.reliability", "consistency", "variance_components")


# Question on agreement with oneself: does a judge give the same rating again, and how many repeats does it take?


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
    people's (repeats). Layouts components and d-study: variance components, and the repeats, judges and
    Eval-Prompts that a reliability takes.

    Example: judge consistency runs/mans-roc --full --format csv -o icc.csv

    Example: judge consistency runs/hanna --layout components --set target=0.9""",
    {
        "icc": Way(
            options=ConsistencyOptions,
            compute=consistency.consistency,
            tables=consistency.tables,
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
            coverage="first",
        ),
        "components": Way(
            options=ComponentsOptions,
            compute=variance_components.components,
            tables=variance_components.tables,
            shown=_Full,
            helps={"target": "reliability to plan for"},
        ),
        "d-study": Way(
            options=ComponentsOptions,
            compute=variance_components.components,
            tables=variance_components.plan_tables,
            frame=lambda found: found.plans,
        ),
    },
)


_CORRELATION = {
    "coefficient": "correlation coefficient",
    "level": "unit of correlation: all stories, system means, or stories within a story-prompt or system",
    "interval_kind": "kind of bootstrap interval",
    "given": "third variable of an additional partial correlation: length, another feature, or none",
    "readings": "judge's ratings compared with one person's: the mean of its repeats, or each single repeat",
}


class _Within(Shown):
    within: bool = shown("additional correlations within classes: author, system, dataset")


def _correlation_tables(found: Any, *, within: bool) -> list[Table]:
    return classes.beside(correlation.tables(found), classes.classes(found), full=within)


def _correlation_frame(found: Any, *, within: bool) -> Any:
    return classes.classes(found).frame if within else found.frame


def _control(source: Source, _table: RatingsTable) -> Mapping[str, Any]:
    return {"predict": source.control}


def _label_criteria(options: LabelOptions) -> list[str | None]:
    return [binary_labels.criterion_of(rule) for rule in (options.labels, *options.errors)]


CORRELATE = Question(
    "correlate",
    """Agreement of judges with people's ratings, with intervals, one more person and the control judge's row.

    Layouts: correlations as a list, as the grid that papers print, as margins over one person and the control.
    Further: panels of people; accuracy of pairs of stories; confusion of labels; separation of labelled stories;
    drift between systems. Of studies: sliding sets of stories (OpenMEVA); aspects that readers name (StoryER). A
    note warns where a pooled correlation hides other correlations within human and generated stories, or within
    systems. Where people belong to panels, each panel has its own rows.

    Example: judge correlate runs/hanna --level system --drop-system Human --ci boot-both

    Example: judge correlate runs/hanna --layout grid --format latex

    Example: judge correlate runs/hanna --layout separation --labels 'Engagement > 3'""",
    {
        "list": Way(
            options=CorrelationOptions,
            compute=correlation.correlations,
            further=_control,
            tables=_correlation_tables,
            frame=_correlation_frame,
            sentence=sentences.correlations,
            shown=_Within,
            helps=_CORRELATION,
            picture=pictures.correlations,
        ),
        "grid": Way(
            options=CorrelationOptions,
            compute=correlation.correlations,
            further=_control,
            tables=lambda found: correlation_grid.tables(correlation_grid.layouts(found)),
            sentence=sentences.correlations,
            without=("given", "readings"),
            picture=pictures.heatmap,
        ),
        "margins": Way(
            options=CorrelationOptions,
            compute=partial(correlation.correlations, paired=True),
            further=_control,
            tables=lambda found: [margins.table_of(found, margins.margins(found), margins.of_panels(found))],
            sentence=sentences.margins,
            without=("given",),
        ),
        "panels": Way(
            options=CorrelationOptions,
            compute=of_panels.panels,
            tables=of_panels.tables,
            without=("level", "control", "given", "interval_kind", "readings"),
            coverage="first",
        ),
        "accuracy": Way(
            options=AccuracyOptions,
            compute=accuracy.accuracies,
            further=_control,
            tables=accuracy.tables,
            sentence=sentences.accuracy,
            helps={
                "folds": "number of folds of story-prompts in which the width of ties is fitted",
                "flips": "number of permutations for soft pairwise accuracy",
            },
        ),
        "confusion": Way(
            options=ConfusionOptions, compute=labels.confusions, tables=labels.tables, picture=pictures.confusion
        ),
        "separation": Way(
            options=LabelOptions,
            compute=binary_labels.discrimination,
            further=_control,
            tables=binary_labels.tables,
            helps={
                "labels": "rule that gives a story label 1: a criterion of two values, or 'Overall > 4'",
                "errors": "rule of an error type, compared with the labelled stories; may be given several times",
                "equivalence": "largest difference in rating points that counts as equivalent",
            },
            people=_label_criteria,
        ),
        "drift": Way(
            options=DriftOptions,
            compute=drift.drift,
            further=_control,
            tables=drift.tables,
            sentence=sentences.drift,
            without=("window", "stride", "ci", "resamples", "seed"),
        ),
        "sliding-sets": Way(
            options=DriftOptions,
            compute=sliding_sets.sets,
            further=_control,
            tables=sliding_sets.tables,
            helps={
                "window": "number of stories in a set",
                "stride": "number of stories between the beginnings of two sets",
            },
        ),
        "aspects": Way(options=AspectsOptions, compute=aspects.aspects, tables=aspects.tables),
    },
)

REPLACE = Question(
    "replace",
    """Test whether a judge may replace an annotator (alternative annotator test); prediction-powered system means.

    Example: judge replace runs/hanna --set epsilon=0.2""",
    {
        "test": Way(
            options=ReplacementOptions,
            compute=replacement.replacement,
            further=_control,
            tables=replacement.tables,
            helps={
                "epsilon": "advantage granted to a judge because it is cheaper, as a share of stories",
                "measure": "distance between one rating and the others; auto: exact for labels, rmse for numbers",
                "positions": "columns of unidentified raters, each taken for one person",
                "rated": "number of stories of each system that keep their human ratings; the others' are hidden",
                "resamples": "number of resamples for the comparison with uninformed judges",
                "seed": "seed of the resamples, and of the draw of hidden ratings",
            },
        )
    },
)
