"""Compares systems by human ratings and by judges' ratings: means, ranks, differences. No winner is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import assert_never

import numpy as np
import pandas as pd

from judge.analysis.coverage.coverage import scales_of
from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers, scale_of
from judge.analysis.inputs.rating_sources import Source, common_criteria, sources
from judge.analysis.inputs.resamples import LEAST_UNITS, story_prompts_drawn
from judge.analysis.options.signature import Signed, joined, signature_parts
from judge.analysis.options.table_options import SystemsOptions
from judge.base.arrays import Floats, Masks
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import means, paired_differences
from judge.stats.estimation.paired_differences import Difference
from judge.stats.ordering import ranking
from judge.stats.resampling import bootstrap

# Tests whether judges find the same differences between systems as people, by counting pairs of systems.

# Compares systems by the ratings of their stories: means, ranks, differences, and groups without significant
# differences. No winner is named.


# Stands where a criterion's name would: the mean over all criteria.
AVERAGE = "average"


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Results of all systems by one source (people, or a judge with an Eval-Prompt), on one criterion or on average.
    Each list and `best` has one entry for each system, in the order of the rating matrix, except `differences`. `rank`
    has intervals over resamples; `best` is the share of resamples in which the system has the highest mean. `unrated`
    counts stories without a rating although the source was asked. `differences` has all pairs, the higher mean first,
    with p adjusted over `family` tests. `sets` are the lowest and highest rank consistent with these; systems that
    share a letter of `groups` do not differ significantly."""

    source: Source
    criterion: str
    mean: list[Estimate]
    stories: list[int]
    story_prompts: list[int]
    ratings: list[int]
    unrated: list[int]
    rank: list[Estimate]
    best: Floats
    differences: list[Difference]
    family: int = 0
    sets: list[tuple[int, int]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)


def standings(
    matrices: Sequence[RatingMatrix], options: SystemsOptions, scales: Mapping[str, means.Bounds]
) -> list[Standing]:
    """Results of all systems by each source on each criterion, then on average. p is adjusted over the family of
    `options.holm_over`. `scales` has the known ends of scales; intervals of means do not leave them."""
    all_standings: list[Standing] = []
    for matrix in matrices:
        drawn = story_prompts_drawn(matrix, options.resamples, options.seed)
        for source in sources(matrix):
            all_standings += _standings(source, options, drawn, scales)
    if options.holm_over == "table":
        pairs = [pair for standing in all_standings for pair in standing.differences]
        whole, tests = iter(paired_differences.adjusted(pairs)), _tests(pairs)
        return [_judged(standing, [next(whole) for _ in standing.differences], tests) for standing in all_standings]
    return [
        _judged(standing, paired_differences.adjusted(standing.differences), _tests(standing.differences))
        for standing in all_standings
    ]


def _tests(pairs: Sequence[Difference]) -> int:
    return sum(pair.p is not None for pair in pairs)


def _judged(standing: Standing, differences: Sequence[Difference], family: int) -> Standing:
    higher = paired_differences.told_apart(differences, len(standing.mean))
    mean_values = [np.nan if mean.value is None else mean.value for mean in standing.mean]
    return replace(
        standing,
        differences=[pair.higher_first for pair in differences],
        family=family,
        sets=ranking.rank_sets(higher),
        groups=ranking.letters(higher | higher.T, np.array(mean_values)),
    )


def average(source: Source) -> Floats:
    """Mean of each story's ratings over the source's criteria; NaN for a story without a rating on one of them."""
    return np.asarray(source.by_story.mean(axis=0), dtype=np.float64)


def pairs_of(values: Floats, matrix: RatingMatrix) -> list[Difference]:
    """Differences of all pairs of systems' means, with p adjusted over these. `values` has one rating per story."""
    table = paired_differences.by_story_prompt(values, matrix.system, matrix.story_prompt, len(matrix.systems))
    return paired_differences.adjusted(paired_differences.all_pairs(table))


def _standings(
    source: Source, options: SystemsOptions, drawn: bootstrap.Resamples | None, scales: Mapping[str, means.Bounds]
) -> Iterator[Standing]:
    matrix, number = source.matrix, len(source.matrix.systems)
    several = len(source.criteria) > 1
    names = [*source.criteria, *([AVERAGE] if several else [])]
    values = np.vstack([source.by_story, average(source)]) if several else source.by_story
    singles = _singles(source) if options.mean_interval == "as-published" else [np.empty((matrix.n, 0))] * len(names)
    counts = np.vstack([source.counts, source.counts.sum(axis=0)])
    wanted = np.vstack([source.wanted, source.wanted.any(axis=0)])
    moved = None if drawn is None else drawn.values(means.resampled(values, matrix.system, number))
    ends = np.array([scales.get(name, (-np.inf, np.inf)) for name in source.criteria])
    ends = np.vstack([ends, ends.mean(axis=0)])
    for k, name in enumerate(names):
        low, high = (float(end) for end in ends[k])
        resampled = np.empty((0, number)) if moved is None else moved[:, k]
        members = [matrix.system == s for s in range(number)]
        rated = ~np.isnan(values[k])
        point = np.array([values[k][m & rated].mean() if (m & rated).any() else np.nan for m in members])
        table = paired_differences.by_story_prompt(values[k], matrix.system, matrix.story_prompt, number)
        yield Standing(
            source=source,
            criterion=name,
            mean=[
                means.within(_mean(values[k], singles[k], m, matrix, options, resampled[:, s]), (low, high))
                for s, m in enumerate(members)
            ],
            stories=[int((m & rated).sum()) for m in members],
            story_prompts=[int(np.unique(matrix.story_prompt[m & rated]).size) for m in members],
            ratings=[int(counts[k][m].sum()) for m in members],
            unrated=[int((m & wanted[k] & ~rated).sum()) for m in members],
            rank=_ranked(point, resampled, drawn is not None),
            best=ranking.chance_of_best(point, resampled),
            differences=paired_differences.all_pairs(table),
        )


def _singles(source: Source) -> list[Floats]:
    """Single ratings by criterion (stories x raters or repeats); of several, last the columns of all."""
    singles = [source.ratings(k) for k in range(len(source.criteria))]
    return [*singles, np.hstack(singles)] if len(singles) > 1 else singles


def _ranked(point: Floats, resampled: Floats, drawn: bool) -> list[Estimate]:
    intervals = ranking.rank_intervals(point, resampled)
    if drawn:
        return intervals
    why = f"no interval: fewer than {LEAST_UNITS} story-prompts to resample"
    return [replace(interval, reason=why) if interval.defined else interval for interval in intervals]


def _mean(
    values: Floats, singles: Floats, member: Masks, matrix: RatingMatrix, options: SystemsOptions, resampled: Floats
) -> Estimate:
    honest = means.clustered(values[member], matrix.story_prompt[member])
    if options.mean_interval == "clustered" or not honest.defined:
        return honest
    if honest.n < 2:
        return replace(honest, reason="no interval: one story only")
    if options.mean_interval == "as-published":
        # `n` then counts ratings, else stories.
        return means.as_independent(singles[member])
    if options.mean_interval != "boot":
        assert_never(options.mean_interval)
    units = np.unique(matrix.story_prompt[member][~np.isnan(values[member])]).size
    if units < LEAST_UNITS:
        why = f"no interval: fewer than {LEAST_UNITS} story-prompts to resample"
        return Estimate(honest.value, honest.n, reason=why)
    return bootstrap.expanded(
        Estimate(honest.value, honest.n), resampled, units, "boot-inputs, expanded percentile, 95 %"
    )


@dataclass(frozen=True, slots=True)
class Separated:
    """Pairs of systems that differ significantly by one judge with one Eval-Prompt, and by people, on the mean of the
    criteria that both rated. `level` is the judge's mean rating minus the human mean, clustered by story-prompt. Of the
    pairs that differ by `people` (Holm, 5 %), `same` differ by the judge in the same direction, `silent` not
    significantly, `reversed` in the opposite direction; `alone` differ only by the judge. `pairs` counts all."""

    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criteria: int
    stories: int
    level: Estimate
    people: int
    same: int
    silent: int
    reversed: int
    alone: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Separation(Signed):
    """Counts for each judge and Eval-Prompt that rated a criterion which people rated too."""

    rows: tuple[Separated, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge x Eval-Prompt; `level` has the interval `level_low` to `level_high`."""
        names = [field.name for field in fields(Separated)]
        ends = ["level_low", "level_high"]
        rows = [
            cells_of(row, *names, level_low=row.level.low, level_high=row.level.high) | {"level": row.level.value}
            for row in self.rows
        ]
        return self.signed(rows, [*names, *ends])


def separation(table: RatingsTable, options: SystemsOptions | None = None) -> Separation:
    """Pairs of systems with the same, and with another, significant difference as by people, for every judge."""
    options = options or SystemsOptions()
    return separation_of(table, build(table, drop_systems=options.drop_systems), options)


def separation_of(table: RatingsTable, matrices: Sequence[RatingMatrix], options: SystemsOptions) -> Separation:
    """`separation` from rating matrices that are already built."""
    rows = tuple(row for matrix in matrices for row in beside_people(matrix))
    return Separation(rows, signature_parts=signature_parts(table, matrices, options, intervals="clustered"), notes=())


def beside_people(matrix: RatingMatrix) -> Iterator[Separated]:
    """A row for each judge x Eval-Prompt of one dataset; nothing without human ratings or with only one system."""
    matrix_sources = sources(matrix)
    if not matrix_sources or not matrix_sources[0].is_people or len(matrix.systems) < 2:
        return
    for judge in matrix_sources[1:]:
        if names := common_criteria(matrix_sources[0], judge):
            yield _beside_people(matrix_sources[0], judge, names)


def _beside_people(people: Source, judge: Source, names: Sequence[str]) -> Separated:
    matrix = people.matrix
    x, y = (average(source.part(names)) for source in (judge, people))
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    number = len(matrix.systems)
    mine, theirs = (paired_differences.told_apart(pairs_of(side, matrix), number) for side in (x, y))
    return Separated(
        dataset=matrix.dataset,
        **cells_of(judge, "run", "judge", "eval_prompt"),
        criteria=len(names),
        stories=int(both.sum()),
        level=means.clustered(x - y, matrix.story_prompt),
        people=int(theirs.sum()),
        same=int((mine & theirs).sum()),
        silent=int((theirs & ~mine & ~mine.T).sum()),
        reversed=int((mine.T & theirs).sum()),
        alone=int((mine & ~theirs & ~theirs.T).sum()),
        pairs=number * (number - 1) // 2,
    )


# Columns of `Systems.frame`, in order.
COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "mean", "low", "high", "stories"),
    *("story_prompts", "ratings", "unrated", "rank", "rank_low", "rank_high", "best", "set_low", "set_high", "group"),
    *("method", "reason"),
]

# Columns of `Systems.differences`, in order.
DIFFERENCE_COLUMNS = [
    *("dataset", "run", "judge", "eval_prompt", "criterion", "system", "against", "difference", "low", "high", "n"),
    *("t", "p", "tail", "p_adjusted", "family", "test", "reason"),
]


@dataclass(frozen=True, slots=True, eq=False)
class Systems(Signed):
    """Ratings of every system by people and by every judge x Eval-Prompt, on each criterion, then on average. Labels
    are averaged as codes: with two, the mean is the share of the second. `signature_parts` describe the means and
    ranks, `difference_parts` the pairwise differences. `labelled` datasets have reference labels that no reader gave.
    """

    standings: tuple[Standing, ...]
    separation: Separation
    options: SystemsOptions
    matrices: tuple[RatingMatrix, ...] = field(repr=False)
    difference_parts: tuple[str, ...]
    labelled: frozenset[str] = frozenset()

    def share_of(self, standing: Standing) -> str | None:
        """The second of two labels: the means are then shares of stories with it. None on other scales, and for an
        average over criteria whose labels differ."""
        names = standing.source.criteria if standing.criterion == AVERAGE else (standing.criterion,)
        scales = [scale_of(standing.source.matrix, name) for name in names]
        words = {None if scale is None or scale.positive_code is None else scale.labels[1] for scale in scales}
        return words.pop() if len(words) == 1 else None

    @property
    def difference_signature(self) -> str:
        """Signature line of tables of differences."""
        return joined(self.difference_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each system, criterion and source (`judge` is "people" for people).

        `rank_low` to `rank_high` is the interval of the rank over resamples, and `best` the share of resamples in which
        the system has the highest mean. `set_low` to `set_high` are the ranks consistent with the tested differences.
        Systems that share a letter of `group` do not differ significantly. `unrated` counts stories without a rating
        although the source was asked about them."""
        return self.signed((row for standing in self.standings for row in _means(standing)), COLUMNS)

    @property
    def differences(self) -> pd.DataFrame:
        """One row for each pair of systems: `difference` is the mean of `system` minus `against` over the `n`
        story-prompts that both have, with an interval for this pair alone. `p_adjusted` is by Holm's method over the
        `family` of `options.holm_over`."""
        rows = [row for standing in self.standings for row in _pairs(standing)]
        return signed(pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS), self.difference_signature, self.notes)


def systems(table: RatingsTable, options: SystemsOptions | None = None) -> Systems:
    """Means, ranks, differences and groups of systems, and significant differences that judges share with people."""
    options = options or SystemsOptions()
    table = numbers(table)
    matrices = build(table, drop_systems=options.drop_systems)
    return Systems(
        standings=tuple(standings(matrices, options, scales_of(table))),
        separation=separation_of(table, matrices, options),
        options=options,
        matrices=matrices,
        signature_parts=signature_parts(table, matrices, options),
        difference_parts=signature_parts(table, matrices, options, intervals="paired-t"),
        notes=table.notes,
        labelled=frozenset(fact.dataset for fact in table.facts if fact.labels_note),
    )


def _about(standing: Standing) -> dict[str, object]:
    return {"dataset": standing.source.matrix.dataset, **standing.source.labels(), "criterion": standing.criterion}


def _means(standing: Standing) -> Iterator[dict[str, object]]:
    for s, name in enumerate(standing.source.matrix.systems):
        mean, rank = standing.mean[s], standing.rank[s]
        reasons = dict.fromkeys(reason for reason in (mean.reason, rank.reason) if reason)
        low, high = standing.sets[s] if rank.defined else (None, None)
        counts = {key: getattr(standing, key)[s] for key in ("stories", "story_prompts", "ratings", "unrated")}
        best = None if np.isnan(standing.best[s]) else float(standing.best[s])
        yield (
            _about(standing)
            | {"system": name, "mean": mean.value, "low": mean.low, "high": mean.high, **counts}
            | {"rank": rank.value, "rank_low": rank.low, "rank_high": rank.high, "best": best}
            | {"set_low": low, "set_high": high, "group": standing.groups[s]}
            | {"method": mean.method, "reason": "; ".join(reasons) or None}
        )


def _pairs(standing: Standing) -> Iterator[dict[str, object]]:
    names = standing.source.matrix.systems
    for pair in standing.differences:
        estimate = pair.estimate
        yield (
            _about(standing)
            | {"system": names[pair.first], "against": names[pair.second], "difference": estimate.value}
            | cells_of(estimate, "low", "high", "n", "reason")
            | cells_of(pair, "t", "p", "p_adjusted", "test", family=standing.family)
            | {"tail": None if pair.p is None else "two-sided"}
        )
