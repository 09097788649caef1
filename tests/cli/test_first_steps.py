"""init, try, doctor, status, demo: what a new user types first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.asking.run_definition.spec import load_run_spec
from judge.base.printing.shortened import LINES
from judge.base.printing.text_layout import dollars
from tests.report.runs import command as run
from tests.server.loopback import LoopbackServer
from tests.web.view_runs import define

README = Path(__file__).resolve().parents[2] / "README.md"


def test_init_writes_a_definition_with_comments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", "mine", "--from", "hanna-api", "--folder", str(tmp_path)) == 0
    path = tmp_path / "mine" / "run.yaml"
    assert load_run_spec(path).name == "mine"
    assert path.read_text().count("#") >= 3
    assert run("init", "mine", "--folder", str(tmp_path)) == 1
    assert "exists already" in capsys.readouterr().err
    assert run("init", "other", "--from", "hana-api") == 1
    assert "did you mean 'hanna-api'" in capsys.readouterr().err
    assert run("init") == 0
    assert "mans-roc" in capsys.readouterr().out


def test_try_shows_request_answer_and_what_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], loopback: Callable[..., LoopbackServer]
) -> None:
    story = tmp_path / "story.txt"
    story.write_text("The lamp went out. [bold]Nobody[/bold] lit it again.")
    server = loopback(fixed_text="I rate it 4/5, [bold]really[/bold].")
    options = ["--judge", "openai/mock", "--base-url", server.url, "--eval-prompts", "ep1,ep2", "--criterion", "CH"]
    assert run("try", str(story), *options) == 0
    shown = capsys.readouterr().out
    assert "Nobody" in shown
    assert ">>4<<" in shown
    assert "rating 4 (ok)" in shown
    assert "tokens" in shown
    assert run("try", str(story), *options, "--format", "json", "-o", str(tmp_path / "kept.jsonl")) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["eval_prompt"] for row in rows] == ["ep1", "ep2"]
    assert rows[0]["rating"] == 4.0
    assert rows[0]["messages"][-1]["content"].endswith("Rating:")
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2


def test_try_without_an_answer_to_read_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], loopback: Callable[..., LoopbackServer]
) -> None:
    (tmp_path / "story.txt").write_text("A story.")
    server = loopback(fixed_text="")
    assert run("try", str(tmp_path / "story.txt"), "--judge", "openai/mock", "--base-url", server.url) == 0
    assert "no rating (empty)" in capsys.readouterr().out
    (tmp_path / "story.txt").write_text("  \n")
    assert run("try", str(tmp_path / "story.txt")) == 1
    assert "is empty" in capsys.readouterr().err
    assert run("try", str(tmp_path / "none.txt")) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_doctor_names_what_is_missing_and_what_mends_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    loopback: Callable[..., LoopbackServer],
) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    monkeypatch.setenv("OPENAI_BASE_URL", loopback().url)
    assert run("doctor", "--format", "json") == 0
    out = capsys.readouterr().out
    assert "sk-secret-4711" not in out
    here = json.loads(out)
    rows = {row["what"]: row for row in here["rows"]}
    assert "judge data fetch mans_roc" in rows["dataset mans_roc"]["mend"]
    assert rows["dataset demo"]["state"] == "ok"
    assert rows["OPENAI_API_KEY"]["detail"] == "set"
    assert "mock" in rows["OPENAI_BASE_URL"]["detail"]
    states = [row["state"] for row in here["rows"]]
    assert states == sorted(states, key=["failed", "missing", "note", "ok"].index)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert run("doctor", "--format", "json") == 0
    (first, *_) = json.loads(capsys.readouterr().out)["rows"]
    assert (first["what"], first["state"]) == ("OPENAI_BASE_URL", "failed")


@pytest.mark.parametrize("columns", [80, 40])
def test_doctor_fits_the_screen_and_says_first_what_needs_mending(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    for name in ("JUDGE_DATA", "JUDGE_HOME", "JUDGE_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert run("doctor") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[2].startswith("failed   OPENAI_BASE_URL:")
    text = " ".join(" ".join(lines).split())
    assert "datasets mans_roc, mans_wp," in text
    assert "judge data fetch NAME, or with a copy at hand: judge data add NAME PATH" in text
    assert lines[-1].endswith(" ok")
    # What the control was made of is told when it is asked for.
    assert "surface" not in text
    assert run("doctor", "--set", "control=true", "--format", "json") == 0
    cards = json.loads(capsys.readouterr().out)
    assert [len(card["rows"]) for card in cards] == [8, 30]
    assert all("surface" in card["title"] for card in cards)


@pytest.mark.parametrize("columns", [80, 40])
def test_status_fits_the_screen(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    loopback: Callable[..., LoopbackServer],
    columns: int,
) -> None:
    """With a line for everything: a server that fails now and then, counts tokens and costs."""
    server = loopback(p500=0.4, fault_mode="sticky", seed=2)
    folder = define(tmp_path, "a-run", judge="openai/gpt-4o-mini", base_url=f"{server.url}/v1", max_attempts=1)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run("run", str(folder), "--quiet", "--set", "generation={}") == 3
    capsys.readouterr()
    assert run("status", str(folder), "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert run("status", str(folder)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    share = 1000 * row["answered"] // row["planned"] / 10
    assert f"judge openai/gpt-4o-mini answered {row['answered']} of {row['planned']} planned ({share} %)" in text
    sent = f"attempts {row['attempts']} (requests sent, those sent again after a failure included)"
    assert f"given up {row['failed']}: {row['failed']} server {sent} tokens" in text
    assert f"{row['completion_tokens']:,} of answers cost {dollars(row['cost'])} (" in text
    assert "first request 20" in text
    assert lines[-1] == "status of 1 result folder"


def test_demo_status_and_ratings_as_the_readme_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "judge"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    # The program is named as it was started, or as it is found.
    monkeypatch.setattr("sys.argv", ["bin/judge", "demo"])
    for path, name in ((str(tmp_path), "bin/judge"), (str(program.parent), "judge")):
        monkeypatch.setenv("PATH", path)
        assert run("demo") == 0
        out, err = capsys.readouterr()
        assert f"yours:   {name} init my-run " in err
    assert out.count("\n") <= LINES
    assert "labels set by rule" in out
    (_, *shown) = re.findall(r"```text\n(1728/1728 .*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[
        0
    ].splitlines()
    assert len(shown) >= 3
    assert "\n".join(shown) in out
    assert run("status", "runs/demo", "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["answered"], row["planned"], row["failed"]) == (1728, 1728, 0)
    assert row["last_commit"] >= row["first_request"]
    assert run("ratings", "runs/demo", "-o", "table.csv") == 0
    assert Path("table.csv").stat().st_size > 100_000
    assert run("status", "nowhere") == 1
