"""The released HANNA score file as a result folder that every table command reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from judge.analysis import correlation
from judge.analysis.coverage.coverage import coverage
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.reliability.consistency import consistency
from judge.base.errors import RunFolderError
from judge.exchange.imported_folder import write_folder
from judge.exchange.released import JUDGES, measure_columns, read_scores
from judge.inputs.datasets.sources import SOURCES
from judge.inputs.datasets.studies.hanna import CRITERIA, read_score_file
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable, read
from tests.packaged_data.surface_model import HANNA_FEATURES

SCORES, STORIES = "hanna/hanna_metric_scores_llm.csv", "hanna/hanna_llm_stories.csv"


@pytest.fixture(scope="module")
def folder(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "hanna-scores"
    write_folder(path, read_scores(studies / SCORES, studies / STORIES))
    return path


@pytest.fixture(scope="module")
def table(folder: Path) -> RatingsTable:
    return read([folder])


@pytest.fixture(scope="module")
def matrix(table: RatingsTable) -> RatingMatrix:
    (only,) = build(table)
    return only


def test_every_number_of_the_file_stands_at_its_story(matrix: RatingMatrix, studies: Path) -> None:
    scores = read_score_file(studies / SCORES)
    place = {name: i for i, name in enumerate(matrix.stories["story"])}
    order = [place[f"{system}/{i}"] for system in scores.systems for i in range(96)]
    assert (len(matrix.cells), matrix.n, len(matrix.systems)) == (5 * 4 * 6, 1056, 11)
    assert len(set(matrix.story_prompt.tolist())) == 96
    for i, cell in enumerate(matrix.cells):
        name = f"{cell.judge} {CRITERIA[cell.criterion]} {cell.eval_prompt[-1]}"
        released = np.concatenate([scores.values[name][system] for system in scores.systems])
        kept = np.where(released < 1, np.nan, released)
        np.testing.assert_array_equal(matrix.judge[i][order], kept)
    for j, criterion in enumerate(matrix.criteria):
        released = np.concatenate([scores.values[criterion][system] for system in scores.systems])
        np.testing.assert_allclose(matrix.people[j][order], released, atol=1e-12)
        people = matrix.by_rater(j)
        assert not people.known
        for position in (1, 2, 3):
            column = scores.values[f"Human {position} {CRITERIA[criterion]}"]
            np.testing.assert_array_equal(
                people.ratings[order, position - 1], np.concatenate([column[system] for system in scores.systems])
            )


def test_means_off_the_scale_are_missing_by_judge_and_eval_prompt(matrix: RatingMatrix) -> None:
    # Counted in the released file: judges' means below 1, over six criteria x 1,056 stories.
    known = {
        "Beluga-13B": [0, 55, 64, 54],
        "Llama-13B": [25, 14, 38, 182],
        "Mistral-7B": [253, 56, 46, 47],
        "ChatGPT": [3, 2, 2, 7],
        "OrcaPlatypus": [65, 29, 27, 82],
    }
    found = {judge: [0, 0, 0, 0] for judge in JUDGES}
    for cell, missing in zip(matrix.cells, matrix.missing, strict=True):
        found[cell.judge][int(cell.eval_prompt[-1]) - 1] += missing.get("out_of_scale", 0)
    assert found == known


def test_kept_means_are_ratings_and_every_table_says_so(studies: Path, tmp_path: Path) -> None:
    write_folder(tmp_path / "kept", read_scores(studies / SCORES, keep_out_of_scale=True))
    table = read([tmp_path / "kept"])
    (matrix,) = build(table)
    assert np.nanmin(matrix.judge) == -1
    assert not np.isnan(matrix.judge).any()
    (note,) = [note for note in table.facts[0].notes if "off the scale" in note]
    assert note.startswith("1051 of 126720 judges' means")
    assert note.endswith("were kept as ratings")
    options = CorrelationOptions(drop_systems=("Human",), ci="none", control=False)
    (printed,) = correlation.tables(correlation.correlations(table, options))
    assert note in printed.notes
    # Chhun, Suchanek and Clavel 2024 (TACL), overall correlations of Beluga-13B, Eval-Prompt 1.
    beluga = {
        r["criterion"]: r["value"].value
        for r in printed.rows
        if (r["judge"], r["eval_prompt"]) == ("Beluga-13B", "ep1")
    }
    assert {short: round(100 * beluga[name]) for name, short in CRITERIA.items()} == {
        "RE": 21,
        "CH": 26,
        "EM": 27,
        "SU": 17,
        "EG": 26,
        "CX": 32,
    }


def test_every_table_reads_the_folder(table: RatingsTable) -> None:
    assert coverage(table).bounds
    assert consistency(table).cells
    found = correlation.correlate(table, CorrelationOptions(ci="none", control=False, level="system"))
    single = found[found["criterion"].isin(list(CRITERIA))]
    assert single["value"].notna().sum() == 5 * 4 * 6
    assert table.facts[0].criteria[1].abbreviation == "CH"
    assert table.facts[0].criteria[1].scale.max == 5


def test_stories_bring_features_words_and_the_human_texts(matrix: RatingMatrix, studies: Path) -> None:
    scores = read_score_file(studies / SCORES)
    assert set(HANNA_FEATURES) <= set(matrix.features.columns)
    row = matrix.stories.set_index("story").loc["GPT-2/7"]
    assert row["length"] == scores.values["Text length ¤§"]["GPT-2"][7] == row["words"]
    assert row["novelty-1"] == scores.values["Novelty-1 ¤§"]["GPT-2"][7]
    texts = matrix.stories[matrix.stories["text"] != ""]
    assert set(texts["system"]) == {"Human"}
    assert len(texts) == 96


def test_the_manifest_names_the_released_file(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["sources"][0] == {"file": "hanna_metric_scores_llm.csv", "sha256": SOURCES[SCORES].sha256}


def test_measures_come_for_every_criterion(studies: Path) -> None:
    scores = read_score_file(studies / SCORES)
    assert len(measure_columns(scores)) == 72
    found = read_scores(studies / SCORES, measures=True)
    bleu = found.frame[found.frame["judge"] == "measure/BLEU Ξ§"]
    released = np.concatenate([scores.values["BLEU Ξ§"][system] for system in scores.systems])
    assert list(bleu["criterion"].unique()) == list(CRITERIA)
    assert set(bleu["status"]) == {"imported"}
    np.testing.assert_array_equal(bleu["rating"], np.tile(released, 6))
    assert "measure/NAME: one number a story, the same for every criterion" in found.notes


def test_a_folder_of_answers_is_never_written_over(studies: Path, tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_bytes(b"answers")
    with pytest.raises(RunFolderError, match="holds the answers of a run"):
        write_folder(tmp_path, read_scores(studies / SCORES))
    assert (tmp_path / "journal.sqlite").read_bytes() == b"answers"
    assert [p.name for p in tmp_path.iterdir()] == ["journal.sqlite"]
