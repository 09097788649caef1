"""Tables as strangers write them: which column is read as what, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge.base.errors import DataError, SpecError
from judge.cli.table_options import with_flags as flags
from judge.exchange.tables.checked_table import Checked, check
from judge.exchange.tables.table_roles import GivenColumns
from judge.inputs.datasets.files.column_names import named

WIDE = {
    "id": [f"s{i}" for i in range(24)],
    "model": ["a", "b"] * 12,
    "prompt": [f"p{i // 2}" for i in range(24)],
    "gpt4": [1, 2, 3, 4, 5, 3] * 4,
    "human_1": [1, 2, 3, 5, 4, 3] * 4,
    "human_2": [2, 1, 3, 4, 5, 2] * 4,
}


def table(folder: Path, columns: Mapping[str, Sequence[Any]], name: str = "t.csv", **how: Any) -> Path:
    path = folder / name
    pd.DataFrame(columns).to_csv(path, **{"index": False, **how})
    return path


def ratings(checked: Checked, source: str) -> dict[tuple[str, str], list[float]]:
    """(Criterion, judge or rater) -> ratings in the order of the file."""
    frame = checked.ratings.frame
    rows = frame[frame["source"] == source]
    who = "judge" if source == "judge" else "rater"
    return {key: list(group["rating"]) for key, group in rows.groupby(["criterion", who], sort=False)}


@pytest.mark.parametrize(
    ("column", "side", "criterion", "who"),
    [
        ("gpt4_coherence", "judge", "Coherence", "gpt4"),
        ("Beluga-13B Coherence", "judge", "Coherence", "Beluga-13B"),
        ("ChatGPT Empathy", "judge", "Empathy", "ChatGPT"),
        ("Coherence human 2", "human", "Coherence", "human 2"),
        ("annotator3", "human", None, "annotator3"),
        ("Answer.rater_1_score", "human", None, "rater_1"),
        ("fluency", None, "fluency", "fluency"),
    ],
)
def test_a_name_says_whose_ratings_these_are(column: str, side: str | None, criterion: str | None, who: str) -> None:
    found = named(column)
    assert (found.side, found.criterion) == (side, criterion)
    if side is not None:
        assert found.who == who


def test_a_wide_table_is_read_without_a_word_and_the_options_repeat_it(tmp_path: Path) -> None:
    first = check(table(tmp_path, WIDE))
    assert flags(first.columns.options) == (
        "--judge gpt4 --human human_1 --human human_2 --story id --by model --prompt prompt"
    )
    assert ratings(first, "judge") == {("Overall", "gpt4"): WIDE["gpt4"]}
    assert ratings(first, "rater")["Overall", "human_2"] == WIDE["human_2"]
    said = GivenColumns(judge=("gpt4",), human=("human_1", "human_2"), story="id", by="model", prompt="prompt")
    again = check(first.path, said)
    assert not again.guessed
    pd.testing.assert_frame_equal(again.ratings.frame, first.ratings.frame)
    assert flags(again.columns.options) == flags(first.columns.options)


def test_semicolons_decimal_commas_a_mark_at_the_start_and_words_for_nothing(tmp_path: Path) -> None:
    columns = {**WIDE, "gpt4": [1.5, None, *WIDE["gpt4"][2:]]}
    path = table(tmp_path, columns, sep=";", decimal=",", na_rep="n/a", encoding="utf-8-sig")
    found = check(path)
    assert ratings(found, "judge")["Overall", "gpt4"][0] == 1.5
    assert list(found.ratings.frame["status"]).count("no_rating") == 1
    assert "--set missing=n/a" in flags(found.columns.options)
    assert any("why 1 of the judge's 24 ratings are empty" in one.missing for one in found.untold)


def test_repeated_rows_count_once_and_are_counted(tmp_path: Path) -> None:
    frame = pd.DataFrame(WIDE)
    path = tmp_path / "twice.csv"
    pd.concat([frame, frame.head(3)]).to_csv(path)  # with pandas' own column of numbers, which has no name
    found = check(path)
    assert len(ratings(found, "judge")["Overall", "gpt4"]) == 24
    assert any(note.startswith("3 of 27 rows equal another row") for note in found.notes)


def test_rows_that_contradict_each_other_are_refused_with_what_mends_it(tmp_path: Path) -> None:
    path = table(tmp_path, {**WIDE, "id": ["s0", "s0", *WIDE["id"][2:]], "prompt": ["p"] * 24, "model": ["a"] * 24})
    with pytest.raises(DataError, match="row 3, column 'gpt4': the judge's ratings of story 's0' differ") as error:
        check(path)
    assert "number_repeats" in str(error.value.hint)


def test_criteria_and_judges_in_the_names_of_columns(tmp_path: Path) -> None:
    columns = {
        "story_id": WIDE["id"],
        **{f"{who}_{criterion}": WIDE["gpt4"] for who in ("gpt4", "claude") for criterion in ("coherence", "fluency")},
        **{f"{criterion}_human": WIDE["human_1"] for criterion in ("coherence", "fluency")},
        "fluency_human_mean": WIDE["human_2"],
    }
    found = check(table(tmp_path, columns))
    assert {*ratings(found, "judge")} == {(c, j) for c in ("Coherence", "fluency") for j in ("gpt4", "claude")}
    assert {*ratings(found, "rater")} == {("Coherence", "human"), ("fluency", "human")}
    assert "not read: fluency_human_mean (numbers on a scale)" in found.reading
    assert "--judge Coherence=gpt4_coherence" in flags(found.columns.options)


def test_a_row_a_criterion(tmp_path: Path) -> None:
    columns = {
        "story": ["x", "x", "y", "y"],
        "criterion": ["Plot", "Style"] * 2,
        "llm": [1, 2, 3, 4],
        "human": [2, 2, 3, 5],
    }
    found = check(table(tmp_path, columns, "t.tsv", sep="\t"))
    assert ratings(found, "judge") == {("Plot", "llm"): [1, 3], ("Style", "llm"): [2, 4]}


def test_a_row_a_rating_where_judges_stand_among_the_raters(tmp_path: Path) -> None:
    rows = [(s, who, value) for s in ("x", "y") for who, value in (("ann", 3), ("bob", 4), ("gpt-4", 5))]
    path = table(tmp_path, dict(zip(("story", "annotator", "score"), zip(*rows, strict=True), strict=True)))
    found = check(path)
    assert ratings(found, "judge") == {("Overall", "gpt-4"): [5, 5]}
    assert {*ratings(found, "rater")} == {("Overall", "ann"), ("Overall", "bob")}
    assert found.columns.form == "rows"
    named_judge = check(path, GivenColumns(judge=("bob",)))
    assert {*ratings(named_judge, "judge")} == {("Overall", "bob")}


def test_a_row_a_person_with_the_judges_score_on_each(tmp_path: Path) -> None:
    columns = {
        "story_id": [1, 1, 2, 2],
        "WorkerId": ["a", "b"] * 2,
        "coherence": [3, 4, 1, 2],
        "model_pred": [0.7, 0.7, 0.1, 0.1],
    }
    found = check(table(tmp_path, columns))
    assert ratings(found, "judge") == {("Overall", "model_pred"): [0.7, 0.1]}
    assert ratings(found, "rater") == {("Overall", "a"): [3, 1], ("Overall", "b"): [4, 2]}


def test_answers_that_were_sorted_are_no_persons(tmp_path: Path) -> None:
    pairs = [sorted(pair) for pair in zip(WIDE["human_1"], WIDE["human_2"], strict=True)]
    low, high = zip(*pairs, strict=True)
    found = check(table(tmp_path, {**WIDE, "human_1": low, "human_2": high}))
    assert found.columns.positions
    assert found.ratings.frame["rater"].isna().all()
    assert any("sorted answers" in note for note in found.notes)
    assert any(one.missing.startswith("no raters' names") for one in found.untold)


def test_yes_and_no_are_labels(tmp_path: Path) -> None:
    columns = {"story": ["x", "y", "z"], "gpt4": ["Yes", "No", "Yes"], "human": ["No", "No", "Yes"]}
    found = check(table(tmp_path, columns))
    assert ratings(found, "judge") == {("Overall", "gpt4"): [1, 0, 1]}
    assert "--labels No,Yes" in flags(found.columns.options)


def test_what_a_bare_table_cannot_tell(tmp_path: Path) -> None:
    found = check(table(tmp_path, {"gpt4": [1, 2, 3], "human": [1, 3, 2]}))
    assert [one.missing for one in found.untold] == [
        "no texts",
        "one column of people's ratings",
        "no story-prompts",
        "no systems",
        "no repeats",
        "no record of how the judge was prompted",
    ]
    assert "no column holds an id for each story: stories are numbered by rows" in found.notes


def test_nothing_that_could_be_a_judges_names_the_columns_of_numbers(tmp_path: Path) -> None:
    path = table(tmp_path, {"id": ["x", "y"], "fluency": [1, 2], "coherence": [2, 3]})
    with pytest.raises(DataError, match="columns of numbers: fluency, coherence") as error:
        check(path)
    assert flags((str(error.value.hint) and error.value.hint) or "").startswith(
        "say which columns are whose, e.g. judge check"
    )


def test_options_without_effect_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path, WIDE)
    with pytest.raises(SpecError, match="human has no effect beside rating"):
        check(path, GivenColumns(human=("human_1",), rating="gpt4", rater="model"))
    with pytest.raises(SpecError, match="rater"):
        check(path, GivenColumns(rating="gpt4"))
    rows = table(tmp_path, {"story": ["x", "x"], "rater": ["ann", "gpt-4"], "score": [1, 2]}, "rows.csv")
    with pytest.raises(SpecError, match="positions has no effect"):
        check(rows, GivenColumns(positions=True))
    with pytest.raises(DataError, match="did you mean 'gpt4'"):
        check(path, GivenColumns(judge=("gpt5",)))
    with pytest.raises(DataError, match="column 'sistem' is not known"):
        check(path, GivenColumns(by="sistem"))


def test_columns_merged_in_the_header_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "merged.csv"
    path.write_text("id,Human,,GPT-4,\n,a,b,a,b\n", encoding="utf-8")
    with pytest.raises(DataError, match="columns without a name") as error:
        check(path)
    assert "merged across columns" in str(error.value.hint)


def test_a_ratings_table_of_ours_is_read_as_it_is(tmp_path: Path) -> None:
    columns = {
        "story": ["x", "x", "y", "y"],
        "criterion": ["Plot"] * 4,
        "judge": ["gpt", None, "gpt", None],
        "source": ["judge", "rater"] * 2,
        "rater": [None, "ann"] * 2,
        "rating": [1, 2, 3, 4],
        "mood": ["calm"] * 4,
    }
    found = check(table(tmp_path, columns))
    assert found.columns.form == "ours"
    assert ratings(found, "judge") == {("Plot", "gpt"): [1, 3]}
    assert "not read: mood" in found.reading
