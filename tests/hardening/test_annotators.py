"""Audits served to several people: nobody reads or changes another's answers, and two servers keep apart."""

from __future__ import annotations

import itertools
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from judge.explanations.audit.store import AuditStore
from judge.show.web.access import Access, Guard, access_for
from judge.show.web.audit_annotators import Annotators
from judge.show.web.audit_pages import application, lasting_key
from judge.show.web.owners import lasting
from tests.web.audits import make_audit
from tests.web.conftest import Served, serving

Start = Callable[..., Served]


@pytest.fixture
def served() -> Iterator[Start]:
    """A factory of servers, as in the tests of pages."""
    with ExitStack() as stack:

        def start(build: Callable[[Access], Any], access: Access | None = None) -> Served:
            return stack.enter_context(serving(build, access or Access()))

        yield start


class Audited:
    """A served audit, seen from a browser without cookies."""

    def __init__(self, start: Start, store: AuditStore) -> None:
        self.store, self.owners = store, Annotators(store)
        self.server = start(lambda access: application(store, access))
        self.token = self.server.access.token
        self.numbers = itertools.count()

    def start(self, name: str, where: str = "/start", **headers: str) -> tuple[int, Any, str]:
        body = urlencode({"name": name}).encode()
        return self.server.ask(f"{where}?token={self.token}", method="POST", body=body, **headers)

    def save(self, path: str = "/answers", **changes: Any) -> tuple[int, str]:
        whole = {"audit": self.store.audit_id, "annotator": "Ada", "round": 1, "values": {"poor_syntax": 1}}
        whole |= (
            {"practice": 1}
            if path == "/practice"
            else {
                "item": 1,
                "note": "mine",
                "seconds": 3,
                "message": str(next(self.numbers)),
            }
        )
        body = json.dumps(whole | changes).encode()
        status, _, text = self.server.ask(path, method="POST", body=body, X_Judge_Token=self.token)
        return status, text


@contextmanager
def audited(folder: Path) -> Iterator[Audited]:
    with make_audit(folder / "audit.sqlite") as store, ExitStack() as stack:

        def start(build: Callable[[Access], Any]) -> Served:
            return stack.enter_context(serving(build, Access(), keep_alive=1))

        made = Audited(start, store)
        assert made.start("Ada")[0] == 200
        assert made.save(own=made.owners.key("Ada"), note="Ada's secret")[0] == 200
        yield made


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    """One for all that leave it as it is: Ada is known, and nobody else."""
    with audited(tmp_path_factory.mktemp("audit")) as made:
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Audited]:
    """For whoever becomes known."""
    with audited(tmp_path) as made:
        yield made


def test_a_known_name_opens_nobodys_answers(audit: Audited) -> None:
    for path in (
        "/annotate?name=Ada",
        "/annotate?name=Ada&own=",
        f"/annotate?name=Ada&own={'0' * 32}",
        f"/annotate?name=Ada&own={audit.owners.key('Bob')}",
        "/annotate?name=Ada&own=é",
        "/adjudicate?name=Ada",
        "/adjudicate?name=Somebody",
    ):
        status, _, text = audit.server.ask(quote(path, safe="/?=&"))
        assert (status, "secret" in text) == (403, False), path
    assert "Ada&#39;s secret" in audit.server.ask(audit.owners.link("Ada"))[2].replace("'", "&#39;")


@pytest.mark.parametrize("name", ["Ada", " Ada ", "ADA", "ada"])
def test_two_people_of_one_name_share_no_answers(audit: Audited, name: str) -> None:
    status, headers, text = audit.start(name)
    assert (status, "secret" in text, "Set-Cookie" in headers) == (403, False, False)
    assert "open the link with which you began" in text
    assert audit.start(name, "/adjudicate/start")[0] == 403


@pytest.mark.parametrize("path", ["/answers", "/practice", "/settled"])
@pytest.mark.parametrize("own", [None, "", "0" * 32, "bob's"])
def test_nobody_answers_in_anothers_name(audit: Audited, path: str, own: str | None) -> None:
    given = {} if own is None else {"own": audit.owners.key("Bob") if own == "bob's" else own}
    if path != "/practice":
        given["note"] = "changed"
    status, text = audit.save(path, round=2 if path == "/settled" else 1, **given)
    assert (status, "own link" in text) == (403, True)
    if path != "/practice":
        assert audit.store.state("Ada", 1).note == "Ada's secret"


def test_nobody_is_made_known_by_a_message_alone(audit: Audited) -> None:
    assert audit.save(annotator="Mallory")[0] == 403
    assert audit.store.registered() == ["Ada"]


def test_the_browser_that_began_goes_on_by_name_alone(audit: Audited) -> None:
    cookie = f"{audit.owners.cookie('Ada')}={audit.owners.key('Ada')}"
    assert "Ada's secret" in audit.start("ada", Cookie=cookie)[2]
    assert "Ada's secret" in audit.server.ask("/annotate?name=Ada", Cookie=cookie)[2]
    assert audit.start("Ada", Cookie=f"{audit.owners.cookie('Bob')}={audit.owners.key('Ada')}")[0] == 403


def test_links_are_told_by_the_audit_alone_and_outlast_the_server(audit: Audited, served: Start) -> None:
    again = Audited(served, audit.store)
    assert again.owners.key("Ada") == audit.owners.key("Ada")
    # What every annotator knows (the page's key, the audit's name) does not give another's key.
    assert lasting_key(audit.store) != json.loads(
        audit.store.select("SELECT value FROM meta WHERE key = 'owner_key'")[0][0]
    )
    welcome = audit.server.ask()[2]
    assert not re.search(r"[?&]own=|owner_key", welcome)
    assert audit.owners.key("Ada") not in welcome + audit.server.ask("/results")[2]


def test_whoever_settles_takes_no_other_adjudicators_name(fresh: Audited) -> None:
    assert fresh.start("Eve", "/adjudicate/start")[0] == 200
    assert fresh.start("Eve", "/adjudicate/start")[0] == 403
    assert fresh.start("Eve")[0] == 403


def test_two_servers_of_one_host_have_cookies_of_their_own(served: Start) -> None:
    from tests.web.test_access import _app

    one, two = (served(_app, access_for("192.0.2.1", f"key-{n}")) for n in (1, 2))
    cookies = [s.ask(f"/?key={s.access.key}", Host="a")[1]["set-cookie"].partition(";")[0] for s in (one, two)]
    assert cookies[0].partition("=")[0] != cookies[1].partition("=")[0]
    both = "; ".join(["bad cookie{}=\x01", *cookies, 'x="'])
    assert [s.ask(Host="a", Cookie=both)[0] for s in (one, two)] == [200, 200]
    assert one.ask(Host="a", Cookie=cookies[1])[0] == 403


HEADERS = {
    "content-security-policy": ("default-src 'none'", "frame-ancestors 'none'", "script-src 'self';"),
    "x-content-type-options": ("nosniff",),
    "referrer-policy": ("no-referrer",),
    "cross-origin-resource-policy": ("same-origin",),
    "cross-origin-opener-policy": ("same-origin",),
    "x-frame-options": ("DENY",),
}


@pytest.mark.parametrize("path", ["/", "/results", "/annotate?name=Ada", "/static/page.js", "/none", "/%2e%2e/x"])
def test_every_answer_carries_the_headers(audit: Audited, path: str) -> None:
    _, headers, _ = audit.server.ask(path)
    for name, values in HEADERS.items():
        assert all(value in headers[name] for value in values), name
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "evil@127.0.0.1",
        "",
        "[::1].evil",
        "[::2]",
        "127.1",
    ],
)
def test_another_host_is_refused(audit: Audited, host: str) -> None:
    assert audit.server.ask("/", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("path", ["/start", "/answers", "/practice", "/settled", "/adjudicate/start", "/", "/results"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_no_write_without_the_token(audit: Audited, path: str, method: str) -> None:
    for token in ("", "é", audit.token[:-1], audit.token + "x"):
        address = f"{path}?token={quote(token)}"
        assert audit.server.ask(address, method=method, body=b"name=Eve", Origin="http://evil.example")[0] == 403
    assert audit.store.registered() == ["Ada"]


@pytest.mark.parametrize(
    "path",
    [
        "../access.py",
        "..%2faccess.py",
        "%2e%2e/access.py",
        "....//x",
        "%00",
        "page.js/../../x",
        "C:%5cx",
        "/etc/passwd",
    ],
)
def test_no_path_leads_out_of_static(audit: Audited, path: str) -> None:
    status, _, text = audit.server.ask(f"/static/{path}")
    assert status == 404
    assert "import" not in text


def raw(server: Served, sent: bytes, wait: float) -> bytes:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait) as line:
        line.sendall(sent)
        found = b""
        while piece := line.recv(65536):
            found += piece
        return found


@pytest.mark.parametrize("token", [True, False])
def test_a_body_that_does_not_come_is_not_waited_for(
    audit: Audited, monkeypatch: pytest.MonkeyPatch, token: bool
) -> None:
    monkeypatch.setattr("judge.show.web.access.BODY_SECONDS", 0.5)
    head = f"POST /answers?token={audit.token if token else 'x'} HTTP/1.1\r\nHost: localhost\r\n"
    head += "Connection: close\r\nContent-Length: 99\r\n\r\nx"
    begun = time.monotonic()
    assert raw(audit.server, head.encode(), 10).split()[1] in (b"408", b"403")
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Drip: "])
def test_headers_that_do_not_come_are_not_waited_for(
    audit: Audited, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr("judge.show.web.punctual.HEAD_SECONDS", 0.3)
    begun = time.monotonic()
    # Whoever is served in the meantime is served.
    assert raw(audit.server, said, 10) == b""
    assert time.monotonic() - begun < 8
    assert audit.server.ask("/")[0] == 200


def test_a_second_request_that_stays_unfinished_is_let_go(audit: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.show.web.punctual.HEAD_SECONDS", 0.3)
    whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    said = raw(audit.server, whole + b"GET / HT", 10)
    assert said.startswith(b"HTTP/1.1 200")
    assert said.count(b"HTTP/1.1 200") == 1


def test_an_answer_that_takes_longer_than_headers_may_is_given(fresh: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.show.web.punctual.HEAD_SECONDS", 0.1)
    slow = Annotators.take

    def take(*arguments: Any, **named: Any) -> str:
        time.sleep(0.5)
        return slow(*arguments, **named)

    monkeypatch.setattr(Annotators, "take", take)
    head = f"POST /start?token={fresh.token} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n"
    assert raw(fresh.server, (head + "Connection: close\r\n\r\nname=Ann").encode(), 10).split()[1] == b"303"


@pytest.mark.parametrize("size", [1_000_001, 5_000_000])
def test_a_body_that_is_too_large_is_refused(audit: Audited, size: int) -> None:
    status, _, _ = audit.server.ask("/answers", method="POST", body=b"x" * size, X_Judge_Token=audit.token)
    assert status == 413


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b"null", b'{"audit": 1e999}', b"name=%FF%00&name=a"],
)
def test_a_body_of_nonsense_is_a_sentence(audit: Audited, body: bytes) -> None:
    for path in ("/answers", "/practice", "/settled", "/start", "/adjudicate/start"):
        status, _, text = audit.server.ask(path, method="POST", body=body, X_Judge_Token=audit.token)
        assert (400 <= status < 500, "Traceback" in text) == (True, False), (path, status)


def test_tokens_are_compared_in_constant_time() -> None:
    import inspect

    for part in (Guard, Annotators, Access):
        source = inspect.getsource(part)
        assert not re.search(r"(?:key|token|own)\)? (?:==|!=) (?!None)", source.replace("query.get", "")), part


def test_a_bundle_holds_no_key_of_the_pages(tmp_path: Path) -> None:
    from judge.exchange.bundle.content import _without_page_keys

    path = tmp_path / "audit.sqlite"
    with make_audit(path) as store:
        secrets = [lasting_key(store), lasting(store, "owner_key")]
    assert all(secret.encode() in path.read_bytes() for secret in secrets)
    _without_page_keys(path)
    assert not any(secret.encode() in path.read_bytes() for secret in secrets)
    with AuditStore.open(path, writing=False) as store:
        assert store.item_count == 3
