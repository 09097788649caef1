"""What a file is, is seen in it; where that cannot be, the user is asked, and told how to say it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from judge.asking.run_folder import ResultFolder
from judge.cli.main import main
from judge.exchange import reader as registry
from judge.exchange.reader import Look, Reader, reader_of, readers
from judge.inputs.datasets.locate import released

LOGS = Path(__file__).parents[1] / "logs" / "files"
Make = Callable[[Path], Path]


def _log(name: str) -> Make:
    """A log that the tool wrote, under a name that says nothing."""

    def make(folder: Path) -> Path:
        file = next(LOGS.rglob(name))
        target = (folder / "file").with_suffix(file.suffix)
        target.write_bytes(file.read_bytes())
        return target

    return make


def _json(value: Any) -> Make:
    def make(folder: Path) -> Path:
        (folder / "file.json").write_text(json.dumps(value), encoding="utf-8")
        return folder / "file.json"

    return make


def _text(name: str, text: str) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    return make


def _hub(folder: Path) -> Path:
    (folder / "hub").mkdir()
    (folder / "hub" / "judge.json").write_text('{"format": 1, "parts": []}', encoding="utf-8")
    return folder / "hub"


_ID = f"{'0a' * 16}-{'1b' * 4}-r0-2"
SAMPLES: dict[str, list[Make]] = {
    "inspect": [_log("inspect-*.eval"), _log("inspect-*.json")],
    "lm-eval": [_log("samples_rate_*.jsonl"), _log("samples_coherent_*.jsonl")],
    "promptfoo": [_log("promptfoo-*.json"), _log("promptfoo-*.jsonl")],
    "deepeval": [_log("deepeval-*.json")],
    "mlflow": [_log("mlflow-*.jsonl")],
    "phoenix": [_log("phoenix-*.json"), _log("phoenix-*.csv")],
    "langfuse": [_log("langfuse-*.json")],
    "alpaca-eval": [_log("alpaca_eval-*.json")],
    "mt-bench": [_log("mt_bench-0*.jsonl"), _log("mt_bench-human.jsonl")],
    "ratings": [
        _text("file.csv", "story,criterion,rating\na,Fun,3\n"),
        _text("file.csv", "id,coh\na,3\n"),
        _json([{"story": "a", "criterion": "Fun", "rating": 3}]),
    ],
    "batch": [
        _text("file.jsonl", json.dumps({"custom_id": _ID, "response": {"status_code": 200, "body": {}}}) + "\n"),
        _text("file.jsonl", json.dumps({"custom_id": _ID, "result": {"type": "succeeded", "message": {}}}) + "\n"),
        _text("file.jsonl", json.dumps({"key": _ID, "response": {"candidates": []}}) + "\n"),
    ],
    "hanna-answers": [
        _json([{"Relevance": {"Task 0": ["4"]}}]),
        _json({"0": {"Relevance": {"Task 0": ["4"]}}}),
    ],
    "ttcw-answers": [_text("file.jsonl", '{"id": "story_0_Claude_test3", "response": "Yes."}\n')],
    "hanna-scores": [_text("file.csv", 'Model,Relevance,Human 1 RE,Human 1 CH\nHuman,"[4]","[4]","[4]"\n')],
    "plotguided-scores": [_text("file.txt", "the lamp went out . </s>\t0.0096\nit burnt .\t0.9\n")],
    "hub": [_hub],
    "answers": [_text("file.jsonl", '{"story": "a", "criterion": "Fun", "text": "Rating: 3"}\n')],
    "verdict-answers": [_text("file.jsonl", '{"story_a": "a", "story_b": "b", "text": "B is better"}\n')],
}
"""Reader -> files of its form, each made in a folder."""


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, " ".join(said.err.split())


@pytest.mark.parametrize("name", readers())
def test_each_form_is_seen_in_the_file(name: str, tmp_path: Path) -> None:
    assert SAMPLES.get(name), f"no sample of {name}"
    for number, make in enumerate(SAMPLES[name]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert reader_of([make(folder)]).name == name, number


def test_the_released_files_are_seen_too(studies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA", str(studies))
    for word, name in (
        ("hanna_scores", "hanna-scores"),
        ("plotguided_scores", "plotguided-scores"),
        ("ttcw_answers", "ttcw-answers"),
    ):
        assert reader_of(released(word)).name == name


@pytest.mark.parametrize(
    "make",
    [
        _json({"a": {"b": 1}}),
        _json([1]),
        _json("words"),
        _json([]),
        _text("file.txt", "Once upon a time.\n"),
        _text("file.jsonl", ""),
    ],
)
def test_an_unknown_file_gets_the_list_of_forms(make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = _run(capsys, "import", make(tmp_path), "-o", tmp_path / "out")
    assert (code, said.startswith("error: ")) == (1, True)
    assert "is of no form that is recognised" in said
    assert all(name in said for name in readers())
    assert "--as NAME" in said
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_or_cut_off_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "none.json: cannot be read" in _run(capsys, "import", tmp_path / "none.json")[2]
    cut = tmp_path / "cut.json"
    cut.write_bytes((LOGS / "deepeval-4.3.1.json").read_bytes()[:2000])
    assert "cut.json" in _run(capsys, "import", cut)[2]
    cut = tmp_path / "cut.eval"
    cut.write_bytes((LOGS / "inspect-0.3.285.eval").read_bytes()[:2000])
    assert "cut.eval: is no zip archive, or was cut off" in _run(capsys, "import", cut)[2]


def test_two_forms_of_one_file_are_named_and_either_may_be_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = {"instruction": "a", "output_1": "b", "output_2": "c", "preference": 1, "question_id": 1, "winner": "tie"}
    file = _json([both])(tmp_path)
    code, _, said = _run(capsys, "import", file)
    assert (code, "may be of 2 forms: alpaca-eval, mt-bench" in said) == (1, True)
    assert "--as alpaca-eval or --as mt-bench" in said
    assert _run(capsys, "import", file, "--as", "alpaca-eval", "-o", tmp_path / "out")[0] == 0
    assert ResultFolder(tmp_path / "out").preferences.is_file()


def test_files_of_several_forms_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [LOGS / "deepeval-4.3.1.json", LOGS / "mlflow-3.17.2.jsonl"]
    said = _run(capsys, "import", *files)[2]
    assert "the files have several forms" in said
    assert "deepeval-4.3.1.json: deepeval" in said
    assert "mlflow-3.17.2.jsonl: mlflow" in said


def test_the_first_line_says_what_the_file_was_taken_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = _run(capsys, "import", LOGS / "deepeval-4.3.1.json", "-o", tmp_path / "out")
    assert out.splitlines()[0].endswith(f"deepeval-4.3.1.json: taken for deepeval, {readers()['deepeval'].text}")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--set", "number_repeats=true"], "--set number_repeats=true has no effect with --as deepeval"),
        (["--set", "number_repeats=true"], "leave it out, or ask for --as ratings"),
        (["--set", "judged=inputs"], "--set judged=inputs has no effect with --as deepeval"),
        (["--set", "judge=x"], "--set 'judge' is not known"),
        (["--set", "judged"], "--set judged is not KEY=VALUE"),
        (["--as", "deepeva"], "did you mean 'deepeval'"),
        (["--as", "batch"], "go into the run that asked for them: --output RUN"),
        (["--as", "ttcw-answers"], "--as ttcw-answers needs --judge"),
        (["--as", "lm-eval", "--set", "judged=some"], "allowed: outputs, inputs"),
    ],
)
def test_what_a_form_does_not_take_is_refused_by_name(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = _run(capsys, "import", LOGS / "deepeval-4.3.1.json", *words)
    assert (code, told in said) == (1, True), said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("import promptfoo x.json", "judge import x.json --as promptfoo"),
        ("import ratings", "judge import FILE --as ratings"),
        ("import batch runs/x a.jsonl b.jsonl", "judge import a.jsonl b.jsonl --as batch -o runs/x"),
        ("export hub runs/demo", "judge export runs/demo --as hub"),
        ("export bundle runs/demo", "judge export runs/demo --as bundle"),
        ("export runs/demo", "forms: hub, irw, eee, metrics, bibtex, trl, bundle, batch"),
        ("export runs/demo --as hubs", "did you mean 'hub'"),
        ("export runs/demo --as irw --set without_texts=true", "--set without_texts=true has no effect with --as irw"),
    ],
)
def test_a_former_or_half_a_command_is_answered_by_the_form(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, said = _run(capsys, *words.split())
    assert (code, told in said) == (1, True), said


@dataclass(frozen=True)
class _Options:
    """No options."""


def _read(files: list[Path], _options: _Options, target: Path | None, say: Callable[[str], None]) -> None:
    say(f"{len(files)} files for {target}")


def _is_mine(look: Look) -> bool:
    return look.has("mine")


MINE = Reader("mine", "a form of another package", _Options, _is_mine, _read)


def test_another_package_adds_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "unused:MINE", registry.ENTRY_POINT)
    monkeypatch.setattr(EntryPoint, "load", lambda _self: MINE)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.ENTRY_POINT else [])
    readers.cache_clear()
    try:
        said: list[str] = []
        reader = reader_of([_json({"mine": 1})(tmp_path)])
        reader.read([tmp_path], reader.options(), None, said.append)
        assert (reader.name, said) == ("mine", ["1 files for None"])
    finally:
        readers.cache_clear()
