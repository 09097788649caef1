"""Whole runs with several criteria in one answer: calls, faults, kill -9, parts, batch files, reading, asking again."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.api import status_row
from judge.asking.execution.pilot import measure
from judge.asking.execution.session import sit
from judge.asking.execution.verification import verify_journal
from judge.asking.plan import make_plan
from judge.backends import Settings
from judge.base.errors import RunFolderError
from judge.base.records import names_in
from judge.cli.main import main
from judge.exchange.batch.importing import import_results
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.requests import Wanted, export, numbered
from judge.ratings.ratings_table import read
from tests.joint.conftest import CRITERIA, definition, sitting
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
STORIES = 12


def kept(folder: Path) -> dict[tuple[str, int], tuple[str, str, str, str | None]]:
    """(key, repeat) -> (story, criteria, Eval-Prompt, text) of everything tried; the journal is whole."""
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.check_integrity() == []
        return {
            (a.query_key, a.repeat): (a.story, a.criterion, a.eval_prompt, a.response.text if a.response else None)
            for a in journal.answers()
        }


def judged(folder: Path) -> dict[tuple[str, str, str, int], float]:
    """(story, criterion, Eval-Prompt, repeat) -> rating."""
    frame = read([folder]).frame
    frame = frame[frame["source"] == "judge"]
    rows = zip(frame.story, frame.criterion, frame.eval_prompt, frame.repeat, frame.rating, strict=True)
    return {(story, criterion, prompt, int(repeat)): rating for story, criterion, prompt, repeat, rating in rows}


def asked_twice(folder: Path) -> int:
    """Repeats with more than one accepted answer in the attempts."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db:
        rows = db.execute("SELECT query_key, repeat FROM attempts WHERE outcome = 'answered'").fetchall()
    return len(rows) - len(set(rows))


def judge(*arguments: object) -> None:
    """A command that ends well."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code in (0, None)


def written(folder: Path, server: LoopbackServer, **changes: object) -> Path:
    """A run.yaml in a folder of its own."""
    folder.mkdir(exist_ok=True)
    data = definition(server, folder.parent / "stories.jsonl", **changes)
    (folder / "run.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder


def test_six_criteria_take_one_call_and_keep_one_answer(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint", expected_repeats=2)
    asked = sitting(server, stories, repeats=2)
    ended = sit(asked)
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (24, 0, 24)
    assert server.stats()["answered"] == STORIES
    answers = kept(asked.result.path)
    assert {names_in(criteria) for _, criteria, _, _ in answers.values()} == {CRITERIA}
    ratings = judged(asked.result.path)
    assert len(ratings) == 24 * len(CRITERIA)
    texts = {(story, repeat): text for (_, repeat), (story, _, _, text) in answers.items()}
    for (story, criterion, _, repeat), rating in ratings.items():
        assert f"{criterion}: {rating:g}" in str(texts[story, repeat]).splitlines()
    assert verify_journal(asked.result) == (STORIES, [])
    assert (status_row(asked.result)["planned"], status_row(asked.result)["answered"]) == (24, 24)
    again = sit(asked)
    assert (again.outcomes.answered, server.stats()["answered"]) == (0, STORIES)


def test_separate_asking_beside_it_takes_six_times_the_calls(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint")
    sit(sitting(server, stories, eval_prompts=["ep1"], folder="separate"))
    separate = server.stats()["answered"]
    sit(sitting(server, stories, eval_prompts=["ep1", "joint1"], folder="both"))
    together = server.stats()["answered"] - 2 * separate
    assert (separate, together) == (72, 12)
    before = {key: told for key, told in kept(stories.parent / "both").items() if told[2] == "ep1"}
    assert before == kept(stories.parent / "separate")
    assert Counter(prompt for _, _, prompt, _ in judged(stories.parent / "both")) == {"ep1": 72, "joint1": 72}


def test_a_criterion_without_a_rating_is_lost_by_itself_and_asked_again(loopback: Start, stories: Path) -> None:
    server = loopback(fixed_text="Relevance: 4\nCoherence: 2\nEmpathy: none\nSurprise: 9\nComplexity: 1")
    asked = sitting(server, stories)
    sit(asked)
    frame = read([asked.result.path]).frame
    frame = frame[frame["source"] == "judge"]
    status = {name: set(part["status"]) for name, part in frame.groupby("criterion")}
    assert status == {
        "Relevance": {"ok"}, "Coherence": {"ok"}, "Complexity": {"ok"},
        "Empathy": {"no_rating"}, "Surprise": {"out_of_scale"}, "Engagement": {"no_rating"},
    }  # fmt: skip
    measured = measure(asked.result, make_plan(asked.spec))
    assert measured is not None
    assert measured.parsed == pytest.approx(0.5)
    server.configure(fixed_text=None, style="joint")
    ended = sit(sitting(server, stories, again="unparsed"))
    assert (ended.outcomes.answered, ended.missing) == (STORIES, 0)
    assert not any(rating != rating for rating in judged(asked.result.path).values())
    assert sit(sitting(server, stories, again="unparsed")).outcomes.answered == 0


def test_unanswered_ones_are_unanswered_for_each_criterion(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint", p500=0.5, fault_mode="sticky")
    asked = sitting(server, stories, max_attempts=1)
    failed = sit(asked).missing
    assert 0 < failed < STORIES
    frame = read([asked.result.path]).frame
    lost = frame[frame["status"] == "not_answered"]
    assert Counter(lost["criterion"]) == dict.fromkeys(CRITERIA, failed)


def test_a_killed_run_has_each_answer_once(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint", latency_ms=60, expected_repeats=2)
    changes = {"repeats": 2, "concurrency": 2, "eval_prompts": ["joint1", "ep1"]}
    run = written(stories.parent / "killed", server, **changes)
    result, whole = run / "openai-mock", 7 * 2 * STORIES
    process = subprocess.Popen([sys.executable, "-m", "judge", "run", str(run), "--quiet"])
    deadline = time.monotonic() + 30
    while server.stats()["answered"] < 40 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = kept(result)
    assert 0 < len(before) < whole
    judge("run", run, "--quiet")
    found = kept(result)
    assert len(found) == whole
    assert before.items() <= found.items()
    assert asked_twice(result) == 0
    sit(sitting(server, stories, folder="whole", **changes))
    assert judged(stories.parent / "whole") == judged(result)


def test_parts_merge_and_batch_files_import_into_the_same_ratings(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint")
    judge_name = "openai/gpt-4o-mini"
    whole = sitting(server, stories, folder="whole", judge=judge_name)
    sit(whole)
    run = written(stories.parent / "cut", server, judge=judge_name)
    for number in (1, 2):
        judge("run", run, "--shard", f"{number}/2", "--quiet")
    judge("run", run, "--merge")
    assert kept(run / "openai-gpt-4o-mini") == kept(whole.result.path)
    half = sitting(server, stories, folder="half", judge=judge_name, limit=5)
    sit(half)
    (part,) = export(Wanted(half.spec, half.folder, half.result), numbered(stories.parent / "half.jsonl")).parts
    assert len(part.path.read_bytes().splitlines()) == STORIES - 5
    with BatchServer(Settings((server.url,))) as provider:
        made = provider.create(provider.upload(part.path.name, part.path), "/v1/chat/completions", {"test": "x"})
        remote = provider.retrieve(made.id)
        assert remote.output_file_id is not None
        provider.download(remote.output_file_id, stories.parent / "results.jsonl")
    assert import_results(half.result, (stories.parent / "results.jsonl",)).answered == STORIES - 5
    assert judged(half.result.path) == judged(whole.result.path)


def test_json_is_asked_for_under_each_name_and_read(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint", record=100)
    asked = sitting(server, stories, structured="json")
    sit(asked)
    schema = server.requests()[-1]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == list(CRITERIA)
    assert all(rating == rating for rating in judged(asked.result.path).values())
    broken = sit(sitting(loopback(style="rating"), stories, structured="json", concurrency=1, folder="broken"))
    assert "one JSON object with a rating for each criterion" in str(broken.outcomes.cause)


def test_recorded_answers_are_given_again_from_a_run_or_a_file(loopback: Start, stories: Path) -> None:
    first = sitting(loopback(style="joint"), stories)
    sit(first)
    again = sitting(None, stories, judge=f"recorded/{first.result.path}", folder="again", base_url=[])
    assert sit(again).missing == 0
    file = stories.parent / "recorded.jsonl"
    lines = [
        {"story": story, "criterion": list(names_in(criteria)), "eval_prompt": prompt, "repeat": 0, "text": text}
        for story, criteria, prompt, text in kept(first.result.path).values()
    ]
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    third = sitting(None, stories, judge=f"recorded/{file}", folder="third", base_url=[])
    assert sit(third).missing == 0
    assert judged(again.result.path) == judged(third.result.path) == judged(first.result.path)


def test_what_was_asked_together_stays_together(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint")
    few = {"set": "hanna", "only": ["RE", "CH"]}
    sit(sitting(server, stories, criteria=few))
    with pytest.raises(RunFolderError, match="the criteria that one answer rates together changed"):
        sit(sitting(server, stories))
    # An Eval-Prompt for single criteria may be added, and criteria to it.
    sit(sitting(server, stories, criteria=few, eval_prompts=["joint1", "ep1"]))
    ended = sit(sitting(server, stories, eval_prompts=["ep1"]))
    assert ended.outcomes.answered == 4 * STORIES
    result = sitting(server, stories).result
    assert verify_journal(result) == (7 * STORIES, [])
    assert Counter(p for _, _, p, _ in judged(result.path)) == {"joint1": 2 * STORIES, "ep1": 6 * STORIES}
    assert status_row(result)["planned"] == 7 * STORIES


def test_the_forecast_counts_an_answer_once(loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = written(stories.parent / "run", loopback(style="joint"), eval_prompts=["ep1", "joint1"])
    judge("run", run, "--dry-run", "--format", "json")
    table = json.loads(capsys.readouterr().out)
    assert (table["rows"][0]["queries"], table["rows"][0]["calls"]) == (84, 84)
    assert any("joint1 asks for 6 criteria in one call" in note for note in table["notes"])
    judge("run", run, "--pilot", "2", "--quiet", "--format", "json")
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["queries"], row["parsed"]) == (84, 1.0)
    judge("run", run, "--dry-run", "--format", "json", "--set", "eval_prompts=joint1")
    assert json.loads(capsys.readouterr().out)["rows"][0]["calls"] == STORIES


def test_the_control_judge_answers_as_it_does_one_by_one(stories: Path) -> None:
    changes = {"judge": "surface", "base_url": [], "generation": {}, "eval_prompts": ["ep1", "joint1", "joint2"]}
    for structured in ("none", "json"):
        asked = sitting(None, stories, folder=structured, structured=structured, **changes)
        assert sit(asked).missing == 0
        ratings = judged(asked.result.path)
        for (story, criterion, _, repeat), rating in ratings.items():
            assert rating == ratings[story, criterion, "ep1", repeat]


def test_try_parse_and_render_show_each_criterion(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    story = tmp_path / "story.txt"
    story.write_text("Once the lamp on the quay went out.", encoding="utf-8")
    judge("try", story, "--eval-prompts", "ep1,joint1", "--format", "json")
    single, several = json.loads(capsys.readouterr().out)
    assert single["criterion"] == "Coherence"
    assert [one["criterion"] for one in several["judgments"]] == list(CRITERIA)
    judge("try", story, "--eval-prompts", "joint1")
    assert "Complexity: rating" in capsys.readouterr().out
    judge("prompts", "render", "--eval-prompt", "joint1", "--set", f"story_file={story}", "--criterion", "CH,EG")
    assert "Answer in 2 lines" in capsys.readouterr().out
    asked = sitting(loopback(style="joint"), stories)
    sit(asked)
    judge("parse", asked.result.path, "--format", "json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert Counter(row["criterion"] for row in rows) == dict.fromkeys(CRITERIA, STORIES)
    assert {row["status"] for row in rows} == {"ok"}
