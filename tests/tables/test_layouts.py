"""Tables in the layouts of surveys, crowds, workbooks and logs give the ratings that they were made of."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import kendalltau

from judge.base.errors import DataError
from judge.cli.table_options import mend, with_flags
from judge.exchange.imported_folder import Import
from judge.exchange.tables.checked_table import Checked
from judge.exchange.tables.counted import Counted
from judge.exchange.tables.looked_at import looked_at
from judge.exchange.tables.table_roles import GivenColumns
from judge.inputs.datasets.files.reading import TwoReadingsError
from tests.report.runs import command as run
from tests.tables.layouts import LAYOUTS, Layout, long, pairs, wide
from tests.tables.more_layouts import MORE_LAYOUTS


@pytest.mark.parametrize("make", [*LAYOUTS, *MORE_LAYOUTS], ids=lambda make: make.__name__)
def test_a_layout_gives_the_ratings_it_was_made_of(make: Callable[[Path], Layout], tmp_path: Path) -> None:
    paths, truth = make(tmp_path)
    seen = looked_at(paths, GivenColumns())
    imported = seen.ratings if isinstance(seen, Checked) else seen.imported
    assert isinstance(imported, Import)
    frame = imported.frame[imported.frame["rating"].notna()]
    people = frame[frame["source"] == "rater"]
    assert people["rater"].nunique() == truth.raters
    assert frame["story"].nunique() == truth.stories
    assert len({*frame.loc[frame["source"] == "judge", "run"]}) <= 1
    labelled = 1 if isinstance(seen, Counted) and "--labels" in with_flags(seen.options or "") else 0
    means = {str(c): (len(v), float(v.mean()) + labelled) for c, v in people.groupby("criterion")["rating"]}
    assert {c: n for c, (n, _) in means.items()} == {c: n for c, (n, _) in truth.ratings.items()}
    assert {c: mean for c, (_, mean) in means.items()} == pytest.approx({c: m for c, (_, m) in truth.ratings.items()})
    taus = {}
    for (judge, criterion), rows in frame[frame["source"] == "judge"].groupby(["judge", "criterion"], observed=True):
        theirs = people[people["criterion"] == criterion].groupby("story")["rating"].mean()
        both = pd.concat([rows.groupby("story")["rating"].mean(), theirs], axis=1, join="inner").round(9)
        taus[str(judge), str(criterion)] = float(kendalltau(*both.to_numpy().T)[0])
    assert taus == pytest.approx(truth.taus)


def test_what_was_left_out_is_said_and_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batch = next(make for make in LAYOUTS if make.__name__ == "rejected_work")
    (path,), truth = batch(tmp_path)
    assert run("check", str(path)) == 0
    told = capsys.readouterr().out
    assert "24 rows are no answers, as AssignmentStatus=Rejected says" in " ".join(told.split())
    assert len(told.splitlines()) <= 40
    every = looked_at([path], GivenColumns(missing=("none",)))
    assert isinstance(every, Counted)
    assert every.table.rows[0]["ratings"] == truth.ratings["adequacy"][0] * 3 // 2


def test_unfinished_answers_of_a_survey_can_be_read(tmp_path: Path) -> None:
    survey = next(make for make in LAYOUTS if make.__name__ == "loops_of_a_survey")
    (path,), truth = survey(tmp_path)
    for said, more in (("Status=Survey Preview", 4), ("none", 4 + 2 * truth.stories)):
        counted = looked_at([path], GivenColumns(missing=(said,)))
        assert isinstance(counted, Counted)
        assert sum(row["ratings"] for row in counted.table.rows) == sum(n for n, _ in truth.ratings.values()) + more


def test_verdicts_are_counted_with_both_orders_of_a_judge(tmp_path: Path) -> None:
    frame = pd.DataFrame(pairs(1, ("Kim", "Qadira", "Sanjay"), ("A", "B", "tie")))
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    counted = looked_at([path], GivenColumns())
    assert isinstance(counted, Counted)
    rows = {row["who"]: row for row in counted.table.rows}
    given = pd.concat([frame[f"pref_{who}"] for who in ("Kim", "Qadira", "Sanjay")]).value_counts()
    assert [rows["people"][side] for side in ("first", "second", "tie")] == [given["A"], given["B"], given["tie"]]
    assert rows["people"]["decided"] == pytest.approx(given["A"] / (given["A"] + given["B"]))
    same = int((frame["gpt4o_original_order"] == frame["gpt4o_swapped_order"]).sum())
    assert (
        f"gpt4o_original_order and gpt4o_swapped_order agree on {same} of 20 pairs ({same / 20:.4f})" in counted.notes
    )


def test_grades_of_two_texts_are_asked_for_their_direction(tmp_path: Path) -> None:
    frame = pd.DataFrame(pairs(2, ("rater_MH", "rater_CB"), ("1", "5", "3"))).rename(
        columns={"story_A": "left_response", "story_B": "right_response"}
    )
    frame.loc[0, "pref_rater_MH"], frame.loc[1, "pref_rater_CB"] = "2", "4"
    frame = frame.drop(columns=["gpt4o_original_order", "gpt4o_swapped_order"]).assign(pref_claude="4")
    path = tmp_path / "grades.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(TwoReadingsError, match="1/2 = the first story") as doubt:
        looked_at([path], GivenColumns())
    firsts = []
    for choice in doubt.value.choices:
        counted = looked_at([path], choice)
        assert isinstance(counted, Counted)
        firsts.append(counted.table.rows[0]["first"])
    grades = pd.concat([frame["pref_rater_MH"], frame["pref_rater_CB"]]).astype(int)
    assert firsts == [(grades < 3).sum(), (grades > 3).sum()]


def test_grades_by_signs_and_systems_names_are_verdicts(tmp_path: Path) -> None:
    draw = random.Random(3)
    signs, names = ("A>>B", "A is better", "A = B", "A<B", "B much better"), ("base-1", "llm-2", "tie")
    rows = [
        {"Seg ID": f"s{n}", "Translation A (base-1)": f"one text {n} with the words of it all and more of them"}
        | {"Translation B (llm-2)": f"another text {n} with other words, and also more of them in it"}
        | {f"Verdict linguist {who}": draw.choice(signs) for who in ("MK", "JS")}
        | {"GPT-4o verdict": draw.choice(names)}
        for n in range(30)
    ]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "signs.csv", index=False)
    counted = looked_at([tmp_path / "signs.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    people, judge = counted.table.rows
    given = pd.concat([frame["Verdict linguist MK"], frame["Verdict linguist JS"]])
    assert people["first"] == given.isin(("A>>B", "A is better")).sum()
    assert people["tie"] == (given == "A = B").sum()
    assert [judge["first"], judge["second"]] == [(frame["GPT-4o verdict"] == name).sum() for name in names[:2]]


def test_labels_without_an_order_are_counted_and_compared(tmp_path: Path) -> None:
    draw = random.Random(4)
    words = ("refused", "complied", "partly")
    people = {f"label_ann{k}": [draw.choice(words) for _ in range(40)] for k in (1, 2, 3)}
    frame = pd.DataFrame(people | {"gpt4_label": [draw.choice(words) for _ in range(40)]})
    frame.insert(0, "id", [f"s{n}" for n in range(40)])
    frame["majority_label"] = frame["label_ann1"]
    frame.to_csv(tmp_path / "labels.csv", index=False)
    counted = looked_at([tmp_path / "labels.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    assert [row["all"] for row in counted.table.rows] == [120, 40, 40]
    a, b, c = (frame[f"label_ann{k}"] for k in (1, 2, 3))
    mean = ((a == b).mean() + (a == c).mean() + (b == c).mean()) / 3
    assert f"two people give the same label in {mean:.4f} (mean of pairs)" in counted.notes


def test_ranks_are_comparisons_within_a_row(tmp_path: Path) -> None:
    draw = random.Random(5)
    ranks = [draw.choice(((1, 2, 3), (1, 1, 3), (3, 1, 2), (2, 3, 1))) for _ in range(24)]
    rows = [
        {"Frase": f"F{n // 2}", "Evaluador/a": f"Evaluadora {n % 2 + 1}"}
        | {f"Puesto {name} (1 = mejor)": rank for name, rank in zip("xyz", row, strict=True)}
        for n, row in enumerate(ranks)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "ranks.csv", sep=";", index=False)
    counted = looked_at([tmp_path / "ranks.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    first = counted.table.rows[0]
    wanted = ("x / y", 24, sum(x < y for x, y, _ in ranks), sum(x == y for x, y, _ in ranks))
    assert (first["pair"], first["all"], first["first"], first["tie"]) == wanted


def test_nine_above_a_scale_that_lacks_eight_is_asked(tmp_path: Path) -> None:
    frame = long(14, ("101", "102", "103"), ("KOHAERENZ",), top=7)
    table = wide(frame, ["rater", "system", "prompt"]).rename(columns={"rater": "VP", "prompt": "TEXTNR"})
    table["GPT4_KOHAERENZ"] = table.groupby(["system", "TEXTNR"])["KOHAERENZ"].transform("first")
    table = table.rename(columns={"system": "SYSTEM"})
    table.loc[[3, 9], "KOHAERENZ"] = 9
    table.to_csv(tmp_path / "codes.csv", sep=";", index=False)
    with pytest.raises(TwoReadingsError, match=r"does 9\S* in KOHAERENZ say that no rating was given") as doubt:
        looked_at([tmp_path / "codes.csv"], GivenColumns())
    counts = []
    for choice in doubt.value.choices:
        checked = looked_at([tmp_path / "codes.csv"], choice)
        assert isinstance(checked, Checked)
        counts.append(int(checked.ratings.frame.query("source == 'rater'")["rating"].notna().sum()))
    assert counts == [len(table) - 2, len(table)]


def test_rows_of_errors_are_refused_with_a_line_that_scores_them(tmp_path: Path) -> None:
    draw = random.Random(6)
    rows = [
        {"system": system, "doc": "d1", "seg_id": n, "rater": who, "source": f"the source text {n} of the segment here"}
        | {
            "target": f"text {n} <v>by</v> {system}, marked by {who} at {k}",
            "severity": draw.choice(("Major", "Minor")),
        }
        for n in range(10)
        for system in ("refA", "mtX")
        for who in ("rater1", "rater2")
        for k in range(draw.choice((1, 2)))
    ]
    frame = pd.DataFrame(rows)
    path = tmp_path / "mqm.tsv"
    frame.to_csv(path, sep="\t", index=False)
    with pytest.raises(DataError, match="a score takes weights") as error:
        looked_at([path], GivenColumns())
    code = str(mend(error.value)).partition('python -c "')[2].partition('", then')[0]
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    scores = pd.read_csv(tmp_path / "mqm.scores.csv")
    assert scores["penalty"].sum() == frame["severity"].map({"Major": 5, "Minor": 1}).sum()
    counted = looked_at([tmp_path / "mqm.scores.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    assert counted.table.rows[0]["stories"] == 20


def test_a_judge_named_by_a_list_with_its_prompt(tmp_path: Path) -> None:
    draw = random.Random(7)
    rows = [
        {"question": f"question {n} about the sea and the king", "model_a": "a-1", "model_b": "b-2"}
        | {"winner": draw.choice(("model_a", "model_b", "tie")), "judge": who}
        for n in range(12)
        for who in ("expert_1", "expert_2", ["gpt-4", "pair-v2"])
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    counted = looked_at([path], GivenColumns())
    assert isinstance(counted, Counted)
    assert {row["who"]: row["all"] for row in counted.table.rows} == {"people": 24, "gpt-4": 12}


def test_columns_that_name_nobody_are_asked_or_are_criteria(tmp_path: Path) -> None:
    frame = long(17, ("AB", "CD", "EF"), ("Plot",))
    wide(frame, ["story", "system", "text"], "rater").to_csv(tmp_path / "initials.csv", index=False)
    with pytest.raises(TwoReadingsError, match="AB, CD, EF columns of several people") as doubt:
        looked_at([tmp_path / "initials.csv"], GivenColumns())
    raters = []
    for choice in doubt.value.choices:
        counted = looked_at([tmp_path / "initials.csv"], choice)
        assert isinstance(counted, Counted)
        raters.append([row["raters"] for row in counted.table.rows])
    assert raters == [[3], [1, 1, 1]]
    one = long(18, ("AB",), ("Plot", "Style"))
    wide(one, ["story", "system", "text"]).to_csv(tmp_path / "one.csv", index=False)
    counted = looked_at([tmp_path / "one.csv"], GivenColumns())
    assert isinstance(counted, Counted)
    assert [row["raters"] for row in counted.table.rows] == [1, 1]


def test_a_judges_answers_beside_its_ratings_are_no_systems_stories(tmp_path: Path) -> None:
    frame = long(19, ("rater1", "gpt-4", "claude-3"), ("Plot",))
    table = wide(frame, ["story", "text"], "rater")
    for judge in ("gpt-4", "claude-3"):
        table[f"{judge} output"] = [
            f"I would say that this story {n} is rather good, and rate it so." for n in range(len(table))
        ]
        table = table.rename(columns={judge: f"{judge} score"})
    table.to_csv(tmp_path / "outputs.csv", index=False)
    checked = looked_at([tmp_path / "outputs.csv"], GivenColumns())
    assert isinstance(checked, Checked)
    assert checked.ratings.frame["story"].nunique() == 24
    assert checked.ratings.frame["judge"].dropna().nunique() == 2


def _poems(path: Path) -> pd.DataFrame:
    """Texts by several systems, whose titles several of one system share, rated by a person a row and a judge."""
    frame = long(31, ("ann", "bob", "cat"), ("style",))
    people = frame.rename(columns={"story": "id", "rating": "style", "rater": "annotator"})
    people["title"] = ["Rain" if story[1] in "1234" else "Sea" for story in people["id"]]
    people["llm_style"] = people["id"].map(people.groupby("id")["style"].mean().round())
    draw = random.Random(4)
    people["llm_name"], people["kind"] = "claude-3-5-sonnet", [draw.choice(("ode", "elegy")) for _ in people["id"]]
    people.drop(columns=["prompt", "opening", "criterion"]).to_csv(path, index=False)
    return people


def test_a_shared_title_is_no_prompt_unless_it_is_said(tmp_path: Path) -> None:
    _poems(tmp_path / "poems.csv")
    for said, prompts in ((GivenColumns(), 0), (GivenColumns(prompt="title"), 2), (GivenColumns(prompt="none"), 0)):
        seen = looked_at([tmp_path / "poems.csv"], said)
        assert isinstance(seen, Checked)
        assert seen.ratings.frame["story_prompt"].nunique() == prompts


def test_no_prompt_is_kept_by_the_command_that_repeats_the_reading(tmp_path: Path) -> None:
    _poems(tmp_path / "poems.csv").rename(columns={"title": "topic"})
    frame = pd.read_csv(tmp_path / "poems.csv").rename(columns={"title": "topic"})
    frame.to_csv(tmp_path / "topics.csv", index=False)
    seen = looked_at([tmp_path / "topics.csv"], GivenColumns(prompt="none"))
    assert isinstance(seen, Checked)
    assert "--prompt none" in with_flags(seen.options)
    assert seen.ratings.frame["story_prompt"].isna().all()


def test_labels_beside_ratings_are_counted_and_the_judge_called_by_its_column(tmp_path: Path) -> None:
    people = _poems(tmp_path / "poems.csv")
    seen = looked_at([tmp_path / "poems.csv"], GivenColumns())
    assert isinstance(seen, Checked)
    assert {*seen.ratings.frame["judge"].dropna()} == {"claude-3-5-sonnet"}
    counts = people["kind"].value_counts()
    same = sum(len({*kinds}) == 1 for _, kinds in people.groupby("id")["kind"])
    (note,) = [str(note) for note in seen.notes if "labels without an order" in str(note)]
    assert ", ".join(f"{word} {count}" for word, count in counts.items()) in note
    assert f"agree on {same} of {people['id'].nunique()}" in note


def test_a_survey_says_first_how_many_ratings_were_left_out(tmp_path: Path) -> None:
    survey = next(make for make in LAYOUTS if make.__name__ == "loops_of_a_survey")
    (path,), truth = survey(tmp_path)
    counted = looked_at([path], GivenColumns())
    assert isinstance(counted, Counted)
    own = sum(n for n, _ in truth.ratings.values())
    assert f"{own} ratings ({own + 4 + 2 * truth.stories} with rows left out)" in counted.about
    told = " ".join(map(with_flags, counted.reading))
    assert "1 respondent with 2 rows are no answers, as Finished=False says" in told


def test_more_criteria_than_stories_are_asked_for(tmp_path: Path) -> None:
    frame = long(33, ("gpt-4o", "ann"), ("style",)).head(20)
    frame["criterion"] = [f"is it good {n // 2}?" for n in range(len(frame))]
    frame["story"] = [f"s{n % 2}" for n in range(len(frame))]
    frame.insert(0, "n", range(len(frame)))
    frame[["story", "rater", "criterion", "rating"]].assign(story="s1").to_csv(tmp_path / "many.csv", index=False)
    frame = pd.concat([frame.assign(story=f"t{n}", criterion=frame["criterion"] + str(n)) for n in range(2)])
    frame[["story", "rater", "criterion", "rating"]].to_csv(tmp_path / "many.csv", index=False)
    with pytest.raises(DataError, match="20 criteria of 2 stories") as doubt:
        looked_at([tmp_path / "many.csv"], GivenColumns())
    assert "--criterion criterion" in str(mend(doubt.value))
