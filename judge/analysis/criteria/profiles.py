"""Profiles of people and of each judge x Eval-Prompt: how their criteria correlate, and how they use the scale.

A profile has tau between criteria (over stories and over system means), the judge's halo in comparison with people, tau
of each criterion of a judge with the same and other human criteria, and the use of the scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.analysis.criteria.halo import halo_test
from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.options.table_options import CriteriaOptions
from judge.analysis.systems.standings import LEAST_UNITS
from judge.base.estimate import Estimate
from judge.base.records import Scale
from judge.ratings.rating_matrix import RatingMatrix
from judge.stats.bias import halo
from judge.stats.bias.halo import Multitrait
from judge.stats.bias.scale_use import ScaleUse, scale_use
from judge.stats.resampling import bootstrap
from judge.stats.resampling.bootstrap import Resamples

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NOBODY = "undefined: nobody rated these criteria"


@dataclass(frozen=True, slots=True, eq=False)
class TauMatrix:
    """Matrix of tau-b between criteria in rows and criteria in columns; NaN = undefined.

    `n` holds the number of stories or systems behind each value.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tau: Floats
    n: Codes

    @classmethod
    def of(cls, rows: Sequence[str], x: Floats, columns: Sequence[str] = (), y: Floats | None = None) -> TauMatrix:
        """Matrix of tau-b between all rows of x, or, with `y`, between the rows of x and the rows of y.

        Both have shape (criteria, stories) or (criteria, systems), with NaN = no rating. `rows` and `columns` name the
        criteria.
        """
        rated, other = ~np.isnan(x), ~np.isnan(x if y is None else y)
        n = rated.astype(np.int64) @ other.T.astype(np.int64)
        tau = halo.tau_matrix(x) if y is None else halo.tau_matrix(x, y)
        return cls(tuple(rows), tuple(columns or rows), tau, n)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The profile of people or of one judge: correlations between criteria, and use of the scale.

    Attributes
    ----------
    source : Source
        The ratings of people, or of the judge.
    overall, system : TauMatrix
        Tau between criteria over stories, and over system means.
    stories : int
        Number of stories with a rating on two criteria or more.
    halo : Estimate
        Mean tau-b between criteria; n counts pairs of criteria.
    excess : Estimate or None
        Halo compared with people (`halo_test`), in points; None for people.
    across : TauMatrix or None
        Tau between the judge's criteria that people rated too (rows) and the human criteria; None for people, and
        where there is no common criterion.
    multitrait : Multitrait or None
        Summary of `across`.
    use : ScaleUse
        Scale use over all criteria together; `use_of` has the scale use of each criterion.
    off_points : bool
        Whether a criterion has more distinct ratings than its scale has points.
    """

    source: Source
    overall: TauMatrix
    system: TauMatrix
    stories: int
    halo: Estimate
    excess: Estimate | None
    across: TauMatrix | None
    multitrait: Multitrait | None
    use: ScaleUse
    use_of: tuple[ScaleUse, ...]
    off_points: bool


def profiles(
    matrices: Sequence[RatingMatrix], options: CriteriaOptions, scales_by_name: Mapping[str, Scale]
) -> list[Profile]:
    """Profiles of people and of each judge x Eval-Prompt: correlations between criteria, and use of the scale.

    All intervals of a dataset use one set of resamples.
    """
    source_profiles = []
    for matrix in matrices:
        drawn = _drawn(matrix, options)
        group = sources(matrix)
        people = next((source for source in group if source.is_people), None)
        source_profiles += [_profile(source, people, drawn, scales_by_name, options) for source in group]
    return source_profiles


def scales(table: RatingsTable, default: Scale | None = None) -> dict[str, Scale]:
    """Mapping from a criterion (lower case) to its scale in the result folders.

    Criteria without a scale there get `default`, if it is given.
    """
    scales_by_name = {criterion.name.casefold(): criterion.scale for fact in table.facts for criterion in fact.criteria}
    if default is not None:
        for name in table.frame["criterion"].dropna().unique():
            scales_by_name.setdefault(str(name).casefold(), default)
    return scales_by_name


def _drawn(matrix: RatingMatrix, options: CriteriaOptions) -> Resamples | None:
    """Resamples of story-prompts; None without intervals."""
    if options.ci == "none" or np.unique(matrix.story_prompt).size < LEAST_UNITS:
        return None
    return bootstrap.draw(matrix.story_prompt, options.resamples, np.random.default_rng(options.seed), "boot-inputs")


def _profile(
    source: Source,
    people: Source | None,
    drawn: Resamples | None,
    scales_by_name: Mapping[str, Scale],
    options: CriteriaOptions,
) -> Profile:
    matrix, values = source.matrix, source.by_story
    overall = TauMatrix.of(source.criteria, values)
    units = np.unique(matrix.story_prompt).size
    own = _with_interval(halo.mean_tau(overall.tau), values, drawn, units)
    names = [] if people is None or source.is_people else common_criteria(source, people)
    excess, across, summary = None, None, None
    if not source.is_people:
        excess = Estimate.undefined(NOBODY)
        if people is not None and names:
            mine, theirs = source.part(names), people.part(names)
            excess = _excess(mine, theirs, options) if len(source.criteria) > 1 else own
            across = TauMatrix.of(names, mine.by_story, theirs.criteria, theirs.by_story)
            summary = halo.multitrait(across.tau)
    singles = [source.ratings(k) for k in range(len(source.criteria))]
    use_of = tuple(
        _use([single], values[[k]], [name], scales_by_name)
        for k, (single, name) in enumerate(zip(singles, source.criteria, strict=True))
    )
    return Profile(
        source=source,
        overall=overall,
        system=TauMatrix.of(source.criteria, halo.means_by_group(values, matrix.system)),
        stories=int(((~np.isnan(values)).sum(axis=0) >= min(2, len(source.criteria))).sum()),
        halo=own,
        excess=excess,
        across=across,
        multitrait=summary,
        use=_use(singles, values, source.criteria, scales_by_name),
        use_of=use_of,
        off_points=_off_points(source, use_of, scales_by_name),
    )


def _excess(judge: Source, people: Source, options: CriteriaOptions) -> Estimate:
    estimate = halo_test(judge.matrix, list(zip(judge.rows, people.rows, strict=True))).estimate
    return replace(estimate, low=None, high=None, method=None) if options.ci == "none" else estimate


def _with_interval(estimate: Estimate, values: Floats, drawn: Resamples | None, units: int) -> Estimate:
    if drawn is None or not estimate.defined:
        return estimate
    method = "boot-inputs, expanded percentile, 95 %" + (f"; {estimate.method}" if estimate.method else "")
    return bootstrap.expanded(estimate, halo.resampled_mean_tau(values, drawn), units, method)


def _use(
    singles: Sequence[Floats], values: Floats, names: Sequence[str], scales_by_name: Mapping[str, Scale]
) -> ScaleUse:
    """Scale use over several criteria; the ends of the scale are used only if all these criteria share one scale."""
    own = {scales_by_name.get(name.casefold()) for name in names}
    scale = own.pop() if len(own) == 1 else None
    ratings = np.concatenate([single.reshape(-1) for single in singles])
    if scale is None:
        return scale_use(ratings, values)
    return scale_use(ratings, values, step=float(scale.step), scale=(float(scale.min), float(scale.max)))


def _off_points(source: Source, use_of: Sequence[ScaleUse], scales_by_name: Mapping[str, Scale]) -> bool:
    scales_of = (scales_by_name.get(name.casefold()) for name in source.criteria)
    return any(scale and use.distinct > len(scale.points()) for scale, use in zip(scales_of, use_of, strict=True))
