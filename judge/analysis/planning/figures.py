"""Variances and other figures of one criterion that a plan starts from: over story-prompts, raters and repeats.

Figures from a pilot have intervals; figures of a published study belong to one of its judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import orjson

from judge.analysis.agreement.alternative_annotator import packed
from judge.analysis.inputs.candidates import Candidate, comparable
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.rated_design import rated_design
from judge.analysis.options.agreement_options import PlanOptions, Study
from judge.base.arrays import Masks, renumbered
from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.printing.tables import cells_of
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.agreement import icc
from judge.stats.agreement.alt_test import person_differences
from judge.stats.agreement.replacement_power import Differences, Moments, differences
from judge.stats.agreement.variance_components import Component, Term, VarianceComponents, variance_components
from judge.stats.correlation import kendall
from judge.stats.estimation.sample_size import FEWEST, RANGE, Spread, spread
from judge.stats.resampling import resampled_correlations as resampled_tau
from judge.stats.resampling.bootstrap import Factor, Resamples

DRAWS = 2000
# Pairs of judge cells whose difference of tau is looked at.
_MOST_PAIRS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Figures of one criterion from one or several judge cells (a judge with an Eval-Prompt), for a plan.

    `name` is that of the dataset or study. `tau` is the median tau-b with people over the cells; `tau_spread` and
    `difference_spread` are standard deviations of tau, and of the difference between two cells' taus (root mean squares
    over `cells` and `pairs`). `components` are of single ratings by judges. `icc` is ICC(1,1) of people, with the 80 %
    interval; `raters` the number of ratings per story. `tests` has for each cell the differences used by the
    alternative annotator test, or their moments; `null` those of a judge that gives every story the same rating.
    `story_prompts` were rated by people; `stories_each` is for each of them. `reasons` say why ``tau``, ``difference``,
    ``components``, ``icc`` or ``test`` is missing."""

    name: str
    criterion: str
    tau: float | None
    tau_spread: Spread | None
    difference_spread: Spread | None
    components: VarianceComponents | None
    icc: Estimate
    raters: float
    tests: tuple[Differences | Moments, ...]
    null: Differences | Moments | None
    story_prompts: int
    stories_each: float
    cells: int
    pairs: int
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """One dataset's figures, one entry per criterion, with its ratings; `left_out` are (run, judge) pairs not used."""

    matrix: RatingMatrix
    figures: tuple[Figures, ...]
    left_out: frozenset[tuple[str, str]]
    notes: tuple[str, ...]


def pilots(table: RatingsTable, options: PlanOptions) -> tuple[list[Pilot], RatingsTable]:
    """One `Pilot` for each dataset; and the table without criteria that are not numeric."""
    controls = {(fact.run, fact.judge) for fact in table.facts if fact.control}
    table = numbers(table)
    return [_pilot(matrix, controls, options) for matrix in build(table, drop_systems=options.drop_systems)], table


def _pilot(matrix: RatingMatrix, controls: set[tuple[str, str]], options: PlanOptions) -> Pilot:
    asked = {(cell.run, cell.judge) for cell in matrix.cells}
    left_out = frozenset(controls & asked if asked - controls else ())
    matrix_candidates, remarks = comparable([matrix], options.against, None)
    by_criterion: dict[str, list[Candidate]] = {}
    for _, candidate in matrix_candidates:
        if (candidate.subject.run, candidate.subject.judge) not in left_out:
            by_criterion.setdefault(candidate.subject.criterion, []).append(candidate)
    figures = [figures_of(matrix, name, cells, left_out, options) for name, cells in by_criterion.items()]
    notes = list(remarks.notes)
    if left_out:
        notes.append("the control judge is left out: it is not a sample of what judges do")
    return Pilot(matrix, tuple(figures), left_out, tuple(notes))


def figures_of(
    matrix: RatingMatrix,
    criterion: str,
    cells: Sequence[Candidate],
    left_out: frozenset[tuple[str, str]],
    options: PlanOptions,
) -> Figures:
    """Figures of one criterion from judges' ratings (`cells`) that are compared with human ratings. `left_out` holds
    the (run, judge) pairs that are not used for variance components."""
    reasons: dict[str, str] = {}
    people = cells[0].sides[1]
    used = ~np.isnan(people) & np.any([~np.isnan(cell.sides[0]) for cell in cells], axis=0)
    prompts = np.unique(matrix.story_prompt[used]).size
    tau, own, paired, pairs = _spreads(matrix, cells, used)
    if own is None:
        reasons["tau"] = _too_few(prompts)
    if paired is None:
        reasons["difference"] = (
            "one judge with one Eval-Prompt has nothing to differ from" if not pairs else _too_few(1)
        )
    components = None
    try:
        part = rated_design(matrix, criterion, left_out=left_out)
        rng = np.random.default_rng(options.seed)
        components = variance_components(part.ratings, part.facets, rng=rng, draws=DRAWS)
        if components.impossible:
            reasons["components"], components = components.impossible, None
    except DataError as error:
        reasons["components"] = str(error.sentence)
    agreed, raters = _people(matrix, str(cells[0].subject.against))
    tests, null = _tests(matrix, cells, options, reasons)
    return Figures(
        name=matrix.dataset,
        criterion=criterion,
        tau=tau,
        tau_spread=own,
        difference_spread=paired,
        components=components,
        icc=agreed,
        raters=raters,
        tests=tests,
        null=null,
        story_prompts=prompts,
        stories_each=float(used.sum()) / max(1, prompts),
        cells=len(cells),
        pairs=pairs,
        reasons=reasons,
    )


def _spreads(
    matrix: RatingMatrix, cells: Sequence[Candidate], used: Masks
) -> tuple[float | None, Spread | None, Spread | None, int]:
    """Median tau, standard deviations of tau and of differences of two cells' taus, and number of pairs."""
    unit = renumbered(matrix.story_prompt[used])
    size = int(unit.max(initial=-1)) + 1
    if size < 2:
        return None, None, None, 0
    y = kendall.codes(cells[0].sides[1][used])
    x = np.stack([kendall.codes(cell.sides[0][used]) for cell in cells])
    counts = (1 - np.eye(size, dtype=np.int32)).astype(np.int32)
    without = np.atleast_2d(resampled_tau.tau_b(Resamples((Factor(counts, unit),), "jackknife"), x, y))
    taus = [kendall.tau_b(each, y) for each in x]
    defined = [t for t in taus if np.isfinite(t)]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(cells)), 2)
        if (cells[i].subject.judge == cells[j].subject.judge)
        or (cells[i].subject.eval_prompt == cells[j].subject.eval_prompt)
    ][:_MOST_PAIRS]
    own = _together([spread(row) for row in without])
    paired = _together([spread(without[j] - without[i]) for i, j in pairs])
    return (float(np.median(defined)) if defined else None), own, paired, len(pairs)


def _together(spreads: Sequence[Spread | None]) -> Spread | None:
    """Root mean square of standard deviations, with their median degrees of freedom."""
    some = [part for part in spreads if part is not None]
    if not some:
        return None
    value = float(np.sqrt(np.mean([part.value**2 for part in some])))
    return Spread(value, float(np.median([part.df for part in some])), some[0].clusters)


def _people(matrix: RatingMatrix, criterion: str) -> tuple[Estimate, float]:
    raters = matrix.by_rater(matrix.criteria.index(criterion))
    several = packed(raters.ratings)
    # One-way: it holds whether people are known, and whether they are the same for each story, or not.
    coefficients = icc.family(several, confidence=RANGE[1] - RANGE[0], columns="people")
    count = (~np.isnan(raters.ratings)).sum(axis=1)
    return coefficients["ICC(1,1)"].estimate, float(count[count > 0].mean()) if count.any() else 0.0


def _tests(
    matrix: RatingMatrix, cells: Sequence[Candidate], options: PlanOptions, reasons: dict[str, str]
) -> tuple[tuple[Differences, ...], Differences | None]:
    raters = matrix.by_rater(matrix.criteria.index(str(cells[0].subject.against)))
    if not raters.known and (raters.ascending or not options.positions):
        reasons["test"] = f"{raters.reason}, so nobody can be left out"
        return (), None
    judges = [cell.sides[0] for cell in cells]
    judges.append(np.full(matrix.n, np.nanmean(raters.ratings)))
    tests = []
    for judge in judges:
        d = person_differences(judge, raters.ratings)
        d = d[:, (~np.isnan(d)).any(axis=0)]
        if d.shape[1] >= 2:
            tests.append(differences(d, matrix.story_prompt))
    if len(tests) < len(judges):
        reasons["test"] = "it needs two people with 30 stories each that another person rated too"
        return (), None
    return tuple(tests[:-1]), tests[-1]


def _too_few(prompts: int) -> str:
    return "fewer than 5 story-prompts" if prompts < FEWEST else "undefined without one of the story-prompts"


# Variances of published studies that come with the program, from which a study can be planned without a pilot.

# In place of a criterion: the middle over all of them.
EVERY = "every criterion"

FILE = ("analysis", "planning", "study_variances.json")


@dataclass(frozen=True, slots=True, eq=False)
class StudyFigures:
    """Figures of a published study, one entry per judge and criterion; `words` is its name within a sentence."""

    words: str
    source: str
    notes: tuple[str, ...]
    figures: tuple[Figures, ...]


def study(name: Study) -> StudyFigures:
    """Figures of one published study, from which another can be planned without a pilot."""
    data = orjson.loads(package_file(*FILE).read_bytes())[name]
    figures = tuple(figures_from(each, name) for each in data["figures"])
    return StudyFigures(data["words"], data["source"], tuple(data["notes"]), figures)


def figures_from(data: Mapping[str, Any], name: str) -> Figures:
    """Figures of one judge on one criterion, read from JSON."""
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
    """Figures as mappings and lists, the input of `figures_from`, with four significant digits."""

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
        **cells_of(figures, "story_prompts", "stories_each"),
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
