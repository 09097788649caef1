"""Analyses of how well judges agree with human ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis import classes, correlation, labels
from judge.analysis import panels as of_panels
from judge.analysis.agreement import accuracy as in_order
from judge.analysis.agreement import accuracy_tables, replacement, replacement_tables
from judge.analysis.agreement.correlation_grid import layouts
from judge.analysis.inputs.control import Control
from judge.analysis.options.agreement_options import AccuracyOptions, ConfusionOptions, ReplacementOptions
from judge.analysis.options.table_options import CorrelationOptions, from_words
from judge.api.result import Result
from judge.api.source import Source
from judge.errors import SpecError


def correlate(source: Source, **words: Any) -> Result:
    """Correlations of judges with human ratings, with the human ceiling and the control judge for comparison.

    `source` holds the opened runs, and `words` are fields of `CorrelationOptions`.
    """
    chosen = from_words(CorrelationOptions, **words)
    correlations = correlation.correlations(source.table, chosen, predict=Control() if chosen.control else None)
    agreement_tables = classes.beside(correlation.tables(correlations), classes.classes(correlations), full=False)
    return Result(correlations.frame, agreement_tables, lambda: _heatmap(correlations), value=correlations)


def within(source: Source, **words: Any) -> Result:
    """Correlations of judges with human ratings over all stories and within each author (people or models), system and
    dataset.

    `source` holds the opened runs, and `words` are fields of `CorrelationOptions`.
    """
    rows_by_class = classes.classes(correlation.correlations(source.table, from_words(CorrelationOptions, **words)))
    return Result(rows_by_class.frame, classes.tables(rows_by_class), value=rows_by_class)


def panels(source: Source, **words: Any) -> Result:
    """Agreement within and between panels of raters, and each judge's agreement with each panel.

    `source` holds the opened runs, and `words` are fields of `CorrelationOptions`.
    """
    rows_by_panel = of_panels.panels(source.table, from_words(CorrelationOptions, **words))
    return Result(rows_by_panel.frame, of_panels.tables(rows_by_panel), value=rows_by_panel)


def confusion(source: Source, **words: Any) -> Result:
    """Confusion of judges' labels with the majority labels of human raters.

    `source` holds the opened runs, and `words` are fields of `ConfusionOptions`.
    """
    confusions = labels.confusions(source.table, from_words(ConfusionOptions, **words))
    return Result(confusions.frame, labels.tables(confusions), value=confusions)


def accuracy(source: Source, **words: Any) -> Result:
    """Share of pairs of stories, and of systems, that a judge ranks in the same order as human raters.

    `source` holds the opened runs, and `words` are fields of `AccuracyOptions`.
    """
    chosen = from_words(AccuracyOptions, **words)
    accuracies = in_order.accuracies(source.table, chosen, predict=Control() if chosen.control else None)
    return Result(accuracies.frame, accuracy_tables.tables(accuracies), value=accuracies)


def replace(source: Source, **words: Any) -> Result:
    """The alternative annotator test: whether a judge may replace a human annotator.

    `source` holds the opened runs, and `words` are fields of `ReplacementOptions`.
    """
    replacements = replacement.replacement(source.table, from_words(ReplacementOptions, **words))
    return Result(replacements.frame, replacement_tables.tables(replacements), value=replacements)


def _heatmap(correlations: correlation.Correlations) -> Any:
    from judge.charts.heatmap import heat_map
    from judge.figures import heatmap

    return heatmap.draw(heat_map(_only(layouts(correlations))))


def _only(grids: Sequence[Any]) -> Any:
    """The only correlation grid in the list. Raises SpecError unless there is exactly one, because a figure shows one
    dataset.
    """
    if len(grids) != 1:
        raise SpecError(f"a picture shows one dataset; these results have {len(grids)}", hint="open one run alone")
    return grids[0]
