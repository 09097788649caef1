"""Class 1: a run folder from somebody else is opened by every command; it must start, read, write and send nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from judge.asking.run_folder.manifest import environment
from judge.cli.main import main
from tests.credentials.echo_server import EchoServer
from tests.hardening.conftest import Call, Make, held


def test_git_of_the_folder_is_never_asked(
    make: Make, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = make()
    subprocess.run(["git", "init", "-q", place], check=True)
    (place / ".gitattributes").write_text("* filter=x diff=x\n")
    subprocess.run(["git", "-C", place, "add", "run.yaml"], check=True)
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", place, *who, "commit", "-qm", "x"], check=True)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "filter.x.clean", "diff.external"):
        script = tmp_path / f"{key}.sh"
        script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran.{key}\n")
        script.chmod(0o755)
        subprocess.run(["git", "-C", place, "config", key, str(script)], check=True)
    os.utime(place / "run.yaml", (1, 1))
    monkeypatch.chdir(place)
    assert call("run", ".", "--quiet")[0] == 0
    assert call("export", ".", "--as", "bundle", "-o", tmp_path / "b.zip")[0] == 0
    assert not list(tmp_path.glob("ran.*"))


def test_git_of_the_environment_is_not_asked_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "other"], check=True)
    here = environment()["git"]
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.chdir(tmp_path / "other")
    assert environment()["git"] == here


OUTSIDE = {
    "dataset up": {"dataset": "../private.jsonl"},
    "dataset absolute": {"dataset": "{secret}"},
    "template up": {"eval_prompts": ["../private.jinja"]},
    "template among others": {"eval_prompts": ["ep1", "{jinja}"]},
    "criteria file": {"criteria": "../private.yaml"},
    "criteria set": {"criteria": {"set": "{yaml}"}},
    "wording": {"criteria": {"set": "overall", "wording": "../private.json"}},
    "wording absolute": {"criteria": {"set": "overall", "wording": "{json}"}},
    "pairs": {"pairs": {"file": "../private.jsonl"}, "eval_prompts": ["pair1"]},
    "a link": {"dataset": "link.jsonl"},
    "a linked template": {"eval_prompts": ["./link.jinja"]},
    "a linked folder": {"dataset": "linked/private.jsonl"},
}


@pytest.mark.parametrize("what", OUTSIDE)
@pytest.mark.parametrize("how", ["run", "dry"])
def test_no_file_outside_the_folder_is_read(make: Make, call: Call, tmp_path: Path, what: str, how: str) -> None:
    story = {"id": "x", "story_prompt": "p", "system": "m", "text": "MY SECRET DIARY"}
    files = {"jsonl": json.dumps(story), "jinja": "MY SECRET {{ story }}\n{{ criterion.name }}", "json": "{}"}
    files["yaml"] = "name: x\ncriteria:\n  - {name: MY SECRET, abbreviation: MS, definition: d}\n"
    for suffix, text in files.items():
        (tmp_path / f"private.{suffix}").write_text(text)
    told = json.dumps(OUTSIDE[what]).replace("{secret}", str(tmp_path / "private.jsonl"))
    for suffix in files:
        told = told.replace(f"{{{suffix}}}", str(tmp_path / f"private.{suffix}"))
    place = make(**json.loads(told))
    (place / "link.jsonl").symlink_to(tmp_path / "private.jsonl")
    (place / "link.jinja").symlink_to(tmp_path / "private.jinja")
    (place / "linked").symlink_to(tmp_path)
    error = held(call("run", place, *(["--dry-run"] if how == "dry" else [])), "outside the run's folder")
    assert "SECRET" not in error
    assert not (place / "surface").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("eval_prompts", "./stories.jsonl"),
        ("eval_prompts", "/etc/passwd"),
        ("criteria", "./stories.jsonl"),
        ("criteria", "/etc/passwd"),
        ("criteria", {"set": "overall", "wording": "../../../../../etc/passwd"}),
        ("criteria", {"set": "overall", "wording": "/etc/hostname"}),
        ("dataset", "/etc/passwd"),
        ("dataset", "/proc/self/environ"),
        ("dataset", "/dev/zero"),
    ],
)
def test_files_of_another_kind_are_refused(make: Make, call: Call, key: str, value: object) -> None:
    error = held(call("run", make(**{key: value})))
    assert "root:" not in error


def test_the_users_own_word_opens_a_file_elsewhere(make: Make, call: Call, tmp_path: Path) -> None:
    place = make(dataset="../mine.jsonl")
    shutil.copy(place / "stories.jsonl", tmp_path / "mine.jsonl")
    held(call("run", place, "--quiet"), "outside the run's folder", "--set dataset=../mine.jsonl")
    assert call("run", place, "--quiet", "--set", "dataset=../mine.jsonl")[0] == 0


def test_a_folder_named_in_the_environment_is_trusted(
    make: Make, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make(dataset="../data/mine.jsonl")
    (tmp_path / "data").mkdir()
    shutil.copy(place / "stories.jsonl", tmp_path / "data" / "mine.jsonl")
    monkeypatch.setenv("JUDGE_TRUSTED_FOLDERS", str(tmp_path / "data"))
    assert call("run", place, "--quiet")[0] == 0


def test_what_init_was_given_may_be_read(make: Make, call: Call, tmp_path: Path) -> None:
    stories = make() / "stories.jsonl"
    assert call("init", "mine", "--dataset", stories, "--folder", tmp_path / "runs")[0] == 0
    assert call("run", tmp_path / "runs" / "mine", "--quiet", "--dry-run", "--judge", "surface")[0] == 0


def test_a_criteria_files_own_wording_stays_beside_it(make: Make, call: Call, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"SECRET": 1}')
    place = make(criteria="./mine.yaml")
    text = "name: x\nwording: ../secret.json\ncriteria:\n  - {name: A, abbreviation: AA, definition: d}\n"
    (place / "mine.yaml").write_text(text)
    assert "SECRET" not in held(call("run", place), "no JSON file in its folder")


def test_a_manifest_names_no_file_outside(ran: Make, call: Call, tmp_path: Path) -> None:
    place = ran()
    manifest = json.loads((place / "surface" / "manifest.json").read_text())
    (tmp_path / "private.jsonl").write_text((place / "stories.jsonl").read_text())
    manifest["asked"]["dataset"] = "../private.jsonl"
    (place / "surface" / "manifest.json").write_text(json.dumps(manifest))
    (place / "surface").rename(tmp_path / "alone")
    held(call("run", tmp_path / "alone", "--retry"), "outside the run's folder")


@pytest.mark.parametrize("value", [True, "yes", 1])
@pytest.mark.parametrize("where", ["engine", "judges"])
def test_no_definition_lets_a_model_bring_code(make: Make, call: Call, value: object, where: str) -> None:
    engine = {"engine": {"trust_remote_code": value}}
    place = make(**engine) if where == "engine" else make(judge=None, judges=[{"judge": "hf/x/y", **engine}])
    sentence = held(call("run", place), "trust_remote_code")
    assert "--set engine.trust_remote_code=true" in sentence


def test_servers_are_named_before_anything_is_sent(make: Make, call: Call) -> None:
    place = make(judge="openai/x", base_url="http://127.0.0.1:9/v1", api_key_env="none")
    assert "asked at http://127.0.0.1:9" in call("run", place)[2]


BOMBS = {
    "nested lists": "name: x\nengine: " + "[" * 100_000,
    "nested mappings": "name: x\nengine: " + "{a: " * 100_000,
    "nested blocks": "name: x\n" + "".join(" " * i + "a:\n" for i in range(500)),
    "laughs": "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
    "laughs in engine": "engine:\n  a0: &a0 [x]\n"
    + "".join(f"  a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
    "itself": "engine: &a {b: *a}",
    "itself in a list": "eval_prompts: &a [*a]",
    "an object": "name: !!python/object/apply:os.system ['touch ran']",
    "a module": "name: !!python/module:antigravity",
    "a date that is none": "note: 2024-13-45",
    "a long number": "repeats: " + "9" * 5000,
    "nul": "name: a\0b",
    "a list": "- a\n- b",
    "a word": "hello",
    "empty": "",
    "two documents": "name: a\n---\nname: b",
    "unhashable": "? [a, b]\n: c",
    "bad escape": 'name: "\\ud800"',
}


@pytest.mark.parametrize("what", BOMBS)
@pytest.mark.parametrize("command", ["run", "status"])
def test_yaml_bombs_are_refused_in_a_sentence(make: Make, call: Call, what: str, command: str) -> None:
    assert held(call(command, make(raw=BOMBS[what]))).strip()


@pytest.mark.parametrize("what", ["nested lists", "laughs", "itself"])
def test_yaml_bombs_in_criteria_and_front_matter(make: Make, call: Call, what: str) -> None:
    place = make(criteria="./mine.yaml")
    (place / "mine.yaml").write_text(BOMBS[what])
    assert held(call("run", place)).strip()
    place = make(eval_prompts="./mine.jinja")
    (place / "mine.jinja").write_text(f"---\n{BOMBS[what]}\n---\n{{{{ story }}}}{{{{ criterion.name }}}}")
    assert held(call("run", place)).strip()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("attempt_timeout", float("inf")),
        ("attempt_timeout", float("nan")),
        ("probe_timeout", float("inf")),
        ("max_cost", float("inf")),
        ("max_cost", float("nan")),
        ("generation", {"temperature": float("inf")}),
        ("generation", {"temperature": float("nan")}),
        ("repeats", 10**9),
        ("repeats", -1),
        ("concurrency", 10**9),
        ("headers", {"X": 5}),
        ("headers", {5: "x"}),
        ("headers", {"Host": "evil.example"}),
        ("headers", {"X": "a\r\nY: b"}),
        ("base_url", "http://[::1"),
        ("base_url", "http://[1:2:3:4:5:6:7:8:9]/v1"),
        ("base_url", "http://user:password@127.0.0.1/v1"),
        ("base_url", "file:///etc/passwd"),
        ("base_url", "http://127.0.0.1:99999/v1"),
        ("name", "../../up"),
        ("name", "a/b"),
        ("name", ""),
        ("judge", ""),
        ("judge", "openai/"),
        ("judge", "nobody/x"),
        ("judge", f"openai/{'x' * 300}"),
        ("dataset", "x" * 300),
        ("dataset", f"{'x' * 300}.csv"),
        ("criteria", "x" * 300),
        ("eval_prompts", ["x" * 300]),
        ("generation", {"seed": 10**30}),
        ("engine", {"seed": -(10**30)}),
        ("requests_per_minute", 2**64),
    ],
)
def test_impossible_values_are_refused(make: Make, call: Call, key: str, value: object) -> None:
    assert held(call("run", make(**({"judge": "openai/x", "api_key_env": "none"} | {key: value})))).strip()


@pytest.mark.parametrize(
    "command", ["summary", "plan", "check", "run", "data check", "import ratings", "prompts check"]
)
def test_a_name_that_is_too_long_for_a_file_is_a_sentence(call: Call, command: str) -> None:
    assert held(call(*command.split(), "x" * 300)).strip()


def test_criteria_with_endless_scales_are_refused(make: Make, call: Call) -> None:
    place = make(criteria="./mine.yaml", eval_prompts="./mine.jinja")
    (place / "mine.jinja").write_text("{{ story }} {{ criterion.name }} {{ points|length }}")
    for scale in ("{min: 0, max: 1.0e+12}", "{min: 0, max: 1, step: 1.0e-12}", "{min: 0, max: .inf}", "{min: .nan}"):
        text = f"name: x\ncriteria:\n  - {{name: A, abbreviation: AA, definition: d, scale: {scale}}}\n"
        (place / "mine.yaml").write_text(text)
        assert held(call("run", place)).strip()


# Links: nothing is written through one.


@pytest.mark.parametrize("name", [".lock", "journal.sqlite", "journal.sqlite-wal"])
def test_a_planted_link_is_not_written_through(make: Make, call: Call, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    place = make()
    (place / "surface").mkdir()
    (place / "surface" / name).symlink_to(victim)
    call("run", place, "--quiet")
    assert victim.read_text() == "precious"


def test_a_link_to_another_journal_is_not_gone_on_with(make: Make, call: Call, tmp_path: Path) -> None:
    mine, theirs = make("mine"), make("theirs", name="mine")
    assert call("run", mine, "--quiet")[0] == 0
    shutil.copytree(mine / "surface", theirs / "surface")
    (theirs / "surface" / "journal.sqlite").unlink()
    (theirs / "surface" / "journal.sqlite").symlink_to(mine / "surface" / "journal.sqlite")
    before = (mine / "surface" / "journal.sqlite").read_bytes()
    held(call("run", theirs, "--quiet", "--set", "repeats=2"), "is a link")
    assert (mine / "surface" / "journal.sqlite").read_bytes() == before


@pytest.mark.parametrize("name", ["manifest.json", "manifest.json.{pid}.new", "derived/server_terms.json"])
def test_a_planted_link_is_replaced(ran: Make, call: Call, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    place = ran()
    file = place / "surface" / name.format(pid=os.getpid())
    victim.write_bytes((place / "surface" / "manifest.json").read_bytes() if name == "manifest.json" else b"precious")
    before = victim.read_bytes()
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(victim)
    assert call("run", place, "--quiet", "--set", "repeats=2")[0] == 0
    assert victim.read_bytes() == before


@pytest.mark.parametrize("name", ["parsed-ours-3.sqlite", "parsed-ours.sqlite"])
def test_a_linked_cache_is_not_written_through(ran: Make, call: Call, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim.sqlite"
    with sqlite3.connect(victim) as base:
        base.execute("CREATE TABLE mine (a)")
    base.close()
    before = victim.read_bytes()
    place = ran()
    (place / "surface" / "derived").mkdir(exist_ok=True)
    (place / "surface" / "derived" / name).unlink(missing_ok=True)
    (place / "surface" / "derived" / name).symlink_to(victim)
    call("coverage", place)
    assert victim.read_bytes() == before


LINKED = ["imported.csv", "stories.csv", "manifest.json", "derived/explanations.json", "run.yaml", "batches/requests"]


@pytest.mark.parametrize("name", LINKED)
def test_a_bundle_takes_no_file_from_outside_along(ran: Make, call: Call, tmp_path: Path, name: str) -> None:
    import zipfile

    secret = tmp_path / "secret"
    place = ran()
    file = place / name if name == "run.yaml" else place / "surface" / name
    secret.write_bytes(file.read_bytes() if file.is_file() else b"MY SECRET DIARY")
    if name == "batches/requests":
        (place / "surface" / "batches.json").write_text('{"format": 1, "run_id": "x", "batches": []}')
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(secret)
    code, _, error = call("export", place, "--as", "bundle", "-o", tmp_path / "b.zip", "--set", "with_batches=true")
    if code:
        assert "link" in error
        return
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert all(b"SECRET" not in archive.read(one) for one in archive.namelist())


def test_names_in_a_journal_are_no_paths(ran: Make, call: Call, tmp_path: Path) -> None:
    place = ran()
    base = sqlite3.connect(place / "surface" / "journal.sqlite")
    definition = json.loads(base.execute("SELECT value FROM meta WHERE key = 'definition'").fetchone()[0])
    evil = str(tmp_path / "written")
    for key in ("eval_prompts", "eval_prompt_sources"):
        definition[key] = {evil: definition[key]["ep1"], "../../../up": definition[key]["ep1"]}
    base.execute("UPDATE meta SET value = ? WHERE key = 'definition'", (json.dumps(definition),))
    base.execute("UPDATE queries SET eval_prompt = ?", (evil,))
    base.commit()
    base.close()
    before = sorted(tmp_path.rglob("*"))
    for command in ("status --verify", "status", "coverage"):
        call(*command.split(), place)
    new = set(tmp_path.rglob("*")) - set(before)
    assert not [one for one in new if one.suffix == ".jinja"]


@pytest.mark.parametrize("module", ["jinja2", "sitecustomize"])
def test_modules_in_the_folder_are_not_imported(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    place = make(eval_prompts="./mine.jinja")
    (place / "mine.jinja").write_text("{{ story }}{{ criterion.name }}{{ 'a' * 2 }}")
    (place / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(place)
    from judge.inputs.eval_prompts import apart

    apart._end()
    with pytest.raises(SystemExit):
        main(["run", ".", "--quiet"])
    assert not (tmp_path / "ran").exists()


def test_a_strangers_run_gets_no_variable_at_a_port_of_this_machine(
    make: Make, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever listens at the port that a stranger's run.yaml names is sent no variable that it names."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789")
    with EchoServer() as server:
        ways: tuple[dict[str, Any], ...] = (
            {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
            {"headers": {"X-Trace": "${AWS_SECRET_ACCESS_KEY}"}},
        )
        for way in ways:
            place = make(judge="openai/x", base_url=server.url, **way)
            held(call("run", place), "AWS_SECRET_ACCESS_KEY", "nothing was sent", "JUDGE_TRUSTED_FOLDERS")
            assert server.received == []
        monkeypatch.setenv("JUDGE_TRUSTED_FOLDERS", str(tmp_path))
        call("run", make(judge="openai/x", base_url=server.url, api_key_env="AWS_SECRET_ACCESS_KEY"))
        assert any("aws-0123456789" in asked for asked in server.received)
