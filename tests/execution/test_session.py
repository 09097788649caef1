"""Whole sittings against a real server on loopback: resuming, faults, refusals, limits, two processes, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Result, Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import JudgeError, RunFolderError, SpecError
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Twelve stories for four story-prompts, three systems each, with a reference story."""
    lines = [
        {
            "id": f"s{i}",
            "story_prompt": f"Story-prompt {i // 3}",
            "system": f"system{i % 3}",
            "text": f"Story {i}: the lamp on the quay went out, and nobody lit it again for {i} years.",
            "reference": f"The human story for story-prompt {i // 3}.",
            "ratings": [{"rater": None, "criterion": "Overall", "value": 1 + i % 5}],
        }
        for i in range(12)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def sitting(server: LoopbackServer | None, stories: Path, **changes: Any) -> Sitting:
    extra = {k: changes.pop(k) for k in ("limit", "again", "reuse", "folder_name") if k in changes}
    data: dict[str, Any] = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "generation": {"temperature": 1.0},
        "base_url": server.url if server else "http://127.0.0.1:9/v1",
        "concurrency": 8,
        "attempt_timeout": 5.0,
    }
    result = ResultFolder(stories.parent / extra.pop("folder_name", "results"))
    return Sitting(parse_run_spec(data | changes, "test"), stories.parent, result, quiet=True, **extra)


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_every_answer_is_kept_and_a_second_sitting_asks_nothing(
    loopback: Start, stories: Path, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loop == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    server = loopback(expected_repeats=3)
    asked = sitting(server, stories, repeats=3, eval_prompts=["ep1", "ep2"])
    ended = sit(asked)
    assert (ended.planned, ended.missing, ended.outcomes.answered) == (72, 0, 72)
    assert server.stats()["choices"] == 72
    requests = server.stats()["requests"]
    assert requests == 24  # three repeats in one call
    kept = sorted(file.name for file in asked.result.path.glob("journal*"))
    assert kept == ["journal.sqlite", "journal.sqlite.sum"]
    again = sit(asked)
    assert (again.outcomes.answered, again.missing) == (0, 0)
    assert server.stats()["requests"] == requests
    more = sit(sitting(server, stories, repeats=5, eval_prompts=["ep1", "ep2"]))
    assert (more.outcomes.answered, more.totals.answered) == (48, 120)


def test_repeats_with_a_seed_are_asked_one_by_one_with_seeds_of_their_own(loopback: Start, stories: Path) -> None:
    server = loopback(record=100)
    sit(sitting(server, stories, repeats=3, generation={"temperature": 1.0, "seed": 40}, limit=2))
    seeds = Counter(body["seed"] for body in server.requests())
    # Two or three more ask the server, before the run, whether it keeps to a seed.
    assert {seed: count for seed, count in seeds.items() if seed < 100} == {40: 2, 41: 2, 42: 2}
    assert {seed: count for seed, count in seeds.items() if seed > 100} == {20240613: 2, 20240614: 1}
    assert all("n" not in body for body in server.requests())


def test_thinking_without_an_answer_holds_no_rating(loopback: Start, stories: Path) -> None:
    from judge.ratings.ratings_table import read

    sit(sitting(loopback(style="thought_only"), stories))
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        kept = [answer.response for answer in journal.answers() if answer.response is not None]
    assert len(kept) == 12
    assert all(one.text == "" and "Rating: " in (one.reasoning or "") for one in kept)
    judged = read([stories.parent / "results"]).frame.query("source == 'judge'")
    assert judged["rating"].isna().all()
    assert set(judged["status"]) == {"empty"}


def test_a_server_that_ignores_the_seed_is_found_out_and_said_under_tables(loopback: Start, stories: Path) -> None:
    from judge.ratings.ratings_table import read

    seeded = {"repeats": 2, "generation": {"temperature": 1.0, "seed": 40}, "limit": 2}
    sit(sitting(loopback(), stories, folder_name="keeps", **seeded))
    sit(sitting(loopback(ignore_seed=True), stories, folder_name="ignores", **seeded))
    sit(sitting(loopback(ignore_seed=True), stories, folder_name="unseeded", limit=2))
    said = {
        name: [note for note in read([stories.parent / name]).facts[0].notes if "same seed" in note]
        for name in ("keeps", "ignores", "unseeded")
    }
    assert (said["keeps"], said["unseeded"]) == ([], [])
    assert len(said["ignores"]) == 1
    manifest = json.loads((stories.parent / "ignores" / "manifest.json").read_text())
    assert manifest["in_force"]["server"]["notes"] == said["ignores"]


def test_a_server_that_ignores_n_is_found_out_and_nothing_is_lost(loopback: Start, stories: Path) -> None:
    server = loopback(ignore_n=True, expected_repeats=3)
    ended = sit(sitting(server, stories, repeats=3))
    assert (ended.totals.answered, ended.missing) == (36, 0)
    assert server.stats()["requests"] == 36


def test_what_is_not_said_is_not_sent(loopback: Start, stories: Path) -> None:
    server = loopback(record=1)
    sit(sitting(server, stories, generation={}, limit=1))
    (body,) = server.requests()
    assert set(body) == {"model", "messages"}
    assert body["messages"][-1]["content"].endswith("Rating:")


def test_the_completions_route_sends_one_text(loopback: Start, stories: Path) -> None:
    server = loopback(record=1)
    ended = sit(sitting(server, stories, api="completions", system="You rate stories.", limit=1))
    (body,) = server.requests()
    assert body["prompt"].startswith("You rate stories.\n\n")
    assert body["prompt"].endswith("Rating:")
    assert ended.totals.answered == 1


def test_queries_with_a_common_prefix_go_out_together(loopback: Start, stories: Path) -> None:
    server = loopback(record=100)
    sit(sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3", "ep4"], concurrency=1))
    texts = [body["messages"][-1]["content"] for body in server.requests()]
    assert len(texts) == 48
    prompts = [text.split("Story-prompt ")[1][0] for text in texts]
    assert prompts == sorted(prompts)
    references = ["The human story" in text for text in texts]
    changes = sum(a != b for a, b in pairwise(references))
    assert changes <= 2 * 4  # for each story-prompt, ep4 stands together


def test_faults_lose_nothing_and_permanent_failures_end_typed(loopback: Start, stories: Path) -> None:
    server = loopback(p429=0.1, p500=0.1, pgarbage=0.05, pdrop=0.05, ptruncate_body=0.05, retry_after=0.1, seed=3)
    ended = sit(sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3"], max_attempts=12))
    assert (ended.totals.answered, ended.missing, ended.totals.failed) == (36, 0, {})
    assert ended.outcomes.retries > 0

    server.configure(p429=0, p500=0.4, pgarbage=0, pdrop=0, ptruncate_body=0, fault_mode="sticky")
    asked = sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3"], max_attempts=2, folder_name="sticky")
    broken = sit(asked)
    lost = broken.totals.failed["server"]
    assert lost == broken.missing > 0
    before = server.stats()["requests"]
    assert sit(asked).missing == lost  # running again does not ask what was given up
    assert server.stats()["requests"] == before
    server.configure(p500=0)
    mended = sit(sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3"], again="failed", folder_name="sticky"))
    assert (mended.missing, mended.totals.failed, mended.outcomes.answered) == (0, {}, lost)
    assert server.stats()["requests"] == before + lost


def test_retry_of_unparsed_answers_keeps_the_first_ones(loopback: Start, stories: Path) -> None:
    server = loopback(style="unparseable")
    sit(sitting(server, stories))
    server.configure(style="rating")
    ended = sit(sitting(server, stories, again="unparsed"))
    assert (ended.outcomes.answered, ended.missing) == (12, 0)
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        assert journal.replaced_total() == 12
        assert all("Rating:" in a.response.text for a in journal.answers() if a.response)


def test_answers_of_an_equal_query_are_reused_when_told_and_only_of_the_same_judge(
    loopback: Start, stories: Path
) -> None:
    server = loopback()
    sit(sitting(server, stories, folder_name="first"))
    before = server.stats()["requests"]
    ended = sit(
        sitting(server, stories, folder_name="second", eval_prompts=["ep1", "ep2"], reuse=stories.parent / "first")
    )
    assert (ended.reused, ended.outcomes.answered, ended.missing) == (12, 12, 0)
    assert server.stats()["requests"] == before + 12
    with pytest.raises(RunFolderError, match="another judge"):
        sit(sitting(server, stories, folder_name="third", revision="v2", reuse=stories.parent / "first"))


def test_a_timeout_is_an_outcome_of_its_own(loopback: Start, stories: Path) -> None:
    server = loopback(phang=1.0, hang_s=30)
    began = time.monotonic()
    ended = sit(sitting(server, stories, attempt_timeout=0.3, max_attempts=1, limit=3))
    assert time.monotonic() - began < 5
    assert ended.totals.failed == {"timeout": 3}
    with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
        assert {a.outcome for a in journal.answers()} == {"timeout"}


@pytest.mark.parametrize(
    ("settings", "changes", "words"),
    [
        ({"require_key": "right"}, {}, r"HTTP 401"),
        ({"models": ["other-model"]}, {}, r"does not have the model 'mock'; it has: other-model"),
        ({"quota": 0, "models_route": False}, {}, r"quota"),
        ({"max_context_chars": 10}, {}, r"HTTP 400.*context"),
    ],
)
def test_a_server_that_refuses_everything_is_named_with_the_cause(
    loopback: Start, stories: Path, settings: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    server = loopback(**settings)
    began = time.monotonic()
    try:
        ended = sit(sitting(server, stories, **changes))
    except JudgeError as error:
        message = str(error)
    else:
        assert ended.totals.answered == 0
        with JournalReader(stories.parent / "results" / "journal.sqlite") as journal:
            message = str(journal.latest_error())
    assert time.monotonic() - began < 4
    assert server.url in message
    assert __import__("re").search(words, message)


def test_no_server_and_a_silent_one_fail_within_three_seconds(loopback: Start, stories: Path) -> None:
    began = time.monotonic()
    with pytest.raises(JudgeError, match=r"http://127\.0\.0\.1:9/v1: no connection"):
        sit(sitting(None, stories))
    server = loopback(phang=1.0, hang_s=30, models_route=False)
    with pytest.raises(JudgeError, match="no answer within 3 s"):
        sit(sitting(server, stories))
    assert time.monotonic() - began < 4.5
    assert not (stories.parent / "results" / "journal.sqlite").exists()


def test_the_key_reaches_no_file_and_no_message(
    loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    server = loopback(require_key="sk-secret-4711")
    sit(sitting(server, stories))
    for file in (stories.parent / "results").iterdir():
        assert b"sk-secret-4711" not in file.read_bytes(), file
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0815")
    with pytest.raises(JudgeError) as caught:
        sit(sitting(server, stories, folder_name="other"))
    assert "sk-wrong-0815" not in str(caught.value)


def test_no_file_of_a_run_holds_a_key_that_left_by_a_header(
    loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_LOGIN", "gw-login-4711-0815")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = loopback(fixed_text="Rating: 4. You sent gw-login-4711-0815.", require_key="gw-login-4711-0815")
    ended = sit(sitting(server, stories, headers={"Authorization": "Bearer ${GATEWAY_LOGIN}"}))
    assert ended.missing == 0
    result = stories.parent / "results"
    for file in result.iterdir():
        assert b"gw-login-4711-0815" not in file.read_bytes(), file
    asked = read_manifest(result / "manifest.json")["asked"]
    assert asked["headers"] == {"Authorization": "Bearer ${GATEWAY_LOGIN}"}
    with JournalReader(result / "journal.sqlite") as journal:
        assert {answer.response.text for answer in journal.answers() if answer.response} == {"Rating: 4. You sent ***."}


def test_an_eval_prompt_that_holds_a_key_is_not_sent(
    loopback: Start, stories: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "tok-4711-0815")
    prompt = stories.parent / "mine.jinja"
    prompt.write_text("Log in as tok-4711-0815.\n{{ story }}\nRating:", encoding="utf-8")
    server = loopback()
    with pytest.raises(SpecError, match="eval_prompt_sources of this run holds the value of SOME_TOKEN"):
        sit(sitting(server, stories, eval_prompts=[str(prompt)]))
    assert not (stories.parent / "results" / "journal.sqlite").exists()


def test_max_cost_stops_before_more_is_spent(
    loopback: Start, stories: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path))
    (tmp_path / "prices.yaml").write_text("openai/mock: {input: 1000000, output: 0}\n")
    server = loopback()
    full = sit(sitting(server, stories, concurrency=1, folder_name="full"))
    one = full.outcomes.cost / 12
    assert one > 0
    ended = sit(sitting(server, stories, concurrency=1, max_cost=one * 4.5))
    assert ended.outcomes.cost <= one * 4.5
    assert ended.outcomes.stopped is not None
    assert "max_cost" in ended.outcomes.stopped
    assert 0 < ended.totals.answered < 12


def test_a_limit_of_cost_that_cannot_be_kept_is_refused(stories: Path) -> None:
    with pytest.raises(SpecError, match="no price is known for openai/mock"):
        sit(sitting(None, stories, max_cost=1.0))


def test_a_server_that_tells_everybody_to_wait_is_not_walked_through(loopback: Start, stories: Path) -> None:
    server = loopback(p429=1.0, retry_after=1)
    asked = sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3"], concurrency=2)

    def recover() -> None:
        server.wait(requests=1)
        time.sleep(0.6)
        assert server.stats()["requests"] <= 10  # 36 queries wait; only eight may be told to wait at a time
        server.configure(p429=0.0)

    with ThreadPoolExecutor(1) as pool:
        recovered = pool.submit(recover)
        ended = sit(asked)
        recovered.result()
    assert ended.missing == 0


def test_max_concurrency_of_the_server_is_found_and_all_is_answered(loopback: Start, stories: Path) -> None:
    server = loopback(max_concurrency=2, latency_ms=20, retry_after=0.05)
    ended = sit(sitting(server, stories, eval_prompts=["ep1", "ep2", "ep3"], concurrency=12))
    assert ended.missing == 0
    assert ended.totals.failed == {}


def start(stories: Path, server: LoopbackServer, *more: str) -> subprocess.Popen[str]:
    """`judge run` in a process of its own."""
    definition = stories.parent / "run.yaml"
    definition.write_text(
        json.dumps(
            {
                "name": "t",
                "dataset": str(stories),
                "judge": "openai/mock",
                "criteria": "overall",
                "eval_prompts": ["ep1", "ep2", "ep3"],
                "repeats": 1,
                "base_url": server.url,
                "concurrency": 2,
                "generation": {},
            }
        )
    )
    return subprocess.Popen(
        [sys.executable, "-m", "judge", "run", str(definition), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )


def test_ctrl_c_keeps_what_is_in_flight_and_the_same_command_goes_on(loopback: Start, stories: Path) -> None:
    server = loopback(latency_ms=150)
    process = start(stories, server)
    server.wait(answered=4)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 3, err
    assert "stopping" in err
    assert "Traceback" not in err
    stats = server.stats()
    with JournalReader(stories.parent / "openai-mock" / "journal.sqlite") as journal:
        assert journal.totals().answered == stats["answered"] == stats["requests"]
    server.configure(latency_ms=0)
    process = start(stories, server)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert server.stats()["repeats_after_answer"] == 0


def test_two_processes_on_one_run_and_kill_9(loopback: Start, stories: Path) -> None:
    server = loopback(latency_ms=100)
    first = start(stories, server, "--quiet")
    server.wait(answered=6)
    # Nothing more is answered, so that the first is still there however slowly the second starts.
    server.configure(hold=True)
    second = start(stories, server, "--quiet")
    _, err = second.communicate(timeout=60)
    assert second.returncode == 1
    assert f"in use by another process (pid {first.pid})" in err
    first.kill()
    first.communicate(timeout=20)
    answered, in_flight = server.stats()["answered"], 2
    server.configure(latency_ms=0, hold=False)
    third = start(stories, server, "--quiet")
    _, err = third.communicate(timeout=60)
    assert third.returncode == 0, err
    with JournalReader(stories.parent / "openai-mock" / "journal.sqlite") as journal:
        assert journal.totals().answered == 36
        assert journal.check_integrity() == []
    assert server.stats()["requests"] <= 36 + in_flight + 2
    assert answered >= 6


def test_the_manifest_says_what_was_asked_and_what_was_in_force(loopback: Start, stories: Path) -> None:
    server = loopback()
    asked = sitting(server, stories)
    ended: Result = sit(asked)
    manifest = json.loads(asked.result.manifest.read_text())
    assert manifest["asked"]["generation"] == {"temperature": 1.0}
    assert manifest["in_force"]["generation"]["top_p"] is None
    assert manifest["in_force"]["definition"]["dataset_hash"].startswith("b2:")
    assert manifest["in_force"]["server"]["servers"][0]["base_url"] == server.url
    assert manifest["environment"]["packages"]["aiohttp"]
    assert manifest["totals"]["answered"] == ended.totals.answered == 12
    assert manifest["totals"]["prompt_tokens"] > 0


def test_filtered_answers_are_a_status_and_not_asked_again(loopback: Start, stories: Path) -> None:
    server = loopback(style="content_filter")
    sit(sitting(server, stories))
    from judge.ratings.ratings_table import read

    frame = read([stories.parent / "results"]).frame
    judged = frame[frame["source"] == "judge"]
    assert judged["rating"].isna().all()
    assert set(judged["status"]) == {"filtered"}
    before = server.stats()["requests"]
    sit(sitting(server, stories))
    assert server.stats()["requests"] == before
