"""Systems ranked by preferences: wins, strengths, win rates, and groups of systems that do not differ significantly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge.analysis.frames import flat
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.sides import Side, people_beside
from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.stats.comparing import davidson, paired_comparisons
from judge.stats.comparing.paired_comparisons import Comparisons, Ties
from judge.stats.comparing.preference_agreement import GUESSING, CircularTriads, circular_triads
from judge.stats.comparing.strengths import Bootstrap, Strengths, strengths
from judge.stats.correlation import kendall
from judge.stats.estimation import means
from judge.stats.estimation.paired_differences import told_apart
from judge.stats.ordering import ranking

# Transitivity of preferences: share of cyclic triads of stories (a preferred to b, b to c, and c to a), compared with
# the share expected from the systems' fitted strengths and that from guessing.


@dataclass(frozen=True, slots=True, eq=False)
class OfSide:
    """Base of what is found of one judge, or of people: whose preferences they are (`Side.about`)."""

    dataset: str
    kind: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str

    @property
    def about(self) -> dict[str, object]:
        """The values of the columns that say whose preferences these are."""
        return cells_of(self, "dataset", "kind", "run", "judge", "eval_prompt", "criterion")


@dataclass(frozen=True, slots=True, eq=False)
class TransitivityRow(OfSide):
    """Cyclic triads within story-prompts in the preferences of one judge, or of people."""

    triads: CircularTriads


@dataclass(frozen=True, slots=True, eq=False)
class Transitivity(Signed):
    """Cyclic triads by people and judges; not of implied preferences, which as differences of means have none."""

    rows: tuple[TransitivityRow, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge, or people; `guessing` is the share under random choices."""
        return self.signed([_transitivity_flat(row) for row in self.rows])


def transitivity_row(side: Side, fitted: Strengths | None) -> TransitivityRow:
    """Number and share of cyclic triads, and the share expected from the fitted strengths of the systems."""
    stories = side.comparisons(of_stories=True)
    chances = None
    if fitted is not None and fitted.fit is not None:
        code, names = side.pairs.system
        position = {name: k for k, name in enumerate(fitted.systems)}
        of_story = dict(zip(side.pairs.stories.index.astype(str), (names[k] for k in code), strict=True))
        at = np.array([position.get(of_story[name], -1) for name in stories.systems], dtype=np.int64)
        if (at >= 0).all():
            chances = fitted.fit.chances(at[stories.first], at[stories.second])
    return TransitivityRow(*side.about, circular_triads(stories, chances))


def _transitivity_flat(row: TransitivityRow) -> dict[str, object]:
    return (
        row.about
        | cells_of(row.triads, "cyclic", "strict", "uneven")
        | flat({"share": row.triads.share, "expected": row.triads.expected})
        | {"guessing": GUESSING}
    )


# Order of the stories for one story-prompt according to preferences, compared with people's order.


# Stories of a story-prompt from which an order of them is more than one pair.
LEAST = 3


@dataclass(frozen=True, slots=True)
class StoryRow:
    """Results of one story against the others for its story-prompt: share of comparisons won, and fitted log strength,
    which is undefined where the wins do not connect all of them."""

    story_prompt: str
    story: str
    system: str
    share: float
    strength: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class StoryOrder(OfSide):
    """Order of the stories within each story-prompt by one judge, or by people. `tau` (b) is between their shares and
    people's, averaged over story-prompts in which both give three or more; n counts these. `story_prompts` have three
    stories or more; in `determined` of these the strengths of all could be fitted."""

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
        return self.signed([row for order in self.orders for row in _stories_flat(order)])


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
        yield StoryOrder(*side.about, rows, tau, len(groups), determined)


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
        share = np.nanmean(_shares_won(paired_comparisons.wins(part), paired_comparisons.ties(part)), axis=1)
        # Both places alike where both orders were shown; a place of its own could not be told with so few comparisons.
        fit = davidson.fit(part.with_ties(ties), position=False)
        for s, name in enumerate(part.systems):
            strength = (
                Estimate.undefined(fit) if isinstance(fit, str) else Estimate(float(fit.strengths[s]), n=round(part.n))
            )
            yield StoryRow(str(prompts[name]), name, str(systems[name]), float(share[s]), strength)


def _one_prompt(comparisons: Comparisons, rows: Codes) -> Comparisons:
    present, codes = np.unique(np.concatenate([comparisons.first[rows], comparisons.second[rows]]), return_inverse=True)
    first, second = codes.reshape(2, -1).astype(np.int64)
    names = tuple(comparisons.systems[k] for k in present)
    return Comparisons(names, first, second, comparisons.ended[rows], np.zeros(rows.size, dtype=np.int64))


def _stories_flat(order: StoryOrder) -> Iterator[dict[str, object]]:
    for row in order.rows:
        own = cells_of(row, "story_prompt", "story", "system", "share")
        yield order.about | own | {"strength": row.strength.value, "reason": row.strength.reason}


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Results of one system in the comparisons of one judge, or of people. `strength` is a log; they sum to 0 over the
    systems. `win_rate` is the expected share of comparisons won against all other systems, averaged over both
    positions; `equal_length` predicts it for stories of equal length. Systems that share a letter of `group` do not
    differ significantly (Holm, 5 %); empty where strengths cannot be fitted. `set` has the lowest and highest rank that
    the significant differences allow. `wins`, `ties` and `losses` count comparisons."""

    system: str
    strength: Estimate
    win_rate: Estimate
    equal_length: Estimate
    group: str
    set: tuple[int, int] | None
    wins: float
    ties: float
    losses: float


@dataclass(frozen=True, slots=True, eq=False)
class SystemStandings(OfSide):
    """Ranking of the systems on one criterion by one judge, or by people, strongest first. `matrix` holds the share of
    comparisons that the row's system won against the column's, with ties as one half, in the order of `rows`; NaN where
    the two were never compared. `length` is the effect of a difference in length. `fitted` has its own order."""

    rows: tuple[SystemRow, ...]
    matrix: Floats
    length: Estimate
    fitted: Strengths

    @property
    def log_nu(self) -> Estimate:
        """Log of the tie parameter of Davidson's model: the more ties, the larger it is."""
        return self.fitted.log_nu

    @property
    def top(self) -> tuple[str, ...]:
        """The strongest system and those that do not differ significantly from it; empty where this is undefined."""
        first = self.rows[0]
        if not first.strength.defined or not first.group:
            return ()
        return tuple(row.system for row in self.rows if set(row.group) & set(first.group))


@dataclass(frozen=True, slots=True, eq=False)
class Systems(Signed):
    """Rankings of the systems by people and by each judge."""

    standings: tuple[SystemStandings, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each judge (or people) and system; estimates have `_low`, `_high` and `_reason`."""
        return self.signed([row for standing in self.standings for row in _flat(standing)])


def standings(side: Side, options: RankOptions) -> SystemStandings | None:
    """Ranking by one judge, or by people; None if no stories of two different systems were compared."""
    comparisons = side.comparisons()
    if len(comparisons.systems) < 2:
        return None
    chosen = Bootstrap(options.bootstraps, options.seed) if options.bootstraps else None
    position = side.placed
    fitted = strengths(comparisons, position=position, ties=options.ties, bootstrap=chosen)
    level = strengths(side.comparisons(length=True), position=position, ties=options.ties, bootstrap=chosen)
    even = dict(zip(level.systems, level.win_rates, strict=True))
    length = level.covariates[0] if level.covariates else Estimate.undefined("undefined")
    won, tied = paired_comparisons.wins(comparisons), paired_comparisons.ties(comparisons)
    letters, sets = _groups(fitted)
    rows = [
        SystemRow(
            name,
            fitted.strengths[s],
            fitted.win_rates[s],
            _equal_length(even.get(name), length),
            letters[s],
            sets[s],
            float(won[s].sum()),
            float(tied[s].sum()),
            float(won[:, s].sum()),
        )
        for s, name in enumerate(comparisons.systems)
    ]
    matrix = _shares_won(won, tied)
    share = np.nanmean(matrix, axis=1)
    order = sorted(range(len(rows)), key=lambda s: (-(rows[s].strength.value or 0.0), -share[s], rows[s].system))
    return SystemStandings(*side.about, tuple(rows[s] for s in order), matrix[np.ix_(order, order)], length, fitted)


def _shares_won(won: Floats, tied: Floats) -> Floats:
    """Share of comparisons that the row's side won against the column's, ties one half; NaN = never compared."""
    met = won + won.T + tied
    return np.where(met > 0, (won + tied / 2) / np.maximum(met, 1e-12), np.nan)


def _equal_length(rate: Estimate | None, length: Estimate) -> Estimate:
    """The rate, undefined where the fit cannot separate the effect of length from the strengths."""
    if rate is None:
        return Estimate.undefined("undefined: no length is known")
    return rate if length.defined or not rate.defined else Estimate.undefined(length.reason or "undefined")


def _groups(fitted: Strengths) -> tuple[list[str], list[tuple[int, int] | None]]:
    systems = len(fitted.systems)
    if fitted.fit is None or any(difference.p is None for difference in fitted.differences):
        return [""] * systems, [None] * systems
    higher = told_apart(fitted.differences, systems)
    letters = ranking.letters(higher | higher.T, fitted.fit.strengths)
    return letters, list(ranking.rank_sets(higher))


def _flat(system_standings: SystemStandings) -> Iterator[dict[str, object]]:
    for row in system_standings.rows:
        low, high = row.set or (None, None)
        numbers = cells_of(row, "strength", "win_rate", "equal_length")
        counts = cells_of(row, "wins", "ties", "losses")
        own = {"system": row.system, "group": row.group, "set_low": low, "set_high": high}
        yield system_standings.about | own | counts | flat(numbers)
