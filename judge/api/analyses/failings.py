"""Analyses of the ways in which judges fail, and of the stories on which they do."""

from __future__ import annotations

from typing import Any

from judge.analysis import diagnose as diagnosis
from judge.analysis import stress as stressed
from judge.analysis.aspects import compute, printed
from judge.analysis.criteria import criteria as of_criteria
from judge.analysis.criteria import tables as criteria_tables
from judge.analysis.disagreements import disagreements as differing
from judge.analysis.disagreements import tables as disagreements_tables
from judge.analysis.options.table_options import (
    AspectsOptions,
    CriteriaOptions,
    DiagnoseOptions,
    DisagreementsOptions,
    StressOptions,
    from_words,
)
from judge.api.result import Result
from judge.api.source import Source


def diagnose(source: Source, **words: Any) -> Result:
    """Tests for known biases of judges, in comparison with human ratings of the same stories.

    `source` holds the opened runs, and `words` are fields of `DiagnoseOptions`.
    """
    findings = diagnosis.diagnose(source.table, from_words(DiagnoseOptions, **words))
    return Result(findings.frame, diagnosis.tables(findings, full=True), value=findings)


def stress(source: Source, **words: Any) -> Result:
    """Comparison of judges' ratings of perturbed stories with those of the stories that they were made from.

    `source` holds the opened runs, and `words` are fields of `StressOptions`.
    """
    effects = stressed.stress(source.read(source.parser, perturbed=True), from_words(StressOptions, **words))
    return Result(effects.frame, stressed.tables(effects), value=effects)


def criteria(source: Source, view: Any, **words: Any) -> Result:
    """Analysis of whether the criteria measure different things.

    `view` chooses which table is the result's `.frame`. `source` holds the opened runs, and `words` are fields of
    `CriteriaOptions`.
    """
    estimates = of_criteria.criteria(source.table, from_words(CriteriaOptions, **words))
    return Result(estimates.view(view), criteria_tables.tables(estimates), value=estimates)


def aspects(source: Source, **words: Any) -> Result:
    """How many of the aspects of a story that readers commented on are among those that judges find most salient
    (recall).

    `source` holds the opened runs, and `words` are fields of `AspectsOptions`.
    """
    estimates = compute.aspects(source.table, from_words(AspectsOptions, **words))
    return Result(estimates.frame, printed.tables(estimates), value=estimates)


def disagreements(source: Source, **words: Any) -> Result:
    """Stories on which the ratings by judges and people, or by different judges, Eval-Prompts or repeats, differ most.

    `source` holds the opened runs, and `words` are fields of `DisagreementsOptions`.
    """
    differing_stories = differing.disagreements(source.table, from_words(DisagreementsOptions, **words))
    return Result(differing_stories.frame, disagreements_tables.tables(differing_stories), value=differing_stories)
