"""People's ratings in one table and a judge's in another, joined by the stories' ids."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
import typer

from judge.base.errors import DataError
from judge.cli.declared import joined, takes
from judge.cli.start import CHECK_HELP
from judge.cli.table_options import with_flags
from judge.exchange.tables.checked_table import check
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_two
from judge.inputs.datasets.files.reading import TwoReadingsError

STORIES = [f"s{at}" for at in range(24)]
ANN, BOB, GPT = ([1 + (at * step) % 5 for at in range(24)] for step in (1, 2, 3))


def written(folder: Path, name: str, columns: dict[str, list[object]]) -> Path:
    path = folder / name
    frame = pd.DataFrame(columns)
    if path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    return path


def rows(frame: pd.DataFrame) -> set[tuple[object, ...]]:
    columns = ["source", "story", "system", "criterion", "judge", "rater", "rating"]
    return {tuple(None if pd.isna(value) else value for value in row) for row in frame[columns].to_numpy()}


def test_two_tables_give_the_rows_of_one(tmp_path: Path) -> None:
    systems = ["a", "b"] * 12
    people = written(tmp_path, "people.csv", {"id": STORIES, "model": systems, "human_1": ANN, "human_2": BOB})
    judged = written(tmp_path, "gpt4.jsonl", {"story_id": STORIES[::-1], "score": GPT[::-1]})
    one = written(
        tmp_path, "people2.csv", {"id": STORIES, "model": systems, "gpt4": GPT, "human_1": ANN, "human_2": BOB}
    )
    both = check_two([people, judged], GivenColumns())
    assert rows(both.ratings.frame) == rows(check(one).ratings.frame)
    assert rows(check_two([judged, people], GivenColumns()).ratings.frame) == rows(both.ratings.frame)
    assert both.notes[0] == "joined by id: 24 of 24 stories of people.csv are in gpt4.jsonl"


def test_several_criteria_and_a_row_a_rating_are_joined_by_name(tmp_path: Path) -> None:
    people = written(
        tmp_path, "people.csv", {"id": STORIES, **{f"{c}_ann{n}": ANN for c in ("plot", "style") for n in (1, 2)}}
    )
    lines = [
        {"story": story, "criterion": name, "rating": value, "model": "gpt-4o"}
        for name in ("Plot", "Style")
        for story, value in zip([*STORIES[:20], "x1"], GPT, strict=False)
    ]
    judged = tmp_path / "judge.jsonl"
    judged.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    both = check_two([people, judged], GivenColumns())
    frame = both.ratings.frame
    assert {*frame["criterion"]} == {"plot", "style"}
    assert {*frame["judge"].dropna()} == {"gpt-4o"}
    assert {*frame["rater"].dropna()} == {"ann1", "ann2"}
    assert both.notes[:3] == (
        "joined by id: 20 of 24 stories of people.csv are in judge.jsonl",
        "only in people.csv: 4 stories (s20, s21, s22 and 1 more)",
        "only in judge.jsonl: 1 stories (x1)",
    )


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    people = written(tmp_path, "people.csv", {"id": STORIES, "human_1": ANN})
    other = written(tmp_path, "gpt.csv", {"id": [f"t{at}" for at in range(24)], "gpt4": GPT})
    with pytest.raises(DataError, match=r"no story's id is in both tables \(people.csv: s0, s1, s10"):
        check_two([people, other], GivenColumns())
    first, second = (written(tmp_path, f"{name}.csv", {"id": STORIES, "score": ANN}) for name in ("a", "b"))
    with pytest.raises(DataError, match=r"it cannot be seen which of a\.csv and b\.csv holds people's ratings"):
        check_two([first, second], GivenColumns())
    numbered = written(tmp_path, "numbered.csv", {"id": STORIES, "coh_1": ANN, "coh_2": BOB})
    judged = written(tmp_path, "gpt2.csv", {"id": STORIES, "gpt4_coh": GPT})
    with pytest.raises(TwoReadingsError, match="coh_1, coh_2 hold one person's ratings") as doubt:
        check_two([numbered, judged], GivenColumns())
    assert f"judge check {numbered} {judged}" in str(doubt.value.hint)
    persons = check_two([numbered, judged], doubt.value.choices[0]).ratings.frame
    assert {*persons["rater"].dropna()} == {"1", "2"}
    assert check_two([numbered, judged], doubt.value.choices[1]).ratings.frame["rater"].isna().all()


def test_prompt_and_system_name_the_stories_of_both_tables(tmp_path: Path) -> None:
    stories = [(f"p{n // 3}", f"m{n % 3}", 1 + n * 7 % 5) for n in range(24)]
    people = [(p, m, who, 1 + (v + at) % 5) for p, m, v in stories for at, who in enumerate("ab")]
    first, second = tmp_path / "ratings.csv", tmp_path / "gpt4.csv"
    pd.DataFrame(people, columns=["prompt_id", "model", "annotator", "score"]).to_csv(first, index=False)
    pd.DataFrame(stories[::-1], columns=["prompt_id", "model", "score"]).to_csv(second, index=False)
    frame = check_two([first, second], GivenColumns()).ratings.frame
    judged = frame[frame["source"] == "judge"].set_index("story")["rating"]
    assert judged.to_dict() == {f"{p}~{m}": float(v) for p, m, v in stories}
    rated = frame[frame["rater"] == "b"].set_index("story")["rating"]
    assert rated.to_dict() == {f"{p}~{m}": float(1 + (v + 1) % 5) for p, m, v in stories}


def test_tables_without_ids_are_not_joined_by_their_rows(tmp_path: Path) -> None:
    first, second = tmp_path / "people.csv", tmp_path / "gpt4.csv"
    pd.DataFrame({"rater1": [1, 2, 3] * 8, "rater2": [2, 3, 4] * 8}).to_csv(first, index=False)
    pd.DataFrame({"gpt4": [1, 2, 3] * 8}).to_csv(second, index=False)
    with pytest.raises(DataError, match="no column could be identified as the story's name"):
        check_two([first, second], GivenColumns())


def _pairs_of_tables(folder: Path) -> dict[str, list[Path]]:
    sounded = [value if at % 6 else 99 for at, value in enumerate(ANN)]
    slider = [20 * value - (value == 5) for value in GPT]  # 99 among them
    each = [(story, who, value, f"{who} on {story}") for story, value in zip(STORIES, ANN, strict=True) for who in "ab"]
    long = pd.DataFrame(each, columns=["item", "worker", "score", "comment"])
    long.to_csv(folder / "long.csv", index=False)
    lines = [{"item": s, "model": "gpt-4o", "score": v, "system": f"m{v}"} for s, v in zip(STORIES, GPT, strict=True)]
    pd.DataFrame(lines).to_json(folder / "lines.jsonl", orient="records", lines=True)
    pairs: dict[str, dict[str, dict[str, list[object]]]] = {
        "other_ids": {
            "p1.csv": {"id": STORIES, "human_1": ANN, "human_2": BOB},
            "j1.csv": {"story_id": STORIES, "gpt4": GPT},
        },
        "sentinels": {
            "p2.csv": {"id": STORIES, "Anna": sounded, "Ben": BOB},
            "j2.csv": {"id": STORIES, "score": slider},
        },
        "labels": {
            "p3.csv": {"id": STORIES, "ann1_label": ["Yes", "No"] * 12, "ann2_label": ["No", "No", "Yes"] * 8},
            "j3.csv": {"id": STORIES, "gpt_label": ["Yes", "No", "No"] * 8},
        },
        "criteria": {
            "p4.csv": {"id": STORIES, **{f"{c}_ann{n}": ANN for c in ("plot", "style") for n in (1, 2)}},
            "j4.csv": {"id": STORIES, "gpt_plot": GPT, "gpt_style": BOB},
        },
    }
    paths = {name: [written(folder, file, columns) for file, columns in of.items()] for name, of in pairs.items()}
    return paths | {"rows": [folder / "long.csv", folder / "lines.jsonl"]}


@pytest.mark.parametrize("name", ["other_ids", "sentinels", "labels", "criteria", "rows"])
def test_the_options_of_two_tables_repeat_their_reading(name: str, tmp_path: Path) -> None:
    paths = _pairs_of_tables(tmp_path)[name]
    told: list[GivenColumns] = []
    checked = check_two(paths, GivenColumns())
    assert ("--human" in with_flags(checked.options)) == ("--judge" in with_flags(checked.options)) is True

    app = typer.Typer()

    @takes(GivenColumns, CHECK_HELP, name="columns")
    def say(*, columns: GivenColumns) -> None:
        told.append(columns)

    app.command()(say)
    joined(app)(shlex.split(with_flags(checked.options)), standalone_mode=False)
    again = check_two(paths, told[0])
    assert rows(again.ratings.frame) == rows(checked.ratings.frame)
    assert again.options == checked.options
    if name == "sentinels":
        assert 99.0 in set(checked.ratings.frame.query("source == 'judge'")["rating"])
        assert checked.ratings.frame.query("source == 'rater'")["rating"].max() == 5
    if name == "rows":
        assert "comments=comment" in with_flags(checked.options)
