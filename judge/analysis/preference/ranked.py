"""Result of `judge rank`: agreement, order effect, systems, stories and transitivity, from the same preferences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judge.analysis.options.signature import FRAGMENTS
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference import agreement, order, stories, systems, transitivity
from judge.analysis.preference.agreement import Agreement, AgreementRow
from judge.analysis.preference.order import Order, OrderRow
from judge.analysis.preference.sides import Pairs, Side, datasets
from judge.analysis.preference.stories import Stories
from judge.analysis.preference.systems import Systems
from judge.analysis.preference.transitivity import Transitivity
from judge.base.estimate import Estimate
from judge.ratings.preferences_table.journaled import PreferencesTable
from judge.stats.comparing.strengths import Strengths
from judge.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Results of `judge rank`, all from the same preferences between two stories."""

    agreement: Agreement
    order: Order
    systems: Systems
    stories: Stories
    transitivity: Transitivity
    options: RankOptions


def ranked(table: PreferencesTable, options: RankOptions | None = None) -> Ranked:
    """Results on all datasets of a table of preferences."""
    options = options or RankOptions()
    pairs_and_sides = list(datasets(table, options.drop_systems))
    parts = signature_parts(table, pairs_and_sides, options)
    notes = tuple(dict.fromkeys(note for fact in table.facts for note in fact.notes))
    placed = {id(side): systems.standings(side, options) for _, sides in pairs_and_sides for side in sides}
    fits: dict[int, Strengths | None] = {
        key: None if standing is None else standing.fitted for key, standing in placed.items()
    }
    compared = [side for _, sides in pairs_and_sides for side in sides if side.kind != "implied"]
    return Ranked(
        agreement=Agreement(
            rows=tuple(
                row for pairs, sides in pairs_and_sides for row in agreement.agreement_rows(pairs, sides, options)
            ),
            options=options,
            signature_parts=parts,
            notes=notes,
        ),
        order=Order(
            rows=tuple(row for side in compared for row in order.order_rows(side, fits[id(side)])),
            options=options,
            signature_parts=parts,
            notes=(),
        ),
        systems=Systems(
            standings=tuple(standing for standing in placed.values() if standing is not None),
            options=options,
            signature_parts=parts,
            notes=(),
        ),
        stories=Stories(
            orders=tuple(standing for _, sides in pairs_and_sides for standing in stories.orders(sides, options.ties)),
            options=options,
            signature_parts=parts,
            notes=(),
        ),
        transitivity=Transitivity(
            rows=tuple(transitivity.transitivity_row(side, fits[id(side)]) for side in compared),
            options=options,
            signature_parts=parts,
            notes=(),
        ),
        options=options,
    )


def signature_parts(
    table: PreferencesTable, pairs_and_sides: list[tuple[Pairs, tuple[Side, ...]]], options: RankOptions
) -> tuple[str, ...]:
    """Parts of the signature line: pairs, criteria, judges, orders, parser, options, unparsed share."""
    parts: list[str | None] = [
        ",".join(f"{pairs.dataset}:{pairs.n}pairs" for pairs, _ in pairs_and_sides) or "no pairs"
    ]
    sides = [side for _, several in pairs_and_sides for side in several]
    parts.append(_listed("crit", (side.criterion for side in sides)))
    parts.append(_listed("ep", (side.eval_prompt for side in sides if side.eval_prompt)))
    judges = (f"{fact.judge}@{fact.revision}" if fact.revision else fact.judge for fact in table.facts)
    parts.append(_listed("judge", judges))
    parts += [fact.not_in_force for fact in table.facts]
    parts.append(_listed("rep", (str(fact.repeats) for fact in table.facts)))
    parts.append(_listed("orders", (fact.orders for fact in table.facts)))
    parts.append(_listed("parser", (fact.parser for fact in table.facts)))
    parts += [make(options) for name, make in FRAGMENTS.items() if hasattr(options, name) and name != "control"]
    asked = sum(side.lost + side.pair.size for side in sides if side.kind == "judge")
    lost = sum(side.lost for side in sides if side.kind == "judge")
    parts.append(f"unparsed:{100 * lost / asked:.1f}%" if asked else None)
    return tuple(dict.fromkeys(part for part in (*parts, f"v{__version__}") if part))


def _listed(key: str, values: Iterable[str]) -> str | None:
    distinct = list(dict.fromkeys(values))
    return f"{key}:{','.join(distinct)}" if distinct else None


# The answer of `judge rank` in one or two sentences, made from its results.


def answer(result: Ranked) -> str:
    """Sentences on the best judge's agreement with people, compared with the control, and on its order effect (without
    a judge, on the controls), and on the strongest systems.
    """
    judges = [row for row in result.agreement.rows if row.kind == "judge" and row.agreement.half.defined]
    if judges:
        best = max(judges, key=lambda row: row.agreement.half.value or 0.0)
        sentences = [_agreement(best, several=len(judges) > 1), *_position_effect(best, result)]
    else:
        sentences = _controls(result.agreement)
    return " ".join([*sentences, *_systems(result.systems)]) or "There are no preferences."


def _agreement(row: AgreementRow, *, several: bool) -> str:
    half = row.agreement.half
    who = f"Of the judges {row.judge} follows people best: it" if several else row.judge
    text = f"{who} prefers the story that people prefer in {_percent(half)} of {half.n} pairs"
    over = row.over_control
    if over.value is None:
        return f"{text}."
    than = f"{abs(100 * over.value):.1f} points {'more' if over.value >= 0 else 'less'} than the control"
    return f"{text}, {than}{_interval(over, 100, 1)}{'' if _shown(over) else ', which may be chance'}."


def _position_effect(best: AgreementRow, result: Ranked) -> list[str]:
    rows = [row for row in result.order.rows if row.third is None and _same(row, best)]
    if not rows or rows[0].position.value is None:
        return []
    position = rows[0].position
    if not _shown(position):
        return ["No advantage of the place shows."]
    where = "first" if (position.value or 0.0) > 0 else "second"
    return [f"The story shown {where} has an advantage (logit {position.value:.2f}{_interval(position, 1, 2)})."]


def _same(row: OrderRow, best: AgreementRow) -> bool:
    names = ("dataset", "run", "eval_prompt", "criterion", "judge")
    return all(getattr(row, name) == getattr(best, name) for name in names)


def _controls(agreement: Agreement) -> list[str]:
    parts = []
    for kind, words in (
        ("longer", "The longer story is the preferred one"),
        ("control", "the surface out of fold finds it"),
    ):
        row = next((row for row in agreement.rows if row.kind == kind and row.agreement.half.defined), None)
        if row is not None:
            half = row.agreement.half
            parts.append(f"{words} in {_percent(half)} of {half.n} pairs")
    return [f"{'; '.join(parts)}: what a judge has to beat."] if parts else []


def _systems(systems: Systems) -> list[str]:
    """The strongest systems by the first judge that allows a ranking, or else by people."""
    order = sorted(systems.standings, key=lambda standing: standing.kind != "judge")
    for standing in order:
        if len(standing.top) == 1:
            return [f"By {standing.judge} {standing.top[0]} is the strongest system."]
        if standing.top:
            return [f"By {standing.judge} {', '.join(standing.top)} cannot be told apart at the top."]
    return []


def _percent(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0.0):.1f} %{_interval(estimate, 100, 1)}"


def _interval(estimate: Estimate, factor: float, digits: int) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"


def _shown(estimate: Estimate) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and (low > 0 or high < 0)
