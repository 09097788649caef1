"""Agreement of judges with human preferences between two stories, compared with controls that use no judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from judge.analysis.frames import flat
from judge.analysis.inputs.control import FOLDINGS, FOLDS, Surface
from judge.analysis.options.signature import Signed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference.sides import Pairs, Side, net_of, people_beside
from judge.base.arrays import Codes, Floats, ratio
from judge.base.estimate import Estimate
from judge.base.printing.tables import cells_of
from judge.stats.comparing.preference_agreement import PreferenceAgreement, pair_credit, preference_agreement
from judge.stats.comparing.strengths import Strengths
from judge.stats.estimation import means
from judge.stats.ordering.ranking import mean_share, win_rate
from judge.stats.regression import ordinal
from judge.stats.resampling.bootstrap import folds_of_groups

# Controls for preferences that use no judge: the longer story, and out-of-fold predictions from surface features.


LEAST_PAIRS = 100
# On the squared weights of differences in units of their root mean square; fixed, so that no fold chooses.
PENALTY = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class PairControl:
    """The control's preferences, shape (pairs,): 1 = first story, -1 = second, 0 = neither, NaN for the `reason`."""

    net: Floats
    how: str
    reason: str | None = None


def longer_wins(pairs: Pairs) -> Floats:
    """Preferences of a control that always prefers the longer story, shape (pairs,): 1 for story a, -1 for story b, 0
    at equal length; NaN where a length is not known."""
    return np.asarray(np.sign(pairs.log_words), dtype=np.float64)


class SurfaceControl:
    """Predicts preferences from surface features, which are computed once for all criteria."""

    def __init__(self, pairs: Pairs, seed: int) -> None:
        self.pairs, self.seed = pairs, seed
        self._surface = Surface.of(pairs.stories.drop(columns="words"))

    def against(self, people: Floats, criterion: str) -> PairControl:
        """The control's preferences, predicted out of fold. They are fitted to `people`, the net human preferences on
        this criterion, shape (pairs,). With few of these, the shipped model predicts."""
        surface, pairs = self._surface, self.pairs
        usable = ~(surface.blank[pairs.a] | surface.blank[pairs.b])
        lead = np.where(usable, people, np.nan)
        groups = [str(code) for code in pairs.prompt]
        folds = min(FOLDS, len(set(groups)))
        if np.nansum(np.abs(lead)) >= LEAST_PAIRS and folds > 1:
            rows = np.where(surface.blank[:, None], 0.0, surface.rows)
            difference = rows[pairs.a] - rows[pairs.b]
            log_odds = []
            for turn in range(FOLDINGS):
                fold = folds_of_groups(groups, folds, self.seed + turn)
                log_odds.append(ordinal.out_of_fold(difference, lead, fold, PENALTY))
            odds = np.mean(log_odds, axis=0)
            odds[~usable] = np.nan
            return PairControl(np.sign(odds), f"surface:pairwise/{FOLDINGS}x{folds}-fold/seed{self.seed}")
        nobody = pd.Series(float("nan"), index=pairs.stories.index)
        shipped = surface.predictions(nobody, criterion, seed=self.seed)
        rated = np.asarray(shipped.values)
        apart = rated[pairs.a] - rated[pairs.b]
        return PairControl(np.sign(apart), shipped.how, shipped.reason)


RowKind = Literal["people", "judge", "implied", "longer", "control"]

# Thirds of the pairs by difference of length, the most alike first.
THIRDS = ("alike", "between", "apart")

_NOTHING = Estimate.undefined("undefined: nothing to compare with on the same pairs")
LONGER, CONTROL, ONE_PERSON = "longer story wins", "control (surface)", "one person against the others"


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """Agreement of one judge, control or person with human preferences on one criterion. `kind` ``people`` is one by
    one; ``implied`` preferences follow from two mean ratings. `thirds` are accuracies, with ties as one half, in each
    third of the pairs by difference in length (`THIRDS`). `over_control` is the accuracy minus the control's on the
    same pairs; `over_implied` that of a judge that compared stories minus that of its own ratings. `lost` counts
    comparisons without a preference."""

    kind: RowKind
    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    against: str | None
    agreement: PreferenceAgreement
    thirds: tuple[Estimate, Estimate, Estimate]
    over_control: Estimate
    over_implied: Estimate
    lost: int

    def numbers(self) -> dict[str, Estimate]:
        """The row's estimates by frame column (``accuracy``, ``kappa``, ``over_control``...)."""
        agreement = self.agreement
        return {
            "accuracy": agreement.half,
            "accuracy_strict": agreement.strict,
            **cells_of(agreement, "macro", "kappa", "ac1"),
            **dict(zip(THIRDS, self.thirds, strict=True)),
            **cells_of(self, "over_control", "over_implied"),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Agreement(Signed):
    """Agreement with people's preferences of judges, implied preferences, people one by one, and both controls."""

    rows: tuple[AgreementRow, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row per rater and criterion; estimates have `_low`, `_high` and `_reason`."""
        return self.signed([_flat(row) for row in self.rows])


def agreement_rows(pairs: Pairs, sides: Sequence[Side], options: RankOptions) -> Iterator[AgreementRow]:
    """Agreement of judges and controls with people, for each human criterion of a dataset. Where no person compared
    stories, preferences implied by human ratings are used."""
    beside: dict[int, list[Side]] = {}
    people: dict[int, Side] = {}
    for side in sides:
        against = people_beside(side, sides)
        if against is not None and side.kind != "people":
            people[id(against)] = against
            beside.setdefault(id(against), []).append(side)
    # Where nobody compared, people are held to what their ratings imply, and so are length and control.
    compared = any(side.kind == "people" for side in sides)
    kind = "people" if compared else "implied"
    people |= {id(side): side for side in sides if side.kind == kind and side.judge is None}
    control = SurfaceControl(pairs, options.seed) if options.control and people else None
    for key, against in people.items():
        yield from _against(against, beside.get(key, []), control)


def _against(people: Side, sides: Sequence[Side], control: SurfaceControl | None) -> Iterator[AgreementRow]:
    pairs, net = people.pairs, people.net
    bar = np.full(pairs.n, np.nan) if control is None else control.against(net, people.criterion).net
    ties = any((other.value == 0).any() for other in (people, *sides) if other is people or other.kind != "implied")
    rows = _Rows(people, net, bar, ties)
    yield from _one_person(people, ties=ties)
    yield rows.row("longer", LONGER, longer_wins(pairs))
    if control is not None:
        yield rows.row("control", CONTROL, bar)
    for side in sides:
        if side is people:
            continue
        own = [other for other in sides if other.kind == "implied" and other.judge == side.judge and other.judge]
        implied = own[0].net if own and side.kind == "judge" else np.full(pairs.n, np.nan)
        yield rows.row("judge" if side.kind == "judge" else "implied", side.name, side.net, side, implied)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows with the same human preferences and control: 1 for the first story of a pair, -1 the second, 0 neither."""

    people: Side
    net: Floats
    control: Floats
    ties: bool

    def row(
        self, kind: RowKind, name: str, side: Floats, who: Side | None = None, implied: Floats | None = None
    ) -> AgreementRow:
        people, pairs = self.people, self.people.pairs
        return AgreementRow(
            kind=kind,
            dataset=pairs.dataset,
            run=who.run if who else None,
            judge=name,
            eval_prompt=who.eval_prompt if who else None,
            criterion=who.criterion if who else people.criterion,
            against=people.criterion,
            agreement=preference_agreement(side, self.net, pairs.prompt, ties=self.ties),
            thirds=_thirds(side, self.net, pairs.thirds, pairs.prompt),
            over_control=self._over(side, self.control if kind != "control" else None),
            over_implied=self._over(side, implied),
            lost=who.lost if who else 0,
        )

    def _over(self, side: Floats, other: Floats | None) -> Estimate:
        if other is None:
            return _NOTHING
        apart = pair_credit(side, self.net) - pair_credit(other, self.net)
        if np.isnan(apart).all():
            return _NOTHING
        return means.clustered(apart, self.people.pairs.prompt, bounds=means.OF_SHARES)


def _thirds(side: Floats, people: Floats, third: Codes, prompt: Codes) -> tuple[Estimate, Estimate, Estimate]:
    products = (np.where((third == k) & (people != 0), side * people, np.nan) for k in range(3))
    first, second, last = (win_rate(product, prompt).estimate for product in products)
    return first, second, last


def _one_person(people: Side, *, ties: bool) -> Iterator[AgreementRow]:
    names = sorted({str(name) for name in people.rater if name is not None})
    if len(names) < 2:
        return
    pairs = people.pairs
    own = [people.rater == name for name in names]
    x, y = (
        np.concatenate([net_of(people.pair[rows], people.value[rows], pairs.n) for rows in sets])
        for sets in (own, [~rows for rows in own])
    )
    group, third = np.tile(pairs.prompt, len(names)), np.tile(pairs.thirds, len(names))
    yield AgreementRow(
        kind="people",
        dataset=pairs.dataset,
        run=None,
        judge=ONE_PERSON,
        eval_prompt=None,
        criterion=people.criterion,
        against=people.criterion,
        agreement=preference_agreement(x, y, group, ties=ties),
        thirds=_thirds(x, y, third, group),
        over_control=_NOTHING,
        over_implied=_NOTHING,
        lost=people.lost,
    )


def _flat(row: AgreementRow) -> dict[str, object]:
    about = cells_of(row, "dataset", "kind", "run", "judge", "eval_prompt", "criterion", "against")
    about |= {"pairs": row.agreement.kappa.n, **cells_of(row.agreement, "ties", "people_ties"), "lost": row.lost}
    return about | flat(row.numbers())


# Effect of the order in which two stories are shown to a judge.

NO_REPEATS = "undefined: no order of a pair was asked twice"
ONE_SYSTEM = "undefined: all stories are of one system"
_NO_PLACE = "undefined: no pair has both repeats and swapped orders"
NO_SWAP = "undefined: no pair was shown in both orders"


@dataclass(frozen=True, slots=True)
class OrderRow:
    """Effect of the order shown on one judge and criterion. `third` of the pairs by difference in length: 0 = most
    similar, None = all pairs. `first` is the share of comparisons that the story shown first won, with ties as one
    half. `position` is the advantage of the first position in log odds, from the fit of the systems' strengths; only
    for all pairs. `same` and `swapped` are the probabilities that another comparison of the pair gives the same
    preference, in the same order (noise only) and in the other (noise and position); n counts pairs. `place` is `same`
    minus `swapped` on the pairs that have both: the effect of position beyond noise. `comparisons` have a preference.
    """

    dataset: str
    run: str | None
    judge: str
    eval_prompt: str | None
    criterion: str
    third: int | None
    first: Estimate
    position: Estimate
    same: Estimate
    swapped: Estimate
    place: Estimate
    comparisons: int

    def numbers(self) -> dict[str, Estimate]:
        """The row's estimates by frame column."""
        return cells_of(self, "first", "position", "same", "swapped", "place")


@dataclass(frozen=True, slots=True, eq=False)
class Order(Signed):
    """Effect on each judge's preferences of the order in which two stories are shown."""

    rows: tuple[OrderRow, ...]
    options: RankOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge, criterion and third (null = all pairs); estimates have `_low`, `_high` and `_reason`."""
        return self.signed([_order_flat(row) for row in self.rows])


def order_rows(side: Side, fitted: Strengths | None) -> Iterator[OrderRow]:
    """For all pairs, then for each third by difference in length; no rows where the order shown is unknown."""
    if not side.placed:
        return
    yield _row(side, None, Estimate.undefined(ONE_SYSTEM) if fitted is None else fitted.position)
    third = side.pairs.thirds[side.pair]
    for k in range(3):
        rows = np.flatnonzero(third == k)
        if rows.size:
            yield _row(side.only(rows), k, Estimate.undefined("of all pairs alone"))


def _row(side: Side, third: int | None, position: Estimate) -> OrderRow:
    pairs, prompt = side.pairs, side.pairs.prompt
    lead = np.where(side.forward, side.value, -side.value)
    same, swapped = _repeated(side), _swapped(side)
    return OrderRow(
        dataset=pairs.dataset,
        run=side.run,
        judge=side.name,
        eval_prompt=side.eval_prompt,
        criterion=side.criterion,
        third=third,
        first=win_rate(lead, prompt[side.pair]).estimate,
        position=position,
        same=_share(same, prompt, NO_REPEATS),
        swapped=_share(swapped, prompt, NO_SWAP),
        place=Estimate.undefined(_NO_PLACE)
        if np.isnan(same - swapped).all()
        else means.clustered(same - swapped, prompt, bounds=means.OF_SHARES),
        comparisons=int(side.pair.size),
    )


def _share(values: Floats, prompt: Codes, nothing: str) -> Estimate:
    """Mean of one share per pair, with an interval within 0 to 1; undefined if all are NaN."""
    return Estimate.undefined(nothing) if np.isnan(values).all() else mean_share(values, prompt)


def _counts(side: Side) -> tuple[Floats, Floats]:
    """Counts of (story a, story b, neither) preferred, shape (pairs, 3): where a was shown first, then where b was."""
    outcome = (1 - np.sign(side.value)).astype(np.int64)
    tables = []
    for shown in (side.forward, ~side.forward):
        cell = side.pair[shown] * 3 + outcome[shown]
        tables.append(np.bincount(cell, minlength=3 * side.pairs.n).reshape(-1, 3).astype(np.float64))
    return tables[0], tables[1]


def _repeated(side: Side) -> Floats:
    """Share of equal preferences among two comparisons in the same order, shape (pairs,); NaN = no order has two."""
    agree = number = np.zeros(side.pairs.n)
    for counts in _counts(side):
        total = counts.sum(axis=1)
        agree = agree + (counts * (counts - 1)).sum(axis=1)
        number = number + total * (total - 1)
    return ratio(agree, number)


def _swapped(side: Side) -> Floats:
    """Share of equal preferences among two comparisons in opposite orders, shape (pairs,); NaN = not in both orders."""
    forward, backward = _counts(side)
    return ratio((forward * backward).sum(axis=1), forward.sum(axis=1) * backward.sum(axis=1))


def _order_flat(row: OrderRow) -> dict[str, object]:
    about = cells_of(row, "dataset", "run", "judge", "eval_prompt", "criterion", "third", "comparisons")
    return about | flat(row.numbers())
