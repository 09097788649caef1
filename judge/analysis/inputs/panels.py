"""Panels of human raters: their names, and the ratings table restricted to one panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judge.base.errors import unknown_value
from judge.ratings.ratings_table import PANEL
from judge.ratings.ratings_table.table import panels_in, pooled_note

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def panels_of(table: RatingsTable) -> tuple[str, ...]:
    """Names of the panels that raters belong to; empty if none is known, or in a table of one panel."""
    return panels_in(table.frame)


def of_panel(table: RatingsTable, panel: str) -> RatingsTable:
    """All judges and one panel's raters, without the panel column. Raises SpecError for an unknown panel."""
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
    """Note on whose ratings are used: one panel's, or all panels'; empty where no panel is known."""
    if table.panel is not None:
        return (_alone(table.panel),)
    panels = panels_of(table)
    return (pooled_note(panels),) if panels else ()


def _alone(panel: str) -> str:
    return f"people: those of the panel {panel} only"
