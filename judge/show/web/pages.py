"""Requests and responses of local pages: bodies within limits, HTML from templates, static files, errors in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge.base.errors import JudgeError
from judge.base.fingerprint import fingerprint
from judge.base.wording import PLAIN, written
from judge.show.pages import environment, stylesheet
from judge.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from judge.show.web.access import Access


# Reading of the body of a write request, within limits of size and time.

# An item's answers with a note take a few kilobytes; a body without a limit would fill the server's memory.
_LARGEST = 1_000_000


async def read_body(request: Request) -> bytes:
    """The body of a request; HTTPException where it is over one megabyte or does not arrive in time."""
    from starlette.exceptions import HTTPException

    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size <= _LARGEST:
                parts.append(part)
            # A little more is read to its end, so that the sender is told why and does not find the line cut.
            elif size > 10 * _LARGEST:
                break
    except TimeoutError as error:
        raise HTTPException(408, "The answer did not come in time.") from error
    if size > _LARGEST:
        raise HTTPException(413, "That is more than an answer can be.")
    return b"".join(parts)


def plain_text(text: str, status: int) -> Response:
    """A response of text without markup."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(text, status)


_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_FOLDER = Path(__file__).parent


class Pages:
    """HTML templates of one folder, rendered with `token`, `version`, `static`."""

    def __init__(self, folder: Path, access: Access) -> None:
        self._environment = environment(folder)
        self._environment.globals.update(token=access.token, version=__version__, static=static_address)

    def response(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page as a response that is not cached, because results change."""
        from starlette.responses import HTMLResponse

        return HTMLResponse(self.text(template, **values), status, headers={"cache-control": "no-store"})

    def text(self, template: str, **values: Any) -> str:
        """A page, or a part of one, as HTML."""
        return self._environment.get_template(template).render(**values)


def static_address(name: str) -> str:
    """Address of a static file, with a parameter of its content, so that browsers may cache it."""
    return f"/static/{name}?{fingerprint(_static(name))[3:11]}"


def static_route() -> Route:
    """Route of static files, only those in a fixed list, so that a request cannot name any other path."""
    from starlette.responses import Response
    from starlette.routing import Route

    names = {path.name for path in (_FOLDER / "static").glob("*") if path.suffix in _TYPES} | {"style.css"}

    async def endpoint(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in names:
            return Response("no such file\n", 404)
        kept = {"cache-control": "max-age=31536000, immutable"} if request.url.query else {}
        return Response(_static(name), media_type=_TYPES[Path(name).suffix], headers=kept)

    return Route("/static/{name}", endpoint)


def _static(name: str) -> str:
    return stylesheet() if name == "style.css" else (_FOLDER / "static" / name).read_text(encoding="utf-8")


def own_element(tag: str, text: str) -> Markup:
    """An element with unescaped text, which must come from one of this program's own files."""
    if f"</{tag}" in text.casefold():
        raise AssertionError(f"a file of ours ends its {tag} element")
    return Markup(f"<{tag}>{text}</{tag}>")  # noqa: S704  our own file


def in_words(error: JudgeError) -> str:
    """An error's sentence and hint, without names of command-line options."""
    hint = written(error.hint or "", PLAIN)
    sentence = f"{written(error.sentence, PLAIN)}."
    return f"{sentence} {hint[:1].upper()}{hint[1:]}." if hint else sentence
