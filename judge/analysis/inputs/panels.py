"""Panels of people: their names, and the table with the people of one panel alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judge.errors import unknown_value
from judge.ratings_table import PANEL
from judge.ratings_table.panels import panels_in, pooled_note

if TYPE_CHECKING:
    from judge.ratings_table import RatingsTable


def panels_of(table: RatingsTable) -> tuple[str, ...]:
    """The panels that people belong to, by name; nothing where none is known, or the table is of one panel alone."""
    return panels_in(table.frame)


def of_panel(table: RatingsTable, panel: str) -> RatingsTable:
    """The table with all judges' rows and of people's those of one panel; it has no column of panels any more.

    Raises SpecError for a panel that is not there, letter case aside.
    """
    names = {name.casefold(): name for name in panels_of(table)}
    if panel.casefold() not in names:
        raise unknown_value("panel", panel, names.values())
    name = names[panel.casefold()]
    frame = table.frame
    kept = frame[(frame["source"] == "judge") | (frame[PANEL].astype(object) == name)]
    note = _alone(name)
    pooled = pooled_note(panels_of(table))
    facts = (replace(fact, notes=(*(each for each in fact.notes if each != pooled), note)) for fact in table.facts)
    return replace(table, frame=kept.drop(columns=PANEL), facts=tuple(facts), panel=name)


def people_said(table: RatingsTable) -> tuple[str, ...]:
    """Whose ratings count, in a note: one panel's alone, or all panels' together; nothing where none is known."""
    if table.panel is not None:
        return (_alone(table.panel),)
    panels = panels_of(table)
    return (pooled_note(panels),) if panels else ()


def _alone(panel: str) -> str:
    return f"people: those of the panel {panel} only"
