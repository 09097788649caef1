"""Tables of a study: its design, and the report."""

from __future__ import annotations

from judge.base.printing.tables import Table, plain
from judge.lab.people.study import Drawn, minutes
from judge.version import __version__


def design_table(drawn: Drawn) -> Table:
    """One row a rater: what is read, and about how long that takes."""
    rows = []
    for i, (entries, took) in enumerate(zip(drawn.lists, minutes(drawn), strict=True), start=1):
        uses = [entry.use for entry in entries]
        words = sum(len(drawn.texts[entry.text - 1].text.split()) for entry in entries)
        row = {use: uses.count(use) for use in ("rating", "repeat", "check", "practice")}
        rows.append({"rater": f"r{i:02d}", **row, "words": words, "minutes": round(took)})
    fewest, most = drawn.design.shared
    ratings = int(drawn.design.table.sum()) * len(drawn.criteria)
    hours = sum(minutes(drawn)) / 60
    criteria = ", ".join(criterion.name for criterion in drawn.criteria)
    notes = [
        f"{ratings} ratings of {len(drawn.stories)} stories on {criteria}: about {hours:.1f} hours in all",
        f"two raters share {fewest} to {most} stories, and all are connected",
        *drawn.notes,
    ]
    options = drawn.options
    line = (
        f"{drawn.dataset}:{len(drawn.stories)}|raters:{options.raters}|per story:{options.per_story}|"
        f"core:{len(drawn.design.core)}|seed{options.seed}|v{__version__}"
    )
    columns = plain("rater", ("rating", "stories"), ("repeat", "repeats"), ("check", "checks"), "practice", "words")
    return Table("Who rates what", [*columns, *plain("minutes")], rows, line, notes)
