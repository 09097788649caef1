"""Result of `judge rank`: agreement, order effect, systems, stories and transitivity, from the same preferences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judge.analysis.options.signature import FRAGMENTS
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference import agreement, order, stories, systems, transitivity
from judge.analysis.preference.agreement import Agreement
from judge.analysis.preference.order import Order
from judge.analysis.preference.sides import Pairs, Side, datasets
from judge.analysis.preference.stories import Stories
from judge.analysis.preference.systems import Systems
from judge.analysis.preference.transitivity import Transitivity
from judge.ratings.preferences_table.table import PreferencesTable
from judge.stats.comparing.strengths import Strengths
from judge.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Results of `judge rank`, computed from the same preferences between two stories.

    Judges: agreement with people, effect of the order shown, transitivity. Systems and stories: rankings.
    """

    agreement: Agreement
    order: Order
    systems: Systems
    stories: Stories
    transitivity: Transitivity
    options: RankOptions


def ranked(table: PreferencesTable, options: RankOptions | None = None) -> Ranked:
    """Results of `judge rank` on all datasets of a table of preferences between two stories.

    They are agreement with people, effect of the order shown, rankings of systems and stories, and transitivity.
    """
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
    """Parts of the signature line of tables of preferences: pairs, criteria, judges, orders, parser, options, unparsed
    share.
    """
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
