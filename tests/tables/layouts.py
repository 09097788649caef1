"""Layouts of tables that hold no judge, or name it, its stories or its people in other ways: each is made here and
written to a folder, with the numbers that pandas and scipy find in the ratings it was made of."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from openpyxl import Workbook
from scipy.stats import kendalltau

_WORDS = ("lamp", "river", "stone", "bread", "night", "fox", "door", "rain", "king", "girl", "sea", "light", "went")
SYSTEMS, PROMPTS = ("north", "south", "east"), 8


@dataclass
class Truth:
    """What is true of a layout: numbers of raters, stories and people's ratings by criterion with their mean, and the
    judge's tau-b with people's means by (judge, criterion)."""

    raters: int
    stories: int
    ratings: dict[str, tuple[int, float]]
    taus: dict[tuple[str, str], float] = field(default_factory=dict)


Layout = tuple[list[Path], Truth]


def long(seed: int, raters: tuple[str, ...], criteria: tuple[str, ...], top: int = 5) -> pd.DataFrame:
    """Ratings in rows: what several systems wrote to several prompts, rated by all raters on all criteria."""
    draw = random.Random(seed)
    rows = []
    for prompt in range(PROMPTS):
        opening = " ".join(draw.choice(_WORDS) for _ in range(12))
        for system in SYSTEMS:
            text, worth = " ".join(draw.choice(_WORDS) for _ in range(16)), draw.gauss(0, 1)
            for criterion in criteria:
                for rater in raters:
                    value = round((top + 1) / 2 + worth * top / 5 + draw.gauss(0, 0.8))
                    rows.append((prompt + 1, opening, system, text, criterion, rater, min(top, max(1, value))))
    columns = ["prompt", "opening", "system", "text", "criterion", "rater", "rating"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(story=frame["system"].str[0] + frame["prompt"].astype(str))


def truth_of(frame: pd.DataFrame, judges: tuple[str, ...] = (), names: dict[str, str] | None = None) -> Truth:
    """The truth of ratings in rows, some of whose raters are judges; `names` are criteria as the table spells them."""
    people = frame[~frame["rater"].isin(judges)].dropna(subset="rating")
    spelled = names or {}
    by = people.groupby("criterion")["rating"]
    ratings = {spelled.get(c, c): (len(values), float(values.mean())) for c, values in by}
    taus = {}
    for judge in judges:
        for criterion, rows in people.groupby("criterion"):
            own = frame[(frame["rater"] == judge) & (frame["criterion"] == criterion)]
            means = [values.groupby("story")["rating"].mean().dropna() for values in (own, rows)]
            both = pd.concat(means, axis=1, join="inner").round(9)
            taus[judge, spelled.get(criterion, criterion)] = float(kendalltau(*both.to_numpy().T)[0])
    return Truth(people["rater"].nunique(), frame["story"].nunique(), ratings, taus)


def wide(frame: pd.DataFrame, keys: list[str], values: str = "criterion") -> pd.DataFrame:
    return frame.pivot_table(index=keys, columns=values, values="rating", sort=False).reset_index()


def judge_among_raters(folder: Path) -> Layout:
    """One row a judgement with a column a criterion; an id numbers rows, and prompt and system name the story."""
    frame = long(1, ("p1", "p2", "gpt-4o"), ("Plot", "Style"))
    table = wide(frame, ["prompt", "system", "text", "rater"]).rename(
        columns={"prompt": "prompt_id", "rater": "annotator"}
    )
    table.insert(0, "submission_id", [f"S{n:04}" for n in range(len(table))])
    table.sample(frac=1, random_state=1).to_csv(folder / "rows.csv", index=False)
    return [folder / "rows.csv"], truth_of(frame, ("gpt-4o",))


def three_part_ids(folder: Path) -> Layout:
    """Segments that restart in each document, by several systems, a raw score beside its z-score; no judge."""
    frame = long(2, ("r-a1", "r-b2"), ("raw",), top=100)
    scores = frame.assign(doc_id=(frame["prompt"] - 1) // 4, seg_id=(frame["prompt"] - 1) % 4)
    scores["z_score"] = scores.groupby("rater")["rating"].transform(lambda x: (x - x.mean()) / x.std()).round(4)
    columns = {"opening": "src", "text": "mt", "rater": "annotator", "rating": "raw_score"}
    scores = scores.rename(columns=columns)[
        ["system", "doc_id", "seg_id", "annotator", "src", "mt", "raw_score", "z_score"]
    ]
    scores.to_csv(folder / "da.tsv", sep="\t", index=False)
    return [folder / "da.tsv"], truth_of(frame)


def measures_and_means(folder: Path) -> Layout:
    """Persons' columns, their mean, a majority, a judge, and BLEU and chrF, which no judge gave."""
    frame = long(3, ("annotator1", "annotator2", "gpt-4"), ("Overall",))
    table = wide(frame, ["story", "text", "system"], "rater")
    table["human_mean"] = table[["annotator1", "annotator2"]].mean(axis=1)
    table["bleu"], table["chrf"] = (
        [round(0.01 * (n * 7 % 90), 2) for n in range(len(table))],
        range(10, 10 + len(table)),
    )
    table.rename(columns={"gpt-4": "gpt-4_score"}).to_csv(folder / "measures.csv", index=True)
    truth = truth_of(frame, ("gpt-4",))
    truth.taus = {("gpt-4_score", "Overall"): truth.taus["gpt-4", "Overall"]}
    return [folder / "measures.csv"], truth


def sheets_of_raters(folder: Path) -> Layout:
    """A sheet of instructions, and one for each rater with the same stories in another order."""
    frame = long(4, ("Aurélie", "Benoît", "Zoé"), ("Adéquation", "Fluidité"))
    book = Workbook()
    book.active.title = "Consignes"
    book.active.append(["Notez chaque texte"])
    for at, (rater, rows) in enumerate(frame.groupby("rater", sort=False)):
        table = wide(rows, ["story", "system", "opening", "text"]).sample(frac=1, random_state=at)
        sheet = book.create_sheet(str(rater))
        sheet.append(["Nº", "Moteur", "Texte source", "Traduction", "Adéquation", "Fluidité"])
        for row in table.itertuples(index=False):
            sheet.append(list(row))
    book.save(folder / "sheets.xlsx")
    return [folder / "sheets.xlsx"], truth_of(frame)


def titled_blocks(folder: Path) -> Layout:
    """A title, two header rows with merged cells, and a row of averages at the end."""
    people = ("Evaluadora 1", "Evaluador 2")
    frame = long(5, (*people, "GPT-4o"), ("Utilidad", "Claridad"))
    table = frame.pivot_table(index=["story", "system"], columns=["rater", "criterion"], values="rating", sort=False)
    book = Workbook()
    sheet = book.active
    sheet.append(["Resultados"])
    blank: list[Any] = [None]
    sheet.append(["Nº", "Sistema", *(part for rater in (*people, "GPT-4o") for part in (rater, *blank))])
    sheet.append([None, None, *(c for _ in range(3) for c in ("Utilidad", "Claridad"))])
    order = [(rater, criterion) for rater in (*people, "GPT-4o") for criterion in ("Utilidad", "Claridad")]
    for (story, system), row in table[order].iterrows():
        sheet.append([story, system, *map(int, row)])
    sheet.append(["Promedio", None, *(round(float(table[key].mean()), 2) for key in order)])
    book.save(folder / "titled.xlsx")
    return [folder / "titled.xlsx"], truth_of(frame, ("GPT-4o",))


def files_of_raters(folder: Path) -> Layout:
    """A file for each rater, whose initials stand in the file's name alone."""
    frame = long(6, ("AD", "ML"), ("cohérence", "concision"))
    paths = []
    for at, (rater, rows) in enumerate(frame.groupby("rater", sort=False)):
        table = wide(rows, ["story", "opening", "system", "text"]).sample(frac=1, random_state=at)
        table.columns = ["identifiant", "article", "système", "résumé", "cohérence", "concision"]
        paths.append(folder / f"notes_{rater}.csv")
        table.to_csv(paths[-1], sep=";", index=False, encoding="utf-8-sig")
    return paths, truth_of(frame, names={"cohérence": "Coherence"})


def form_of_respondents(folder: Path) -> Layout:
    """A form's grid: a row for each person, a column for each answer and statement, the ends of the scale in words."""
    frame = long(7, ("AB", "CD", "EF"), ("Helpful", "Clear"))
    frame["question"] = "Answer " + frame["story"] + " – “" + frame["text"].str[:20] + "…” [" + frame["criterion"] + "]"
    table = wide(frame, ["rater"], "question").astype(object)
    ends = {1: "1 – not at all", 5: "5 – very much"}
    for column in table.columns[1:]:
        table[column] = [ends.get(int(value), int(value)) for value in table[column]]
    table = table.rename(columns={"rater": "Your initials"})
    table.insert(0, "Timestamp", [f"2024/09/1{n} 8:00" for n in range(len(table))])
    table.to_csv(folder / "form.csv", index=False)
    return [folder / "form.csv"], truth_of(frame)


_AGREE = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")


def loops_of_a_survey(folder: Path) -> Layout:
    """Three header rows of a survey with loops, answers in words, a preview, and a person who did not finish."""
    frame = long(8, ("R_1", "R_2", "R_3", "R_preview", "R_left"), ("It is clear", "It is true"))
    items, statements = list(frame["story"].unique()), ("It is clear", "It is true")
    names = [f"{i}_Q4_{s}" for i in range(1, len(items) + 1) for s in (1, 2)]
    texts = frame.drop_duplicates("story").set_index("story")["text"]
    questions = [f"Text: {texts[item]} How much do you agree? - {said}" for item in items for said in statements]
    ids = [json.dumps({"ImportId": f"{i}_QID4_{s}"}) for i in range(1, len(items) + 1) for s in (1, 2)]
    head = ["Status", "Finished", "ResponseId", "Q1"]
    rows = [[*head, *names], ["Response Type", "Finished", "Response ID", "Age?", *questions]]
    rows.append([*(json.dumps({"ImportId": name}) for name in head), *ids])
    for rater, given in frame.groupby("rater", sort=False):
        value = given.set_index(["story", "criterion"])["rating"]
        words = [_AGREE[value[item, said] - 1] for item in items for said in statements]
        words = words if rater != "R_left" else [*words[:4], *[""] * (len(words) - 4)]
        status = "Survey Preview" if rater == "R_preview" else "IP Address"
        rows.append([status, str(rater != "R_left"), str(rater), "30", *words])
    pd.DataFrame(rows).to_csv(folder / "survey.csv", index=False, header=False, encoding="utf-8-sig")
    return [folder / "survey.csv"], truth_of(frame[frame["rater"].isin(("R_1", "R_2", "R_3"))])


def rejected_work(folder: Path) -> Layout:
    """A crowd's batch: `Input.` and `Answer.` columns, and rejected assignments."""
    frame = long(9, ("A1XYZW", "A2XYZW", "A3XYZW"), ("adequacy",))
    table = frame.rename(columns={"rater": "WorkerId", "story": "Input.seg_id", "system": "Input.system"})
    table = table.rename(columns={"opening": "Input.source", "text": "Input.translation", "rating": "Answer.adequacy"})
    table["AssignmentStatus"] = ["Rejected" if worker == "A3XYZW" else "Approved" for worker in table["WorkerId"]]
    table["MaxAssignments"], table["WorkTimeInSeconds"], table["Title"] = 3, range(len(table)), "Rate translations"
    table.drop(columns=["prompt", "criterion"]).to_csv(folder / "batch.csv", index=False)
    return [folder / "batch.csv"], truth_of(frame[frame["rater"] != "A3XYZW"])


def ratings_in_json_cells(folder: Path) -> Layout:
    """An annotation tool's CSV: a number in a list of an object, annotators by numbers."""
    frame = long(10, ("3", "5"), ("coherence", "style"))
    table = wide(frame, ["rater", "story", "opening", "text", "system"])
    table = table.rename(columns={"rater": "annotator", "story": "id", "opening": "prompt", "text": "story"})
    for name in ("coherence", "style"):
        table[name] = [json.dumps([{"rating": int(value)}]) for value in table[name]]
    table.insert(0, "annotation_id", range(2000, 2000 + len(table)))
    table["lead_time"] = [10.5 + n for n in range(len(table))]
    table.to_csv(folder / "annotations.csv", index=False)
    return [folder / "annotations.csv"], truth_of(frame, names={"coherence": "Coherence"})


def questions_and_catch_trials(folder: Path) -> Layout:
    """One row an answer to one question, with catch trials and what is the same for all rows of a person."""
    asked = ("How natural does it sound?", "How funny is it?")
    frame = long(11, tuple(f"{n:08x}" for n in range(1, 7)), asked, top=100)
    table = frame.sample(frac=0.7, random_state=1)
    columns = {"rater": "prolific_pid", "story": "stimulus_id", "criterion": "question", "rating": "slider"}
    rows = table.rename(columns={**columns, "system": "bot", "opening": "user_message", "text": "bot_reply"})
    catch = rows.drop_duplicates("prolific_pid").assign(stimulus_id="CATCH", question="Attention check", slider=100)
    rows = pd.concat([rows, catch]).drop(columns="prompt")
    rows["age"] = rows["prolific_pid"].map({who: 20 + n for n, who in enumerate(sorted(rows["prolific_pid"].unique()))})
    rows.to_csv(folder / "sliders.csv", index=False)
    return [folder / "sliders.csv"], truth_of(table)


def nested_objects(folder: Path) -> Layout:
    """JSON Lines with objects of raters, of criteria; a judge's repeats in lists."""
    frame = long(12, ("writer_a", "writer_b", "gpt-4o"), ("prose", "depth"))
    lines = []
    for story, rows in frame.groupby("story", sort=False):
        value = rows.set_index(["rater", "criterion"])["rating"].to_dict()
        people = {who: {c: value[who, c] for c in ("prose", "depth")} for who in ("writer_a", "writer_b")}
        judge = {"gpt-4o": {c: [value["gpt-4o", c]] * 2 for c in ("prose", "depth")}}
        first = rows.iloc[0]
        told = {"uid": story, "prompt": first["opening"], "generator": first["system"], "output": first["text"]}
        lines.append(json.dumps(told | {"human_scores": people, "judge_scores": judge}))
    (folder / "nested.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return [folder / "nested.jsonl"], truth_of(frame, ("gpt-4o",))


def calls_of_judges(folder: Path) -> Layout:
    """One row a call of a judge, whom a column names, with its run and people's mean beside it; -1 is no rating."""
    frame = long(13, ("p1", "gpt-4o-mini"), ("Coherence",))
    people = frame[frame["rater"] == "p1"].set_index("story")["rating"]
    table = frame[frame["rater"] != "p1"].rename(columns={"rater": "judge_model", "rating": "parsed_score"})
    table = pd.concat([table.assign(run=run) for run in (1, 2)])
    table["human_coherence_mean"] = table["story"].map(people)
    table = table.rename(columns={"story": "story_id", "text": "story"}).drop(
        columns=["prompt", "opening", "criterion"]
    )
    table.iloc[0, list(table.columns).index("parsed_score")] = -1
    table.to_csv(folder / "calls.csv", index=False)
    return [folder / "calls.csv"], truth_of(frame, ("gpt-4o-mini",))


def kinds_of_raters(folder: Path) -> Layout:
    """Raters whose names say nothing, and a column that calls one a model."""
    frame = long(15, ("r1", "r2", "r3"), ("Plot", "Style"))
    table = wide(frame, ["story", "system", "text", "rater"]).rename(columns={"rater": "annotator"})
    table["annotator_type"] = ["llm" if who == "r3" else "human" for who in table["annotator"]]
    table.to_csv(folder / "kinds.csv", index=False)
    return [folder / "kinds.csv"], truth_of(frame, ("r3",))


def stories_by_systems(folder: Path) -> Layout:
    """One row a prompt and rater, with the texts of all systems and the ratings of each side by side."""
    frame = long(16, ("Ada", "Bo"), ("Plot", "Style"))
    rows = []
    for (prompt, rater), given in frame.groupby(["prompt", "rater"], sort=False):
        row: dict[str, Any] = {"prompt_id": f"q{prompt}", "rater": rater, "prompt": given["opening"].iloc[0]}
        for system, mine in given.groupby("system", sort=False):
            row |= {f"answer_{system}": mine["text"].iloc[0]}
            row |= {f"{c}_{system}": int(v) for c, v in zip(mine["criterion"], mine["rating"], strict=True)}
        rows.append(row)
    pd.DataFrame(rows).to_csv(folder / "systems.csv", index=False)
    return [folder / "systems.csv"], truth_of(frame)


LAYOUTS: tuple[Callable[[Path], Layout], ...] = (
    judge_among_raters,
    three_part_ids,
    measures_and_means,
    sheets_of_raters,
    titled_blocks,
    files_of_raters,
    form_of_respondents,
    loops_of_a_survey,
    rejected_work,
    ratings_in_json_cells,
    questions_and_catch_trials,
    nested_objects,
    calls_of_judges,
    kinds_of_raters,
    stories_by_systems,
)


def pairs(seed: int, people: tuple[str, ...], words: tuple[str, str, str]) -> Iterator[dict[str, Any]]:
    """Comparisons of two texts by people and by a judge in both orders, as `words` for first, second and tie."""
    draw = random.Random(seed)
    for n in range(20):
        texts = {f"story_{side}": " ".join(draw.choice(_WORDS) for _ in range(14)) for side in "AB"}
        given = {f"pref_{who}": draw.choice(words) for who in people}
        orders = {f"gpt4o_{order}_order": draw.choice(words) for order in ("original", "swapped")}
        yield {"pair_id": f"p{n}", "writing_prompt": f"prompt {n % 10} about a lamp"} | texts | given | orders
