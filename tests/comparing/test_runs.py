"""Whole runs that compare: faults, kill -9, parts, batch files, resuming, verifying. Nothing lost, nothing repeated."""

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
from judge.asking.execution.pilot import measure
from judge.asking.execution.session import sit
from judge.asking.execution.verification import verify_journal
from judge.asking.plan import make_plan
from judge.asking.run_folder import ResultFolder
from judge.backends import Settings
from judge.base.errors import RunFolderError, SpecError
from judge.base.records import CHOICES
from judge.cli.main import main
from judge.exchange.batch.importing import import_results
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.requests import Wanted, export, numbered
from tests.comparing.conftest import definition, sitting
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]
PAIRS, PLANNED = 12, 24


def kept(folder: Path) -> dict[tuple[str, int], tuple[str, str, str, str | None]]:
    """(key, repeat) -> (first story, second story, pair, text) of everything tried; the journal is whole."""
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.check_integrity() == []
        compared = journal.comparisons()
        return {
            (a.query_key, a.repeat): (
                a.story,
                compared[a.query_key][1],
                compared[a.query_key][0],
                a.response.text if a.response else None,
            )
            for a in journal.answers()
        }


def asked_twice(folder: Path) -> int:
    """Repeats with more than one accepted answer in the attempts."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db:
        rows = db.execute("SELECT query_key, repeat FROM attempts WHERE outcome = 'answered'").fetchall()
    return len(rows) - len(set(rows))


def test_each_pair_is_asked_in_both_orders_and_resuming_asks_nothing(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict", expected_repeats=2)
    asked = sitting(server, stories, repeats=2)
    ended = sit(asked)
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (48, 0, 48)
    found = kept(asked.result.path)
    orders = Counter((pair, first, second) for first, second, pair, _ in found.values())
    assert len(orders) == PLANNED
    assert set(orders.values()) == {2}
    assert all((pair, second, first) in orders for pair, first, second in orders)
    requests = server.stats()["requests"]
    again = sit(asked)
    assert (again.outcomes.answered, again.missing, server.stats()["requests"]) == (0, 0, requests)
    assert verify_journal(asked.result) == (PLANNED, [])


def test_answers_without_a_verdict_are_asked_again_on_demand(loopback: Start, stories: Path) -> None:
    server = loopback(style="unparseable")
    sit(sitting(server, stories))
    server.configure(style="verdict")
    ended = sit(sitting(server, stories, again="unparsed"))
    assert (ended.outcomes.answered, ended.missing) == (PLANNED, 0)


def written(folder: Path, server: LoopbackServer, **changes: object) -> Path:
    """A run.yaml in a folder of its own."""
    folder.mkdir(exist_ok=True)
    data = definition(server, folder.parent / "stories.jsonl", **changes)
    (folder / "run.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder


def test_a_killed_run_has_each_answer_once(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict", latency_ms=60, expected_repeats=2)
    run = written(stories.parent / "killed", server, repeats=2, concurrency=2, eval_prompts=["pair1", "pair2"])
    result = run / "openai-mock"
    process = subprocess.Popen([sys.executable, "-m", "judge", "run", str(run), "--quiet"])
    deadline = time.monotonic() + 30
    while server.stats()["answered"] < 25 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = kept(result)
    assert 0 < len(before) < 4 * PLANNED
    judge("run", run, "--quiet")
    found = kept(result)
    assert len(found) == 4 * PLANNED
    assert before.items() <= found.items()
    assert asked_twice(result) == 0
    whole = sit(sitting(server, stories, repeats=2, eval_prompts=["pair1", "pair2"], folder="whole"))
    assert whole.missing == 0
    assert kept(stories.parent / "whole") == found


def test_parts_of_a_plan_merge_into_the_run_that_was_not_cut(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(style="verdict")
    run = written(stories.parent / "cut", server)
    for number in (1, 2, 3):
        judge("run", run, "--shard", f"{number}/3", "--quiet")
    part = run / "openai-mock" / "shards" / "2-of-3"
    assert len(kept(part)) == PLANNED // 3
    judge("run", run, "--merge")
    sit(sitting(server, stories, folder="whole"))
    assert kept(run / "openai-mock") == kept(stories.parent / "whole")
    before = server.stats()["requests"]
    judge("run", run, "--quiet")
    assert server.stats()["requests"] == before
    assert verify_journal(ResultFolder(run / "openai-mock")) == (PLANNED, [])
    capsys.readouterr()
    judge("status", run, "--format", "json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["answered"], row["planned"]) == (PLANNED, PLANNED)


def judge(*arguments: object) -> None:
    """A command that ends well."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code in (0, None)


def test_a_part_does_not_ask_what_the_whole_has(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict")
    run = written(stories.parent / "cut", server)
    judge("run", run, "--quiet")
    asked = server.stats()["requests"]
    judge("run", run, "--shard", "1/2", "--quiet")
    assert server.stats()["requests"] == asked


def test_batch_files_hold_what_is_asked_live_and_merge_once(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict", record=1000, expected_repeats=3)
    changes = {"repeats": 2, "judge": "openai/gpt-4o-mini"}
    whole = sitting(server, stories, folder="whole", **changes)
    sit(whole)
    sent = {orjson.dumps(body) for body in server.requests()}
    half = sitting(server, stories, folder="half", limit=5, **changes)
    assert sit(half).planned == 20
    output = stories.parent / "half.jsonl"
    wanted = Wanted(half.spec, half.folder, half.result)
    (part,) = export(wanted, numbered(output)).parts
    bodies = [orjson.dumps(line["body"]) for line in map(orjson.loads, part.path.read_bytes().splitlines())]
    assert len(bodies) == PLANNED - 10
    assert set(bodies) < sent
    with BatchServer(Settings((server.url,))) as provider:
        made = provider.create(provider.upload(part.path.name, part.path), "/v1/chat/completions", {"test": "x"})
        remote = provider.retrieve(made.id)
        assert remote.output_file_id is not None
        provider.download(remote.output_file_id, stories.parent / "results.jsonl")
    for answered in (2 * PLANNED - 20, 0):
        assert import_results(half.result, (stories.parent / "results.jsonl",)).answered == answered
    assert kept(half.result.path) == kept(whole.result.path)
    assert verify_journal(half.result) == (PLANNED, [])


@pytest.mark.parametrize(
    "changes", [{"pairs": {"each": 1}}, {"orders": "random"}, {"ties": False}, {"across": True, "pairs": {"each": 2}}]
)
def test_other_pairs_orders_or_ties_are_another_run(loopback: Start, stories: Path, changes: dict[str, object]) -> None:
    server = loopback(style="verdict")
    sit(sitting(server, stories))
    with pytest.raises(RunFolderError, match=f"{next(iter(changes))}.* changed since it was started"):
        sit(sitting(server, stories, **changes))


def test_a_file_of_pairs_is_compared_and_held_to(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict")
    file = stories.parent / "pairs.jsonl"
    file.write_text('{"first": "s1", "second": "s0"}\n{"id": "own", "first": "s3", "second": "s5"}\n')
    with pytest.raises(SpecError, match=r"none\.jsonl does not exist"):
        sit(sitting(server, stories, pairs={"file": "none.jsonl"}, folder="none"))
    asked = sitting(server, stories, pairs={"file": "pairs.jsonl"}, orders="as-given")
    assert sit(asked).totals.answered == 2
    assert sorted(kept(asked.result.path).values()) == [
        ("s1", "s0", "s1|s0", next(t for f, _, _, t in kept(asked.result.path).values() if f == "s1")),
        ("s3", "s5", "own", next(t for f, _, _, t in kept(asked.result.path).values() if f == "s3")),
    ]
    file.write_text('{"first": "s1", "second": "s2"}\n')
    with pytest.raises(RunFolderError, match="the file of pairs changed"):
        sit(asked)


@pytest.mark.parametrize("structured", ["choice", "json"])
def test_an_answer_can_be_constrained_to_the_words_of_a_verdict(
    loopback: Start, stories: Path, structured: str
) -> None:
    server = loopback(style="verdict", record=100)
    asked = sitting(server, stories, structured=structured, limit=6)
    ended = sit(asked)
    assert ended.totals.answered == 12
    assert measure(asked.result, make_plan(asked.spec)).parsed == 1.0  # type: ignore[union-attr]
    body = server.requests()[-1]
    if structured == "choice":
        assert body["structured_outputs"] == {"choice": list(CHOICES)}
    else:
        schema = body["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["verdict"] == {"type": "string", "enum": ["A", "B", "Tie"]}
        assert schema["required"] == ["verdict", "explanation"]


def test_a_server_that_ignores_the_form_is_found_out(loopback: Start, stories: Path) -> None:
    ended = sit(sitting(loopback(style="rating"), stories, structured="json", concurrency=1))
    assert ended.outcomes.cause is not None
    assert "one JSON object with the verdict" in str(ended.outcomes.cause)


def test_recorded_answers_are_given_again_in_their_order(loopback: Start, stories: Path) -> None:
    server = loopback(style="verdict")
    sit(sitting(server, stories))
    again = sitting(server, stories, judge=f"recorded/{stories.parent / 'results'}", folder="again", base_url=[])
    assert sit(again).missing == 0
    texts = [sorted(map(str, kept(stories.parent / name).values())) for name in ("results", "again")]
    assert texts[0] == texts[1]


def test_the_forecast_counts_pairs_and_orders_and_calls(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(style="verdict", expected_repeats=3)
    run = written(stories.parent / "run", server, repeats=3, eval_prompts=["pair1", "pair2"])
    judge("run", run, "--dry-run", "--format", "json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert [row[key] for key in ("pairs", "orders", "queries", "answers", "calls")] == [PAIRS, "both", 48, 144, 48]
    judge("run", run, "--pilot", "2", "--quiet", "--format", "json", "--set", "orders=random")
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [rows[0][key] for key in ("pairs", "orders", "queries", "parsed")] == [12, "random", 24, 1.0]


def test_a_run_that_rates_makes_no_table_of_pairs(loopback: Start, stories: Path) -> None:
    ended = sitting(loopback(), stories, pairs=None, eval_prompts=["ep1"])
    sit(ended)
    with closing(sqlite3.connect(ended.result.journal)) as db:
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert names.isdisjoint({"pairs", "comparisons", "preferences", "comments"})
    manifest = json.loads(ended.result.manifest.read_text(encoding="utf-8"))
    assert {"pairs", "orders", "ties", "across"}.isdisjoint(manifest["in_force"])


def test_a_bundle_holds_preferences_and_is_verified(
    loopback: Start, stories: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = written(stories.parent / "run", loopback(style="verdict"))
    judge("run", run, "--quiet")
    judge("export", run, "--as", "bundle", "-o", stories.parent / "b.zip")
    capsys.readouterr()
    judge("status", stories.parent / "b.zip", "--verify")
    assert f"{PLANNED} queries and 5 tables compared, no differences" in capsys.readouterr().out
