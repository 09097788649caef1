"""Functions on the preferences table: restrict it to a selection, and show its first rows on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judge.analysis.options.signature import joined
from judge.analysis.options.table_options import names
from judge.base.errors import SpecError, unknown_value
from judge.base.printing.tables import Column, Table
from judge.version import __version__

if TYPE_CHECKING:
    from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable

# Rows on the screen.
_SHOWN = 20

_LEFT_OUT = ["story_prompt", "explanation", "run", "dataset"]


def narrowed(
    table: PreferencesTable,
    criteria: str | Sequence[str] | None,
    judges: str | Sequence[str] | None,
    eval_prompts: str | Sequence[str] | None,
) -> PreferencesTable:
    """The table with the rows of these criteria and, among judges' rows, of these judges and Eval-Prompts; None keeps
    all. Raises SpecError for a name that does not occur in the table, and where no row remains.
    """
    frame = table.frame
    judged = frame["judge"].notna()
    for column, wanted in (("criterion", criteria), ("judge", judges), ("eval_prompt", eval_prompts)):
        asked = names(wanted or ())
        if not asked:
            continue
        levels = {str(name).casefold(): str(name) for name in frame[column].dropna().unique()}
        for name in asked:
            if name.casefold() not in levels:
                raise unknown_value(column, name, levels.values())
        kept = frame[column].isin([levels[name.casefold()] for name in asked])
        frame = frame[kept if column == "criterion" else kept | ~judged]
        judged = judged[frame.index]
    if frame.empty:
        raise SpecError("nothing in these runs has all of these names")
    left = set(frame["judge"].dropna())
    facts = tuple(fact for fact in table.facts if fact.judge in left)
    return replace(table, frame=frame.reset_index(drop=True), facts=facts)


def preview(table: PreferencesTable, *, whole: bool = False) -> Table:
    """The first rows of the preferences table, or with `whole` all, without story-prompts and explanations."""
    frame = table.frame.drop(columns=_LEFT_OUT)
    frame = frame[[name for name in frame.columns if frame[name].notna().any()]]
    head = frame.head(len(frame) if whole else _SHOWN).astype(object)
    head = head.where(head.notna(), None)
    columns = [Column(str(name), str(name), 3) for name in head.columns]
    notes = [f"the first {len(head)} of {len(frame)} rows; -o FILE.csv saves all, with explanations"]
    notes += [note for fact in table.facts for note in fact.notes]
    records = [{str(key): value for key, value in row.items()} for row in head.to_dict("records")]
    return Table("Preferences", columns, records, joined(signature_parts(table)), tuple(dict.fromkeys(notes)))


def signature_parts(table: PreferencesTable) -> Iterator[str]:
    """Parts of the signature line: pairs by dataset, judges, Eval-Prompts, orders, ties, repeats, parsers."""
    frame = table.frame
    counts = frame.groupby("dataset", sort=False)["pair"].nunique()
    yield ",".join(f"{name}:{count} pairs" for name, count in counts.items()) or "no pairs"
    judged = frame[frame["judge"].notna()]
    yield f"crit:{_listed((judged if len(judged) else frame)['criterion'].dropna().unique())}"
    for name, values in _facts(table.facts):
        if values:
            yield f"{name}:{_listed(values)}"
    yield f"v{__version__}"


def _facts(facts: Sequence[ComparisonFacts]) -> Iterator[tuple[str, list[str]]]:
    yield "ep", [prompt for fact in facts for prompt in fact.eval_prompts]
    yield "judge", [f"{fact.judge}@{fact.revision}" if fact.revision else fact.judge for fact in facts]
    yield "rep", [str(fact.repeats) for fact in facts if fact.repeats]
    yield "orders", [fact.orders for fact in facts]
    yield "ties", ["offered" if fact.ties else "none" for fact in facts if fact.orders != "implied"]
    yield "parser", [fact.parser for fact in facts]


def _listed(values: Iterable[object]) -> str:
    return ",".join(dict.fromkeys(map(str, values)))
