"""Stories are asked for as ratings are: faults, kill -9, parts, batch files, resuming, verifying. Nothing twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.preparation import prepare
from judge.asking.execution.ray.blocks import decode, encode
from judge.asking.execution.session import sit
from judge.asking.execution.verification import verify_journal
from judge.asking.plan import WritingPlan, plan_of
from judge.asking.run_folder import ResultFolder
from judge.backends import Settings
from judge.base.errors import RunFolderError, SpecError
from judge.base.records import Commission
from judge.cli.main import main
from judge.exchange.batch.importing import import_results
from judge.exchange.batch.openai_batches import BatchServer
from judge.exchange.batch.requests import Wanted, export, numbered
from judge.lab.generation.stories import written
from tests.generation.conftest import PROMPTS, definition, sitting, written_definition
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


def kept(folder: Path) -> dict[tuple[str, int], tuple[str, str, str | None]]:
    """(key, repeat) -> (story-prompt, writer prompt, text) of everything tried; the journal is whole."""
    with JournalReader(folder / "journal.sqlite") as journal:
        assert journal.check_integrity() == []
        return {
            (one.query_key, one.repeat): (one.story, one.eval_prompt, one.response.text if one.response else None)
            for one in journal.answers()
        }


def asked_twice(folder: Path) -> int:
    """Repeats with more than one accepted answer in the attempts."""
    with closing(sqlite3.connect(folder / "journal.sqlite")) as db:
        rows = db.execute("SELECT query_key, repeat FROM attempts WHERE outcome = 'answered'").fetchall()
    return len(rows) - len(set(rows))


def test_each_story_prompt_is_asked_by_each_writer_prompt_and_resuming_asks_nothing(
    loopback: Start, prompts: Path
) -> None:
    server = loopback(style="prose", expected_repeats=2)
    asked = sitting(server, prompts, writer_prompts=["story", "bare"], stories_each=2)
    ended = sit(asked)
    planned = PROMPTS * 2 * 2
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (planned, 0, planned)
    assert {(wanted, prompt) for wanted, prompt, _ in kept(asked.result.path).values()} == {
        (f"w{i}", prompt) for i in range(PROMPTS) for prompt in ("story", "bare")
    }
    requests = server.stats()["requests"]
    assert (sit(asked).outcomes.answered, server.stats()["requests"]) == (0, requests)
    assert verify_journal(asked.result) == (PROMPTS * 2, [])


def test_faults_lose_nothing_and_repeat_nothing(loopback: Start, prompts: Path) -> None:
    server = loopback(
        style="prose", p429=0.1, p500=0.1, pgarbage=0.05, pdrop=0.05, ptruncate_body=0.05, retry_after=0.1, seed=3
    )
    asked = sitting(server, prompts, stories_each=4, max_attempts=12, generation={"temperature": 1.0, "seed": 1})
    ended = sit(asked)
    assert (ended.totals.answered, ended.missing, ended.totals.failed) == (4 * PROMPTS, 0, {})
    assert ended.outcomes.retries > 0
    assert asked_twice(asked.result.path) == 0
    assert len(kept(asked.result.path)) == 4 * PROMPTS
    server.configure(p429=0, p500=0.5, pgarbage=0, pdrop=0, ptruncate_body=0, fault_mode="sticky")
    broken = sit(sitting(server, prompts, max_attempts=2, folder="sticky"))
    assert broken.missing == broken.totals.failed["server"] > 0
    gave_up = [one for one in written([ResultFolder(prompts.parent / "sticky")]) if one.status == "not_answered"]
    assert len(gave_up) == broken.missing
    assert all(one.why and not one.text for one in gave_up)
    server.configure(p500=0)
    mended = sit(sitting(server, prompts, again="failed", folder="sticky"))
    assert (mended.missing, mended.outcomes.answered) == (0, broken.missing)


def judge(*words: object) -> int:
    """The exit code of a command in this process."""
    try:
        return main([*map(str, words)]) or 0
    except SystemExit as ended:
        return int(ended.code or 0)


def test_a_killed_generation_has_each_story_once(loopback: Start, prompts: Path) -> None:
    server = loopback(style="prose", latency_ms=250, expected_repeats=2)
    changes = {"stories_each": 2, "concurrency": 2, "writer_prompts": ["story", "bare"]}
    gen = written_definition(prompts.parent / "killed", server, prompts, **changes)
    result, planned = gen / "openai-mock", PROMPTS * 4
    process = subprocess.Popen([sys.executable, "-m", "judge", "data", "generate", str(gen), "--quiet"])
    deadline = time.monotonic() + 30
    while server.stats()["answered"] < 10 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = kept(result)
    assert 0 < len(before) < planned
    assert judge("data", "generate", gen, "--quiet") == 0
    found = kept(result)
    assert len(found) == planned
    assert before.items() <= found.items()
    assert asked_twice(result) == 0
    whole = sit(sitting(server, prompts, folder="whole", **changes))
    assert whole.missing == 0
    assert kept(prompts.parent / "whole") == found


def test_parts_merge_into_the_generation_that_was_not_cut(
    loopback: Start, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(style="prose")
    gen = written_definition(prompts.parent / "cut", server, prompts)
    for number in (1, 2, 3):
        assert judge("data", "generate", gen, "--shard", f"{number}/3", "--quiet") == 0
    assert judge("run", gen, "--merge") == 0
    capsys.readouterr()
    sit(sitting(server, prompts, folder="whole"))
    assert kept(gen / "openai-mock") == kept(prompts.parent / "whole")
    assert server.stats()["requests"] == 2 * PROMPTS
    assert judge("status", gen, "--verify") == 0
    assert judge("status", gen, "--format", "json") == 0
    row = orjson.loads(capsys.readouterr().out.partition("\n")[2])["rows"][0]
    assert (row["answered"], row["planned"]) == (PROMPTS, PROMPTS)


def test_a_batch_file_answers_what_the_live_run_would_ask(loopback: Start, prompts: Path, tmp_path: Path) -> None:
    server = loopback(style="prose")
    live = sitting(server, prompts, folder="live")
    sit(live)
    batched = sitting(server, prompts, folder="batched")
    exported = export(Wanted(batched.spec, batched.folder, batched.result), numbered(tmp_path / "batch.jsonl"))
    assert exported.repeats == PROMPTS
    settings = Settings(base_url=(server.url,))
    (part,) = exported.parts
    with BatchServer(settings) as provider:
        made = provider.create(provider.upload(part.path.name, part.path), "/v1/chat/completions", {"test": "x"})
        remote = provider.retrieve(made.id)
        assert remote.output_file_id is not None
        provider.download(remote.output_file_id, tmp_path / "out.jsonl")
    done = import_results(batched.result, (tmp_path / "out.jsonl",))
    assert (done.answered, done.unknown) == (PROMPTS, [])
    assert set(kept(batched.result.path)) == set(kept(live.result.path))
    assert import_results(batched.result, (tmp_path / "out.jsonl",)).answered == 0


def test_commissions_travel_to_workers_as_they_are(prompts: Path) -> None:
    asked = sitting(None, prompts, words=[100, 200], writer_prompts=["story", "bare"])
    plan = plan_of(asked.spec)
    assert isinstance(plan, WritingPlan)
    asked.result.path.mkdir()
    prepare(plan, prompts.parent, asked.result)
    with JournalReader(asked.result.journal) as journal:
        groups = [[(one, (0, 1)) for one in group] for group in plan.asked_in(journal)]
    assert decode(encode(groups)) == groups  # type: ignore[arg-type]
    first = groups[0][0][0]
    assert isinstance(first, Commission)
    assert "between 100 and 200 words" in first.messages[0].content
    assert "Human" not in first.messages[0].content


def test_another_definition_does_not_go_on_in_the_same_folder(loopback: Start, prompts: Path) -> None:
    server = loopback(style="prose")
    sit(sitting(server, prompts))
    for changes in ({"words": [10, 20]}, {"generation": {"temperature": 0.5}}, {"writer": "openai/other"}):
        with pytest.raises(RunFolderError, match="other settings"):
            sit(sitting(server, prompts, **changes))
    more = sit(sitting(server, prompts, stories_each=2))
    assert (more.outcomes.answered, more.missing) == (PROMPTS, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"writer": "surface"}, "writes none"),
        ({"words": [300, 100]}, "fewest, most"),
        ({"judge": "openai/x"}, "unknown key 'judge'"),
        ({"writers": "openai/x"}, "did you mean 'writer"),
        ({"eval_prompts": ["ep1"]}, "unknown key"),
        ({"stories_each": 0}, "stories_each"),
    ],
)
def test_mistakes_name_their_key(prompts: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        sitting(None, prompts, **changes)


def test_a_definition_of_one_kind_is_told_from_the_other(
    loopback: Start, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = loopback(style="prose")
    gen = written_definition(prompts.parent / "gen", server, prompts)
    assert judge("run", gen) == 1
    assert "judge data generate" in capsys.readouterr().err
    assert judge("data", "generate", gen, "--quiet") == 0
    assert judge("ratings", gen) == 1
    assert "judge data stories" in capsys.readouterr().err
    assert judge("run", gen, "--retry", "--unparsed", "--quiet") == 0
    assert server.stats()["requests"] == PROMPTS
    (gen / "run.yaml").write_text("dataset: demo\n", encoding="utf-8")
    assert judge("data", "generate", gen) == 1
    assert "holds both" in capsys.readouterr().err


def test_a_writer_of_another_provider_is_not_asked_at_this_address(prompts: Path, loopback: Start) -> None:
    gen = written_definition(prompts.parent / "gen", loopback(style="prose"), prompts)
    assert judge("data", "generate", gen, "--writer", "anthropic/claude", "--quiet") == 1
    assert definition(None, prompts)["writer"] == "openai/mock"
