"""Exports: out, in, equal tables; forms that other programs' own checks take."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge import open_run
from judge.base.errors import DataError, SpecError
from judge.base.references import works
from judge.cli.main import main
from judge.demo import run_demos
from judge.exchange.dataset_folder import GiveAway, pseudonyms, tables_of, write_hub, write_irw
from judge.exchange.exported_numbers import entries, without_card
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.exchange.released import read_hub
from judge.ratings.ratings_table import RatingsTable, read

SCHEMA = Path(__file__).with_name("every_eval_ever-0.3.0.schema.json")
"""eval.schema.json of every-eval-ever 0.3.0 on PyPI (EvalEval Coalition, MIT licence), unchanged."""


def judge(*words: str) -> int:
    try:
        main(list(words))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's result folder."""
    return run_demos(tmp_path_factory.mktemp("runs") / "demo", "surface", quiet=True)[0]


@pytest.fixture(scope="module")
def panelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Imported ratings with labels, panels, several judges, and lost ratings."""
    place = tmp_path_factory.mktemp("imported")
    rows = ["story,system,criterion,judge,rater,panel,rating,status,source"]
    for number in range(12):
        who = f"s{number},m{number % 2},Ending"
        rows += [f"{who},gpt,,,{'Yes' if number % 3 else 'No'},,judge", f"{who},claude,,,,no_rating,judge"]
        rows += [
            f"{who},,{name},{panel},{'Yes' if (number + i) % 2 else 'No'},,rater"
            for i, (name, panel) in enumerate((("Ann Smith", "expert"), ("Bob Jones", "lay")))
        ]
    (place / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = read_ratings(place / "labels.csv", columns={"labels": "=No,Yes"}, notes=["made up"])
    return write_folder(place / "run", found).path


def plain(table: RatingsTable) -> pd.DataFrame:
    """The table's rows in plain types, so that only values are compared; an empty text is null, as in imports."""
    frame = table.frame.astype(object)
    return frame.where(frame.notna() & (frame != ""), None).reset_index(drop=True)


def back(folder: Path, target: Path) -> Iterator[Path]:
    for name, found in read_hub(folder):
        yield write_folder(target / name, found).path


@pytest.mark.parametrize("which", ["demo", "panelled"])
def test_a_hub_folder_out_and_in_gives_equal_tables(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    folder = request.getfixturevalue(which)
    choices = GiveAway(people="names", comments=True)
    write_hub(tmp_path / "hub", tables_of([folder], choices), choices)
    (again,) = back(tmp_path / "hub", tmp_path / "back")
    first, second = read([folder]), read([again])
    pd.testing.assert_frame_equal(plain(first), plain(second), check_dtype=False)
    columns = ["words", "text"] if which == "demo" else []
    pd.testing.assert_frame_equal(
        first.stories[columns], second.stories.reindex(first.stories.index)[columns], check_dtype=False
    )
    assert second.facts[0].criteria == first.facts[0].criteria
    assert {*first.facts[0].notes} <= {*second.facts[0].notes}
    assert second.facts[0].labels_note == first.facts[0].labels_note
    assert second.labels == first.labels


def test_a_hub_folder_loads_with_datasets(demo: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    write_hub(tmp_path / "hub", tables_of([demo], GiveAway()), GiveAway())
    ratings = datasets.load_dataset(str(tmp_path / "hub"), "ratings", split="train", cache_dir=str(tmp_path / "cache"))
    assert ratings.num_rows == len(read([demo]).frame)
    assert ratings.features["rating"].dtype == "float64"


def test_a_card_counts_what_the_files_hold(demo: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    parquet = pytest.importorskip("pyarrow.parquet")
    write_hub(tmp_path / "hub", tables_of([demo], GiveAway()), GiveAway())
    head = yaml.safe_load((tmp_path / "hub" / "README.md").read_text(encoding="utf-8").split("---")[1])
    for config, info in zip(head["configs"], head["dataset_info"], strict=True):
        (file,) = (tmp_path / "hub").glob(config["data_files"][0]["path"])
        table = parquet.read_table(file)
        assert info["splits"][0]["num_examples"] == table.num_rows
        assert [one["name"] for one in info["features"]] == table.column_names


def test_people_leave_under_pseudonyms_and_texts_stay_where_asked(panelled: Path, demo: Path) -> None:
    (given,) = tables_of([panelled], GiveAway())
    assert {*given.frame["rater"].dropna()} == {"rater-1", "rater-2"}
    (nobody,) = tables_of([panelled], GiveAway(people="none"))
    assert nobody.frame["rater"].isna().all()
    assert pseudonyms(["b", "a"]) == pseudonyms(["a", "b", "a"])
    (hashed,) = tables_of([demo], GiveAway(texts=False))
    text = str(read([demo]).stories["text"].iloc[0])
    assert text not in hashed.stories.to_csv()
    assert hashed.frame["story_prompt"].str.startswith("sha256:").all()
    assert "Ann Smith" not in given.frame.to_csv()


def test_a_folder_that_holds_something_is_left_alone(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    with pytest.raises(SpecError, match="is not empty"):
        write_hub(tmp_path, tables_of([demo], GiveAway()), GiveAway())
    with pytest.raises(DataError, match="cannot be read"):
        list(read_hub(tmp_path))


def test_irw_files_have_the_standards_columns_and_come_back(demo: Path, tmp_path: Path) -> None:
    made = write_irw(tmp_path / "irw", tables_of([demo], GiveAway(people="names")))
    assert [path.name for path, _ in made.files] == ["demo-judges.csv", "demo-people.csv"]
    people = pd.read_csv(tmp_path / "irw" / "demo-people.csv")
    assert list(people.columns) == ["id", "item", "resp", "rater"]
    assert pd.api.types.is_numeric_dtype(people["resp"])
    columns = {"story": "id", "criterion": "item", "rating": "resp"}
    again = read_ratings(tmp_path / "irw" / "demo-people.csv", columns=columns).frame
    first = read([demo]).frame
    first = first[first["source"] == "rater"]
    keys = ["story", "criterion", "rater", "rating"]
    pd.testing.assert_frame_equal(
        again[keys].astype({"rating": float}).reset_index(drop=True),
        first[keys].reset_index(drop=True),
        check_dtype=False,
    )
    judges = pd.read_csv(tmp_path / "irw" / "demo-judges.csv")
    assert list(judges.columns) == ["id", "item", "resp", "rater", "trial_repeat"]
    assert len(judges) == made.files[0][1] == 1728


def test_irw_leaves_out_what_has_no_rating_and_counts_it(panelled: Path, tmp_path: Path) -> None:
    made = write_irw(tmp_path / "irw", tables_of([panelled], GiveAway()))
    assert made.unrated == 12
    assert {*pd.read_csv(tmp_path / "irw" / "labels-judges.csv")["resp"]} == {0.0, 1.0}


def test_metrics_are_plain_and_those_of_the_tables(demo: Path, tmp_path: Path) -> None:
    assert judge("export", str(demo), "--as", "metrics", "-o", str(tmp_path / "metrics.json"), "--resamples", "50") == 0
    made = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    frame = open_run(demo).correlate(resamples=50).frame
    chosen = (frame["kind"] == "judge") & (frame["criterion"] == "Coherence") & (frame["eval_prompt"] == "ep2")
    row = frame[chosen].iloc[0]
    one = made["tau/demo/surface/ep2/Coherence"]
    assert one["value"] == pytest.approx(row["value"])
    assert (one["low"], one["high"]) == (pytest.approx(row["low"]), pytest.approx(row["high"]))
    assert (one["n"], one["level"]) == (48, 0.95)
    assert made["rated"]["value"] == 1.0
    assert made["one_person/demo/Coherence"]["value"] is None
    assert "raters" in made["one_person/demo/Coherence"]["reason"]
    for name, entry in made.items():
        assert {*entry} <= {"value", "low", "high", "level", "n", "unit", "reason"}, name
        assert not any(isinstance(part, dict | list) for part in entry.values())


def records(demo: Path, folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    assert (
        judge("export", str(demo), "--as", "eee", "-o", str(folder), "--set", "organization=A lab", "--resamples", "50")
        == 0
    )
    files = sorted((folder / "data").rglob("*.json"))
    return [(path, json.loads(path.read_text(encoding="utf-8"))) for path in files]


def test_records_of_every_eval_ever(demo: Path, tmp_path: Path) -> None:
    ((path, record),) = records(demo, tmp_path / "eee")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert record["schema_version"] == schema["version"] == "0.3.0"
    assert {*schema["required"]} <= {*record} <= {*schema["properties"]}
    wanted = schema["properties"]["evaluation_results"]["items"]
    for result in record["evaluation_results"]:
        assert {*wanted["required"]} <= {*result} <= {*wanted["properties"]}
        assert -1 <= result["score_details"]["score"] <= 1
        interval = result["score_details"]["uncertainty"]["confidence_interval"]
        assert interval["lower"] <= interval["upper"]
    assert path.relative_to(tmp_path / "eee").parts[:4] == ("data", "storyjudge-demo", "unspecified", "surface")
    assert len(record["evaluation_results"]) == 12


def test_records_pass_the_json_schema(demo: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    written = [record for _, record in records(demo, tmp_path / "eee")]
    assert written
    assert [error.message for record in written for error in schema.iter_errors(record)] == []


def test_records_pass_the_stores_own_program(demo: Path, tmp_path: Path) -> None:
    import shutil

    program = shutil.which("every_eval_ever")
    if program is None:
        pytest.skip("every-eval-ever is not installed (it needs Python 3.12)")
    for path, _ in records(demo, tmp_path / "eee"):
        inner = path.relative_to(tmp_path / "eee").as_posix()
        done = subprocess.run(
            [program, "validate", inner], cwd=tmp_path / "eee", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_bibtex_names_program_studies_and_known_cards() -> None:
    from judge.ratings.ratings_table import RunFacts

    def fact(name: str, dataset: str) -> RunFacts:
        return RunFacts("r", name, dataset, None, 1, (), ("ep1",), "ours/4", (), control=False, path=Path())

    facts = [
        fact("vllm/Qwen/Qwen2.5-7B-Instruct", "mans_roc"),
        fact("openai/gpt-4o", "mans_wp"),
        fact("surface", "demo"),
    ]
    text = entries(facts)
    assert text.count("@") == 3
    assert works()["guan-etal-2021-openmeva"].bibtex in text
    assert r"\url{https://huggingface.co/Qwen/Qwen2.5-7B-Instruct}" in text
    assert without_card(facts) == ["openai/gpt-4o"]
