"""Analyses of how consistent judges are with themselves, and of the sources of variance in their ratings."""

from __future__ import annotations

from typing import Any

from judge.analysis import repeats as repeated
from judge.analysis.options.table_options import ComponentsOptions, ConsistencyOptions, RepeatsOptions, from_words
from judge.analysis.reliability import components_tables, consistency_tables, variance_components
from judge.analysis.reliability import consistency as consistent
from judge.api.result import Result
from judge.api.source import Source


def consistency(source: Source, **words: Any) -> Result:
    """Consistency of each judge's ratings over repeats: intraclass correlations (ICC), exact agreement and flip rate.

    `source` holds the opened runs, and `words` are fields of `ConsistencyOptions`.
    """
    estimates = consistent.consistency(source.table, from_words(ConsistencyOptions, **words))
    return Result(estimates.frame, consistency_tables.tables(estimates), value=estimates)


def repeats(source: Source, **words: Any) -> Result:
    """Agreement of judges with people by the number of repeats, and by the way in which these are combined into one
    rating.

    Further tables show this agreement by how much people disagree, and distances between the distributions of human and
    judges' ratings. `source` holds the opened runs, and `words` are fields of `RepeatsOptions`.
    """
    chosen = from_words(RepeatsOptions, **words)
    estimates = repeated.repeats(repeated.with_stated(source.table, source.parser), chosen)
    return Result(estimates.frame, repeated.tables(estimates), value=estimates)


def components(source: Source, **words: Any) -> Result:
    """Variance components of judges' ratings (e.g. of systems, story-prompts, judges and repeats), and the decision
    study.

    `source` holds the opened runs, and `words` are fields of `ComponentsOptions`.
    """
    estimates = variance_components.components(source.table, from_words(ComponentsOptions, **words))
    return Result(estimates.frame, components_tables.tables(estimates), value=estimates)


def d_study(source: Source, **words: Any) -> Result:
    """Decision study: numbers of repeats, Eval-Prompts and judges needed to reach a reliability.

    `source` holds the opened runs, and `words` are fields of `ComponentsOptions`.
    """
    estimates = variance_components.components(source.table, from_words(ComponentsOptions, **words))
    return Result(estimates.plans, components_tables.plan_tables(estimates), value=estimates)
