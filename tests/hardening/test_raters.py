"""The pages on which people rate stories, served to several people and attacked as an audit's are."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from judge.lab.people.store import StudyStore, read_study
from judge.show.web.access import Access
from judge.show.web.people_pages import application, owners_of
from tests.hardening.test_annotators import HEADERS
from tests.people.conftest import drawn
from tests.web.conftest import Served, serving


class Rated:
    """A served study, seen from a browser without cookies."""

    def __init__(self, server: Served, store: StudyStore) -> None:
        self.server, self.store, self.owners = server, store, owners_of(store)
        self.numbers = itertools.count()

    def save(self, path: str = "/ratings", **changes: Any) -> tuple[int, str]:
        whole: dict[str, Any] = {"study": self.store.study_id, "rater": "r01", "own": self.owners.key("r01")}
        whole |= {"message": f"m{next(self.numbers)}"}
        whole |= {"kind": "break"} if path == "/events" else {"item": 2, "values": {"Coherence": 3}}
        body = json.dumps(whole | changes).encode()
        status, _, text = self.server.ask(path, method="POST", body=body, X_Judge_Token=self.server.access.token)
        return status, text


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rated]:
    path: Path = tmp_path_factory.mktemp("raters") / "people.sqlite"
    with (
        StudyStore.create(path, drawn(4), "We ask you.") as store,
        serving(lambda access: application(store, access), Access(), keep_alive=1) as server,
    ):
        store.save("r02", 2, {"comment": "a secret"}, message="a-1")
        yield Rated(server, store)


@pytest.mark.parametrize("path", ["/", "/rate?name=r01", "/static/people.js", "/none", "/%2e%2e/x"])
def test_every_answer_carries_the_headers(rated: Rated, path: str) -> None:
    _, headers, _ = rated.server.ask(path)
    for name, values in HEADERS.items():
        assert all(value in headers[name] for value in values), name


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1].evil", "127.1"])
def test_another_host_is_refused(rated: Rated, host: str) -> None:
    assert rated.server.ask("/", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("path", ["/ratings", "/events", "/", "/rate"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_no_write_without_the_token(rated: Rated, path: str, method: str) -> None:
    for token in ("", "é", rated.server.access.token + "x"):
        address = f"{path}?token={quote(token)}"
        assert rated.server.ask(address, method=method, body=b"{}", Origin="http://evil.example")[0] == 403


def test_nobody_reads_or_writes_in_anothers_name(rated: Rated) -> None:
    mine = rated.owners.key("r01")
    for query in ("name=r02", f"name=r02&own={mine}", "name=r02&own=", f"name=R02&own={mine}", "name=r99&own=x"):
        status, _, text = rated.server.ask(f"/rate?{query}")
        assert (status, "a secret" in text) == (403, False)
    for path in ("/ratings", "/events"):
        assert rated.save(path, rater="r02")[0] == 403
        assert rated.save(path, own="")[0] == 403
        assert rated.save(path, study="another")[0] == 409
    assert "a secret" not in rated.server.ask(rated.owners.link("r01"))[2]
    assert rated.store.events("r02") == []


def test_a_page_tells_of_no_check_and_no_system(rated: Rated) -> None:
    status, _, page = rated.server.ask(rated.owners.link("r01"))
    assert status == 200
    for word in ("Human", "sentence-shuffle", "repeat", "check", "owner_key", "p0-"):
        assert word not in page, word


@pytest.mark.parametrize(
    "change",
    [
        {"item": 999},
        {"item": -1},
        {"values": {"Coherence": 9}},
        {"values": {"Plot": 3}},
        {"values": {"comment": 3}},
        {"seconds": "x"},
        {"more": 1},
        {"message": ""},
        {"note": "x" * 20_001},
    ],
)
def test_a_message_of_another_form_is_a_sentence_and_stores_nothing(rated: Rated, change: dict[str, Any]) -> None:
    before = read_study(rated.store.path).sequence
    status, text = rated.save(**change)
    assert (status, "Traceback" in text) == (400, False)
    assert read_study(rated.store.path).sequence == before


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[" * 100_000, b"NaN", b"null", b'{"study": 1e999}'])
def test_a_body_of_nonsense_is_a_sentence(rated: Rated, body: bytes) -> None:
    for path in ("/ratings", "/events"):
        status, _, text = rated.server.ask(path, method="POST", body=body, X_Judge_Token=rated.server.access.token)
        assert (400 <= status < 500, "Traceback" in text) == (True, False)
    assert rated.server.ask("/ratings", method="POST", body=b"x" * 1_000_001, X_Judge_Token="x")[0] in (403, 413)


def test_markup_in_a_story_or_a_comment_is_text(rated: Rated) -> None:
    assert rated.save(item=3, values={}, note="</script><script>alert(1)</script>")[0] == 200
    page = rated.server.ask(rated.owners.link("r01"))[2]
    assert "<script>alert" not in page


def test_whoever_left_is_kept_out(rated: Rated) -> None:
    rated.store.withdraw("r03", erase=True)
    own = rated.owners.key("r03")
    assert rated.save(rater="r03", own=own)[0] == 403
    status, _, text = rated.server.ask(rated.owners.link("r03"))
    assert (status, "You have left" in text) == (403, True)


def test_a_closed_study_keeps_what_comes_and_counts_nothing_of_it(rated: Rated) -> None:
    before = read_study(rated.store.path)
    rated.store.close_study(closed=True)
    try:
        status, text = rated.save(item=4)
        assert (status, "do not count" in text) == (403, True)
        assert "This study is closed" in rated.server.ask(rated.owners.link("r01"))[2]
        after = read_study(rated.store.path)
        assert (after.given, after.late) == (before.given, before.late + 1)
    finally:
        rated.store.close_study(closed=False)
