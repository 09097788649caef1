"""A run that goes on is steered from its page: paused, let go, held to fewer requests, and nobody else can."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from judge.asking.run_folder.steering import read_steering
from judge.show.web.access import Access
from judge.show.web.view.app import view_app
from tests.server.loopback import LoopbackServer
from tests.web.conftest import Served, serving
from tests.web.view_runs import attempts, define, finish, start, until

JUDGE = "openai-mock-judge"


def steer(server: Served, *, token: str | None = None, **form: str) -> tuple[int, str]:
    """Status and text of the page after a form was sent."""
    query = urlencode({"token": server.access.token if token is None else token})
    body = urlencode({"judge": JUDGE, **form}).encode()
    status, _, text = server.ask(f"/run/live/steer?{query}", method="POST", body=body)
    return status, text


@pytest.fixture
def runs(tmp_path: Path, loopback: Callable[..., LoopbackServer]) -> Path:
    mock = loopback(latency_ms=80, fixed_text="Rating: 4")
    define(tmp_path, "live", judge="openai/mock-judge", base_url=f"{mock.url}/v1", concurrency=2, repeats=1)
    return tmp_path


def test_a_run_is_paused_and_let_go_from_its_page(runs: Path, served: Callable[..., Served]) -> None:
    server = served(lambda access: view_app(runs, access))
    folder = runs / "live" / JUDGE
    process = start(runs / "live")
    until(lambda: attempts(folder / "journal.sqlite") > 3)
    status, text = steer(server, send="pause")
    assert status == 200
    assert "paused" in text
    time.sleep(0.8)
    before = attempts(folder / "journal.sqlite")
    time.sleep(0.8)
    assert attempts(folder / "journal.sqlite") == before < 54
    assert "at most 1 requests in flight" in steer(server, connections="1", max_cost="")[1]
    assert steer(server, send="go")[0] == 200
    finish(process)
    assert attempts(folder / "journal.sqlite") == 54
    assert read_steering(folder).send == "go"


def test_what_is_no_number_is_told_and_changes_nothing(runs: Path, served: Callable[..., Served]) -> None:
    finish(start(runs / "live"))
    server = served(lambda access: view_app(runs, access))
    for form in (
        {"connections": "many"},
        {"connections": "0"},
        {"max_cost": "-1"},
        {"send": "away"},
        {"max_cost": "nan"},
    ):
        status, text = steer(server, **form)
        assert status == 422
        assert "Traceback" not in text
    assert not (runs / "live" / JUDGE / "steering.json").exists()
    assert "It does not run now" in server.ask("/run/live")[2]


def test_without_the_pages_token_or_from_another_machine_nothing_is_steered(
    runs: Path, served: Callable[..., Served]
) -> None:
    finish(start(runs / "live"))
    server = served(lambda access: view_app(runs, access))
    assert steer(server, token="guess", send="stop")[0] == 403
    with serving(lambda access: view_app(runs, access), Access("a-key")) as elsewhere:
        query = urlencode({"token": elsewhere.access.token, "key": "a-key"})
        body = urlencode({"judge": JUDGE, "send": "stop"}).encode()
        assert elsewhere.ask(f"/run/live/steer?{query}", method="POST", body=body)[0] == 422
        assert "Pause" not in elsewhere.ask("/run/live?key=a-key")[2]
    assert not (runs / "live" / JUDGE / "steering.json").exists()
