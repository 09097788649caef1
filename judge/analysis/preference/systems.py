"""Systems ranked by preferences: wins, strengths, win rates, and groups of systems that do not differ significantly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.agreement import flat_estimates
from judge.analysis.preference.sides import Side
from judge.base.estimate import Estimate
from judge.stats.comparing import paired_comparisons
from judge.stats.comparing.strengths import Bootstrap, Strengths, strengths
from judge.stats.estimation.paired_differences import told_apart
from judge.stats.ordering import ranking

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SystemRow:
    """Results of one system in the comparisons of one judge, or of people. `strength` is a log; they sum to 0 over the
    systems. `win_rate` is the expected share of comparisons won against all other systems, averaged over both
    positions; `equal_length` predicts it for stories of equal length. Systems that share a letter of `group` do not
    differ significantly (Holm, 5 %); empty where strengths cannot be fitted. `set` has the lowest and highest rank that
    the significant differences allow. `wins`, `ties` and `losses` count comparisons.
    """

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
class SystemStandings:
    """Ranking of the systems on one criterion by one judge, or by people, strongest first. `matrix` holds the share of
    comparisons that the row's system won against the column's, with ties as one half, in the order of `rows`; NaN where
    the two were never compared. `length` is the effect of a difference in length. `fitted` has its own order.
    """

    dataset: str
    kind: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
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
    with np.errstate(invalid="ignore"):
        met = won + won.T + tied
        matrix = np.where(met > 0, (won + tied / 2) / np.maximum(met, 1e-12), np.nan)
    share = np.nanmean(matrix, axis=1)
    order = sorted(range(len(rows)), key=lambda s: (-(rows[s].strength.value or 0.0), -share[s], rows[s].system))
    labels = side.pairs.dataset, side.kind, side.run, side.name, side.eval_prompt, side.criterion
    return SystemStandings(*labels, tuple(rows[s] for s in order), matrix[np.ix_(order, order)], length, fitted)


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
    about = {
        name: getattr(system_standings, name)
        for name in ("dataset", "kind", "run", "judge", "eval_prompt", "criterion")
    }
    for row in system_standings.rows:
        low, high = row.set or (None, None)
        numbers = {"strength": row.strength, "win_rate": row.win_rate, "equal_length": row.equal_length}
        counts = {"wins": row.wins, "ties": row.ties, "losses": row.losses}
        own = {"system": row.system, "group": row.group, "set_low": low, "set_high": high}
        yield about | own | counts | flat_estimates(numbers)
