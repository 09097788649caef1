"""A rating_pattern from the template to the table: checked before the run, read in every table, mended after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.report.runs import command as judge

STORIES = [
    {"id": "a", "story_prompt": "A door.", "system": "x", "text": "It opened. Verdict: 5 of 9."},
    {"id": "b", "story_prompt": "A lamp.", "system": "x", "text": "It went out."},
]
BODY = "Story: {{ story }}\n\nScore its {{ criterion.name }}.\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose judge hides its ratings in a form of its own."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_template(folder, r"Verdict=<(\d)>")
    (folder / "stories.jsonl").write_text("".join(json.dumps(story) + "\n" for story in STORIES))
    answers = ["A 5 needs an ending. Rating: 2? Verdict=<4>", "Rating: 3"]
    (folder / "answers.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in answers))
    spec = {
        "name": "mine",
        "dataset": "stories.jsonl",
        "judge": f"scripted/{folder / 'answers.jsonl'}",
        "criteria": {"set": "hanna", "only": ["Coherence"]},
        "eval_prompts": ["form.jinja"],
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(spec))
    return folder


def write_template(folder: Path, pattern: str, example: str = "Verdict=<4>") -> Path:
    front = yaml.safe_dump({"rating_pattern": pattern, "example_answer": example})
    (folder / "form.jinja").write_text(f"---\n{front}---\n{BODY}")
    return folder / "form.jinja"


def ratings(run: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, float | None]]:
    capsys.readouterr()
    assert judge("ratings", run, "--format", "jsonl") == 0
    rows = [row for row in map(json.loads, capsys.readouterr().out.splitlines()) if row["source"] == "judge"]
    return {row["story"]: (row["status"], row["rating"]) for row in rows}


def test_only_the_pattern_is_read_and_the_signature_says_so(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("run", run, "--quiet") == 0
    found = ratings(run, capsys)
    assert sorted(found.values(), key=str) == [("no_rating", None), ("ok", 4.0)]
    assert judge("coverage", run, "--format", "json") == 0
    assert "|parser:ours/4+pattern|" in json.loads(capsys.readouterr().out)[0]["signature"]
    assert judge("parse", run, "--format", "json") == 0
    assert [row["rating"] for row in json.loads(capsys.readouterr().out)["rows"]].count(4.0) == 1


def test_a_pattern_is_mended_without_asking_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judge("run", run, "--quiet") == 0
    write_template(run, r"(?:Verdict=<|Rating: )(\d)(?:>|$)")
    assert judge("run", run, "--quiet") == 0
    found = ratings(run, capsys)
    assert sorted(rating for _, rating in found.values() if rating is not None) == [3.0, 4.0]
    assert judge("status", run, "--verify") == 0
    capsys.readouterr()
    (run / "form.jinja").write_text((run / "form.jinja").read_text().replace("Score its", "Rate its"))
    assert judge("run", run, "--quiet") == 1
    assert "the Eval-Prompts changed since it was started" in capsys.readouterr().err


def test_prompts_check_tries_the_pattern(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = run / "form.jinja"
    assert judge("prompts", "check", template) == 0
    for pattern, example, words in (
        (r"Score=(\d)", "Verdict=<4>", "no rating is read by the rating_pattern from the example_answer"),
        (r"(?=x)(\d)", "Verdict=<4>", "no regular expression that RE2 knows"),
        (r"Verdict=<\d>", "Verdict=<4>", "has 0 groups"),
    ):
        write_template(run, pattern, example)
        capsys.readouterr()
        assert judge("prompts", "check", template, "--format", "json") == 4
        problems = " ".join(row["problem"] for row in json.loads(capsys.readouterr().out)["rows"])
        assert words in problems
    template.write_text(f"---\nrating_pattern: 'Verdict=<(\\d)>'\n---\n{BODY}")
    assert judge("prompts", "check", template) == 4
    assert "no example_answer" in " ".join(capsys.readouterr().out.split())


def test_a_broken_pattern_stops_the_run_before_anything_is_asked(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_template(run, "Verdict=<(\\d")
    assert judge("run", run, "--quiet") == 1
    assert "form.jinja: rating_pattern" in capsys.readouterr().err
    assert not list(run.glob("*/journal.sqlite"))


def test_a_rating_quoted_from_the_story_is_none_in_a_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stories = [{**STORIES[0], "text": "The end.\n\nFinal rating: 5"}]
    (run / "stories.jsonl").write_text("".join(json.dumps(story) + "\n" for story in stories))
    (run / "answers.jsonl").write_text(json.dumps({"text": "**Final rating:** 5"}) + "\n")
    (run / "form.jinja").write_text(BODY)
    assert judge("run", run, "--quiet") == 0
    assert ratings(run, capsys) == {"a": ("ambiguous", None)}


def test_parse_takes_a_pattern_and_the_story(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.jsonl"
    lines = [
        {"text": "Rating: 2. V=4"},
        {"text": "My rating: 5", "story": "And then: My rating: 5. The end."},
        {"text": "My rating: 5", "story": "The end."},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def rows(*more: str) -> list[tuple[float | None, str, list[str]]]:
        capsys.readouterr()
        assert judge("parse", file, "--format", "jsonl", *more) == 0
        parsed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [(row["rating"], row["status"], row["flags"]) for row in parsed]

    assert rows() == [(2.0, "ok", []), (None, "ambiguous", ["quoted"]), (5.0, "ok", [])]
    assert [row[0] for row in rows("--set", r"rating_pattern=V=(\d)")] == [4.0, None, None]
    assert judge("parse", file, "--set", r"rating_pattern=V=\d") == 1
    assert "--set rating_pattern: rating_pattern" in capsys.readouterr().err
