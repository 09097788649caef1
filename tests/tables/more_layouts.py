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
    """Criteria by persons, one of them of a name on no list, and their means; systems in a column of no usual name."""
    frame = long(22, ("Lucía", "Zzyx", "Irene", "GPT-4o"), ("Originalidad", "Coherencia"))
    frame["column"] = frame["criterion"] + " " + frame["rater"]
    table = wide(frame, ["story", "system", "text"], "column")
    for criterion in ("Originalidad", "Coherencia"):
        own = [f"{criterion} {who}" for who in ("Lucía", "Zzyx", "Irene")]
        table[f"{criterion} MW"] = table[own].mean(axis=1).round(2)
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


def grid_beside_a_code(folder: Path) -> Layout:
    """Criteria by persons of two letters, the judge's columns, and the code of who wrote each answer."""
    frame = long(25, ("KS", "LM", "KI"), ("Originalität", "Nutzen"))
    judged = frame["rater"] == "KI"
    frame["column"] = ("KI_" + frame["criterion"]).where(judged, frame["criterion"] + "_" + frame["rater"])
    table = wide(frame, ["story", "system", "text"], "column").rename(columns={"story": "Nr", "text": "Antwort"})
    table["VP-Code"] = [f"AB{n // 2:02}" for n in range(len(table))]
    table.drop(columns="system").to_csv(folder / "classes.csv", sep=";", index=False, encoding="utf-8-sig")
    return [folder / "classes.csv"], truth_of(frame, ("KI",))


def keys_by_numbers(folder: Path) -> Layout:
    """One row a person and story, keys called RATERNO and STORYNO, facts of the persons, and a judge's API_ values."""
    people = tuple(str(200 + n) for n in range(6))
    frame = long(26, (*people, "API"), ("CREAT", "HUMOR"))
    rows = wide(frame[frame["rater"] != "API"], ["rater", "story", "system"])
    judge = wide(frame[frame["rater"] == "API"], ["story"]).set_index("story")
    names = {"rater": "RATERNO", "story": "STORYNO", "system": "SOURCE"}
    numbers = {story: at for at, story in enumerate(dict.fromkeys(rows["story"]), 1)}
    for criterion in ("CREAT", "HUMOR"):
        rows[f"API_{criterion}"] = rows["story"].map(judge[criterion])
    rows["CLASS"], rows["SEX"] = rows["rater"].astype(int) % 3, rows["rater"].map(lambda who: "fm"[int(who) % 2])
    rows["system"] = rows["system"].map({"north": "student", "south": "AI", "east": "AI"})
    rows["story"] = rows["story"].map(numbers)
    rows.rename(columns=names).to_csv(folder / "keys.csv", index=False)
    return [folder / "keys.csv"], truth_of(frame, ("API",))


def form_of_texts(folder: Path) -> Layout:
    """A form's grid of one question, whose rows are the texts themselves; addresses with a blank in the file's name."""
    frame = long(27, ("a@x.org", "b@x.org", "c@x.org"), ("funny",))
    frame["question"] = "On a scale from 1 to 5, how funny is each joke? [" + frame["text"] + "]"
    table = wide(frame, ["rater"], "question").rename(columns={"rater": "Email Address"})
    table.insert(0, "Timestamp", [f"10/1{n}/2024 10:00:05" for n in range(len(table))])
    table["Any comments?"] = ""
    table.to_csv(folder / "Jokes (Responses).csv", index=False)
    return [folder / "Jokes (Responses).csv"], truth_of(frame)


def one_true_choice(folder: Path) -> Layout:
    """A crowd's batch, in which each answer is five columns of true and false."""
    frame = long(28, ("A3JJJLLM3TQSQ", "A2XYZWAI34567", "A3XYZWGPT4567"), ("interest", "style"))
    table = wide(frame, ["rater", "story", "system", "text"])
    for criterion in ("interest", "style"):
        for at in range(1, 6):
            table[f"Answer.{criterion}.{at}"] = [str(value == at).lower() for value in table[criterion]]
    names = {"rater": "WorkerId", "story": "Input.story_id", "system": "Input.model", "text": "Input.story"}
    table.drop(columns=["interest", "style"]).rename(columns=names).to_csv(folder / "hot.csv", index=False)
    return [folder / "hot.csv"], truth_of(frame)


def raw_answers_in_a_file(folder: Path) -> Layout:
    """People's sliders, and a log of a judge's answers in words, numbered `rep`, two of which hold no number."""
    frame = long(29, ("p1", "p2", "gpt-4o-mini"), ("depth",), top=100)
    people = frame[frame["rater"] != "gpt-4o-mini"].rename(columns={"rater": "participant", "rating": "depth_0_100"})
    people[["participant", "story", "depth_0_100"]].rename(columns={"story": "item_id"}).to_csv(
        folder / "titles.csv", index=False
    )
    judge = frame[frame["rater"] == "gpt-4o-mini"]
    calls = pd.concat([judge.assign(rep=rep, rating=(judge["rating"] + rep).clip(0, 100)) for rep in (1, 2, 3)])
    calls = calls.sort_values(["story", "rep"]).reset_index(drop=True)
    forms = ("Depth: {}", "{}", "Depth: {}\nA fine title, in 2 parts.")
    calls["response"] = [forms[n % 3].format(value) for n, value in enumerate(calls["rating"])]
    calls.loc[[4, 40], "response"] = "I cannot rate this."
    calls.loc[[4, 40], "rating"] = None
    log = calls.rename(columns={"story": "item_id", "rater": "model"})[["item_id", "rep", "model", "response"]]
    log.to_json(folder / "answers.jsonl", orient="records", lines=True)
    whole = pd.concat([frame[frame["rater"] != "gpt-4o-mini"], calls])
    return [folder / "titles.csv", folder / "answers.jsonl"], truth_of(whole, ("gpt-4o-mini",))


MORE_LAYOUTS: tuple[Callable[[Path], Layout], ...] = (
    raw_answers_beside_scores,
    grid_with_unknown_names,
    systems_as_columns,
    sheets_and_their_items,
    grid_beside_a_code,
    keys_by_numbers,
    form_of_texts,
    one_true_choice,
    raw_answers_in_a_file,
)
