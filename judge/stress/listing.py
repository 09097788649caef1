"""Every perturbation as rows of a table: what it does, what ought to follow, and whether it can be made here."""

from __future__ import annotations

from judge.perturbations.catalogue import CATALOGUE
from judge.printing.tables import Column, Table
from judge.stress.availability import lacking
from judge.version import __version__

EXPECTED = {
    "discrimination": "rated lower",
    "invariance": "rated the same",
    "attack": "rated no higher",
    "degenerate": "the lowest point",
}
NOTES = (
    "criteria are where the drop ought to show, by the papers; the report tests it",
    "the edits of a strength are among those of the next",
)


def table() -> Table:
    """All perturbations, in the catalogue's order."""
    rows = [
        {
            "perturbation": facts.name,
            "about": facts.about,
            "test": facts.test,
            "expected": EXPECTED[facts.test],
            "aims": ", ".join(facts.aims) or "-",
            "strengths": ", ".join(map(str, facts.strengths)),
            "needs": ", ".join(facts.needs) or "text",
            "source": facts.source,
            "here": lacking(facts) or "yes",
        }
        for facts in CATALOGUE.values()
    ]
    columns = [
        Column("perturbation", "perturbation"),
        Column("about", "what", wrap=34),
        Column("test", "test"),
        Column("expected", "a good judge"),
        Column("aims", "criteria", wrap=20),
        Column("strengths", "strengths"),
        Column("needs", "needs", wrap=16),
        Column("source", "source", wrap=28),
        Column("here", "made here", wrap=28),
    ]
    return Table("Perturbations", columns, rows, f"v{__version__}", NOTES)
