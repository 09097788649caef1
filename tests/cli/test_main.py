"""The command line as a whole: help is quick and complete, nothing heavy is imported to run, errors are sentences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from judge.cli.commands import COMMANDS, app_of
from judge.cli.main import main, overview
from tests.server.loopback import LoopbackServer

HEAVY = (
    *("torch", "vllm", "transformers", "openai", "pingouin", "sentence_transformers", "umap", "keybert", "plotly"),
    *("sklearn", "ray", "starlette", "pandas", "scipy", "matplotlib", "pyarrow", "duckdb"),
    *("sacrebleu", "nltk", "spacy", "judge.lab.measures"),
)


def imported_by(*arguments: str, cwd: Path) -> tuple[int, list[str]]:
    """Exit code of a command in a fresh interpreter, and which heavy packages it imported."""
    code = f"""
import sys
from judge.cli.main import main
code = 0
try:
    main({list(arguments)!r})
except SystemExit as left:
    code = left.code or 0
print("HEAVY", [name for name in {HEAVY!r} if name in sys.modules], code)
"""
    env = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    found, exit_code = done.stdout.strip().splitlines()[-1].removeprefix("HEAVY ").rsplit(" ", 1)
    return int(exit_code), json.loads(found.replace("'", '"'))


def definition(folder: Path, **changes: object) -> Path:
    story = {"id": "a", "story_prompt": "P", "system": "x", "text": "A text.", "reference": None, "ratings": []}
    (folder / "stories.jsonl").write_text(json.dumps(story) + "\n")
    data: dict[str, object] = {
        "name": "t",
        "dataset": "stories.jsonl",
        "judge": "surface",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        **changes,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["run", "RUN", "--dry-run"]])
def test_nothing_heavy_is_imported_to_help_or_to_plan(arguments: list[str], tmp_path: Path) -> None:
    path = definition(tmp_path, judge="openai/m")
    asked = [str(path) if word == "RUN" else word for word in arguments]
    assert imported_by(*asked, cwd=tmp_path) == (0, [])


def test_nothing_heavy_is_imported_to_run(tmp_path: Path) -> None:
    assert imported_by("run", str(definition(tmp_path)), "--quiet", cwd=tmp_path) == (0, [])


def test_the_help_lists_every_command_and_every_command_explains_itself() -> None:
    for name, (_, line) in COMMANDS.items():
        assert f"  {name}" in overview()
        assert line in overview()
        command = typer.main.get_command(app_of(name))
        assert command.help or getattr(command, "commands", None), name


def works(*arguments: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == 0


def fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eval_prompt": "ep1"}, "unknown key 'eval_prompt', did you mean 'eval_prompts'?"),
        ({"generation": {"max_token": 3}}, "did you mean 'max_tokens'?"),
        ({"eval_prompts": ["ep4"]}, "Eval-Prompt ep4 needs a reference story and story 'a' has none"),
        ({"eval_prompts": ["ep3"], "criteria": "storyer"}, "needs guidelines"),
        ({"criteria": "hana"}, "did you mean 'hanna'?"),
        ({"eval_prompts": ["ep9"]}, "ep9"),
        ({"criteria": {"set": "hanna", "only": ["Humour"]}}, "Humour"),
        ({"dataset": "none.jsonl"}, "no such file"),
        ({"judge": "opnai/x"}, "did you mean 'openai'?"),
        ({"judge": "openai/x", "base_url": "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1: no connection"),
        ({"judge": "openai/x", "base_url": "nonsense"}, "nonsense"),
        ({"repeats": 0}, "repeats"),
        ({"name": "../x"}, "name"),
        ({"scoring": "logits"}, "'text' or 'logprobs'"),
    ],
)
def test_a_mistake_in_run_yaml_is_a_sentence(
    changes: dict[str, object], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in fails(capsys, "run", str(definition(tmp_path, **changes)), "--quiet")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "a", "system": "x", "text": ""}', "row 2"),
        ('{"id": "a", "story_prompt": "P", "system": "x", "text": "again"}', "row 2"),
        ("\udcff", "row 2"),
        ('{"id": "b", "story_prompt": "P", "system": "x", "text": "t", "txt": 1}', "row 2"),
        ('{"id": "b", "ratings": [{"criterion": "O", "value": NaN}]}', "row 2"),
    ],
)
def test_a_mistake_in_the_stories_names_file_and_row_and_nothing_is_asked(
    line: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = definition(tmp_path)
    with (tmp_path / "stories.jsonl").open("ab") as stream:
        stream.write(line.encode("utf-8", "surrogateescape") + b"\n")
    err = fails(capsys, "run", str(path), "--quiet")
    assert words in err
    assert "stories.jsonl" in err


def test_a_read_only_place_and_a_missing_run_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = definition(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert "cannot be written" in fails(capsys, "run", str(path), "--quiet", "-o", str(blocked / "results"))
    assert "does not exist" in fails(capsys, "run", str(tmp_path / "none"))
    assert "has no results yet" in fails(capsys, "ratings", str(path))
    assert "judge init" in fails(capsys, "run")


def test_a_command_that_is_not_known_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["expain"])
    assert left.value.code == 2
    assert "No such command 'expain'. Did you mean 'explain'?" in capsys.readouterr().err


def test_verify_names_bundles_where_a_file_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a bundle (.zip)" in fails(capsys, "status", str(tmp_path / "none.zip"), "--verify")


def test_a_changed_run_may_not_go_on_in_the_same_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    works("run", str(definition(tmp_path)), "--quiet")
    changed = definition(tmp_path, generation={"temperature": 1})
    assert "generation changed since it was started" in fails(capsys, "run", str(changed), "--quiet")


def test_several_judges_make_one_result_folder_each(tmp_path: Path) -> None:
    path = definition(tmp_path)
    works("run", str(path), "--quiet", "--judge", "surface", "--judge", "scripted/three")
    folders = sorted(p.parent.name for p in tmp_path.glob("*/journal.sqlite"))
    assert folders == ["scripted-three", "surface"]


def test_a_pilot_prints_what_the_whole_would_take(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = definition(tmp_path, dataset="demo", eval_prompts=["ep1", "ep2"], repeats=2)
    works("run", str(path), "--quiet", "--pilot", "2", "--format", "json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["stories"], row["queries"], row["answers"], row["parsed"]) == (48, 96, 192, 1.0)
    works("run", str(path), "--quiet", "--dry-run", "--limit", "3", "--format", "json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["stories"], row["answers"]) == (3, 12)


def test_a_run_in_which_every_call_failed_ends_with_the_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], loopback: Callable[..., LoopbackServer]
) -> None:
    server = loopback(p500=1.0)
    path = definition(tmp_path, judge="openai/mock", base_url=server.url, max_attempts=2)
    err = fails(capsys, "run", str(path), "--quiet")
    assert "no query was answered" in err
    assert f"{server.url}: HTTP 500" in err


def test_missing_repeats_exit_with_3_and_name_the_command_that_asks_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], loopback: Callable[..., LoopbackServer]
) -> None:
    server = loopback(p500=0.5, fault_mode="sticky", seed=1)
    path = definition(tmp_path, judge="openai/mock", base_url=server.url, max_attempts=1, dataset="demo")
    with pytest.raises(SystemExit) as left:
        main(["run", str(path)])
    assert left.value.code == 3
    err = capsys.readouterr().err
    assert "given up: " in err
    assert f"judge run {path.parent / 'openai-mock'} --retry" in err
    server.configure(p500=0.0)
    works("run", str(path), "--retry", "--quiet")
    works("run", str(path), "--quiet")


@pytest.mark.parametrize("words", [("--quiet", "run"), ("run", "--quiet")])
def test_quiet_is_taken_before_and_after_any_command(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(definition(tmp_path))
    works(*words, path, "--judge", "surface")
    assert not capsys.readouterr().err
    works("run", path, "--judge", "scripted/three")
    assert capsys.readouterr().err
