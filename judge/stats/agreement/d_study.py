"""D-study: reliability of a design with other numbers of repeats, judges, Eval-Prompts or story-prompts.

The reliability of means is computed from variance components of single ratings (Brennan 2001, Generalizability Theory,
chapter 4). tau is the set of facets that make up the object of measurement: ``system`` for a system's mean, ``system``
and ``story-prompt`` for a story's score. n' is the number of levels of another facet over which ratings are averaged.

- Universe-score variance: terms with only facets of tau, and terms that add only fixed facets, divided by their n'.
- Relative error: terms with some facets of tau and some others, each divided by the n' of the others.
- Absolute error: relative error plus the terms with no facet of tau.
- Ep² = universe / (universe + relative error) is the reliability of the order of the objects. Phi, with the absolute
  error instead of the relative error, is the reliability of their values.

Negative components count as 0, also in each draw for the intervals. If a component is significantly negative, the model
does not hold, and the reliability is undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judge.base.arrays import Floats
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.stats import near_ties
from judge.stats.agreement.variance_components import VarianceComponents
from judge.stats.estimation.sample_size import RANGE, Number

Coefficient = Literal["relative", "absolute"]
INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability and standard errors of objects (such as systems) whose ratings are averaged over other facets.

    `relative` is Ep² (of the order of the objects), `absolute` Phi (of their values); n counts objects in the data.
    Undefined where nothing varies, and where a variance is significantly negative. `se` is the standard error of one
    object's value in points: root of the absolute error variance. `se_difference` is that of the difference of two
    objects: root of twice the relative error variance."""

    relative: Estimate
    absolute: Estimate
    se: float | None
    se_difference: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The cheapest design that reaches a wanted reliability, or the `reason` why there is none.

    `levels` of each facet, and `calls` for one object (such as a system), are empty and None where no design suffices.
    `limit` is the largest reliability, with infinitely many levels of each facet that may grow; NaN where undefined."""

    levels: Mapping[str, float]
    calls: int | None
    limit: float
    reason: str | None = None


def d_study(
    components: VarianceComponents,
    objects: Sequence[str],
    levels: Mapping[str, float],
    *,
    fixed: Sequence[str] = (),
    confidence: float = 0.95,
) -> Reliability:
    """Reliability of means of objects (such as systems) over numbers of levels of other facets (Brennan 2001, ch. 4).

    `components` are those of single ratings; their draws give the intervals, of coverage `confidence`. `objects` are
    the facets of the object of measurement, such as ``system``. `levels` holds n' of each other facet (may be
    infinite). `fixed` facets are not a sample: their levels would be used again, and interactions with them count as
    universe score.

    SpecError for a facet that was not estimated, a facet without a number of levels, or a number below 1."""
    _check(components, objects, levels)
    n = int(np.prod([components.levels[name] for name in objects]))
    if reason := components.impossible:
        nothing = Estimate.undefined(reason, n=n)
        return Reliability(nothing, nothing, None, None)
    weights = _weights(components, objects, levels, fixed)
    values = np.array([[component.truncated for component in components.components]])
    universe, relative, absolute = (float(part[0]) for part in _parts(values, weights))
    drawn = _parts(np.maximum(components.draws, 0.0), weights)
    tail = 50 * (1 - confidence)

    def estimate(error: float, errors: Floats) -> Estimate:
        if universe + error <= 0:
            return Estimate.undefined("undefined because nothing varies (0/0)", n=n)
        with np.errstate(invalid="ignore"):
            shares = drawn[0] / (drawn[0] + errors)
        shares = shares[~np.isnan(shares)]
        low, high = np.percentile(shares, [tail, 100 - tail])
        method = f"generalized, {100 * confidence:.0f} %, {shares.size} draws"
        return Estimate(universe / (universe + error), n=n, low=float(low), high=float(high), method=method)

    return Reliability(
        relative=estimate(relative, drawn[1]),
        absolute=estimate(absolute, drawn[2]),
        se=float(np.sqrt(absolute)),
        se_difference=float(np.sqrt(2 * relative)),
    )


def smallest(
    components: VarianceComponents,
    objects: Sequence[str],
    target: float,
    *,
    free: Mapping[str, int],
    kept: Mapping[str, float],
    coefficient: Coefficient = "relative",
) -> Plan:
    """Design with the fewest calls for one object (such as a system) that reaches `target`, between 0 and 1.

    `components` and `objects` are as in `d_study`. `free` holds, for each facet that may grow, the largest number of
    levels; all numbers up to it are searched. `kept` holds the levels of the others. `coefficient` is ``relative``
    (Ep²) or ``absolute`` (Phi). Of designs with equally few calls, the one with the highest coefficient is chosen.

    No levels, but a reason, where the target exceeds the limit or cannot be reached within `free`, and where a variance
    is significantly negative or nothing varies. SpecError as in `d_study`, and for a target that is not between 0 and
    1."""
    if not 0 < target < 1:
        raise SpecError(f"a target of {target:g} is not a reliability", hint="give a number between 0 and 1, e.g. 0.8")
    _check(components, objects, {**kept, **free})
    if reason := components.impossible:
        return Plan({}, None, float("nan"), reason)

    def error(levels: Mapping[str, Floats | float]) -> tuple[float, Floats]:
        values = np.array([component.truncated for component in components.components])
        universe, relative, absolute = _parts(values, _weights(components, objects, levels, ()))
        return float(universe), relative if coefficient == "relative" else absolute

    universe, least = error({**kept, **dict.fromkeys(free, INFINITE)})
    if components.total <= 0:
        return Plan({}, None, float("nan"), "undefined because nothing varies (0/0)")
    limit = float(universe / (universe + least)) if universe > 0 else 0.0
    if limit < target:
        return Plan({}, None, limit, _out_of_reach(target, limit, objects))
    allowed = universe * (1 - target) / target
    fewest = _fewest_calls(lambda levels: error(levels)[1], allowed, free, kept)
    if fewest is None:
        most = ", ".join(f"{count} for {name}" for name, count in free.items())
        why = f"{target:g} needs more levels than were searched ({most}); the limit is {limit:.2f}"
        return Plan({}, None, limit, why)
    return Plan(*fewest, limit)


def number_needed(
    components: VarianceComponents,
    objects: Sequence[str],
    target: float,
    facet: str,
    kept: Mapping[str, float],
    *,
    most: int,
) -> Number:
    """Smallest number of levels of `facet` with which Ep² reaches a target, with its 10 to 90 % range from the draws.

    `components`, `objects`, `target` and `kept` are as in `smallest`. Estimate and limits are None if no number reaches
    the target or if it exceeds `most`. Negative variances count as 0, in the estimate and in each draw. A draw in which
    the variance of the objects is 0 needs infinitely many levels; with many such draws, the whole range can lie above
    the estimate. SpecError as in `d_study`."""
    _check(components, objects, {**kept, facet: 1})
    values = np.vstack(
        [[component.truncated for component in components.components], np.maximum(components.draws, 0.0)]
    )
    ends = [_parts(values, _weights(components, objects, {**kept, facet: n}, ())) for n in (INFINITE, 1.0)]
    (universe, base, _), (_, with_one, _) = ends
    allowed = universe * (1 - target) / target
    with np.errstate(divide="ignore", invalid="ignore"):
        need = np.ceil((with_one - base) / (allowed - base) - 1e-9)
    need = np.where((universe > 0) & (base < allowed), np.maximum(1.0, need), INFINITE)
    ordered = np.sort(need[1:])
    places = [ordered[round(share * (ordered.size - 1))] for share in RANGE]
    return Number(*(int(n) if n <= most else None for n in (float(need[0]), *map(float, places))))


def _fewest_calls(
    error: Callable[[Mapping[str, Floats | float]], Floats],
    allowed: float,
    free: Mapping[str, int],
    kept: Mapping[str, float],
) -> tuple[dict[str, float], int] | None:
    """Levels and calls of the cheapest design whose error variance is at most `allowed`; None if there is none."""
    # The error is linear in one over each number, so the facet that may grow most is solved for, not searched.
    solved = max(free, key=lambda name: free[name])
    others = [name for name in free if name != solved]
    grid = np.meshgrid(*(np.arange(1, free[name] + 1, dtype=np.float64) for name in others), indexing="ij")
    levels: dict[str, Floats | float] = {**kept, **dict(zip(others, grid, strict=True))}
    base = error({**levels, solved: INFINITE})
    slope = error({**levels, solved: 1.0}) - base
    with np.errstate(divide="ignore", invalid="ignore"):
        need = np.ceil(np.where(slope > 0, slope / (allowed - base), 0.0) - 1e-9)
    need = np.maximum(1.0, need)
    calls = np.where((base < allowed) & (need <= free[solved]), need, np.inf)
    for number in levels.values():
        calls = calls * number
    if not np.isfinite(calls).any():
        return None
    fewest = float(calls.min())
    final = error({**levels, solved: need})
    best = np.unravel_index(near_ties.lowest(np.where(calls == fewest, final, np.inf).ravel().tolist()), calls.shape)
    chosen = {name: float(axis[best]) for name, axis in zip(others, grid, strict=True)}
    return {**kept, **chosen, solved: float(need[best])}, int(fewest)


def _weights(
    components: VarianceComponents, objects: Sequence[str], levels: Mapping[str, Floats | float], fixed: Sequence[str]
) -> list[tuple[str, Floats | float]]:
    """For each component its kind, "universe", "relative", "absolute" or "" (in no variance), and its weight."""
    out: list[tuple[str, Floats | float]] = []
    for component in components.components:
        # The weight is 1 / (product of the levels of the facets that are not objects). "relative" is part of both
        # errors, "absolute" of the absolute error alone.
        others = component.term.indices - set(objects)
        weight: Floats | float = 1.0
        for name in sorted(others):  # in an order of its own, a set gives another last digit in each process
            weight = weight / levels[name]
        if component.term.indices & set(objects):
            part = "universe" if others <= set(fixed) else "relative"
        else:
            part = "" if others <= set(fixed) else "absolute"
        out.append((part, weight))
    return out


def _parts(values: Floats, weights: Sequence[tuple[str, Floats | float]]) -> tuple[Floats, Floats, Floats]:
    """Universe-score, relative-error and absolute-error variance from components (terms on the last axis)."""
    sums: dict[str, Floats] = {}
    for i, (part, weight) in enumerate(weights):
        sums[part] = sums.get(part, np.float64(0)) + values[..., i] * weight
    zero = np.zeros(values.shape[:-1])
    universe, relative = sums.get("universe", zero), sums.get("relative", zero)
    return universe + zero, relative + zero, relative + sums.get("absolute", zero)


def _check(components: VarianceComponents, objects: Sequence[str], levels: Mapping[str, float]) -> None:
    estimated = set(components.levels)
    strange = (set(objects) | set(levels)) - estimated
    if strange:
        raise SpecError(
            f"the variance of {', '.join(sorted(strange))} was not estimated (known: {', '.join(sorted(estimated))})"
        )
    lacking = estimated - set(objects) - set(levels)
    if lacking:
        raise SpecError(f"a D-study needs a number of levels for {', '.join(sorted(lacking))}")
    none = sorted(name for name, count in levels.items() if count < 1)
    if none:
        raise SpecError(f"a D-study needs 1 or more levels of {', '.join(none)}")


def _out_of_reach(target: float, limit: float, objects: Sequence[str]) -> str:
    if limit > 0:
        return f"{target:g} is out of reach: the limit is {limit:.2f}"
    return f"{target:g} is out of reach: the variance between levels of {' x '.join(objects)} is estimated as 0"
