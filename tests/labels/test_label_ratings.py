"""Ratings that are labels: read from every kind of file, kept as codes, and shown by their words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.api import load_dataset
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.records import Criterion, Scale
from judge.cli.main import main as command_line
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.dataset import LabelScales, label_scales
from judge.ratings.ratings_table import COLUMNS, read

YES_NO = Criterion("Plot", "P", "Does it have a plot?", Scale.of_labels(["No", "Yes"]))
KINDS = Criterion("Kind", "K", "Which kind?", Scale.of_labels(["tale", "poem", "joke"], ordered=False))
NUMBERS = Criterion("Style", "S", "How good is the style?")


def main(arguments: list[str]) -> int:
    """The command line's exit code."""
    with pytest.raises(SystemExit) as stop:
        command_line(arguments)
    return int(stop.value.code or 0)


TEXT = "Once upon a time there was a fox in the woods."
SUFFIXES = (".csv", ".jsonl", ".parquet", ".xlsx")


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    frame = pd.DataFrame(rows, dtype=object)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _story(place: int, value: object, criterion: str = "Plot") -> dict[str, object]:
    ratings = [{"rater": "ann", "criterion": criterion, "value": value}]
    return {"id": f"s{place}", "story_prompt": "", "system": "m", "text": TEXT, "reference": None, "ratings": ratings}


def _values(dataset: object) -> list[float]:
    return [r.value for story in dataset.stories() for r in story.ratings]  # type: ignore[attr-defined]


# --- declarations


def test_labels_are_declared_as_lists_words_or_objects() -> None:
    found = label_scales(
        {
            "labels": {"Plot": ["Yes", "No"], "*": {"labels": ["a", "b", "c"], "ordered": False}},
            "labels.Kind": "=tale, poem",
            "unordered": ["Kind"],
        }
    )
    assert found.of("plot") == Scale.of_labels(["Yes", "No"])
    assert found.of("Kind") == Scale.of_labels(["tale", "poem"], ordered=False)
    assert found.of("Anything") == Scale.of_labels(["a", "b", "c"], ordered=False)
    assert label_scales({"labels": found.record()}) == found
    assert not LabelScales()


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"labels": ["Yes"]}, "labels must be 2 to 26"),
        ({"labels": {"Plot": [True, False]}}, "must be a list of texts"),
        ({"labels": {"Plot": {"words": ["a", "b"]}}}, "key 'words' is not known"),
        ({"labels.Plot": "=a,b", "unordered": "=Style"}, "unordered"),
        ({"labels": {"Plot": {"labels": ["a", "b"], "positive": "c"}}}, "positive must be one of the labels"),
    ],
)
def test_what_is_no_declaration_is_refused(columns: dict[str, object], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        label_scales(columns)


# --- datasets


def test_a_native_file_says_its_labels_in_its_first_line(tmp_path: Path) -> None:
    header = {"labels": {"Plot": ["No", "Yes"]}}
    file = _write(tmp_path / "native.jsonl", [header, _story(1, "yes"), _story(2, 0), _story(3, 4.5, "Style")])
    dataset = open_dataset(str(file))
    assert _values(dataset) == [1.0, 0.0, 4.5]
    assert dataset.labels.of("Plot") == YES_NO.scale
    assert load_dataset(str(file)).ratings["label"].tolist() == ["Yes", "No", None]


def test_a_native_file_takes_labels_from_options_or_from_criteria(tmp_path: Path) -> None:
    file = _write(tmp_path / "native.jsonl", [_story(1, "YES"), _story(2, "No")])
    assert _values(open_dataset(str(file), columns={"labels": "=No,Yes"})) == [1.0, 0.0]
    assert _values(open_dataset(str(file), criteria=[YES_NO])) == [1.0, 0.0]
    with pytest.raises(DataError) as caught:
        _values(open_dataset(str(file)))
    assert "row 1" in str(caught.value)
    assert "labels" in str(caught.value.hint)


def test_a_word_that_is_no_label_names_file_row_column_and_labels(tmp_path: Path) -> None:
    file = _write(tmp_path / "native.jsonl", [_story(1, "Yes"), _story(2, "Perhaps")])
    with pytest.raises(DataError) as caught:
        _values(open_dataset(str(file), criteria=[YES_NO]))
    sentence = "row 2, column 'ratings.0.value': no label of this criterion; found 'Perhaps'; allowed: No, Yes"
    assert sentence in str(caught.value)
    assert str(file) in str(caught.value)


def test_criteria_with_the_same_labels_in_another_order_are_refused(tmp_path: Path) -> None:
    header = {"labels": {"Plot": ["Yes", "No"]}}
    file = _write(tmp_path / "native.jsonl", [header, _story(1, "Yes")])
    with pytest.raises(SpecError, match="labels Yes, No for Plot, another source has No, Yes"):
        open_dataset(str(file), criteria=[YES_NO])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tables_hold_words_or_codes(suffix: str, tmp_path: Path) -> None:
    rows = [
        {"id": "s1", "system": "m", "text": TEXT, "rater": "ann", "plot": "YES", "kind": "poem"},
        {"id": "s1", "system": "m", "text": TEXT, "rater": "bob", "plot": "no", "kind": None},
        {"id": "s2", "system": "m", "text": TEXT, "rater": "ann", "plot": "1", "kind": "joke"},
    ]
    columns = {
        "rater": "rater",
        "ratings": {"Plot": "plot", "Kind": "kind"},
        "labels": {"Plot": ["No", "Yes"], "Kind": ["tale", "poem", "joke"]},
        "unordered": ["Kind"],
    }
    dataset = open_dataset(str(_write(tmp_path / f"mine{suffix}", rows)), columns=columns)
    assert _values(dataset) == [1.0, 1.0, 0.0, 1.0, 2.0]
    assert dataset.labels.of("Kind") == KINDS.scale


@pytest.mark.parametrize(("cell", "values"), [("Yes;no", [1, 0]), ("Yes, No, Yes", [1, 0, 1]), ('["No", 1]', [0, 1])])
def test_one_cell_may_hold_several_labels(cell: str, values: list[float], tmp_path: Path) -> None:
    file = _write(tmp_path / "mine.csv", [{"id": "s", "system": "m", "text": TEXT, "plot": cell}])
    columns = {"ratings.Plot": "plot", "rater": "=unknown", "labels": ["No", "Yes"]}
    assert _values(open_dataset(str(file), columns=columns)) == values


def test_truth_values_of_typed_tables_are_labels_where_the_words_are(tmp_path: Path) -> None:
    rows = [
        {"id": "s", "system": "m", "text": TEXT, "plot": True},
        {"id": "t", "system": "m", "text": TEXT, "plot": False},
    ]
    columns = {"ratings.Plot": "plot", "labels": ["False", "True"]}
    assert _values(open_dataset(str(_write(tmp_path / "mine.jsonl", rows)), columns=columns)) == [1, 0]


def test_a_label_with_marks_in_it_is_one_label(tmp_path: Path) -> None:
    rows = [{"id": "s", "system": "m", "text": TEXT, "plot": "yes; but slowly"}]
    columns = {"ratings.Plot": "plot", "labels": ["no", "yes; but slowly"]}
    assert _values(open_dataset(str(_write(tmp_path / "mine.csv", rows)), columns=columns)) == [1]


def test_data_commands_print_labels_by_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    rows = [
        {"id": f"s{i}", "system": "m", "text": f"{TEXT} {i}", "plot": ("Yes", "No", "yes")[i % 3], "kind": "poem"}
        for i in range(6)
    ]
    file = str(_write(tmp_path / "mine.csv", rows))
    options = ["--column", "ratings.Plot=plot", "--column", "ratings.Kind=kind", "--labels", "Plot=No,Yes"]
    options += ["--labels", "Kind=tale,poem,joke", "--column", "unordered==Kind"]
    assert main(["data", "add", "mine", file, *options]) == 0
    capsys.readouterr()
    assert main(["data", "check", "mine", "--format", "json"]) == 0
    use = {row["criterion"]: row for row in json.loads(capsys.readouterr().out)[1]["rows"]}
    assert use["Plot"]["values"] == "No:2 Yes:4"
    assert use["Kind"]["values"] == "poem:6"
    assert use["Kind"]["mean"] is None
    assert use["Kind"]["mean_reason"] == "undefined: its labels have no order"
    assert main(["data", "show", "mine", "s1"]) == 0
    assert "Plot: No\n" in capsys.readouterr().out
    assert main(["data", "convert", "mine", str(tmp_path / "out.jsonl")]) == 0
    again = open_dataset(str(tmp_path / "out.jsonl"))
    assert _values(again) == _values(open_dataset("mine"))
    assert again.labels.of("Kind") == KINDS.scale


# --- imports and the ratings table


def _rows(**more: object) -> list[dict[str, object]]:
    judged = [
        {"story": f"s{i}", "criterion": "Plot", "judge": "j", "rating": ("no", "Yes", "1", "0")[i]} for i in range(4)
    ]
    people = [{"story": f"s{i}", "criterion": "Plot", "rater": "ann", "rating": ("YES", "0")[i]} for i in range(2)]
    return [{"judge": None, "rater": None, **row, **more} for row in [*judged, *people]]


def _imported(tmp_path: Path, rows: list[dict[str, object]], suffix: str = ".jsonl", **options: object) -> pd.DataFrame:
    file = _write(tmp_path / f"r{suffix}", rows)
    write_folder(tmp_path / "out", read_ratings(file, **{"criteria": [YES_NO, KINDS, NUMBERS], **options}))  # type: ignore[arg-type]
    return read([tmp_path / "out"]).frame


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_import_takes_words_and_codes_of_judges_and_people(suffix: str, tmp_path: Path) -> None:
    frame = _imported(tmp_path, _rows(), suffix)
    assert list(frame.columns) == [
        *COLUMNS[: COLUMNS.index("rating") + 1],
        "label",
        *COLUMNS[COLUMNS.index("status") :],
    ]
    assert frame["rating"].tolist() == [0, 1, 1, 0, 1, 0]
    assert frame["label"].tolist() == ["No", "Yes", "Yes", "No", "Yes", "No"]


def test_labels_are_null_beside_numbers_and_beside_lost_ratings(tmp_path: Path) -> None:
    rows = [
        {"story": "s", "criterion": "Plot", "rating": "Yes", "status": "ok"},
        {"story": "t", "criterion": "Plot", "rating": None, "status": "refused"},
        {"story": "s", "criterion": "Style", "rating": 1, "status": "ok"},
    ]
    label = _imported(tmp_path, rows)["label"]
    assert label.tolist()[0] == "Yes"
    assert label.isna().tolist() == [False, True, True]


def test_a_table_of_numbers_has_no_such_column(tmp_path: Path) -> None:
    frame = _imported(tmp_path, [{"story": "s", "criterion": "Style", "rating": 1}])
    assert list(frame.columns) == list(COLUMNS)
    assert "label" not in (tmp_path / "out" / "imported.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("kind", ["judge", "person"])
def test_a_word_that_is_no_label_is_refused_in_imports(kind: str, tmp_path: Path) -> None:
    who = {"judge": "j"} if kind == "judge" else {"rater": "ann"}
    rows = [{"story": "s", "criterion": "Plot", "rating": "Perhaps", **who}]
    with pytest.raises(DataError, match=r"r\.csv, row 2, column 'rating': no label .*'Perhaps'; allowed: No, Yes"):
        _imported(tmp_path, rows, ".csv")


def test_a_person_gives_a_code_and_a_judge_may_give_a_mean_of_two_labels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no label of this criterion"):
        _imported(tmp_path, [{"story": "s", "criterion": "Plot", "rating": 0.5, "rater": "ann"}])
    frame = _imported(tmp_path, [{"story": "s", "criterion": c, "rating": 0.5} for c in ("Plot", "Kind")])
    assert frame["rating"].tolist()[0] == 0.5
    assert frame["status"].tolist() == ["imported", "out_of_scale"]
    assert frame["label"].isna().all()


def test_what_judge_ratings_writes_is_read_again(tmp_path: Path) -> None:
    first = _imported(tmp_path, _rows())
    again = _write(tmp_path / "again.csv", first.to_dict("records"))
    write_folder(tmp_path / "two", read_ratings(again, criteria=[YES_NO]))
    columns = ["story", "rating", "label", "rater"]
    pd.testing.assert_frame_equal(read([tmp_path / "two"]).frame[columns], first[columns], check_dtype=False)


def test_labels_without_codes_get_them_and_must_agree_with_codes_that_stand_there(tmp_path: Path) -> None:
    row = {"story": "s", "criterion": "Plot"}
    assert _imported(tmp_path, [row | {"label": "yes"}])["rating"].tolist() == [1]
    assert _imported(tmp_path, [row | {"label": "yes", "rating": 1}])["rating"].tolist() == [1]
    with pytest.raises(DataError, match="not the label of the rating beside it"):
        _imported(tmp_path, [row | {"label": "yes", "rating": 0}])
    with pytest.raises(DataError) as caught:
        _imported(tmp_path, [row | {"criterion": "Style", "label": "yes", "rating": 0}])
    assert "whose labels are not known" in str(caught.value)


def test_an_import_learns_labels_from_the_dataset_or_the_column_map(tmp_path: Path) -> None:
    stories = _write(tmp_path / "d.jsonl", [{"labels": {"Plot": ["No", "Yes"]}}, *(_story(i, "No") for i in range(4))])
    rows = [row for row in _rows() if row["judge"]]
    frame = _imported(tmp_path, rows, dataset=open_dataset(str(stories)), criteria=())
    assert frame["label"].tolist() == ["No", "Yes", "Yes", "No", *["No"] * 4]
    frame = _imported(tmp_path, _rows(), criteria=(), columns={"labels.Plot": "=No,Yes"})
    assert frame["label"].tolist()[:2] == ["No", "Yes"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_with_labels_but_without_codes_gets_them(form: str, tmp_path: Path) -> None:
    before = _imported(tmp_path, _rows())
    file = tmp_path / "out" / "imported.csv"
    frame = pd.read_csv(file).assign(rating=np.nan)
    _folder_file(file, frame, form)
    pd.testing.assert_frame_equal(read([tmp_path / "out"]).frame.astype(object), before.astype(object))
    wrong = frame.assign(rating=1.0)
    _folder_file(file, wrong, form)
    with pytest.raises(DataError, match="not the label of the rating beside it; found 'No'; allowed: No 0, Yes 1"):
        read([tmp_path / "out"])


def _folder_file(file: Path, frame: pd.DataFrame, form: str) -> None:
    if form == "csv":
        frame.to_csv(file, index=False)
    else:
        file.unlink(missing_ok=True)
        frame.to_parquet(file.with_suffix(".parquet"), index=False)


def test_without_explanations_the_column_is_of_categories(tmp_path: Path) -> None:
    _imported(tmp_path, _rows())
    frame = read([tmp_path / "out"], explanations=False).frame
    assert isinstance(frame["label"].dtype, pd.CategoricalDtype)
    assert frame["label"].tolist() == ["No", "Yes", "Yes", "No", "Yes", "No"]


def test_one_table_holds_no_criterion_with_two_sets_of_labels(tmp_path: Path) -> None:
    other = Criterion("Plot", "P", "", Scale.of_labels(["Yes", "No"]))
    for name, criterion in (("a", YES_NO), ("b", other), ("c", Criterion("Plot", "P", ""))):
        rows = [{"story": "s", "criterion": "Plot", "rating": 1, "dataset": "d"}]
        write_folder(tmp_path / name, read_ratings(_write(tmp_path / f"{name}.csv", rows), criteria=[criterion]))
    for name in ("b", "c"):
        with pytest.raises(RunFolderError, match="Plot of dataset 'd'"):
            read([tmp_path / "a", tmp_path / name])


def test_what_codes_mean_is_said_once(tmp_path: Path) -> None:
    _imported(tmp_path, _rows())
    notes = read([tmp_path / "out"]).facts[0].notes
    assert [note for note in notes if "code" in note] == ["a rating is the code of its label: No 0, Yes 1"]


def test_the_ratings_command_gives_the_column_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _imported(tmp_path, _rows())
    run: list[Callable[[], int]] = [
        lambda: main(["ratings", str(tmp_path / "out"), "--format", "csv"]),
        lambda: main(["ratings", str(tmp_path / "out"), "--format", "jsonl"]),
        lambda: main(["ratings", str(tmp_path / "out")]),
    ]
    for command in run:
        assert command() == 0
        printed = capsys.readouterr().out
        assert "label" in printed
        assert "Yes" in printed
    assert main(["ratings", str(tmp_path / "out"), "-o", str(tmp_path / "r.parquet")]) == 0
    assert pd.read_parquet(tmp_path / "r.parquet")["label"].tolist()[:2] == ["No", "Yes"]
