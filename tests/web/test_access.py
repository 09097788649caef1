"""Who may look and who may write, asked over a real socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from judge.base.errors import SpecError
from judge.show.web.access import Access, access_for
from judge.show.web.pages import Pages, static_address, static_route
from judge.show.web.server import _bind, serve
from tests.web.conftest import Served

Start = Callable[..., Served]


def _app(access: Access, templates: Path | None = None) -> Starlette:
    async def read(_: Request) -> Response:
        if templates is None:
            return Response("read")
        return Pages(templates, access).response("page.html", story="<script>alert(1)</script>{{ 7 * 7 }}")

    async def write(request: Request) -> Response:
        return JSONResponse({"got": await request.json()})

    return Starlette(routes=[Route("/", read), Route("/write", write, methods=["POST"]), static_route()])


def test_a_page_answers_to_this_machines_own_names_only(served: Start) -> None:
    server = served(_app)
    port = server.address.rpartition(":")[2]
    assert server.ask()[0] == 200
    assert server.ask(Host=f"localhost:{port}")[0] == 200
    assert server.ask(Host=f"[::1]:{port}")[0] == 200
    for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""):
        assert server.ask(Host=name)[0] == 421, name


def test_a_write_needs_the_token_of_the_page(served: Start) -> None:
    server = served(_app)
    body = b'{"a": 1}'
    assert server.ask("/write", method="POST", body=body)[0] == 403
    assert server.ask("/write", method="POST", body=body, X_Judge_Token="guess")[0] == 403
    assert server.ask("/write?token=%C3%A9", method="POST", body=body)[0] == 403
    status, _, text = server.ask("/write", method="POST", body=body, X_Judge_Token=server.access.token)
    assert (status, text) == (200, '{"got":{"a":1}}')


def test_elsewhere_a_reader_needs_the_key_once(served: Start) -> None:
    access = access_for("192.0.2.1")
    assert access.key
    server = served(_app, access)
    assert server.ask()[0] == 403
    assert server.ask("/?key=guess")[0] == 403
    status, headers, _ = server.ask(f"/?key={access.key}")
    assert status == 200
    cookie = headers["set-cookie"].partition(";")[0]
    assert server.ask(Cookie=cookie, Host="any.name:80")[0] == 200
    assert server.ask("/write", method="POST", body=b"1", Cookie=cookie)[0] == 403


def test_pages_keep_to_themselves_and_escape_texts(served: Start, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('{% extends "base.html" %}{% block main %}{{ story }}{{ token }}{% endblock %}')
    server = served(lambda access: _app(access, tmp_path))
    status, headers, text = server.ask()
    assert status == 200
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}" in text
    assert server.access.token in text


def test_static_files_come_by_name_from_a_list(served: Start) -> None:
    server = served(_app)
    status, headers, text = server.ask(static_address("style.css"))
    assert (status, "immutable" in headers["cache-control"]) == (200, True)
    assert headers["content-type"].startswith("text/css")
    assert "--page" in text
    assert server.ask("/static/page.js")[0] == 200
    for name in ("pages.py", "..%2Fpages.py", "none.js"):
        assert server.ask(f"/static/{name}")[0] == 404, name


@pytest.mark.parametrize("choice", [{"host": "192.0.2.1", "port": 0}, {"port": 99999}])
def test_an_address_that_cannot_be_served_is_said(choice: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="no page can be served at"):
        serve(_app, **choice)


def test_answers_are_sent_without_waiting_for_an_acknowledgement() -> None:
    async def nodelay() -> int:
        bound = _bind("127.0.0.1", 0)
        bound.listen()
        seen: asyncio.Queue[int] = asyncio.Queue()

        class Accepted(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted = transport.get_extra_info("socket")
                seen.put_nowait(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

        server = await asyncio.get_running_loop().create_server(Accepted, sock=bound)
        async with server:
            _, writer = await asyncio.open_connection(*bound.getsockname()[:2])
            found = await seen.get()
            writer.close()
            await writer.wait_closed()
        return found

    assert asyncio.run(nodelay()) == 1
