"""Order of the stories for one story-prompt according to preferences, compared with people's order.

A story is ranked among the stories for its story-prompt by its share of comparisons won, with equal weight for each
other story. Its strength is fitted where the wins of the story-prompt connect all its stories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.sides import Side, people_beside
from judge.base.estimate import Estimate
from judge.stats.comparing import davidson, paired_comparisons
from judge.stats.comparing.paired_comparisons import Comparisons, Ties
from judge.stats.correlation import kendall
from judge.stats.estimation import means

Floats = NDArray[np.float64]

# Stories of a story-prompt from which an order of them is more than one pair.
LEAST = 3


@dataclass(frozen=True, slots=True)
class StoryRow:
    """Results of one story against the others for its story-prompt: share of comparisons won, and fitted log strength,
    which is undefined where the wins do not connect all of them.
    """

    story_prompt: str
    story: str
    system: str
    share: float
    strength: Estimate


@dataclass(frozen=True, slots=True)
class StoryOrder:
    """Order of the stories within each story-prompt by one judge, or by people. `tau` (b) is between their shares and
    people's, averaged over story-prompts in which both give three or more; n counts these. `story_prompts` have three
    stories or more; in `determined` of these the strengths of all could be fitted.
    """

    dataset: str
    kind: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    rows: tuple[StoryRow, ...]
    tau: Estimate
    story_prompts: int
    determined: int


@dataclass(frozen=True, slots=True, eq=False)
class Stories(Signed):
    """Orders of the stories within story-prompts, by people and by each judge."""

    orders: tuple[StoryOrder, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge (or people) and story."""
        return self.signed([row for order in self.orders for row in _flat(order)])


def orders(sides: Sequence[Side], ties: Ties) -> Iterator[StoryOrder]:
    """Order of the stories within each story-prompt by each judge and by people, and its agreement with people."""
    rows_by_side = {id(side): tuple(_rows(side, ties)) for side in sides}
    for side in sides:
        rows = rows_by_side[id(side)]
        people = people_beside(side, sides)
        theirs = {row.story: row.share for row in rows_by_side[id(people)]} if people is not None else {}
        groups = [part for part in _by_prompt(rows).values() if len(part) >= LEAST]
        determined = sum(all(row.strength.defined for row in part) for part in groups)
        tau = Estimate.undefined("these are people") if side.kind == "people" else _tau(groups, theirs)
        labels = side.pairs.dataset, side.kind, side.run, side.name, side.eval_prompt, side.criterion
        yield StoryOrder(*labels, rows, tau, len(groups), determined)


def _by_prompt(rows: Sequence[StoryRow]) -> dict[str, list[StoryRow]]:
    parts: dict[str, list[StoryRow]] = {}
    for row in rows:
        parts.setdefault(row.story_prompt, []).append(row)
    return parts


def _tau(groups: Sequence[Sequence[StoryRow]], theirs: dict[str, float]) -> Estimate:
    taus = []
    for part in groups:
        both = [(row.share, theirs[row.story]) for row in part if row.story in theirs]
        if len(both) >= LEAST:
            x, y = (kendall.codes(np.array(side)) for side in zip(*both, strict=True))
            taus.append(kendall.tau_b(x, y))
    defined = np.array([tau for tau in taus if not np.isnan(tau)])
    if not defined.size:
        return Estimate.undefined("undefined: no story-prompt has three stories that both sides order")
    return means.as_independent(defined)


def _rows(side: Side, ties: Ties) -> Iterator[StoryRow]:
    comparisons, stories = side.comparisons(of_stories=True), side.pairs.stories
    prompts = stories["story_prompt"].astype(str)
    systems = stories["system"].astype(str)
    for g in np.unique(comparisons.cluster):
        part = _one_prompt(comparisons, np.flatnonzero(comparisons.cluster == g))
        won, tied = paired_comparisons.wins(part), paired_comparisons.ties(part)
        met = won + won.T + tied
        with np.errstate(invalid="ignore"):
            share = np.nanmean(np.where(met > 0, (won + tied / 2) / np.maximum(met, 1e-12), np.nan), axis=1)
        # Both places alike where both orders were shown; a place of its own could not be told with so few comparisons.
        fit = davidson.fit(part.with_ties(ties), position=False)
        for s, name in enumerate(part.systems):
            strength = (
                Estimate.undefined(fit) if isinstance(fit, str) else Estimate(float(fit.strengths[s]), n=round(part.n))
            )
            yield StoryRow(str(prompts[name]), name, str(systems[name]), float(share[s]), strength)


def _one_prompt(comparisons: Comparisons, rows: NDArray[np.int64]) -> Comparisons:
    present, codes = np.unique(np.concatenate([comparisons.first[rows], comparisons.second[rows]]), return_inverse=True)
    first, second = codes.reshape(2, -1).astype(np.int64)
    names = tuple(comparisons.systems[k] for k in present)
    return Comparisons(names, first, second, comparisons.ended[rows], np.zeros(rows.size, dtype=np.int64))


def _flat(order: StoryOrder) -> Iterator[dict[str, object]]:
    about = {name: getattr(order, name) for name in ("dataset", "kind", "run", "judge", "eval_prompt", "criterion")}
    for row in order.rows:
        own = {name: getattr(row, name) for name in ("story_prompt", "story", "system", "share")}
        yield about | own | {"strength": row.strength.value, "reason": row.strength.reason}
