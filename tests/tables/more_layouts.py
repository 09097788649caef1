"""More layouts of tables, each with the numbers that pandas and scipy find in the ratings it was made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from openpyxl import Workbook

from tests.tables.layouts import Layout, long, truth_of, wide


def raw_answers_beside_scores(folder: Path) -> Layout:
    """One row a call, the judge in a column `judge`, its sentence and the number read of it, a template and a run."""
    judges = ("gpt-4o", "claude-3-haiku")
    frame = long(21, ("p1", *judges), ("quality",))
    people = frame[frame["rater"] == "p1"].set_index("story")["rating"]
    table = frame[frame["rater"] != "p1"].rename(columns={"rater": "judge", "rating": "quality_score"})
    table = pd.concat([table.assign(template=asked, run=run) for asked in ("short", "long") for run in (1, 2)])
    table["human_quality_mean"] = table["story"].map(people)
    table["raw_answer"] = [f"Score: {n}. The style is {n % 2}." for n in table["quality_score"]]
    table = table.rename(columns={"story": "story_id"}).drop(columns=["prompt", "opening", "criterion", "text"])
    table.sample(frac=1, random_state=1).to_csv(folder / "raw.csv")
    return [folder / "raw.csv"], truth_of(frame, judges, {"quality": "quality"})


def grid_with_unknown_names(folder: Path) -> Layout:
    """Criteria by persons, one of whose names is on no list; systems in a column whose name is on no list."""
    frame = long(22, ("Lucía", "Zzyx", "Irene", "GPT-4o"), ("Originalidad", "Coherencia"))
    frame["column"] = frame["criterion"] + " " + frame["rater"]
    table = wide(frame, ["story", "system", "text"], "column")
    table["system"] = table["system"].map({"north": "GPT-4", "south": "BLOOM", "east": "pupil"})
    table = table.rename(columns={"story": "Ref", "system": "Herkunft", "text": "Relato"})
    table.to_csv(folder / "grid.csv", index=False)
    return [folder / "grid.csv"], truth_of(frame, ("GPT-4o",))


def systems_as_columns(folder: Path) -> Layout:
    """One row a prompt, rater and criterion, with a column of ratings for each system, two of them named for models."""
    frame = long(23, ("Noor", "Tim", "claude-3-opus"), ("plot", "style"))
    names = {"north": "Human", "south": "GPT-3.5", "east": "Mistral"}
    frame = frame.assign(system=frame["system"].map(names))
    table = wide(frame, ["prompt", "opening", "rater", "criterion"], "system")
    table = table.rename(columns={"prompt": "prompt_id", "rater": "rated_by"})
    table.to_csv(folder / "by_system.csv", index=False)
    return [folder / "by_system.csv"], truth_of(frame, ("claude-3-opus",))


def sheets_and_their_items(folder: Path) -> Layout:
    """A sheet that describes the items, one for each person, and one that is named for a model."""
    frame = long(24, ("Anna", "Jonas", "GPT-4o (temp 0)"), ("Novelty", "Aptness"))
    book = Workbook()
    book.active.title = "Items"
    book.active.append(["ID", "Metaphor", "Source"])
    for row in frame.drop_duplicates("story").itertuples():
        book.active.append([row.story, row.text, row.system])
    for at, (rater, rows) in enumerate(frame.groupby("rater", sort=False)):
        sheet = book.create_sheet(str(rater))
        sheet.append(["ID", "Metaphor", "Novelty (1-5)", "Aptness (1-5)", "Notes"])
        for cells in wide(rows, ["story", "text"]).sample(frac=1, random_state=at).itertuples(index=False):
            sheet.append([*cells, "nice" if at else None])
    book.save(folder / "items.xlsx")
    return [folder / "items.xlsx"], truth_of(frame, ("GPT-4o (temp 0)",))


MORE_LAYOUTS: tuple[Callable[[Path], Layout], ...] = (
    raw_answers_beside_scores,
    grid_with_unknown_names,
    systems_as_columns,
    sheets_and_their_items,
)
