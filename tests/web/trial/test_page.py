"""The page of `judge try`, asked over a real socket: who may write, what is refused, what is kept, hostile texts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import SpecError
from judge.lab.trial.questions import Asking
from judge.show.web.access import Access
from judge.show.web.trial import MOST, trial_app
from tests.server.loopback import LoopbackServer
from tests.web.conftest import Served

Start = Callable[..., Served]
STORY = "The sea took the boat. Anna waited on the quay, and every night she lit the lamp."
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"


def _send(server: Served, path: str, **texts: Any) -> tuple[int, Any]:
    body = json.dumps({"criteria": "hanna", "story": STORY, **texts}).encode()
    status, _, text = server.ask(path, method="POST", body=body, X_Judge_Token=server.access.token)
    return status, json.loads(text) if status == 200 else text


def _done(server: Served, name: str) -> Any:
    for _ in range(200):
        found = json.loads(server.ask(f"/answers/{name}")[2])
        if found["done"]:
            return found
        time.sleep(0.05)
    raise AssertionError("the trial did not end")


def test_the_control_answers_with_the_press_of_the_button(served: Start, tmp_path: Path) -> None:
    server = served(lambda access: trial_app(Asking(criteria="storyer"), access))
    status, _, page = server.ask()
    assert status == 200
    assert '<option value="storyer" selected>' in page
    assert "Nothing is saved" in page
    assert _send(server, "/cost", criteria="storyer")[1] == {"ready": True, "words": "10 requests, no tokens: free."}
    status, found = _send(server, "/ask", criteria="storyer", other="A boat. A boat. A boat. A boat.")
    assert (status, found["done"]) == (200, True)
    assert "<strong>30 of 30</strong> answers" in found["html"]
    assert "fitted on no ratings of any of these criteria" in found["html"]
    assert list(tmp_path.iterdir()) == []


def test_a_write_needs_the_token(served: Start) -> None:
    server = served(lambda access: trial_app(Asking(), access))
    for path in ("/cost", "/ask", "/stop/name"):
        assert server.ask(path, method="POST", body=b"{}")[0] == 403, path
    assert server.ask(Host="evil.example")[0] == 421
    assert server.ask("/answers/name")[0] == 404


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"story": " "}, "Paste a story first"),
        ({"story": "x" * (MOST + 1)}, "more than 60,000 characters"),
        ({"criteria": "/etc/passwd"}, "is not known"),
        ({"criteria": 7}, "criteria"),
        ({"judge": "openai/gpt-4o"}, "judge"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(served: Start, texts: dict[str, Any], sentence: str) -> None:
    server = served(lambda access: trial_app(Asking(), access))
    status, found = _send(server, "/ask", **texts)
    assert status == 422
    assert sentence in found


def test_a_body_of_megabytes_is_refused(served: Start) -> None:
    server = served(lambda access: trial_app(Asking(), access))
    assert _send(server, "/ask", story="x" * 2_000_000)[0] == 413


def test_what_is_wrong_with_the_command_is_said_before_the_page_opens() -> None:
    for asking in (Asking(judge="opnai/x"), Asking(criteria="none"), Asking(eval_prompts=("ep9",))):
        with pytest.raises(SpecError):
            trial_app(asking, Access())


def test_a_judge_that_echoes_markup_is_shown_as_text(served: Start, loopback: Callable[..., LoopbackServer]) -> None:
    judge = loopback(fixed_text=f"4\n\nExplanation: {HOSTILE}")
    asking = Asking(judge="openai/mock", base_url=judge.url)
    server = served(lambda access: trial_app(asking, access))
    status, begun = _send(server, "/ask", story=HOSTILE + STORY, story_prompt=HOSTILE)
    assert status == 200
    assert "control" in begun["html"]  # with the press of the button, whatever the judge does
    html = _done(server, begun["name"])["html"]
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "{{ 7 * 7 }}" in html
    assert "<strong>4</strong>" in html


def test_an_answer_without_a_rating_is_shown_whole(served: Start, loopback: Callable[..., LoopbackServer]) -> None:
    judge = loopback(fixed_text="I would rather talk of <b>boats</b>.")
    server = served(lambda access: trial_app(Asking(judge="openai/mock", base_url=judge.url), access))
    html = _done(server, _send(server, "/ask", other="Another story.")[1]["name"])["html"]
    assert html.count("No rating was read of this answer") == 6
    assert html.count("I would rather talk of &lt;b&gt;boats&lt;/b&gt;.") == 6 + 12


def test_two_trials_at_a_time_and_a_slow_one_can_be_stopped(
    served: Start, loopback: Callable[..., LoopbackServer]
) -> None:
    judge = loopback(fixed_text="4", latency_ms=30_000)
    server = served(lambda access: trial_app(Asking(judge="openai/mock", base_url=judge.url), access))
    names = [_send(server, "/ask")[1]["name"] for _ in range(2)]
    status, sentence = _send(server, "/ask")
    assert status == 429
    assert "2 trials are being answered" in sentence
    for name in names:
        assert not json.loads(server.ask(f"/answers/{name}")[2])["done"]
        _, _, text = server.ask(f"/stop/{name}", method="POST", body=b"{}", X_Judge_Token=server.access.token)
        found = json.loads(text)
        assert found["done"]
        assert "6 not answered" in found["html"]
        assert "stopped from the page" in found["html"]


def test_a_server_that_is_gone_is_a_sentence_and_typed(served: Start) -> None:
    asking = Asking(judge="openai/mock", base_url="http://127.0.0.1:9/v1")
    server = served(lambda access: trial_app(asking, access))
    html = _done(server, _send(server, "/ask")[1]["name"])["html"]
    assert "card bad" in html
    assert "6 not answered" in html


def test_answers_are_saved_where_it_was_asked(served: Start, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    server = served(lambda access: trial_app(Asking(), access, output=kept))
    assert str(kept) in server.ask()[2]
    assert str(kept) in _send(server, "/ask")[1]["html"]
    _send(server, "/ask")
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert len(rows) == 12
    assert {row["status"] for row in rows} == {"ok"}
