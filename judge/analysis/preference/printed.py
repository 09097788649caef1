"""Printed tables of preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from judge.analysis.frames import long_table
from judge.analysis.preference.agreement import THIRDS, Agreement, AgreementRow
from judge.analysis.preference.order import Order
from judge.analysis.preference.ranked import Ranked, answer
from judge.analysis.preference.stories import Stories
from judge.analysis.preference.systems import Systems, SystemStandings
from judge.analysis.preference.transitivity import Transitivity
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.stats.comparing.circular_triads import GUESSING

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
    gives one row for each judge or other subject and one column for each number, and no sentence.
    """
    printed = [table for topic in topics for table in (_long(result, topic) if long else _wide(result, topic))]
    if printed and answered and not long:
        printed[0] = replace(printed[0], above=answer(result))
    return printed


def _long(result: Ranked, topic: Topic) -> list[Table]:
    value: Agreement | Order | Systems | Stories | Transitivity = getattr(result, topic)
    return [long_table(topic.capitalize(), value.frame, value.signature)]


def _wide(result: Ranked, topic: Topic) -> list[Table]:
    if topic == "agreement":
        return agreement_tables(result.agreement)
    if topic == "order":
        return order_tables(result.order)
    if topic == "systems":
        return system_tables(result.systems)
    if topic == "stories":
        return story_tables(result.stories)
    return transitivity_tables(result.transitivity)


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
    return {key: getattr(row, key) for key in ("dataset", "criterion", "run", "eval_prompt", "judge")}


def agreement_tables(result: Agreement) -> list[Table]:
    """Accuracy, kappa and AC1; accuracy by difference in length; and accuracy minus the control's."""
    if not result.rows:
        return []
    rows = [_labels(row) | row.numbers() | _counts(row) for row in result.rows]
    about = _about(rows)
    first = [
        *about,
        Column("accuracy", "accuracy %", digits=1, factor=100),
        Column("accuracy_strict", "ties wrong %", digits=1, factor=100),
        Column("macro", "macro %", digits=1, factor=100),
        Column("kappa", "kappa"),
        Column("ac1", "AC1"),
        Column("pairs", "pairs"),
        Column("lost", "lost"),
    ]
    second = [*about, *(Column(name, f"{name} %", digits=1, factor=100) for name in THIRDS)]
    second.append(Column("over_control", "over control", digits=1, factor=100))
    if any(row.over_implied.defined for row in result.rows):
        second.append(Column("over_implied", "over own ratings", digits=1, factor=100))
    whole, by_length = "Agreement with people's preferences", "Accuracy by difference of length"
    thirds = ("alike, between, apart: thirds of the pairs by |log ratio of words|",)
    return [
        Table(whole, first, _plain(rows, first), result.signature, _agreement_notes(result)),
        Table(by_length, second, _plain(rows, second), "", thirds),
    ]


def _agreement_notes(result: Agreement) -> tuple[str, ...]:
    notes = [
        "accuracy: of pairs of which people prefer one story; the judge's own ties count one half, or as wrong",
        "macro: accuracy of each story-prompt, averaged; kappa and AC1: all pairs, ties an outcome of their own",
    ]
    if any(row.kind == "implied" for row in result.rows):
        notes.append("ratings: the story with the higher mean rating is taken as preferred")
    return (*result.notes, *notes)


def _counts(row: AgreementRow) -> dict[str, Any]:
    return {"pairs": row.agreement.kappa.n, "lost": row.lost}


def _plain(rows: Rows, columns: Sequence[Column]) -> list[dict[str, Any]]:
    keys = [column.key for column in columns]
    return [{key: row[key] for key in keys} for row in rows]


def order_tables(result: Order) -> list[Table]:
    """How the order shown affects each judge, over all pairs; empty without rows."""
    rows = [_labels(row) | row.numbers() for row in result.rows if row.third is None]
    if not rows:
        return []
    columns = [
        *_about(rows),
        Column("first", "first preferred %", digits=1, factor=100),
        Column("position", "position logit"),
        Column("same", "same order %", digits=1, factor=100),
        Column("swapped", "swapped %", digits=1, factor=100),
        Column("place", "place", digits=1, factor=100),
    ]
    notes = (
        "same order, swapped: chance that another comparison of the pair gives the same preference",
        "place: same order less swapped, on pairs that have both: the effect of the place beyond noise",
    )
    return [Table("Order: noise and place", columns, _plain(rows, columns), result.signature, notes)]


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
        Column("system", "system"),
        Column("strength", "strength"),
        Column("group", "group"),
        Column("ranks", "ranks"),
        Column("win_rate", "win rate %", digits=1, factor=100),
        Column("equal_length", "at equal length %", digits=1, factor=100),
    ]
    rows = [
        {
            "system": row.system,
            "strength": row.strength,
            "group": row.group or None,
            "ranks": None if row.set is None else "-".join(str(end) for end in dict.fromkeys(row.set)),
            "win_rate": row.win_rate,
            "equal_length": row.equal_length,
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


def story_tables(result: Stories) -> list[Table]:
    """Agreement with people on the order of stories within story-prompts; empty without rows."""
    rows = [
        _labels(order) | {"tau": order.tau, "story_prompts": order.story_prompts, "determined": order.determined}
        for order in result.orders
        if order.kind != "people" and order.story_prompts
    ]
    if not rows:
        return []
    columns = [
        *_about(rows),
        Column("tau", "tau-b with people"),
        Column("story_prompts", "story-prompts"),
        Column("determined", "strengths determined"),
    ]
    notes = ("tau: of stories' shares of comparisons won within their story-prompt, averaged over story-prompts",)
    return [Table("Stories within a story-prompt", columns, _plain(rows, columns), result.signature, notes)]


def transitivity_tables(result: Transitivity) -> list[Table]:
    """Cyclic triads by judge and by people, beside the shares expected from fitted strengths and from guessing."""
    rows = [
        _labels(row)
        | {"share": row.triads.share, "expected": _value(row.triads.expected), "guessing": GUESSING}
        | {"strict": row.triads.strict, "uneven": row.triads.uneven}
        for row in result.rows
        if row.triads.strict or row.triads.uneven
    ]
    if not rows:
        return []
    columns = [
        *_about(rows),
        Column("share", "cyclic %", digits=1, factor=100),
        Column("expected", "under the fit %", digits=1, factor=100),
        Column("guessing", "guessing %", digits=1, factor=100),
        Column("strict", "triads"),
        Column("uneven", "uneven"),
    ]
    notes = ("uneven: triads left out because preferences on one of their pairs are balanced",)
    return [Table("Transitivity: cyclic triads of stories", columns, _plain(rows, columns), result.signature, notes)]


def _value(estimate: Estimate) -> Estimate | float:
    return estimate if estimate.value is None else estimate.value
