"""Several servers: groups stay on one, a dead one is left out and comes back, and a run over real sockets survives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.backends.openai.backend import DEAD_AFTER, REST, Servers
from judge.base.errors import BackendError
from tests.server.loopback import LoopbackServer

URLS = [f"http://127.0.0.1:{port}/v1" for port in (1, 2, 3, 4)]
DOWN = BackendError("refused", kind="connection", retryable=True)


def test_groups_are_spread_and_only_a_lost_servers_groups_move() -> None:
    now = [0.0]
    servers = Servers(URLS, clock=lambda: now[0])
    groups = [f"prompt {i}" for i in range(400)]
    before = {group: servers.choose(group) for group in groups}
    assert min(Counter(before.values()).values()) > 60
    for _ in range(DEAD_AFTER):
        servers.failed(URLS[0], DOWN)
    after = {group: servers.choose(group) for group in groups}
    moved = {group for group in groups if before[group] != after[group]}
    assert moved == {group for group in groups if before[group] == URLS[0]}
    assert "3 servers go on without it" in servers.notices[0]
    now[0] = REST + 1
    assert {group: servers.choose(group) for group in groups} == before
    servers.answered(URLS[0])
    assert "used again" in servers.notices[1]


def test_a_refused_query_says_nothing_about_the_server() -> None:
    servers = Servers(URLS)
    for _ in range(10):
        servers.failed(URLS[0], BackendError("too long", kind="context", retryable=False))
        servers.failed(URLS[1], BackendError("slow down", kind="rate", retryable=True))
    assert servers.notices == []
    assert {servers.choose(str(i)) for i in range(100)} == set(URLS)


def test_with_every_server_dead_one_is_still_asked() -> None:
    servers = Servers(URLS[:2])
    for url in URLS[:2]:
        for _ in range(DEAD_AFTER):
            servers.failed(url, DOWN)
    assert servers.choose("a") in URLS[:2]


def _spec(urls: list[str], **more: object) -> dict[str, object]:
    return {
        "name": "several",
        "dataset": "demo",
        "judge": "openai/mock",
        "criteria": {"set": "hanna", "only": ["CH"]},
        "eval_prompts": ["ep1"],
        "base_url": urls,
        **more,
    }


def test_a_run_goes_on_when_one_of_its_servers_dies(loopback: Callable[..., LoopbackServer], tmp_path: Path) -> None:
    good, bad = loopback(latency_ms=5), loopback(latency_ms=5)
    spec = parse_run_spec(_spec([good.url, bad.url], repeats=3, concurrency=4), "test")
    result = ResultFolder(tmp_path / "r")
    first = sit(Sitting(spec, tmp_path, result, limit=24, quiet=True))
    assert first.missing == 0
    bad.stop()
    second = sit(Sitting(spec, tmp_path, result, quiet=True))
    assert second.missing == 0
    notices = orjson.loads(result.manifest.read_bytes())["sittings"][-1]["notices"]
    assert any(bad.url in notice and "1 servers go on without it" in notice for notice in notices)


def test_no_server_at_all_is_an_error_at_once(loopback: Callable[..., LoopbackServer], tmp_path: Path) -> None:
    dead = loopback()
    dead.stop()
    spec = parse_run_spec(_spec([dead.url]), "test")
    with pytest.raises(BackendError, match=r"no answer|refused|connect"):
        sit(Sitting(spec, tmp_path, ResultFolder(tmp_path / "r"), quiet=True))


def test_ratings_from_log_probabilities_over_a_socket(loopback: Callable[..., LoopbackServer], tmp_path: Path) -> None:
    import judge

    server = loopback()
    spec = parse_run_spec(_spec([server.url], scoring="logprobs"), "test")
    result = ResultFolder(tmp_path / "r")
    sit(Sitting(spec, tmp_path, result, limit=6, quiet=True))
    frame = judge.open_run(result.path).ratings()
    rated = frame[(frame["source"] == "judge") & frame["rating"].notna()]
    assert len(rated) == 6
    assert (rated["rating"] % 1 != 0).any()
    assert rated["flags"].str.contains("outside=").all()
    fact = judge.open_run(result.path).table.facts[0]
    assert fact.parser == "ours/4+logprobs"
    assert any("ratings are expected values" in note for note in fact.notes)


def test_a_server_without_log_probabilities_stops_the_run(
    loopback: Callable[..., LoopbackServer], tmp_path: Path
) -> None:
    server = loopback(ignore_logprobs=True)
    spec = parse_run_spec(_spec([server.url], scoring="logprobs", concurrency=2), "test")
    ended = sit(Sitting(spec, tmp_path, ResultFolder(tmp_path / "r"), quiet=True))
    assert "gave no log-probabilities" in str(ended.outcomes.stopped)
    assert ended.totals.answered == 0
