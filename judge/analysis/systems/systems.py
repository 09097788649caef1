"""How good each system's stories are: means, ranks, differences, groups not told apart. Never names a winner.

For people and for every judge x Eval-Prompt the same figures for the same systems, criterion by criterion and for the
average over criteria (a story's mean over criteria, where each is rated). All ranks come from one set of resamples of
story-prompts, so that systems are compared on the same drawn story-prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.rating_sources import Source, sources
from judge.analysis.options.table_options import SystemsOptions
from judge.rating_matrix import RatingMatrix, build
from judge.stats.estimate import Estimate
from judge.stats.estimation import means, paired_differences
from judge.stats.estimation.paired_differences import Difference
from judge.stats.ordering import ranking
from judge.stats.resampling import bootstrap

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable

Floats = NDArray[np.float64]

AVERAGE = "average"
"""Stands where a criterion's name would: the mean over all criteria."""

LEAST_UNITS = 5
"""With fewer story-prompts a resampled interval says more about their number than about the systems."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """All systems as one source rates them on one criterion, or on average; lists run over the matrix's systems."""

    source: Source
    criterion: str
    by_story: Floats
    mean: list[Estimate]
    story_prompts: list[int]
    ratings: list[int]
    unrated: list[int]
    rank: list[Estimate]
    best: Floats
    differences: list[Difference]

    @property
    def higher(self) -> NDArray[np.bool_]:
        """Whether system i was found higher than j, shape (systems, systems)."""
        return paired_differences.told_apart(self.differences, len(self.mean))

    @property
    def groups(self) -> list[str]:
        """Letters: systems that share one were not told apart."""
        higher = self.higher
        found = [np.nan if one.value is None else one.value for one in self.mean]
        return ranking.letters(higher | higher.T, np.array(found))


def systems(table: RatingsTable, options: SystemsOptions | None = None) -> pd.DataFrame:
    """Every system as people and every judge x Eval-Prompt rate it, long: one row for each system and criterion.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, system, mean, low, high, stories, story_prompts, ratings, unrated,
        rank, rank_low, rank_high, best, set_low, set_high, group, method, reason`. For people `judge` is "people".
        `rank_low` to `rank_high` is the spread of the rank over resamples, `best` the share of resamples with the
        highest mean, `set_low` to `set_high` the ranks that tested differences leave possible; systems that share a
        letter of `group` were not told apart. `unrated` counts stories that were asked about and have no rating.
    """
    options = options or SystemsOptions()
    return frame_of(standings(build(table, drop_systems=options.drop_systems), options))


def differences(table: RatingsTable, options: SystemsOptions | None = None) -> pd.DataFrame:
    """Every pair of systems on the story-prompts that both have, for people and every judge x Eval-Prompt.

    Returns
    -------
    DataFrame
        `dataset, run, judge, eval_prompt, criterion, system, against, difference, low, high, n, t, p, p_adjusted,
        family, test, reason`. `difference` is the mean of system minus against over `n` story-prompts; the interval is
        for one pair; `p_adjusted` is Holm's over the `family` tests that `options.holm_over` declares.
    """
    options = options or SystemsOptions()
    return difference_frame(standings(build(table, drop_systems=options.drop_systems), options), options)


def frame_of(found: Sequence[Standing]) -> pd.DataFrame:
    """`systems` from standings made before."""
    return pd.DataFrame([row for one in found for row in _rows(one)], columns=COLUMNS)


def difference_frame(found: Sequence[Standing], options: SystemsOptions) -> pd.DataFrame:
    """`differences` from standings made before."""
    sizes = family_sizes(found, options)
    return pd.DataFrame([row for one in found for row in difference_rows(one, sizes)], columns=DIFFERENCE_COLUMNS)


def standings(matrices: Sequence[RatingMatrix], options: SystemsOptions) -> list[Standing]:
    """Each source's standing on each criterion, then on average; p values adjusted over the declared family."""
    found: list[Standing] = []
    for matrix in matrices:
        drawn = _draw(matrix, options)
        for source in sources(matrix):
            found += _standings(source, options, drawn)
    if options.holm_over == "table":
        whole = paired_differences.adjusted([one for standing in found for one in standing.differences])
        sizes = np.cumsum([0, *(len(standing.differences) for standing in found)])
        return [replace(one, differences=whole[a:b]) for one, a, b in zip(found, sizes, sizes[1:], strict=False)]
    return [replace(one, differences=paired_differences.adjusted(one.differences)) for one in found]


def family_sizes(found: Sequence[Standing], options: SystemsOptions) -> dict[int, int]:
    """Number of tests in the family of each standing, by `id` of the standing."""
    tests = {id(one): sum(pair.p is not None for pair in one.differences) for one in found}
    whole = sum(tests.values())
    return dict.fromkeys(tests, whole) if options.holm_over == "table" else tests


def average(source: Source) -> Floats:
    """Each story's mean over the source's criteria, shape (n,); NaN unless every criterion is rated."""
    return np.asarray(source.by_story.mean(axis=0), dtype=np.float64)


def pairs_of(values: Floats, matrix: RatingMatrix) -> list[Difference]:
    """All differences between systems of stories' ratings (n,), p adjusted over them."""
    table = paired_differences.by_story_prompt(values, matrix.system, matrix.story_prompt, len(matrix.systems))
    return paired_differences.adjusted(paired_differences.all_pairs(table))


def _draw(matrix: RatingMatrix, options: SystemsOptions) -> bootstrap.Resamples | None:
    if np.unique(matrix.story_prompt).size < LEAST_UNITS:
        return None
    rng = np.random.default_rng(options.seed)
    return bootstrap.draw(matrix.story_prompt, options.resamples, rng, "boot-inputs")


def _standings(source: Source, options: SystemsOptions, drawn: bootstrap.Resamples | None) -> Iterator[Standing]:
    matrix, number = source.matrix, len(source.matrix.systems)
    several = len(source.criteria) > 1
    names = [*source.criteria, *([AVERAGE] if several else [])]
    values = np.vstack([source.by_story, average(source)]) if several else source.by_story
    singles = _singles(source) if options.mean_interval == "as-published" else [np.empty((matrix.n, 0))] * len(names)
    counts = np.vstack([source.counts, source.counts.sum(axis=0)])
    wanted = np.vstack([source.wanted, source.wanted.any(axis=0)])
    moved = None if drawn is None else drawn.values(means.resampled(values, matrix.system, number))
    for k, name in enumerate(names):
        resampled = np.empty((0, number)) if moved is None else moved[:, k]
        members = [matrix.system == s for s in range(number)]
        rated = ~np.isnan(values[k])
        point = np.array([values[k][m & rated].mean() if (m & rated).any() else np.nan for m in members])
        table = paired_differences.by_story_prompt(values[k], matrix.system, matrix.story_prompt, number)
        yield Standing(
            source=source,
            criterion=name,
            by_story=values[k],
            mean=[_mean(values[k], singles[k], m, matrix, options, resampled[:, s]) for s, m in enumerate(members)],
            story_prompts=[int(np.unique(matrix.story_prompt[m & rated]).size) for m in members],
            ratings=[int(counts[k][m].sum()) for m in members],
            unrated=[int((m & wanted[k] & ~rated).sum()) for m in members],
            rank=_ranked(point, resampled, drawn is not None),
            best=ranking.chance_of_best(point, resampled),
            differences=paired_differences.all_pairs(table),
        )


def _singles(source: Source) -> list[Floats]:
    """Single ratings (n, columns) of each criterion, then, where there are several, of all."""
    singles = [source.ratings(k) for k in range(len(source.criteria))]
    return [*singles, np.hstack(singles)] if len(singles) > 1 else singles


def _ranked(point: Floats, resampled: Floats, drawn: bool) -> list[Estimate]:
    found = ranking.rank_intervals(point, resampled)
    if drawn:
        return found
    why = f"no interval: fewer than {LEAST_UNITS} story-prompts to resample"
    return [replace(one, reason=why) if one.defined else one for one in found]


def _mean(
    values: Floats,
    singles: Floats,
    member: NDArray[np.bool_],
    matrix: RatingMatrix,
    options: SystemsOptions,
    resampled: Floats,
) -> Estimate:
    """One system's mean with the interval asked for; `n` counts stories, or, as published, ratings."""
    honest = means.clustered(values[member], matrix.story_prompt[member])
    if options.mean_interval == "clustered" or not honest.defined:
        return honest
    if honest.n < 2:
        return replace(honest, reason="no interval: one story only")
    if options.mean_interval == "as-published":
        return means.as_independent(singles[member])
    units = np.unique(matrix.story_prompt[member][~np.isnan(values[member])]).size
    if units < LEAST_UNITS:
        why = f"no interval: fewer than {LEAST_UNITS} story-prompts to resample"
        return Estimate(honest.value, honest.n, reason=why)
    return bootstrap.expanded(
        Estimate(honest.value, honest.n), resampled, units, "boot-inputs, expanded percentile, 95 %"
    )


COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "mean", "low", "high", "stories"),
    *("story_prompts", "ratings", "unrated", "rank", "rank_low", "rank_high", "best", "set_low", "set_high", "group"),
    *("method", "reason"),
]
"""Columns of `systems`, in order."""

DIFFERENCE_COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "against", "difference", "low", "high", "n"),
    *("t", "p", "tail", "p_adjusted", "family", "test", "reason"),
]
"""Columns of `differences`, in order."""


def _rows(one: Standing) -> Iterator[dict[str, Any]]:
    sets, groups = ranking.rank_sets(one.higher), one.groups
    matrix = one.source.matrix
    for s, name in enumerate(matrix.systems):
        mean, rank = one.mean[s], one.rank[s]
        reasons = dict.fromkeys(reason for reason in (mean.reason, rank.reason) if reason)
        stories = int((~np.isnan(one.by_story[matrix.system == s])).sum())
        yield {
            "dataset": matrix.dataset,
            **one.source.labels(),
            "criterion": one.criterion,
            "system": name,
            "mean": mean.value,
            "low": mean.low,
            "high": mean.high,
            "stories": stories,
            "story_prompts": one.story_prompts[s],
            "ratings": one.ratings[s],
            "unrated": one.unrated[s],
            "rank": rank.value,
            "rank_low": rank.low,
            "rank_high": rank.high,
            "best": None if np.isnan(one.best[s]) else float(one.best[s]),
            "set_low": sets[s][0] if rank.defined else None,
            "set_high": sets[s][1] if rank.defined else None,
            "group": groups[s],
            "method": mean.method,
            "reason": "; ".join(reasons) or None,
        }


def difference_rows(one: Standing, sizes: dict[int, int]) -> Iterator[dict[str, Any]]:
    """One row a pair of systems, the system with the higher mean first."""
    matrix = one.source.matrix
    for pair in one.differences:
        turn = (pair.estimate.value or 0.0) < 0
        first, second = (pair.second, pair.first) if turn else (pair.first, pair.second)
        estimate, sign = pair.estimate, -1.0 if turn else 1.0
        ends = [None if end is None else sign * end for end in (estimate.low, estimate.high)]
        yield {
            "dataset": matrix.dataset,
            **one.source.labels(),
            "criterion": one.criterion,
            "system": matrix.systems[first],
            "against": matrix.systems[second],
            "difference": None if estimate.value is None else sign * estimate.value,
            "low": min((end for end in ends if end is not None), default=None),
            "high": max((end for end in ends if end is not None), default=None),
            "n": estimate.n,
            "t": None if pair.t is None else sign * pair.t,
            "p": pair.p,
            "tail": None if pair.p is None else "two-sided",
            "p_adjusted": pair.p_adjusted,
            "family": sizes[id(one)],
            "test": pair.test,
            "reason": estimate.reason,
        }
