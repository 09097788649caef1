"""What the rows of a table tell of its columns: prompts and stories, people in rows, questions, ids of two tables."""

from __future__ import annotations

import random
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.base.errors import DataError
from judge.cli.main import main
from judge.cli.table_options import mend
from judge.exchange.tables.checked_table import Checked, check
from judge.exchange.tables.compared_table import compared_map, read_compared
from judge.exchange.tables.table_roles import GivenColumns
from judge.exchange.tables.two_tables import check_two

TOPIC = "Topic {}: write about the lamp on the stairs of a house in which nobody has lived for {} years."
STORY = "Story {} of {}: the lamp went out at nine and Mara waited on the stairs, counting to {}."
SYSTEMS = ("owl", "fox", "human", "crow")


def _frame(prompts: int = 12, seed: int = 3, people: tuple[str, ...] = ("rater1", "rater2")) -> pd.DataFrame:
    """A row a story: four systems answer each prompt; two people and a judge rate it."""
    draw = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for prompt in range(prompts):
        for system in SYSTEMS:
            worth = draw.gauss(3, 1)
            points = [min(5, max(1, round(worth + draw.gauss(0, 0.7)))) for _ in range(len(people) + 1)]
            named = {"nr": len(rows) + 1, "passage": TOPIC.format(prompt, prompt * 3), "system": system}
            rows.append(named | dict(zip((*people, "gpt-4o"), points, strict=True)))
    return pd.DataFrame(rows)


def _checked(frame: pd.DataFrame, folder: Path, given: GivenColumns | None = None) -> Checked:
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    return check(path, given)


def _has_text(checked: Checked) -> bool:
    return checked.ratings.stories is not None


@pytest.mark.parametrize("drop", [[], ["nr"], ["system"]])
def test_a_text_beside_several_stories_is_the_prompt(drop: list[str], tmp_path: Path) -> None:
    frame = _frame().drop(columns=drop)
    checked = _checked(frame, tmp_path)
    assert checked.columns.fields.get("prompt") == "passage"
    assert "text" not in checked.columns.fields
    assert not _has_text(checked)
    assert checked.ratings.frame["story_prompt"].nunique() == 12


def test_of_two_long_texts_the_one_that_repeats_is_the_prompt(tmp_path: Path) -> None:
    frame = _frame()
    # The prompts are longer than the stories, so that length does not tell them.
    frame["passage"] = frame["passage"] * 3
    frame["content2"] = [STORY.format(n, system, n) for n, system in zip(frame["nr"], frame["system"], strict=True)]
    fields = _checked(frame, tmp_path).columns.fields
    assert (fields["prompt"], fields["text"]) == ("passage", "content2")


def test_texts_of_stories_may_repeat_a_little_or_in_rows_of_raters(tmp_path: Path) -> None:
    frame = _frame()
    frame["passage"] = [STORY.format(n, system, n) for n, system in zip(frame["nr"], frame["system"], strict=True)]
    frame.loc[3, "passage"] = frame.loc[2, "passage"]
    assert _checked(frame, tmp_path).columns.fields["text"] == "passage"
    rows = frame.melt(["nr", "passage", "system"], ["rater1", "rater2", "gpt-4o"], "rater", "rating")
    checked = _checked(rows, tmp_path)
    assert checked.columns.fields["text"] == "passage"
    assert checked.ratings.frame["story"].nunique() == 48


def test_a_text_that_repeats_where_nothing_tells_why_is_asked_about(tmp_path: Path) -> None:
    frame = _frame().drop(columns=["nr", "system"])
    with pytest.raises(DataError, match="the texts in 'passage' repeat") as error:
        _checked(frame, tmp_path)
    assert error.value.hint is not None
    assert "passage" in error.value.hint
    assert _checked(frame, tmp_path, GivenColumns(prompt="passage")).columns.fields["prompt"] == "passage"


@pytest.mark.parametrize(("rater", "names"), [("WorkerId", "AMT_{}"), ("expert", "E{:02}"), ("annotator_id", "{}7")])
def test_a_person_a_row_and_a_judge_that_is_the_same_for_all(rater: str, names: str, tmp_path: Path) -> None:
    frame = _frame()
    frame["text"] = [STORY.format(n, system, n) for n, system in zip(frame["nr"], frame["system"], strict=True)]
    frame["metric_x"] = [n / 7 for n in frame["nr"]]
    rows = [
        {rater: names.format(person), "story_id": row["nr"], "text": row["text"], "fluency": row[f"rater{person}"]}
        | {"matcher": round(row["metric_x"], 4)}
        for _, row in frame.iterrows()
        for person in (1, 2)
    ]
    checked = _checked(pd.DataFrame(rows), tmp_path)
    assert checked.columns.fields["rater"] == rater
    assert [c.column for c in checked.columns.judges] == ["matcher"]
    assert [c.column for c in checked.columns.people] == ["fluency"]
    people = checked.ratings.frame.query("source == 'rater'")
    assert list(people.query(f"rater == '{names.format(2)}'")["rating"]) == list(frame["rater2"])
    assert len(checked.ratings.frame.query("source == 'judge'")) == 48


def _experts() -> pd.DataFrame:
    draw = random.Random(8)
    rows = [
        {"story": f"s{story}", "test_no": test, "expert": f"E0{expert}", "verdict": draw.choice(("Yes", "No"))}
        | {"why": f"I thought of story {story} what expert {expert} thinks of test {test}, and no more than that."}
        | {"GPT-4 verdict": "Yes" if (story + test) % 3 else "No"}
        for story in range(12)
        for expert in (1, 2, 3)
        for test in (2, 6, 9)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("why", ["why", "thoughts"])
def test_what_was_said_of_a_story_is_no_story(why: str, tmp_path: Path) -> None:
    frame = _experts()
    checked = _checked(frame.rename(columns={"why": why}), tmp_path)
    fields = {"rater": "expert", "criterion": "test_no", "story": "story"}
    assert checked.columns.fields == fields | {"comments": why}
    assert not _has_text(checked)
    people = checked.ratings.frame.query("source == 'rater' and criterion == '6' and rater == 'E02'")
    own = frame.query("test_no == 6 and expert == 'E02'")
    assert list(people["rating"]) == [float(word == "Yes") for word in own["verdict"]]


def test_a_question_that_each_story_has_once_is_a_criterion(tmp_path: Path) -> None:
    draw = random.Random(5)
    rows = [
        {"post": f"{post}zq", "answered_by": system, "question": question}
        | {who: draw.choice(("Bad", "OK", "Good")) for who in ("net", "ofe", "gpt-4o")}
        for post in range(9)
        for system in SYSTEMS
        for question in ("Q1", "Q2", "Q3")
    ]
    checked = _checked(pd.DataFrame(rows), tmp_path)
    fields = checked.columns.fields
    assert (fields["criterion"], fields["story"]) == ("question", "post+answered_by")
    assert {*checked.ratings.frame["criterion"]} == {"Q1", "Q2", "Q3"}
    assert checked.ratings.frame["story_prompt"].nunique() == 9


def test_questions_that_systems_answered_are_prompts(tmp_path: Path) -> None:
    frame = _frame().rename(columns={"passage": "question"}).drop(columns="nr")
    frame["question"] = [f"q{at // 4}" for at in range(len(frame))]
    fields = _checked(frame, tmp_path).columns.fields
    assert "criterion" not in fields
    assert fields["prompt"] == "question"


def test_codes_below_zero_are_no_ratings_and_are_told(tmp_path: Path) -> None:
    frame = _frame()
    frame["gpt-4o"] = [20 * value - 20 for value in frame["gpt-4o"]]
    frame.loc[[2, 5], "gpt-4o"] = -1
    checked = _checked(frame, tmp_path)
    assert "read as no rating: '-1'" in checked.notes
    judged = checked.ratings.frame.query("source == 'judge'")["rating"]
    assert judged.isna().sum() == 2
    assert judged.min() == 0
    frame["gpt-4o"] = [(value + 20) // 40 for value in frame["gpt-4o"].replace(-1, 0)]
    frame.loc[[2, 5], "gpt-4o"] = -1
    assert not any("read as no rating" in note for note in _checked(frame, tmp_path).notes)


def test_a_judges_ratings_off_peoples_scale_are_told(tmp_path: Path) -> None:
    frame = _frame().astype({"gpt-4o": float})
    frame.loc[[2, 5], "gpt-4o"] = [-0.333, 6.5]
    notes = _checked(frame, tmp_path).notes
    told = "look at this: 2 of 48 ratings by gpt-4o lie off people's scale of Overall (1-5): -0.333, 6.5"
    assert told in notes


def _two(people: pd.DataFrame, judged: pd.DataFrame, folder: Path, given: GivenColumns | None = None) -> Checked:
    paths = [folder / "people.csv", folder / "judged.csv"]
    for frame, path in zip((people, judged), paths, strict=True):
        frame.to_csv(path, index=False)
    return check_two(paths, given or GivenColumns())


@pytest.mark.parametrize("stated", [False, True])
def test_persons_of_one_table_beside_a_score_in_another(stated: bool, tmp_path: Path) -> None:
    frame = _frame(people=("Wiebke", "Oona", "Tjark"))
    frame.loc[4, "Oona"] = 99
    people = frame.drop(columns=["passage", "gpt-4o"])
    judged = frame[["nr", "gpt-4o"]].rename(columns={"gpt-4o": "score"}).sample(40, random_state=1)
    given = GivenColumns(human=("Wiebke", "Oona", "Tjark"), judge=("score",)) if stated else None
    checked = _two(people, judged, tmp_path, given)
    rated = checked.ratings.frame.query("source == 'rater'")
    assert {*rated["rater"]} == {"Wiebke", "Oona", "Tjark"}
    assert {*checked.ratings.frame["criterion"]} == {"Overall"}
    assert rated["rating"].max() == 5
    assert "people.csv: read as no rating: '99'" in checked.notes


def test_criteria_that_the_judge_does_not_rate_are_no_persons(tmp_path: Path) -> None:
    frame = _frame(people=("plot", "style"))
    with pytest.raises(DataError, match="no criterion is in both"):
        _two(frame[["nr", "plot", "style"]], frame[["nr", "gpt-4o"]].rename(columns={"gpt-4o": "score"}), tmp_path)


def test_ids_are_the_columns_that_match(tmp_path: Path) -> None:
    frame = _frame(people=("plot", "style"))
    frame["reply"] = [f"turn-{n}" for n in frame["nr"]]
    frame["dialogue"] = [f"d{at // 4}" for at in range(len(frame))]
    judged = pd.DataFrame(
        {"reply": reply, "criterion": criterion, "sample": sample, "model": "gpt-4o", "score": 1 + (at + sample) % 5}
        for at, reply in enumerate(frame["reply"])
        for criterion in ("plot", "style")
        for sample in (0, 1)
    )
    checked = _two(frame[["reply", "system", "dialogue", "plot", "style"]], judged, tmp_path)
    assert checked.columns.fields["story"] == "reply"
    assert "story" in checked.columns.guessed
    assert checked.ratings.frame["story_prompt"].nunique() == 12
    answers = checked.ratings.frame.query("source == 'judge' and criterion == 'style' and story == 'turn-1'")
    assert dict(zip(answers["repeat"], answers["rating"], strict=True)) == {0: 1.0, 1: 2.0}


def _pairs(*, turns: bool, rows: bool) -> pd.DataFrame:
    """Two comparisons of each pair of systems on a question, by a turn or an id: by three people and a judge."""
    draw = random.Random(4)
    people = ("author_1", "author_2", "expert_7")
    wide = [
        {"comparison": f"c{question}-{pair}-{turn}", "question": question, "turn": turn}
        | {"model_a": "llama-13b", "model_b": ("alpaca-13b", "gpt-3.5-turbo")[pair]}
        | {who: draw.choice(("model_a", "model_b", "tie")) for who in (*people, "gpt-4o")}
        for question in range(8)
        for pair in (0, 1)
        for turn in (1, 2)
    ]
    frame = pd.DataFrame(wide).drop(columns="comparison" if turns else "turn")
    names = [name for name in frame.columns if name not in (*people, "gpt-4o")]
    return frame.melt(names, [*people, "gpt-4o"], "annotator", "winner") if rows else frame


@pytest.mark.parametrize("turns", [True, False])
@pytest.mark.parametrize("rows", [True, False])
def test_two_pairs_of_the_same_systems_are_two(turns: bool, rows: bool, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    _pairs(turns=turns, rows=rows).to_csv(path, index=False)
    chosen = compared_map(path, {})
    assert chosen is not None
    assert chosen.fields["id"] == ("question+turn" if turns else "comparison")
    frame = read_compared(path, chosen, "t").frame
    assert len(frame.groupby(["first", "second"])) == 32
    assert len(frame) == 32 * 4
    assert frame["judge"].notna().sum() == 32
    assert frame["story_prompt"].nunique() == 8


def test_the_hint_about_verdicts_runs(tmp_path: Path) -> None:
    frame = _pairs(turns=True, rows=False).rename(columns={"author_2": "ours"})
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(DataError, match="the verdicts in author_1, ours may be") as error:
        compared_map(path, {})
    assert "people.Overall=author_1,ours,expert_7" in str(mend(error.value))
    said = {"judges.Overall": "gpt-4o", "people.Overall": "author_1,ours,expert_7"}
    chosen = compared_map(path, said)
    assert chosen is not None
    assert list(chosen.people) == ["author_1", "ours", "expert_7"]


def test_categories_without_an_order_are_refused_with_a_way_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(6)
    words = ["Cause", "Part", "Place", "Time", "Kind", "Tool", "Same", "Other", "Action", "Result"]
    frame = pd.DataFrame(
        {"cue": f"cue {n}"} | {who: draw.choice(words) for who in ("annotator_1", "annotator_2", "gpt-4o")}
        for n in range(60)
    )
    path = tmp_path / "kinds.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(DataError, match="10 categories") as error:
        check(path)
    hint = str(mend(error.value))
    command = hint[hint.index("judge import") : hint.index(", then")]
    words_typed = shlex.split(command.replace("runs/kinds", str(tmp_path / "run")))[1:]
    with pytest.raises(SystemExit) as end:
        main(words_typed)
    assert end.value.code == 0
    assert "60 ratings by 1 judge, 120 by people, 60 stories" in capsys.readouterr().out


def test_labels_are_read_where_the_user_says_the_columns(tmp_path: Path) -> None:
    given = GivenColumns(rater="expert", judge=("GPT-4 verdict",), human=("verdict",))
    checked = _checked(_experts(), tmp_path, given)
    assert checked.columns.given.labels == "No,Yes"
    assert {*checked.ratings.frame["rating"]} == {0.0, 1.0}


def test_a_hint_keeps_what_the_user_said(tmp_path: Path) -> None:
    frame = _frame().astype({"gpt-4o": object})
    frame["gpt-4o"] = ["lost" if n % 2 else value for n, value in enumerate(frame["gpt-4o"])]
    with pytest.raises(DataError) as error:
        _checked(frame, tmp_path, GivenColumns(judge=("gpt-4o",), human=("rater1", "rater2"), by="system"))
    hint = str(mend(error.value))
    assert "--judge gpt-4o --human rater1 --human rater2 --by system" in hint
    assert "row 0" not in str(error.value)


@pytest.mark.parametrize("code", [99, 88])
def test_a_code_is_no_rating_only_in_the_columns_on_whose_scale_it_is_not(code: int, tmp_path: Path) -> None:
    frame = _frame()
    frame.loc[[4, 9], "rater1"] = code
    frame["gpt-4o"] = [min(100, 20 * value + at % 5) for at, value in enumerate(frame["gpt-4o"])]
    frame.loc[[3, 8], "gpt-4o"] = code
    checked = _checked(frame, tmp_path)
    assert f"read as no rating: 'rater1={code}'" in checked.notes
    ratings = checked.ratings.frame
    assert (ratings.query("source == 'judge'")["rating"] == code).sum() == 2
    assert ratings.query("source == 'rater'")["rating"].max() == 5
    again = _checked(
        frame, tmp_path, GivenColumns(judge=("gpt-4o",), human=("rater1", "rater2"), missing=(f"rater1={code}",))
    )
    assert list(again.ratings.frame["rating"].dropna()) == list(ratings["rating"].dropna())
