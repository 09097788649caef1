"""`judge reproduce` from the command line: what is printed, what machines get, and when it fails."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.cli.main import main

KEYS = ["table", "row", "column", "published", "as_published", "corrected", "note", "state", "source"]


@pytest.fixture(autouse=True)
def data(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Exit code, output and errors of `judge reproduce ...`."""

    def _run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", *words])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return _run


def _rows(text: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(text)["rows"]
    assert all(list(row) == KEYS for row in rows)
    return rows


def test_the_summary_counts_every_table(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("hanna")
    assert code == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line and line[0].isalpha()}
    assert lines["table"] == ["table", "cells", "match", "repeat", "differ", "n/a", "own", "moved"]
    assert lines["eval_prompt_overall"][:4] == ["eval_prompt_overall", "112", "84", "28"]
    assert lines["user_study_error_rate"][:6] == ["user_study_error_rate", "6", "1", "—", "4", "1"]
    assert lines["all"][:6] == ["all", "1028", "754", "68", "4", "161"]
    assert "· 754 distinct printed cells match print, 0 are off print, 4 are known to differ" in out
    assert "a number that several tables hold counts once (68 cells repeat a number of another table)" in out
    assert max(len(line) for line in out.splitlines() if line[:1] not in ("·", "h", "H")) <= 80
    assert lines["on-scale"][-1].isdigit()
    assert "icc2k_judge: the study computes it over three answers" in out
    assert "no command" not in out
    assert "at hand" not in out
    assert "picture" not in out
    assert "|drop:Human|" in out


def test_machines_get_every_cell_with_the_same_keys(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("hanna", "--format", "json", "--resamples", "0")
    rows = _rows(out)
    assert code == 0
    found = {(r["table"], r["row"], r["column"]): r for r in rows}
    assert len(found) == len(rows)
    cell = found["correlations_overall_EP1", "RE", "Beluga-13B 1"]
    assert (cell["published"], cell["as_published"]) == (21, 21)
    assert cell["corrected"] == pytest.approx(20.644, abs=1e-3)
    icc = found["icc2k_judge", "CH", "Beluga-13B EP 1"]
    assert (icc["published"], icc["as_published"], icc["corrected"]) == (0.93, None, None)
    assert "judge consistency RUN" in icc["note"]
    assert (cell["state"], icc["state"]) == ("match", "not computable")
    assert cell["source"] == "Chhun, Suchanek and Clavel 2024 (TACL)"
    words = found["keywords", "RE", "Beluga-13B"]
    assert words["published"].startswith("story, prompt, roughly matches")
    assert words["source"].startswith("slides of ")
    assert Counter(row["state"] for row in rows if row["table"] != "choices")["match"] == 754
    assert json.loads(out)["notes"][0].startswith("754 distinct printed cells match print, 0 are off print")
    ties = found["choices", "exact-ties", "correlations_system_EP1"]
    assert (ties["as_published"], ties["corrected"]) == (78, 14)


def test_a_table_with_intervals(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run(
        "hanna", "--table", "human_leave_one_out_system", "--resamples", "20", "--seed", "2", "--format", "json"
    )
    assert code == 0
    rows = _rows(out)
    assert [row["row"] for row in rows] == ["RE", "CH", "EM", "SU", "EG", "CX"]
    assert all("(95 % over resampled story-prompts), n 10" in row["note"] for row in rows)
    assert "ci:boot-inputs/20/seed2" in json.loads(out)["signature"]


def test_only_what_differs(run: Callable[..., tuple[int, str, str]]) -> None:
    words = ("hanna", "--table", "eval_prompt_overall", "--resamples", "0", "--format", "json")
    everything, differing = _rows(run(*words)[1]), _rows(run(*words, "--set", "differences=true")[1])
    assert 0 < len(differing) < len(everything) == 112
    assert all(round(row["corrected"]) != row["as_published"] for row in differing)
    shown = run("hanna", "--set", "differences=true", "--resamples", "0")[1]
    assert "· 754 distinct printed cells match print, 0 are off print" in shown
    rates = _rows(run("hanna", "--table", "user_study_error_rate", "--set", "differences=true", "--format", "json")[1])
    assert rates[0]["row"] == "Incoherence"
    assert len(rates) == 4


def test_one_choice_alone(run: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = run(
        "hanna",
        "--set",
        "choice=keep-human",
        "--table",
        "eval_prompt_system",
        "--set",
        "differences=true",
        "--format",
        "json",
    )
    rows = _rows(out)
    assert sum(row["row"] != "Avg" for row in rows) == 95
    assert all(row["note"].startswith("moved by keep-human") for row in rows)
    assert "|choice:keep-human|" in json.loads(out)["signature"]
    _, out, _ = run("hanna", "--table", "choices")
    assert "on-scale: left out, on both sides; the study: judges' means below 1 kept" in out


def test_a_cell_off_print_ends_with_4(
    run: Callable[..., tuple[int, str, str]], studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hanna").mkdir()
    text = (studies / "hanna" / "hanna_metric_scores_llm.csv").read_text(encoding="utf-8")
    (tmp_path / "hanna" / "hanna_metric_scores_llm.csv").write_text(text, encoding="utf-8")
    answers = (studies / "hanna" / "user_study.csv").read_text(encoding="utf-8")
    changed = answers.replace(",1,0,0,0,0,0\n", ",1,0,1,0,0,0\n", 20)
    (tmp_path / "hanna" / "user_study.csv").write_text(changed, encoding="utf-8")
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    code, out, _ = run("hanna", "--table", "user_study_AC1", "--format", "json")
    rows = {row["row"]: row for row in _rows(out)}
    assert code == 4
    notes = json.loads(out)["notes"]
    assert "hanna_user_study is not the released file: its SHA-256 differs" in notes
    assert not [note for note in notes if note.startswith("hanna_scores")]
    assert rows["Superfluous Text"]["as_published"] != rows["Superfluous Text"]["published"]
    assert "is the file as released?" in rows["Superfluous Text"]["note"]
    assert rows["Poor Syntax"]["as_published"] == rows["Poor Syntax"]["published"]
    assert run("hanna", "--table", "correlations_overall_EP1", "--resamples", "0")[0] == 0
    assert run("hanna")[0] == 4


def test_mistakes_are_said_in_one_sentence(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "did you mean 'eval_prompt_overall'?" in run("hanna", "--table", "eval_prompt_overal")[2]
    assert "did you mean 'exact-ties'?" in run("hanna", "--set", "choice=exact-tie", "--table", "icc2k_human")[2]
    assert "did you mean 'hanna'?" in run("hana", "--list")[2]
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path))
    for study, name in (("hanna", "hanna_scores"), ("openmeva", "mans_roc")):
        code, _, err = run(study)
        assert code == 1
        assert f"judge data fetch {name}" in err


def test_openmeva_prints_what_mans_gives(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("openmeva", "--table", "mans_alpha", "--resamples", "50")
    assert code == 0
    assert "mans_wp   interval  —        0.710" in out
    _, out, _ = run("openmeva")
    assert "refused: who gave which rating is lost" in out
    assert "· 2 distinct printed cells match print, 0 are off print" in out
