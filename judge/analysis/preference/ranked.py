"""Result of `judge rank`: agreement, order effect, systems, stories and transitivity, from the same preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from judge.analysis.frames import long_table
from judge.analysis.options.signature import FRAGMENTS, listed
from judge.analysis.options.table_options import RankOptions
from judge.analysis.preference import agreement
from judge.analysis.preference import standings as systems
from judge.analysis.preference.agreement import THIRDS, Agreement, AgreementRow, Order, OrderRow
from judge.analysis.preference.sides import Pairs, Side, datasets
from judge.analysis.preference.standings import Stories, Systems, SystemStandings, Transitivity
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain, titled
from judge.ratings.preferences_table.journaled import PreferencesTable
from judge.stats.comparing.preference_agreement import GUESSING
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
    placed = {id(side): systems.standings(side, options) for _, sides in pairs_and_sides for side in sides}
    fits: dict[int, Strengths | None] = {
        key: None if standing is None else standing.fitted for key, standing in placed.items()
    }
    compared = [side for _, sides in pairs_and_sides for side in sides if side.kind != "implied"]
    agreements = [row for pairs, sides in pairs_and_sides for row in agreement.agreement_rows(pairs, sides, options)]
    order = [row for side in compared for row in agreement.order_rows(side, fits[id(side)])]
    stories = [story_order for _, sides in pairs_and_sides for story_order in systems.orders(sides, options.ties)]
    triads = [systems.transitivity_row(side, fits[id(side)]) for side in compared]
    standings = [standing for standing in placed.values() if standing is not None]
    return Ranked(
        Agreement(tuple(agreements), options, signature_parts=parts, notes=table.notes),
        Order(tuple(order), options, signature_parts=parts, notes=()),
        Systems(tuple(standings), options, signature_parts=parts, notes=()),
        Stories(tuple(stories), options, signature_parts=parts, notes=()),
        Transitivity(tuple(triads), options, signature_parts=parts, notes=()),
        options,
    )


def signature_parts(
    table: PreferencesTable, pairs_and_sides: list[tuple[Pairs, tuple[Side, ...]]], options: RankOptions
) -> tuple[str, ...]:
    """Parts of the signature line: pairs, criteria, judges, orders, parser, options, unparsed share."""
    sides = [side for _, several in pairs_and_sides for side in several]
    judges = (f"{fact.judge}@{fact.revision}" if fact.revision else fact.judge for fact in table.facts)
    parts: list[str | None] = [
        ",".join(f"{pairs.dataset}:{pairs.n}pairs" for pairs, _ in pairs_and_sides) or "no pairs",
        listed("crit", (side.criterion for side in sides)),
        listed("ep", (side.eval_prompt for side in sides if side.eval_prompt)),
        listed("judge", judges),
        *(fact.not_in_force for fact in table.facts),
        listed("rep", (str(fact.repeats) for fact in table.facts)),
        listed("orders", (fact.orders for fact in table.facts)),
        listed("parser", (fact.parser for fact in table.facts)),
    ]
    parts += [make(options) for name, make in FRAGMENTS.items() if hasattr(options, name) and name != "control"]
    asked = sum(side.lost + side.pair.size for side in sides if side.kind == "judge")
    lost = sum(side.lost for side in sides if side.kind == "judge")
    parts.append(f"unparsed:{100 * lost / asked:.1f}%" if asked else None)
    return tuple(dict.fromkeys(part for part in (*parts, f"v{__version__}") if part))


# The answer of `judge rank` in one or two sentences, made from its results.


def answer(result: Ranked) -> str:
    """Sentences on the best judge's agreement with people, compared with the control, and on its order effect (without
    a judge, on the controls), and on the strongest systems."""
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


# Printed tables of preferences.

Topic = Literal["agreement", "order", "systems", "stories", "transitivity"]
TOPICS: tuple[Topic, ...] = ("agreement", "order", "systems", "stories", "transitivity")

# Systems whose wins stand in a table; with more they are in the figure and in the long table.
_MATRIX_AT_MOST = 8

Rows = Sequence[Mapping[str, Any]]
_ABOUT = (("dataset", "dataset"), ("criterion", "criterion"), ("run", "run"), ("eval_prompt", "eval prompt"))


def tables(
    result: Ranked, topics: Sequence[Topic] = TOPICS, *, long: bool = False, answered: bool = True
) -> list[Table]:
    """The printed tables of these topics. With `answered`, a sentence above the first gives the main result. `long`
    gives one row for each judge or other subject and one column for each number, and no sentence."""
    printed: list[Table] = []
    for topic in topics:
        value = getattr(result, topic)
        printed += [long_table(topic.capitalize(), value.frame, value.signature)] if long else _TABLES[topic](value)
    if printed and answered and not long:
        printed[0] = replace(printed[0], above=answer(result))
    return printed


def _about(rows: Rows) -> list[Column]:
    """Columns that identify a row and differ, and the judge; the run only where one judge has several."""
    columns = []
    for key, title in _ABOUT:
        values = {row[key] for row in rows} - {None}
        several = len({(row["judge"], row["run"]) for row in rows}) > len({row["judge"] for row in rows})
        if len(values) > 1 and (key != "run" or several):
            columns.append(Column(key, title))
    return [*columns, Column("judge", "judge")]


def _labels(row: Any) -> dict[str, Any]:
    return cells_of(row, "dataset", "criterion", "run", "eval_prompt", "judge")


def agreement_tables(result: Agreement) -> list[Table]:
    """Accuracy, kappa and AC1; accuracy by difference in length; and accuracy minus the control's."""
    if not result.rows:
        return []
    rows = [_labels(row) | row.numbers() | {"pairs": row.agreement.kappa.n, "lost": row.lost} for row in result.rows]
    about = _about(rows)
    first = [
        *about,
        *hundredths(accuracy="accuracy %", accuracy_strict="ties wrong %", macro="macro %"),
        *titled(kappa="kappa", ac1="AC1"),
        *plain("pairs", "lost"),
    ]
    second = [*about, *(Column(name, f"{name} %", digits=1, factor=100) for name in THIRDS)]
    second.append(Column("over_control", "over control", digits=1, factor=100))
    if any(row.over_implied.defined for row in result.rows):
        second.append(Column("over_implied", "over own ratings", digits=1, factor=100))
    whole, by_length = "Agreement with people's preferences", "Accuracy by difference of length"
    thirds = ("alike, between, apart: thirds of the pairs by |log ratio of words|",)
    return [
        Table(whole, first, rows, result.signature, _agreement_notes(result)),
        Table(by_length, second, rows, "", thirds),
    ]


def _agreement_notes(result: Agreement) -> tuple[str, ...]:
    notes = [
        "accuracy: of pairs of which people prefer one story; the judge's own ties count one half, or as wrong",
        "macro: accuracy of each story-prompt, averaged; kappa and AC1: all pairs, ties an outcome of their own",
    ]
    if any(row.kind == "implied" for row in result.rows):
        notes.append("ratings: the story with the higher mean rating is taken as preferred")
    return (*result.notes, *notes)


def order_tables(result: Order) -> list[Table]:
    """How the order shown affects each judge, over all pairs; empty without rows."""
    rows = [_labels(row) | row.numbers() for row in result.rows if row.third is None]
    if not rows:
        return []
    columns = [
        *_about(rows),
        Column("first", "first preferred %", digits=1, factor=100),
        Column("position", "position logit"),
        *hundredths(same="same order %", swapped="swapped %", place="place"),
    ]
    notes = (
        "same order, swapped: chance that another comparison of the pair gives the same preference",
        "place: same order less swapped, on pairs that have both: the effect of the place beyond noise",
    )
    return [Table("Order: noise and place", columns, rows, result.signature, notes)]


def system_tables(result: Systems) -> list[Table]:
    """Rankings of systems by each judge and by people; with few systems, each is followed by the wins between them."""
    printed = []
    for standing in result.standings:
        printed.append(_standings(standing, result))
        if len(standing.rows) <= _MATRIX_AT_MOST:
            printed.append(_matrix(standing))
    return printed


def _title(standings: SystemStandings, result: Systems) -> str:
    parts = [standings.judge]
    parts += [standings.eval_prompt] if standings.eval_prompt else []
    for name in ("criterion", "dataset"):
        several = {getattr(other, name) for other in result.standings}
        parts += [getattr(standings, name)] if len(several) > 1 else []
    return ", ".join(parts)


def _standings(standings: SystemStandings, result: Systems) -> Table:
    columns = [
        *plain("system", "strength", "group", "ranks"),
        *hundredths(win_rate="win rate %", equal_length="at equal length %"),
    ]
    rows = [
        {
            **cells_of(row, "system", "strength"),
            "group": row.group or None,
            "ranks": None if row.set is None else "-".join(str(end) for end in dict.fromkeys(row.set)),
            **cells_of(row, "win_rate", "equal_length"),
        }
        for row in standings.rows
    ]
    notes = (
        "strength: log odds, sum 0; win rate: expected against the field, ties one half, both places alike",
        "systems that share a letter were not told apart (Holm, 5 %); ranks: those the tests leave possible",
    )
    return Table(f"Systems: {_title(standings, result)}", columns, rows, result.signature, notes)


def _matrix(standings: SystemStandings) -> Table:
    names = [row.system for row in standings.rows]
    columns = [Column("system", "won % against", digits=0)]
    columns += [Column(f"against {name}", name, digits=0, factor=100) for name in names]
    rows: list[dict[str, Any]] = []
    for s, name in enumerate(names):
        cells = [None if s == t or value != value else float(value) for t, value in enumerate(standings.matrix[s])]
        rows.append({"system": name} | {f"against {t}": cell for t, cell in zip(names, cells, strict=True)})
    return Table("Share of comparisons won, ties one half", columns, rows, "")


def win_tables(result: Systems) -> list[Table]:
    """Share of comparisons that each system won against each other, by each judge and by people."""
    return [
        replace(_matrix(standing), title=f"Wins: {_title(standing, result)}", signature=result.signature)
        for standing in result.standings
    ]


def story_tables(result: Stories) -> list[Table]:
    """Agreement with people on the order of stories within story-prompts; empty without rows."""
    rows = [
        _labels(order) | cells_of(order, "tau", "story_prompts", "determined")
        for order in result.orders
        if order.kind != "people" and order.story_prompts
    ]
    if not rows:
        return []
    columns = [
        *_about(rows),
        *titled(tau="tau-b with people", story_prompts="story-prompts", determined="strengths determined"),
    ]
    notes = ("tau: of stories' shares of comparisons won within their story-prompt, averaged over story-prompts",)
    return [Table("Stories within a story-prompt", columns, rows, result.signature, notes)]


def transitivity_tables(result: Transitivity) -> list[Table]:
    """Cyclic triads by judge and by people, beside the shares expected from fitted strengths and from guessing."""
    rows = [
        _labels(row)
        | cells_of(row.triads, "share", "strict", "uneven", guessing=GUESSING)
        # The interval is left out, as the share from the comparisons has none.
        | {"expected": row.triads.expected if row.triads.expected.value is None else row.triads.expected.value}
        for row in result.rows
        if row.triads.strict or row.triads.uneven
    ]
    if not rows:
        return []
    columns = [
        *_about(rows),
        *hundredths(share="cyclic %", expected="under the fit %", guessing="guessing %"),
        *titled(strict="triads", uneven="uneven"),
    ]
    notes = ("uneven: triads left out because preferences on one of their pairs are balanced",)
    return [Table("Transitivity: cyclic triads of stories", columns, rows, result.signature, notes)]


_TABLES: Mapping[Topic, Callable[[Any], list[Table]]] = {
    "agreement": agreement_tables,
    "order": order_tables,
    "systems": system_tables,
    "stories": story_tables,
    "transitivity": transitivity_tables,
}
