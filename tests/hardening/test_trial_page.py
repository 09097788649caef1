"""The page of `judge try --serve` as an attacker sees it: who may ask, what may be sent, what comes back."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.lab.trial.questions import Asking
from judge.show.web.access import Access, access_for
from judge.show.web.trial import MOST, Before, trial_app
from tests.hardening.conftest import Call, held
from tests.hardening.test_answers import Server, send
from tests.web.conftest import Served, serving

STORY = "The sea took the boat. Anna waited on the quay, and every night she lit the lamp."
MARKUP = "</textarea><script>document.title='taken'</script><img src=//example.org/x onerror=alert(1)>{{ 7 * 7 }}"
ESCAPES = "\x1b]0;taken\x07\x1b[2J\u202eevil\u2066\x9b2J"


@pytest.fixture(scope="module")
def page() -> Iterator[Served]:
    """The control's page: it asks nobody."""
    with serving(lambda access: trial_app(Asking(), access), Access(), keep_alive=1) as served:
        yield served


def written(page: Served, path: str, body: bytes, **headers: str) -> tuple[int, Any, str]:
    return page.ask(path, method="POST", body=body, X_Judge_Token=page.access.token, **headers)


def message(**texts: Any) -> bytes:
    return json.dumps({"criteria": "overall", "story": STORY} | texts).encode()


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "evil@127.0.0.1", "", "[::2]", "127.1", "0.0.0.0"],  # noqa: S104
)
@pytest.mark.parametrize("path", ["/", "/answers/x", "/static/try.js"])
def test_another_host_is_refused(page: Served, host: str, path: str) -> None:
    assert page.ask(path, Host=host)[0] in (400, 421)


@pytest.mark.parametrize("path", ["/ask", "/cost", "/stop/x", "/", "/answers/x"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_no_write_without_the_token(page: Served, path: str, method: str) -> None:
    for token in ("", "é", page.access.token[:-1], page.access.token + "x"):
        named = {"Origin": "http://evil.example", "X_Judge_Token": token.encode("ascii", "ignore").decode()}
        assert page.ask(path, method=method, body=message(), **named)[0] == 403


def test_a_form_of_another_page_writes_nothing(page: Served) -> None:
    """What a browser sends without asking first: no header of one's own, and one of three kinds of body."""
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"):
        headers = {"Content_Type": kind, "Origin": "http://evil.example", "Sec_Fetch_Site": "cross-site"}
        assert page.ask("/ask", method="POST", body=message(), **headers)[0] == 403


@pytest.mark.parametrize("path", ["/", "/answers/x", "/static/try.js", "/static/none", "/none", "/ask"])
def test_every_answer_keeps_the_page_to_itself(page: Served, path: str) -> None:
    _, headers, _ = page.ask(path)
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
    assert "access-control-allow-origin" not in headers
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "path",
    ["../access.py", "..%2faccess.py", "%2e%2e/access.py", "....//x", "%00", "try.js/../../x", "C:%5cx", "/etc/passwd"],
)
def test_no_path_leads_out_of_static(page: Served, path: str) -> None:
    status, _, text = page.ask(f"/static/{path}")
    assert (status, "import" in text) == (404, False)


@pytest.mark.parametrize("name", ["x", "..%2f..%2fetc%2fpasswd", "%00", "0" * 5000, "%ff", "__class__", "{{7*7}}"])
def test_nobody_guesses_a_trial(page: Served, name: str) -> None:
    quoted = name.replace("{", "%7B").replace("}", "%7D").replace("*", "%2A")
    status, _, text = page.ask(f"/answers/{quoted}")
    assert (status, "Traceback" in text, "root:" in text) == (404, False, False)
    assert written(page, f"/stop/{quoted}", b"{}")[0] == 404


BODIES = {
    "nothing": b"",
    "no UTF-8": b"\xff\xfe",
    "a lone surrogate": b'{"criteria": "overall", "story": "\\ud800 and more"}',
    "deep lists": b"[" * 100_000,
    "deep mappings": b'{"a":' * 50_000,
    "NaN": b"NaN",
    "null": b"null",
    "a number": b"1e999",
    "a list": b"[]",
    "another key": message(judge="openai/gpt-4o"),
    "an address": message(base_url="http://evil.example"),
    "a file to write": message(output="/tmp/x"),
    "an Eval-Prompt": message(eval_prompts=["/etc/passwd"]),
    "a path as criteria": message(criteria="../../../../etc/passwd"),
    "a file as criteria": message(criteria="/etc/passwd"),
    "criteria that are a list": message(criteria=["overall"]),
    "criteria without end": message(criteria="x" * 100_000),
    "a story that is a number": message(story=5),
    "a story of blanks": message(story=" \n\u2003 \t"),
    "a story without end": message(story="x" * (MOST + 1)),
    "a story-prompt without end": message(story_prompt="x" * (MOST + 1)),
    "a second story without end": message(other="x" * (MOST + 1)),
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("path", ["/ask", "/cost"])
def test_a_body_of_nonsense_is_a_sentence(page: Served, what: str, path: str) -> None:
    status, _, text = written(page, path, BODIES[what])
    assert "Traceback" not in text
    assert "root:" not in text
    if path == "/cost" and status == 200:
        assert json.loads(text)["ready"] is False
    else:
        assert status == 422, text


@pytest.mark.parametrize("size", [1_000_001, 5_000_000])
def test_a_body_that_is_too_large_is_refused(page: Served, size: int) -> None:
    assert written(page, "/ask", b"x" * size)[0] == 413


@pytest.mark.parametrize("token", [True, False])
def test_a_body_that_does_not_come_is_not_waited_for(
    page: Served, monkeypatch: pytest.MonkeyPatch, token: bool
) -> None:
    monkeypatch.setattr("judge.show.web.access.BODY_SECONDS", 0.3)
    head = f"POST /ask HTTP/1.1\r\nHost: localhost\r\nX-Judge-Token: {page.access.token if token else 'x'}\r\n"
    host, port = page.address.removeprefix("http://").split(":")
    begun = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall((head + "Connection: close\r\nContent-Length: 99\r\n\r\nx").encode())
        assert line.recv(65536).split()[1] in (b"408", b"403")
    assert time.monotonic() - begun < 8
    assert page.ask()[0] == 200


HOSTILE = {
    "markup": MARKUP,
    "escapes": ESCAPES + STORY,
    "nul": "a\0b " + STORY,
    "a template": "{{ ''.__class__.__mro__ }}{% for i in range(10**9) %}x{% endfor %}",
    "the longest": "word " * (MOST // 5),
    "one word": "x" * MOST,
    "combining": "e\u0301" * (MOST // 2),
    "bidirectional": "\u202e4" * (MOST // 2),
    "digits": "4" * MOST,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_story_is_a_text(page: Served, what: str) -> None:
    begun = time.process_time()
    status, _, text = written(page, "/ask", message(**dict.fromkeys(("story", "story_prompt", "other"), HOSTILE[what])))
    assert status == 200, text
    html = json.loads(text)["html"]
    assert "<script" not in html
    assert "<img" not in html
    assert "(&lt;class" not in html
    assert time.process_time() - begun < 20


def test_what_stands_in_the_form_is_text(tmp_path: Path) -> None:
    before = Before(MARKUP, MARKUP, MARKUP, MARKUP)
    output = tmp_path / "<script>x<"
    with serving(lambda access: trial_app(Asking(), access, before=before, output=output), Access()) as page:
        _, _, text = page.ask()
    assert "<script>document" not in text
    assert "<script>x" not in text
    assert "<img src" not in text
    assert text.count("{{ 7 * 7 }}") == 4
    # Scripts come from files alone.
    assert all("src=" in one for one in re.findall(r"<script[^>]*>", text))


def test_a_server_that_answers_markup_and_escapes_is_shown_as_text() -> None:
    said = {"choices": [{"message": {"role": "assistant", "content": f"4 {MARKUP}{ESCAPES}"}, "finish_reason": "stop"}]}
    judge = Server(lambda _, handler: send(handler, said))
    try:
        asking = Asking(judge="openai/mock", base_url=judge.url, overrides=("api_key_env=none",))
        with serving(lambda access: trial_app(asking, access), Access()) as page:
            begun = json.loads(written(page, "/ask", message())[2])
            for _ in range(200):
                found = json.loads(page.ask(f"/answers/{begun['name']}")[2])
                if found["done"]:
                    break
                time.sleep(0.05)
    finally:
        judge.close()
    assert found["done"]
    assert "<script" not in found["html"]
    assert "<img" not in found["html"]
    assert "&lt;script&gt;" in found["html"]


def test_elsewhere_the_key_is_needed_for_every_page() -> None:
    with serving(lambda access: trial_app(Asking(), access), access_for("192.0.2.1", "the-key")) as page:
        for path in ("/", "/answers/x", "/static/try.js", "/?key=", "/?key=the-ke", "/?key=the-key2"):
            assert page.ask(path)[0] == 403, path
        # The token alone is not enough, nor the key alone.
        assert written(page, "/ask", message())[0] == 403
        assert page.ask("/ask?key=the-key", method="POST", body=message())[0] == 403
        assert written(page, "/cost?key=the-key", message())[0] == 200


@pytest.mark.parametrize("port", ["99999", "-5", "65536"])
def test_a_port_that_is_none_is_a_sentence(call: Call, port: str) -> None:
    assert held(call("try", "--serve", "--port", port)).strip()


@pytest.mark.parametrize("host", ["256.1.1.1", "no such host", "[::1", "::::", "a\nb"])
def test_a_host_that_is_none_is_a_sentence(call: Call, host: str) -> None:
    assert held(call("try", "--serve", "--host", host, "--port", "0")).strip()


@pytest.mark.parametrize("prompt", ["{{ 'a' * 10000000000 }}", "{{ ''.__class__ }}", "{% include '/etc/passwd' %}"])
def test_a_template_of_a_stranger_is_a_sentence_before_the_page(call: Call, tmp_path: Path, prompt: str) -> None:
    (tmp_path / "theirs.jinja").write_text("{{ story }} {{ criterion.name }} " + prompt)
    said = call("try", "--serve", "--port", "0", "--eval-prompts", tmp_path / "theirs.jinja")
    assert "theirs.jinja" in held(said)
