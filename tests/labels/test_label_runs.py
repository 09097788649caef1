"""A run whose criteria have labels, from its criteria file to `judge parse`, and files of answers read by labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judge.asking.execution.verification import verify_journal
from judge.asking.run_folder import ResultFolder
from judge.cli.main import main

CRITERIA = """name: mine
criteria:
  - name: Ending
    abbreviation: EN
    definition: is it earned?
    scale: {labels: [No, Yes], positive: Yes}
    guidelines: [It stops., It ends.]
  - name: Pace
    abbreviation: PA
    definition: how fast it is
"""
RUN = """name: labels
dataset: stories.jsonl
judge: scripted/answers.jsonl
criteria: mine.yaml
eval_prompts: [ep1, ep2]
"""
ANSWERS = (
    {"text": "No. It stops mid-sentence.", "match": "Ending"},
    {"text": "**Yes**", "match": "Ending"},
    {"text": "Rating: 4", "match": "Pace"},
)


def judge(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    story = {"id": "a", "story_prompt": "A storm.", "system": "model", "text": "It rained."}
    (tmp_path / "stories.jsonl").write_text(json.dumps(story) + "\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(CRITERIA, encoding="utf-8")
    (tmp_path / "run.yaml").write_text(RUN, encoding="utf-8")
    lines = "".join(json.dumps(answer) + "\n" for answer in ANSWERS)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_a_run_asks_for_labels_and_reads_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge(capsys, "run", folder / "run.yaml")[0] == 0
    (result,) = [file.parent for file in folder.glob("*/journal.sqlite")]
    assert verify_journal(ResultFolder(result)) == (4, [])
    code, out, _ = judge(capsys, "parse", result, "--format", "jsonl")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    ending = {(row["rating"], row["label"]) for row in rows if row["criterion"] == "Ending"}
    assert ending == {(0.0, "No"), (1.0, "Yes")}
    assert {(row["rating"], row.get("label")) for row in rows if row["criterion"] == "Pace"} == {(4.0, None)}
    assert judge(capsys, "parse", result, "--full")[1].splitlines()[1].split() == [
        "line", "judge", "story", "criterion", "eval_prompt", "repeat", "rating", "label", "status", "flags",
        "explanation",
    ]  # fmt: skip
    # It goes on where it stopped, by the same definition.
    assert judge(capsys, "run", folder / "run.yaml")[0] == 0
    assert judge(capsys, "ratings", result, "--format", "json")[0] == 0


def test_a_query_of_a_set_with_labels_is_rendered_as_it_is_sent(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "story.txt").write_text("It rained.\n", encoding="utf-8")
    common = ("prompts", "render", "--eval-prompt", "ep3", "--criteria", "mine.yaml", "--set", "story_file=story.txt")
    code, out, _ = judge(capsys, *common, "--criterion", "Ending")
    assert code == 0
    assert "No: It stops.\nYes: It ends.\n" in out
    assert judge(capsys, "prompts", "check", "mine.yaml")[0] == 0


def rows_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, object]]:
    code, out, said = judge(capsys, "parse", *arguments, "--format", "jsonl")
    assert code == 0, said
    return [json.loads(line) for line in out.splitlines()]


def test_a_file_is_read_by_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "given.jsonl"
    lines = (
        {"id": 1, "response": "No, it stops.", "finish_reason": "stop"},
        {"id": 2, "text": "Yes", "response": "kept", "label": "given"},
        {"id": 3, "text": "Content Blocked"},
        {"id": 4, "text": "4", "scale": "1-5", "criterion": "Pace"},
    )
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    one, two, three, four = rows_of(capsys, file, "--labels", "No,Yes", "--set", "positive=yes")
    assert (one["rating"], one["label"], one["status"], one["explanation"]) == (0.0, "No", "ok", "it stops.")
    assert "response" not in one
    assert (two["label"], two["response"], two["given_label"]) == ("Yes", "kept", "given")
    assert (three["label"], three["status"]) == (None, "filtered")
    assert four["rating"] == 4.0
    plain = rows_of(capsys, file)
    assert plain[1]["label"] == "given"
    assert "label" not in plain[0]
    captured = rows_of(capsys, file, "--labels", "No,Yes", "--set", "rating_pattern=(No|Yes)")
    assert [row.get("label") for row in captured] == ["No", "Yes", None, None]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--labels", "No"), "--labels must be 2 to 26 different texts; found No"),
        (("--labels", "No,Yes", "--set", "positive=Maybe"), "--set positive must be one of the labels; found 'Maybe'"),
        (("--set", "positive=Yes"), "--set positive names one of two labels"),
        (("--labels", "No,Yes", "--set", "scale=1-3"), "--set scale and --labels are two kinds of scale"),
    ],
)
def test_what_is_no_scale_of_labels_is_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str
) -> None:
    code, _, err = judge(capsys, "parse", folder / "answers.jsonl", *more)
    assert code != 0
    assert said in err
