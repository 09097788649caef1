"""Variances of published studies that come with the program, from which a study can be planned without a pilot.

`study_variances.json` is written by `tests/packaged_data/study_variances.py` from the studies' released files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from judge.analysis.options.planning_options import Study
from judge.analysis.planning.figures import Figures
from judge.base.estimate import Estimate
from judge.base.folders.shipped import package_file
from judge.stats.agreement.analogous_anova import Term
from judge.stats.agreement.replacement_power import Differences, Moments
from judge.stats.agreement.variance_components import Component, VarianceComponents
from judge.stats.estimation.sample_size import Spread

EVERY = "every criterion"
"""In place of a criterion: the middle over all of them."""

FILE = ("analysis", "planning", "study_variances.json")


@dataclass(frozen=True, slots=True, eq=False)
class StudyFigures:
    """Variances and other numbers of a published study, from which another study can be planned.

    `figures` has one entry per judge and criterion. `words` is the study's name within a sentence.
    """

    words: str
    source: str
    notes: tuple[str, ...]
    figures: tuple[Figures, ...]


def study(name: Study) -> StudyFigures:
    """Variances and other numbers of one published study, from which another study can be planned without a pilot."""
    data = orjson.loads(package_file(*FILE).read_bytes())[name]
    figures = tuple(figures_from(each, name) for each in data["figures"])
    return StudyFigures(data["words"], data["source"], tuple(data["notes"]), figures)


def figures_from(data: Mapping[str, Any], name: str) -> Figures:
    """Variances and other numbers of one judge on one criterion, from which a study is planned; read from JSON."""
    return Figures(
        name=name,
        criterion=data["criterion"],
        tau=data["tau"],
        tau_spread=_spread(data["spread"], data["story_prompts"]),
        difference_spread=_spread(data["difference"], data["story_prompts"]),
        components=_components(data["levels"], data["variances"]),
        icc=Estimate(data["icc"], n=data["story_prompts"]),
        raters=data["raters"],
        tests=tuple(_moments(test) for test in data["tests"]),
        null=None if data["null"] is None else _moments(data["null"]),
        story_prompts=data["story_prompts"],
        stories_each=data["stories_each"],
        cells=1,
        pairs=0,
        reasons=data["reasons"],
    )


def plain(figures: Figures) -> dict[str, Any]:
    """Variances and other numbers for planning as mappings and lists, the input of `figures_from`.

    Numbers have four significant digits.
    """

    def short(value: Any) -> Any:
        return [short(test) for test in value] if isinstance(value, list) else float(f"{value:.4g}")

    def written(test: Differences | Moments) -> dict[str, Any]:
        m = test if isinstance(test, Moments) else test.moments()
        return {
            "mean": short(m.mean.tolist()),
            "covariance": short(m.covariance.tolist()),
            "each": short(m.stories_each),
        }

    own, paired, components = figures.tau_spread, figures.difference_spread, figures.components
    return {
        "criterion": figures.criterion,
        "tau": None if figures.tau is None else short(figures.tau),
        "spread": None if own is None else short(own.value),
        "difference": None if paired is None else short(paired.value),
        "levels": {} if components is None else dict(components.levels),
        "variances": []
        if components is None
        else [
            [list(test.term.own), list(test.term.outer), short(test.truncated)]  # a variance below 0 counts as 0
            for test in components.components
        ],
        "icc": None if figures.icc.value is None else short(figures.icc.value),
        "raters": figures.raters,
        "tests": [written(test) for test in figures.tests],
        "null": None if figures.null is None else written(figures.null),
        "story_prompts": figures.story_prompts,
        "stories_each": figures.stories_each,
        "reasons": dict(figures.reasons),
    }


def _moments(data: Mapping[str, Any]) -> Moments:
    return Moments(np.array(data["mean"]), np.array(data["covariance"]), data["each"])


def _spread(value: float | None, clusters: int) -> Spread | None:
    return None if value is None else Spread(value, float("inf"), clusters)


def _components(levels: Mapping[str, int], variances: list[Any]) -> VarianceComponents | None:
    if not variances:
        return None
    parts = [Component(Term(tuple(own), tuple(outer)), 1, v, Estimate(v, n=1)) for own, outer, v in variances]
    values = np.array([[v for _, _, v in variances]])
    return VarianceComponents(tuple(parts), dict(levels), values, 0)
