"""judge contamination score, auc and report from the command line, with a model that needs no weights."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.base.fingerprint import fingerprint_text
from judge.contamination.auc import areas
from judge.contamination.options import AucOptions, ValidityOptions
from judge.contamination.report import report
from judge.contamination.scores_file import read
from judge.contamination.tables import auc_table, report_table, validity, validity_table
from judge.contamination.thresholds import Threshold
from judge.ratings.ratings_table import read as read_runs
from judge.stats.estimation.proportions import wilson
from judge.stats.ordering.discrimination import auc

Run = Callable[..., int]


def test_a_scores_file_holds_hashes_settings_and_thresholds_and_no_text(made: Path, stories: Path) -> None:
    scores = read(made)
    rows = [json.loads(line) for line in stories.read_text(encoding="utf-8").splitlines()]
    assert [row.text for row in scores.rows] == [fingerprint_text(row["text"]) for row in rows]
    assert rows[0]["text"][:40] not in made.read_text(encoding="utf-8")
    assert scores.header["model"]["weights"] == "b2:large"
    assert scores.header["settings"]["k"] == 20
    threshold = scores.header["thresholds"]["min_k_20"]
    assert (threshold["rule"], threshold["set"], threshold["texts"]) == ("fpr=0.2", "books", 60)
    assert (made.parent / "derived" / "logprobs.sqlite").is_file()


def test_auc_prints_books_thresholds_and_the_warning(
    run: Run, calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curves = tmp_path / "roc.csv"
    assert run("auc", calibration, "--resamples", 50, "--set", f"roc={curves}", "--set", "fpr=0.1") == 0
    text = capsys.readouterr().out
    assert "ci:boot-books/50/seed1" in text
    assert "labels by date (WikiMIA, BookMIA" in text
    assert run("auc", calibration, "--resamples", 50, "--format", "json", "--set", "fpr=0.02") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    scores = read(calibration)
    row = next(row for row in rows if row["score"] == "min_k_20")
    assert scores.labels is not None
    assert row["auc"] == pytest.approx(auc(scores.score("min_k_20"), scores.labels).value)
    assert row["auc_low"] < row["auc"] < row["auc_high"]
    assert row["tpr_reason"] == "undefined: 30 of the other class are too few for a false-positive rate of 2 %"
    with curves.open(encoding="utf-8", newline="") as stream:
        points = [one for one in csv.DictReader(stream) if one["score"] == "min_k_20"]
    assert (points[0]["true_positive"], points[-1]["true_positive"]) == ("0.0", "1.0")


def test_report_is_the_studys_table(run: Run, folder: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("report", folder, "--scores", made, "--system", "Human", "--format", "json") == 0
    table = json.loads(capsys.readouterr().out)
    (row,) = table["rows"]
    scores = read(made)
    human = np.array([one.system == "Human" for one in scores.rows])
    threshold = scores.header["thresholds"]["min_k_20"]["value"]
    above = scores.score("min_k_20")[human] >= threshold
    expected = wilson(float(above.sum()), int(human.sum()))
    assert (row["rate"], row["rate_low"]) == pytest.approx((expected.value, expected.low))
    assert row["stories"] == 40
    threshold = scores.header["thresholds"]["min_k_20"]
    assert row["unseen"] == pytest.approx(threshold["false_positive_expected"])
    assert row["unseen_n"] == 30
    assert row["unseen_low"] < row["unseen"] < row["unseen_high"]
    assert row["corrected_low"] <= row["corrected"] <= row["corrected_high"]
    rates = threshold["true_positive_expected"] - threshold["false_positive_expected"]
    assert row["corrected"] == pytest.approx(min(1, (row["rate"] - row["unseen"]) / rates))
    assert row["auc"] == pytest.approx(scores.header["thresholds"]["min_k_20"]["auc"])
    assert row["own"] == "bigrams"
    assert row["people_n"] == 40
    assert 2.5 < row["people"] < 3.5
    assert "score:min_k_20" in table["signature"]
    assert "model:bigrams/large@b2:large" in table["signature"]
    assert run("report", folder, "--scores", made) == 0
    text = capsys.readouterr().out
    assert text.index("coverage: ") < text.index("Contamination by min_k_20")


def test_validity_finds_what_was_planted(
    run: Run, folder: Path, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--set", "split=median", "--resamples", 200, "--format", "json"]
    assert run("report", folder, "--layout", "validity", "--scores", made, *how) == 0
    table = json.loads(capsys.readouterr().out)
    (row,) = table["rows"]
    assert row["high"] == row["low"] == 80
    assert row["tau_difference_low"] > 0  # the judge was made to follow people where the texts look seen
    assert row["error_difference_high"] < 0
    assert row["tau_difference"] == pytest.approx(row["tau_high"] - row["tau_low"])
    assert any("the halves' systems differ most in" in note for note in table["notes"])
    assert run("report", folder, "--layout", "validity", "--scores", made, *how, "--set", "least=81") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["tau_high"] is None
    assert row["tau_high_reason"].startswith("refused: 80 stories high and 80 low, and 81")


def test_thresholds_do_not_cross_models_or_lengths(
    run: Run, stories: Path, calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--calibration", calibration, "-o", tmp_path / "x.jsonl", "--quiet"]
    assert run("score", stories, "--model", "bigrams/small", *how) == 1
    assert "a threshold does not carry over to another model" in capsys.readouterr().err
    assert run("score", stories, "--model", "bigrams/large", "--words", 20, *how) == 1
    assert "do not carry over between lengths" in capsys.readouterr().err
    assert not (tmp_path / "x.jsonl").exists()


def test_a_number_is_a_threshold_of_one_score_without_an_auc(
    run: Run, stories: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.jsonl"
    assert run("score", stories, "--model", "bigrams/large", "--set", "threshold=-4.5", "-o", out, "--quiet") == 0
    assert list(read(out).header["thresholds"]) == ["min_k_20"]
    capsys.readouterr()
    assert run("report", folder, "--scores", out, "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["rate"] is not None
    for key in ("auc", "unseen", "corrected"):
        assert row[f"{key}_reason"] == "undefined: the threshold was given as a number, not chosen on a labelled set"
    assert run("report", folder, "--layout", "validity", "--scores", out, "--set", "score=loss") == 1
    assert "hold no threshold for loss" in capsys.readouterr().err


def test_words_cut_texts_and_leave_short_ones_out(run: Run, stories: Path, tmp_path: Path) -> None:
    with stories.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"id": "short", "story_prompt": "", "system": "S2", "text": "the cat sat"}) + "\n")
    out = tmp_path / "x.jsonl"
    assert run("score", stories, "--model", "bigrams/large", "--words", 10, "-o", out, "--quiet") == 0
    scores = read(out)
    assert len(scores.rows) == 160
    assert scores.header["notes"] == ["1 of 161 texts have fewer than 10 words and are left out"]
    whole = json.loads(stories.read_text(encoding="utf-8").splitlines()[0])["text"]
    assert scores.rows[0].text == fingerprint_text(whole)  # found again by the whole text
    assert scores.rows[0].tokens == len(" ".join(whole.split()[:10])) - 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"input": "a b", "label": 2}', "row 2, column 'label': not a label; found 2; allowed: 1 (seen) or 0"),
        ('{"input": "a b", "label": true}', "not a label"),
        ('{"input": "a b"}', "no label"),
        ('{"label": 1}', "no text"),
        ('{"input": " ", "label": 1}', "the text is empty"),
        ("[1]", "not a JSON object"),
        ("{", "not a line of JSON"),
    ],
)
def test_bad_labelled_lines_get_a_sentence(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, sentence: str
) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"input": "a b c", "label": 1}\n' + line + "\n")
    assert run("auc", path, "--model", "bigrams/large") == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["score", "STORIES", "--model", "bigram/large", "-o", "OUT"], "did you mean 'bigrams'"),
        (["score", "STORIES", "--model", "hf", "-o", "OUT"], "names no model"),
        (["score", "STORIES", "--model", "bigrams/large", "-o", "OUT", "--set", "k=0"], "--set k=0.0 is not a share"),
        (["score", "STORIES", "--model", "bigrams/large", "-o", "OUT", "--words", "900"], "no text of tales has 900"),
        (["score", "STORIES", "--model", "bigrams/large", "-o", "OUT", "--set", "engine=x"], "is not KEY=VALUE"),
        (
            ["score", "STORIES", "--model", "bigrams/large", "-o", "OUT", "--set", "nonmembers=NO"],
            "there is no such file",
        ),
        (
            ["score", "STORIES", "--model", "bigrams/large", "-o", "OUT", "--calibration", "STORIES"],
            "not a scores file",
        ),
        (["score", "nowhere", "--model", "bigrams/large", "-o", "OUT"], "'nowhere' is not known"),
        (["auc", "LABELLED"], "--model does not say"),
        (["auc", "LABELLED", "--model", "bigrams/large", "--set", "threshold=best", "--quiet"], "is not a rule"),
        (["report", "RUN", "--scores", "STORIES"], "not a scores file"),
    ],
)
def test_bad_use_gets_a_sentence(
    run: Run,
    stories: Path,
    labelled: Path,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    places = {"STORIES": stories, "LABELLED": labelled, "RUN": folder, "OUT": tmp_path / "o.jsonl", "NO": "no.txt"}
    assert run(*(places.get(word, word) for word in arguments)) == 1
    told = capsys.readouterr().err
    assert sentence in told
    assert "Traceback" not in told


def test_scores_of_other_stories_are_refused(
    run: Run, labelled: Path, folder: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("report", folder, "--scores", calibration) == 1
    assert "none of the 60 texts of books is a story of these runs" in capsys.readouterr().err


def test_a_cut_scores_file_is_refused(run: Run, made: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = made.read_text(encoding="utf-8").splitlines()
    made.write_text("\n".join(lines[:-3]) + "\n", encoding="utf-8")
    assert run("report", folder, "--scores", made) == 1
    assert "it promises 160 texts and holds 157" in capsys.readouterr().err


def test_frames_and_tables_are_of_one_value(folder: Path, made: Path, calibration: Path) -> None:
    runs, scores, labelled = read_runs([folder]), read(made), read(calibration)
    found = report(runs, [scores])
    (row,), (cells,) = found.rows, report_table(found).rows
    assert row.threshold == Threshold.of(scores.header["thresholds"]["min_k_20"])
    assert row.threshold.record == scores.header["thresholds"]["min_k_20"]
    (flat,) = found.frame.to_dict("records")
    assert (
        (flat["rate"], flat["rate_low"]) == (cells["rate"].value, cells["rate"].low) == (row.rate.value, row.rate.low)
    )
    halves = validity(runs, [scores], ValidityOptions(split="median", resamples=20))
    assert halves.frame["tau_difference"].tolist() == [one.tau.difference.value for one in halves.rows]
    assert [one["tau_high"] for one in validity_table(halves).rows] == [one.tau.high for one in halves.rows]
    every = areas(labelled, AucOptions(resamples=20))
    assert every.frame["auc"].tolist() == [one["auc"].value for one in auc_table(every).rows]
    assert every.frame.attrs["signature"] == auc_table(every).signature
