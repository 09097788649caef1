"""`judge data generate`, `train` and `contamination check` on what strangers hand on; clocks, disks, batches."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hardening.conftest import Call, Make, held

SECRET = "MY SECRET DIARY"


def generation(parent: Path, **changes: Any) -> Path:
    """A folder with a stranger's generate.yaml; nobody listens where it would ask."""
    place = parent / "theirs"
    place.mkdir()
    lines = [{"id": f"w{i}", "story_prompt": f"A lamp goes out {i} times."} for i in range(3)]
    (place / "prompts.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    data = {"name": "theirs", "story_prompts": "prompts.jsonl", "writer": "openai/x", "writer_prompts": ["story"]}
    data |= {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "none", "max_attempts": 1} | changes
    (place / "generate.yaml").write_text(yaml.safe_dump(data))
    return place


OUTSIDE = {
    "story-prompts above": {"story_prompts": "../private.jsonl"},
    "story-prompts by a whole path": {"story_prompts": "{folder}/private.jsonl"},
    "a link": {"story_prompts": "link.jsonl"},
    "a writer prompt above": {"writer_prompts": ["../private.jinja"]},
    "a writer prompt by a whole path": {"writer_prompts": ["story", "{folder}/private.jinja"]},
    "a linked writer prompt": {"writer_prompts": "./link.jinja"},
}


@pytest.mark.parametrize("what", OUTSIDE)
@pytest.mark.parametrize("how", ["write", "dry"])
def test_no_file_outside_the_folder_is_read(tmp_path: Path, call: Call, what: str, how: str) -> None:
    (tmp_path / "private.jsonl").write_text(json.dumps({"id": "x", "story_prompt": SECRET}))
    (tmp_path / "private.jinja").write_text(f"---\nwrites: true\n---\n{SECRET} {{{{ story_prompt }}}}")
    changes = json.loads(json.dumps(OUTSIDE[what]).replace("{folder}", str(tmp_path)))
    place = generation(tmp_path, **changes)
    for suffix in ("jsonl", "jinja"):
        (place / f"link.{suffix}").symlink_to(tmp_path / f"private.{suffix}")
    error = held(
        call("data", "generate", place, *(["--dry-run"] if how == "dry" else ["--quiet"])), "outside the run's folder"
    )
    assert SECRET not in error
    assert not list(place.rglob("journal.sqlite"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("writer_prompts", "/etc/passwd"),
        ("writer_prompts", "./prompts.jsonl"),
        ("story_prompts", "/etc/passwd"),
        ("story_prompts", "/dev/zero"),
        ("writer", "surface"),
        ("writer", ""),
        ("writer", "nobody/x"),
        ("stories_each", 10**9),
        ("stories_each", -1),
        ("words", [500, 300]),
        ("words", [1, float("inf")]),
        ("base_url", "file:///etc/passwd"),
        ("base_url", "http://user:hunter2@127.0.0.1/v1"),
        ("base_url", "http://[::1"),
        ("max_cost", float("nan")),
        ("headers", {"X": "a\r\nY: b"}),
        ("engine", {"trust_remote_code": True}),
        ("name", "../../up"),
        ("system", ["a"]),
        ("output", "/tmp/x"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, call: Call, key: str, value: object) -> None:
    error = held(call("data", "generate", generation(tmp_path, **{key: value}), "--quiet"))
    assert "root:" not in error
    assert "hunter2" not in error


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10000000000 }}",
        "{{ ''.__class__.__mro__ }}",
        "{% include '/etc/passwd' %}",
        "{{ story_prompt.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format('') }}",
        "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    ],
)
def test_a_hostile_writer_prompt_ends_in_a_sentence(tmp_path: Path, call: Call, template: str) -> None:
    place = generation(tmp_path, writer_prompts="./theirs.jinja")
    (place / "theirs.jinja").write_text("{{ story_prompt }}\n" + template)
    assert "theirs.jinja" in held(call("data", "generate", place, "--quiet"))


def test_a_foreign_server_gets_no_key(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567890abcdef")
    place = generation(tmp_path, api_key_env="OPENAI_API_KEY")
    code, shown, error = call("data", "generate", place, "--quiet")
    assert code in (1, 2, 3)
    assert "sk-real" not in shown + error
    assert not any(b"sk-real" in file.read_bytes() for file in place.rglob("*") if file.is_file())


TABLES = {
    "nothing": "",
    "no JSON": "{",
    "deep": "[" * 100_000,
    "no ratings": json.dumps({"id": "a", "story_prompt": "p", "system": "m", "text": "t"}),
    "NaN": '{"id": "a", "story_prompt": "p", "system": "m", "text": "t", '
    '"ratings": [{"rater": null, "criterion": "O", "value": NaN}]}',
    "infinity": '{"id": "a", "story_prompt": "p", "system": "m", "text": "t", '
    '"ratings": [{"rater": null, "criterion": "O", "value": 1e999}]}',
    "a rating of words": '{"id": "a", "story_prompt": "p", "system": "m", "text": "t", '
    '"ratings": [{"rater": null, "criterion": "O", "value": "=cmd"}]}',
    "one rating": '{"id": "a", "story_prompt": "p", "system": "m", "text": "t", '
    '"ratings": [{"rater": null, "criterion": "O", "value": 3}]}',
}


@pytest.mark.parametrize("what", TABLES)
def test_a_hostile_table_trains_nothing(tmp_path: Path, call: Call, what: str) -> None:
    (tmp_path / "theirs.jsonl").write_text(TABLES[what] + "\n")
    held(call("train", tmp_path / "theirs.jsonl", "-o", tmp_path / "made"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("data", ["/etc/passwd", "/dev/zero", "none", "../../../etc/passwd", ""])
def test_what_is_no_table_trains_nothing(tmp_path: Path, call: Call, data: str) -> None:
    assert "root:" not in held(call("train", data, "-o", tmp_path / "made"))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "judge", ["surface", "trained/../../etc", "openai/../../etc/passwd", "\x1b]0;taken\x07", "", "hf/"]
)
def test_a_check_of_a_strangers_run_loads_and_writes_nothing_elsewhere(
    ran: Make, call: Call, tmp_path: Path, judge: str
) -> None:
    place = ran()
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    definition = json.loads(base.execute("SELECT value FROM meta WHERE key = 'definition'").fetchone()[0])
    base.execute("UPDATE meta SET value = ? WHERE key = 'definition'", (json.dumps(definition | {"judge": judge}),))
    base.commit()
    base.close()
    manifest = place / "surface" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["judge"] = told["asked"]["judge"] = judge
    manifest.write_text(json.dumps(told))
    before = {one for one in tmp_path.rglob("*") if place not in one.parents}
    code, shown, error = call("contamination", "check", place, "--quiet")
    assert code in (0, 1, 2)
    assert "\x1b]0" not in shown + error
    assert "root:" not in shown + error
    new = {one for one in tmp_path.rglob("*") if place not in one.parents} - before
    assert not [one for one in new if "home-of-tests" not in one.parts], new


@pytest.mark.parametrize("clock", [-1e6, 1000.0, 1e11])
def test_a_clock_that_jumps_loses_nothing(ran: Make, call: Call, monkeypatch: pytest.MonkeyPatch, clock: float) -> None:
    place = ran()
    monkeypatch.setattr(time, "time", lambda: clock)
    assert call("run", place, "--quiet", "--set", "repeats=2")[0] == 0
    for command in ("status", "ratings", "coverage", "status --verify"):
        code, _, error = call(*command.split(), place)
        assert (code, "Traceback" in error) == (0, False), (command, error)
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    assert base.execute("SELECT count(*) FROM responses").fetchone()[0] == 6
    base.close()


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:9/v1"},
        {"base_url": "http://evil.example@127.0.0.1:9/v1"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http://[::1"},
        {"base_url": 5},
        {"base_url": None},
        {"number": "../../up"},
        {"batch_id": "../../files/x"},
        {"output_file_id": "/etc/passwd"},
        {"lines": "many"},
        {"state": "nobody knows"},
        {"unknown": 1},
    ],
    ids=lambda change: " ".join(f"{key}={value}" for key, value in change.items()),
)
@pytest.mark.parametrize("command", ["status", "collect"])
def test_crafted_batches_get_no_key_and_end_in_a_sentence(
    make: Make, call: Call, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], command: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-1234567890abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    place = make(judge="openai/gpt-4o-mini")
    folder = place / "openai-gpt-4o-mini"
    folder.mkdir()
    asked = {"judge": "openai/gpt-4o-mini", "asked": {"api_key_env": "OPENAI_API_KEY"}}
    (folder / "manifest.json").write_text(json.dumps(asked))
    one = {"number": 1, "lines": 1, "repeats": 1, "state": "created", "batch_id": "batch_1", "file_id": "f"}
    one |= {"base_url": "http://127.0.0.1:9/v1"} | change
    (folder / "batches.json").write_text(json.dumps({"format": 1, "run_id": "x", "batches": [one]}))
    code, shown, error = call("run", place, "--batch", command)
    assert code in (1, 2), (shown, error)
    assert "Traceback" not in error
    assert "sk-real" not in shown + error
    assert "root:" not in shown + error
