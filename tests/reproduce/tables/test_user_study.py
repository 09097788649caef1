"""The audit's file: read strictly, one polarity turned round, agreement beside raw agreement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import DataError
from judge.reproduce.cell import Cell, Place
from judge.reproduce.hanna import QUESTIONS, read_user_study

FILE = "hanna/user_study.csv"


def test_the_first_question_is_turned_round(studies: Path) -> None:
    study = read_user_study(studies / FILE)
    rates = {name: float(answers.mean()) for name, answers in study.errors.items()}
    # Counted in the file: ones among 300 answers, of question 1 zeros.
    assert rates == pytest.approx(
        {
            "Poor Syntax": 5 / 300,
            "Incoherence": 25 / 300,
            "Wrong Guideline": 18 / 300,
            "Superfluous Text": 48 / 300,
            "Unsubstantiated Claims": 67 / 300,
        }
    )
    assert set(rates) == set(QUESTIONS)
    assert not np.any(study.unused)


def test_agreement_stands_beside_raw_agreement_and_kappa(hanna_cells: dict[Place, Cell]) -> None:
    # irrCAC 0.4.4: AC1 .9655 and Fleiss' kappa -.017 at a raw agreement of .9667.
    cell = hanna_cells["user_study_AC1", "Poor Syntax", "AC1"]
    assert cell.corrected.value == pytest.approx(0.9655, abs=5e-5)
    assert cell.note().startswith("raw agreement 0.97, Fleiss' kappa -0.02")
    unused = hanna_cells["user_study_AC1", "Incorrectness", "AC1"]
    assert (unused.as_published, unused.corrected.value) == (None, None)
    assert "undefined: 1 category" in unused.note()


def test_rates_that_do_not_match_say_how_they_were_counted(hanna_cells: dict[Place, Cell]) -> None:
    cell = hanna_cells["user_study_error_rate", "Wrong Guideline", "Rate"]
    assert (cell.published, cell.as_published, cell.state) == (0.13, 0.06, "differ")
    assert "mean 0.060, majority 0.03, any 0.14, all 0.01" in cell.note()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (",1,0,0,0,0,0\n62,3", ",2,0,0,0,0,0\n62,3", "not an answer; found '2'; allowed: 0, 1"),
        ("62,3 — The story mostly", "63,3 — The story mostly", "not the explanation of the row above"),
    ],
)
def test_another_file_is_refused(studies: Path, tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = (studies / FILE).read_text(encoding="utf-8")
    at = text.rindex(old)
    (tmp_path / "u.csv").write_text(text[:at] + new + text[at + len(old) :], encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        read_user_study(tmp_path / "u.csv")
