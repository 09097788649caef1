"""Where judge and people part: reasons that stand where people rate higher or lower than they do for that rating.

"The judge's rating minus people's, by topic" would be significant for every topic, also where people's ratings are
permuted: a topic goes with a rating, and ratings regress to the mean. So a text's *excess* is what people give on
average to stories of the same system with the same rating by the judge, Eval-Prompt and criterion, minus what they
give to this one; above 0 the judge is too high for its rating. (Without the system, a reason that one system's stories
are given would part wherever people see that system otherwise than the judge.) Means by topic are tested by flips of
whole story-prompts (`stats.resampling.sign_flips`), adjusted over all topics of all criteria. The figure of topics that
were chosen for it is too large, so the mean excess in story-prompts that did not choose stands beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats, Masks, ratio, renumbered
from judge.base.estimate import Estimate
from judge.explanations.topics.reasons import Reasons
from judge.stats.resampling.sign_flips import FLIPS, Block, Flipped, cluster_sums, effective_clusters, flipped

# A topic is tested with so many texts and effective story-prompts; in halves with half as many.
LEAST_TEXTS, LEAST_PROMPTS = 100, 12
# A topic stands out below this adjusted p. At .05 one did in 5.6 % of 4,000 permutations of people's real ratings over
# replies, in 4.9 % within systems; at this level in 4.4 % and 3.9 %.
LEVEL = 0.04
# Random halves of the story-prompts, of which one chooses and the other is looked at; flips in each.
HALVES, HALF_FLIPS = 20, 199


@dataclass(frozen=True, slots=True)
class Parting:
    """A tested topic. `excess` in shares of the scale, with its simultaneous 95 % interval; `p` is adjusted. `held_out`
    is the mean excess in halves of the story-prompts whose other half chose this topic, None where none of `HALVES`
    did; `chosen` counts the halves that did."""

    topic: int
    name: str
    criterion: str
    texts: int
    story_prompts: float
    rating: float
    people: float
    excess: Estimate
    p: float
    held_out: float | None
    chosen: int


@dataclass(frozen=True, slots=True)
class Partings:
    """All tested topics, those that part most first; `why` says why none was tested. `topics` counts all."""

    rows: tuple[Parting, ...]
    topics: int
    why: str = ""

    @property
    def significant(self) -> tuple[Parting, ...]:
        return tuple(row for row in self.rows if row.p < LEVEL)


def partings(found: Reasons) -> Partings:
    """Topics with people's ratings beside the judge's, tested."""
    usable = (found.point >= 0) & ~np.isnan(found.people) & (found.topics.topic >= 0)
    if not usable.any():
        return Partings((), found.topics.count, "people's ratings of these stories are not known")
    cell = cells(found)[usable]
    people, topic = found.people[usable], found.topics.topic[usable]
    prompt, count = renumbered(found.prompt[usable]), found.topics.count
    data = _Data(people, cell, prompt, topic, found.criterion[usable], count)
    tested = data.large(1.0)
    if not tested.any():
        why = f"no topic has {LEAST_TEXTS} texts with people's ratings about {LEAST_PROMPTS} effective story-prompts"
        return Partings((), count, why)
    result = data.test(tested, FLIPS, found.seed)
    chosen, held = _held_out(data, found.seed)
    effective = effective_clusters(data.counts)
    rows = []
    for t in np.flatnonzero(tested):
        inside = topic == t
        half = result.critical * result.error[t]
        estimate = Estimate(
            float(result.mean[t]), int(inside.sum()), float(result.mean[t] - half), float(result.mean[t] + half),
            "simultaneous over topics, flips of story-prompts, 95 %",
        )  # fmt: skip
        rows.append(
            Parting(
                int(t), found.names[t], found.criteria[found.topics.criterion[t]], int(inside.sum()),
                float(effective[t]), float(found.rating[usable][inside].mean()), float(people[inside].mean()), estimate,
                float(result.p[t]), None if np.isnan(held[t]) else float(held[t]), int(chosen[t]),
            )
        )  # fmt: skip
    order = sorted(rows, key=lambda row: (row.p, -abs(round(row.excess.value or 0.0, 9)), row.topic))
    return Partings(tuple(order), count)


def cells(found: Reasons) -> Codes:
    """Code (n,) of what an excess is conditioned on: judge, Eval-Prompt, system, criterion, and the rating's point."""
    asked = np.asarray(found.rows.groupby(["judge", "eval_prompt", "system"], sort=False).ngroup(), dtype=np.int64)
    return renumbered((asked * len(found.criteria) + found.criterion) * (int(found.point.max()) + 2) + found.point + 1)


def excess(people: Floats, cell: Codes) -> Floats:
    """Mean of `people` (n,), none missing, in the same `cell` minus each one's own value."""
    codes = renumbered(cell)
    return np.asarray(ratio(np.bincount(codes, weights=people), np.bincount(codes))[codes] - people, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """Texts with people's ratings, (n,) each; `topics` is the number of topics."""

    people: Floats
    cell: Codes
    prompt: Codes
    topic: Codes
    criterion: Codes
    topics: int

    @property
    def prompts(self) -> int:
        return int(self.prompt.max()) + 1

    @property
    def counts(self) -> Floats:
        """Texts of each topic by story-prompt, (prompts, topics)."""
        return cluster_sums(self.people, self.prompt, self.topic, self.topics, self.prompts)[1]

    def large(self, part: float) -> Masks:
        """Topics with enough texts and story-prompts to be tested, of a `part` of the data."""
        counts = self.counts
        enough = counts.sum(axis=0) >= part * LEAST_TEXTS
        return np.asarray(enough & (effective_clusters(counts) >= part * LEAST_PROMPTS), dtype=np.bool_)

    def test(self, tested: Masks, flips: int, seed: int) -> Flipped:
        over = excess(self.people, self.cell)
        blocks = []
        for number in np.unique(self.criterion):
            own = self.criterion == number
            blocks.append(Block(over[own], self.prompt[own], self.topic[own], self.cell[own]))
        return flipped(blocks, tested, clusters=self.prompts, flips=flips, seed=seed)

    def part(self, inside: Masks) -> _Data:
        prompt = renumbered(self.prompt[inside])
        return _Data(
            self.people[inside], self.cell[inside], prompt, self.topic[inside], self.criterion[inside], self.topics
        )

    def means(self) -> Floats:
        """Mean excess of each topic (topics,); NaN without a text."""
        over = excess(self.people, self.cell)
        sums, counts = cluster_sums(over, self.prompt, self.topic, self.topics, self.prompts)
        return ratio(sums.sum(axis=0), counts.sum(axis=0))


def _held_out(data: _Data, seed: int) -> tuple[Codes, Floats]:
    """How often a random half of the story-prompts chose each topic, and its mean excess in the other halves then."""
    rng = np.random.default_rng(seed)
    chosen, total = np.zeros(data.topics, dtype=np.int64), np.zeros(data.topics)
    for _ in range(HALVES):
        first = np.isin(data.prompt, rng.permutation(data.prompts)[: data.prompts // 2])
        half = data.part(first)
        result = half.test(half.large(0.5), HALF_FLIPS, seed)
        picked = np.nan_to_num(result.p, nan=1.0) < LEVEL
        if picked.any():
            other = data.part(~first).means()
            picked &= ~np.isnan(other)
            chosen[picked] += 1
            total[picked] += other[picked]
    return chosen, ratio(total, chosen)
