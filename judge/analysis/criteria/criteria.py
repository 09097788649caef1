"""Do criteria measure different things, and how is the scale used? People and each judge x Eval-Prompt. Names no cause.

Tau between criteria (over stories, and over system means), halo against people, each judge's criteria against people's
same and other criteria, and the use of the scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.criteria.halo import halo_test
from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.options.table_options import CriteriaOptions
from judge.analysis.systems.standings import LEAST_UNITS
from judge.errors import SpecError, unknown
from judge.rating_matrix import RatingMatrix, build
from judge.records import Scale
from judge.stats.bias import halo
from judge.stats.bias.halo import Multitrait
from judge.stats.bias.scale_use import ScaleUse, scale_use
from judge.stats.estimate import Estimate
from judge.stats.resampling import bootstrap, resampled_tau

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NOBODY = "undefined: nobody rated these criteria"


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """What one source's criteria look like.

    Attributes
    ----------
    overall, system : arrays, shape (criteria, criteria)
        Tau-b between criteria over stories, and over system means.
    stories : int
        Stories with a rating on two criteria or more.
    halo : Estimate
        Mean tau-b between criteria; n counts pairs of criteria.
    excess : Estimate or None
        Halo against people (`halo`), in points; None for people.
    common : tuple of str
        Criteria that people rated too, in the judge's words; `across`, shape (common, common): tau-b of the judge's
        criteria (rows) with people's (columns).
    multitrait : Multitrait or None
        Summary of `across`; None for people.
    use : ScaleUse
        Of all criteria's ratings together; `use_of` of each criterion.
    """

    source: Source
    overall: Floats
    system: Floats
    stories: int
    halo: Estimate
    excess: Estimate | None
    common: tuple[str, ...]
    across: Floats
    multitrait: Multitrait | None
    use: ScaleUse
    use_of: tuple[ScaleUse, ...]


def criteria(
    table: RatingsTable, options: CriteriaOptions | None = None, *, view: str = "halo", scale: Scale | None = None
) -> pd.DataFrame:
    """One of the long tables about criteria.

    Parameters
    ----------
    view : str
        ``halo``: one row a source: `criteria, stories, halo, halo_low, halo_high` (mean tau-b), `excess, excess_low,
        excess_high` (points that the judge adds to a criterion for one point of people's other criteria, at equal
        ratings by people of the criterion itself), `validity, heterotrait, own_best, own_rows`. ``pairs``: one row a
        level (overall, system) and pair of criteria: `level, criterion, with, tau, n`. ``multitrait``: `criterion` of
        the judge, `against` of people, `tau, n`. ``scale-use``: one row a criterion, and one for all: `ratings,
        entropy, modal_share, modal_point, distinct, ties, outside`. All have `dataset, run, judge, eval_prompt` and
        `reason`.
    scale : Scale, optional
        For criteria whose scale no result folder tells.
    """
    options = options or CriteriaOptions()
    found = profiles(build(table, drop_systems=options.drop_systems), options, scales(table, scale))
    return frame_of(found, view)


def profiles(matrices: Sequence[RatingMatrix], options: CriteriaOptions, known: Mapping[str, Scale]) -> list[Profile]:
    """The profile of people and of each judge x Eval-Prompt; all intervals of a dataset from one set of resamples."""
    found = []
    for matrix in matrices:
        tau = _resampled_tau(matrix, options)
        group = sources(matrix)
        people = next((source for source in group if source.is_people), None)
        found += [_profile(source, people, tau, known, options) for source in group]
    return found


def scales(table: RatingsTable, default: Scale | None = None) -> dict[str, Scale]:
    """Criterion (lower case) -> its scale, as far as result folders know them; `default` for people's others."""
    found = {criterion.name.casefold(): criterion.scale for fact in table.facts for criterion in fact.criteria}
    if default is not None:
        for name in table.frame["criterion"].dropna().unique():
            found.setdefault(str(name).casefold(), default)
    return found


def _resampled_tau(matrix: RatingMatrix, options: CriteriaOptions) -> halo.Resampled | None:
    """Tau-b of two vectors of codes in each resample, each pair of vectors once; None where there is no interval."""
    if options.ci == "none" or np.unique(matrix.story_prompt).size < LEAST_UNITS:
        return None
    drawn = bootstrap.draw(matrix.story_prompt, options.resamples, np.random.default_rng(options.seed), "boot-inputs")
    made: dict[bytes, Floats] = {}

    def tau(x: Codes, y: Codes) -> Floats:
        key = x.tobytes() + y.tobytes()
        if key not in made:
            made[key] = resampled_tau.tau_b(drawn, x, y)
        return made[key]

    return tau


def _profile(
    source: Source,
    people: Source | None,
    tau: halo.Resampled | None,
    known: Mapping[str, Scale],
    options: CriteriaOptions,
) -> Profile:
    matrix, values = source.matrix, source.by_story
    overall = halo.tau_matrix(values)
    units = np.unique(matrix.story_prompt).size
    own = _with_interval(halo.mean_tau(overall), tau, units, lambda t: halo.resampled_mean_tau(values, t))
    names = [] if people is None or source.is_people else common_criteria(source, people)
    excess, across, summary = None, np.empty((0, 0)), None
    if not source.is_people:
        excess = Estimate.undefined(NOBODY)
        if people is not None and names:
            theirs, mine = people.part(names).by_story, source.part(names).by_story
            excess = _excess(source.part(names), people.part(names), options) if len(source.criteria) > 1 else own
            across = halo.tau_matrix(mine, theirs)
            summary = halo.multitrait(across)
    singles = [source.ratings(k) for k in range(len(source.criteria))]
    use_of = tuple(
        _use([single], values[[k]], [name], known)
        for k, (single, name) in enumerate(zip(singles, source.criteria, strict=True))
    )
    return Profile(
        source=source,
        overall=overall,
        system=halo.tau_matrix(halo.means_by_group(values, matrix.system)),
        stories=int(((~np.isnan(values)).sum(axis=0) >= min(2, len(source.criteria))).sum()),
        halo=own,
        excess=excess,
        common=tuple(names),
        across=across,
        multitrait=summary,
        use=_use(singles, values, source.criteria, known),
        use_of=use_of,
    )


def _excess(judge: Source, people: Source, options: CriteriaOptions) -> Estimate:
    estimate = halo_test(judge.matrix, list(zip(judge.rows, people.rows, strict=True))).estimate
    return replace(estimate, low=None, high=None, method=None) if options.ci == "none" else estimate


def _with_interval(
    estimate: Estimate,
    tau: halo.Resampled | None,
    units: int,
    statistic: Callable[[halo.Resampled], Floats],
) -> Estimate:
    if tau is None or not estimate.defined:
        return estimate
    method = "boot-inputs, expanded percentile, 95 %" + (f"; {estimate.method}" if estimate.method else "")
    return bootstrap.expanded(estimate, statistic(tau), units, method)


def _use(singles: Sequence[Floats], values: Floats, names: Sequence[str], known: Mapping[str, Scale]) -> ScaleUse:
    """Scale use over criteria; the scale's ends count only where all of them share one."""
    own = {known.get(name.casefold()) for name in names}
    scale = own.pop() if len(own) == 1 else None
    ratings = np.concatenate([single.reshape(-1) for single in singles])
    if scale is None:
        return scale_use(ratings, values)
    return scale_use(ratings, values, step=float(scale.step), scale=(float(scale.min), float(scale.max)))


def frame_of(found: Sequence[Profile], view: str) -> pd.DataFrame:
    """The long table named `view` of profiles made before."""
    if view not in VIEWS:
        raise SpecError(unknown("view", view, VIEWS))
    rows = [
        {"dataset": one.source.matrix.dataset, **one.source.labels(), **row}
        for one in found
        for row in VIEWS[view](one)
    ]
    return pd.DataFrame(rows)


def _halo_rows(one: Profile) -> Iterator[dict[str, Any]]:
    excess = one.excess or Estimate(None, 0)
    summary = one.multitrait
    reasons = dict.fromkeys(e.reason for e in (one.halo, excess) if e.reason)
    yield {
        "criteria": len(one.source.criteria),
        "stories": one.stories,
        "halo": one.halo.value,
        "halo_low": one.halo.low,
        "halo_high": one.halo.high,
        "excess": excess.value,
        "excess_low": excess.low,
        "excess_high": excess.high,
        "validity": summary.validity.value if summary else None,
        "heterotrait": summary.heterotrait.value if summary else None,
        "own_best": summary.own_best if summary else None,
        "own_rows": summary.rows if summary else None,
        "reason": "; ".join(reasons) or None,
    }


def _pair_rows(one: Profile) -> Iterator[dict[str, Any]]:
    values = one.source.by_story
    means = halo.means_by_group(values, one.source.matrix.system)
    for level, matrix, rows in (("overall", one.overall, values), ("system", one.system, means)):
        for i, name in enumerate(one.source.criteria):
            for j in range(i):
                n = int((~np.isnan(rows[i]) & ~np.isnan(rows[j])).sum())
                yield {"level": level, "criterion": name, "with": one.source.criteria[j], **_tau(matrix[i, j], n)}


def _multitrait_rows(one: Profile) -> Iterator[dict[str, Any]]:
    if one.multitrait is None:
        return
    mine = one.source.part(one.common).by_story
    people = next(source for source in sources(one.source.matrix) if source.is_people).part(one.common)
    for i, name in enumerate(one.common):
        for j, other in enumerate(people.criteria):
            n = int((~np.isnan(mine[i]) & ~np.isnan(people.by_story[j])).sum())
            yield {"criterion": name, "against": other, **_tau(one.across[i, j], n)}


def _tau(value: float, n: int) -> dict[str, Any]:
    if np.isnan(value):
        return {"tau": None, "n": n, "reason": "undefined: a constant side, or fewer than 3 stories or systems"}
    return {"tau": float(value), "n": n, "reason": None}


def _use_rows(one: Profile) -> Iterator[dict[str, Any]]:
    parts = zip((*one.source.criteria, "all"), (*one.use_of, one.use), strict=True)
    for name, use in parts if len(one.source.criteria) > 1 else list(parts)[:1]:
        yield {
            "criterion": name,
            "ratings": use.entropy.n,
            "entropy": use.entropy.value,
            "modal_share": use.modal_share.value,
            "modal_point": use.modal_point,
            "distinct": use.distinct,
            "ties": use.ties.value,
            "outside": use.outside,
            "reason": use.entropy.reason or use.ties.reason,
        }


VIEWS: dict[str, Callable[[Profile], Iterator[dict[str, Any]]]] = {
    "halo": _halo_rows,
    "pairs": _pair_rows,
    "multitrait": _multitrait_rows,
    "scale-use": _use_rows,
}
"""The long tables by name."""
