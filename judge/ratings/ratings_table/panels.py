"""Panels (groups of raters, such as experts) in a ratings table: their names, and a note where panels are pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from judge.base.wording import Advice, Note
from judge.ratings.ratings_table.table import PANEL, RunFacts


def panels_in(frame: pd.DataFrame) -> tuple[str, ...]:
    """Sorted names of the raters' panels; () where no panel is known."""
    return tuple(sorted(str(name) for name in frame[PANEL].dropna().unique())) if PANEL in frame.columns else ()


def noted(frame: pd.DataFrame, facts: Sequence[RunFacts]) -> list[RunFacts]:
    """The facts about each result folder, with an added note that panels are pooled if the frame has panels."""
    panel_names = panels_in(frame)
    return (
        [replace(fact, notes=(*fact.notes, pooled_note(panel_names))) for fact in facts] if panel_names else list(facts)
    )


def pooled_note(panels: Sequence[str]) -> str:
    """Note under every table that pools the ratings of several panels."""
    many = f"people of {len(panels)} panels" if len(panels) > 1 else "people of one panel"
    sentence = f"{many} ({', '.join(panels)}) are taken together with whoever has none"
    return Note(sentence, Advice("{panel} takes one alone, judge panels sets them side by side", panel=panels[0]))
