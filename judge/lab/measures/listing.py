"""The table of measures that `judge` prints: what each needs, how it is computed, and whether it is available here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge.base.printing.tables import Column, Table
from judge.lab.measures import SLOW, Known, measures_by_name
from judge.lab.measures.availability import lacking
from judge.lab.measures.measure import Need
from judge.lab.measures.unavailable import UNAVAILABLE, reason
from judge.version import __version__

_DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "-"}
NOTES = (
    "a story that is its own reference has no value of a measure that uses the reference",
    "measures that repeat a study (-hanna, -openmeva) give the number of the study's file, also there",
    "sets: quick, hanna and openmeva (what those studies used), all",
)


def measure_tables(models: Mapping[Need, str]) -> list[Table]:
    """Two tables: the measures that this program has, and those of published studies that it does not compute, with the
    reasons. `models` are the models that the user named; they decide which measures can run here.
    """
    rows = [_row(entry, models) for entry in measures_by_name().values()]
    columns = [
        Column("measure", "measure"),
        Column("needs", "needs", wrap=16),
        Column("direction", "direction"),
        Column("recipe", "recipe", wrap=46),
        Column("source", "source", wrap=30),
        Column("here", "runs here", wrap=30),
    ]
    others = [{"measure": name, "why": reason(name)} for name in UNAVAILABLE]
    why = [Column("measure", "measure", wrap=30), Column("why", "why not", wrap=70)]
    signature = f"v{__version__}"
    return [
        Table("Measures", columns, rows, signature, NOTES),
        Table("Measures that are not computed", why, others, signature, ()),
    ]


def _row(entry: Known, models: Mapping[Need, str]) -> dict[str, Any]:
    missing = lacking(entry.family, models)
    return {
        "measure": entry.measure.name,
        "needs": ", ".join(entry.family.needs) or "text",
        "direction": _DIRECTIONS[entry.measure.direction],
        "recipe": entry.measure.recipe,
        "source": entry.family.source,
        "here": ("by name only: it is slow" if entry.measure.name in SLOW else "yes") if missing is None else missing,
    }
