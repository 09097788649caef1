"""Pages on which people work on one file, an audit or a study of ratings: the same frame, the same confirmation of each
answer after its commit, and the same files for people who cannot reach the server."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from pydantic import ValidationError

from judge.base.errors import JudgeError, SpecError
from judge.base.files import write_whole
from judge.base.fingerprint import sha256_script
from judge.show.pages import environment, stylesheet
from judge.show.web.owners import as_script
from judge.show.web.pages import Pages, in_words, own_element, plain_text, read_body
from judge.version import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from judge.show.web.access import Access

TEMPLATES = Path(__file__).parent / "templates"
_STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of work: the name in the bar, the class of its pages, its stylesheet, the template of its form, and its
    scripts in order."""

    brand: str
    page: str
    style: str
    form: str
    scripts: tuple[str, ...]


class WorkPages(Pages):
    """Pages of one kind of work. `title` stands in the window's title, `doing` in the bar."""

    def __init__(self, kind: Kind, access: Access) -> None:
        super().__init__(TEMPLATES, access)
        self._kind = kind

    def text(self, template: str, **values: Any) -> str:
        return super().text(template, **({"kind": self._kind, "title": "", "doing": ""} | values))

    def work(self, task: Mapping[str, Any], doing: str = "") -> Response:
        """The page of one person's work."""
        return self.response("work.html", task=as_script(dict(task)), doing=doing)

    def message(
        self, title: str, text: str, status: int, *, wrong: bool = False, back: tuple[str, str] | None = None
    ) -> Response:
        """A page of one sentence; `back` is an address and the words of its link."""
        return self.response("work_message.html", status, title=title, text=text, wrong=wrong, back=back)


def taking(path: str, save: Callable[[bytes], tuple[int, Any]]) -> Route:
    """Route of answers. `save` returns status and reply, a sentence or a value, after the commit."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def endpoint(request: Request) -> Response:
        text = await read_body(request)
        try:
            status, told = await run_in_threadpool(save, text)
        except ValidationError as error:
            status, told = 400, where_wrong(error)
        return plain_text(told, status) if isinstance(told, str) else JSONResponse(told, status)

    return Route(path, endpoint, methods=["POST"])


def where_wrong(error: ValidationError) -> str:
    """The first mistake in a message or a file, with its place."""
    first = error.errors(include_url=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where + ': ' if where else ''}{first['msg']}"


def status_of(error: Exception) -> int:
    """400 for a mistake in the message; 503, after which the page sends it again, if the file could not be written."""
    return 503 if isinstance(error.__cause__, (sqlite3.OperationalError, OSError)) else 400


def handlers(begins: str) -> Mapping[Any, Any]:
    """What is answered in place of errors: sentences. `begins` says where the pages begin."""

    async def sentence(_: Request, error: Exception) -> Response:
        return plain_text(in_words(error) if isinstance(error, JudgeError) else str(error), status_of(error))

    async def nowhere(_: Request, __: Exception) -> Response:
        return plain_text(f"There is no such page here.{begins}\n", 404)

    return {JudgeError: sentence, 404: nowhere}


def packed(kind: Kind, task: Mapping[str, Any], **values: Any) -> str:
    """One person's page as HTML that needs no network. Its content security policy allows only this program's scripts,
    by their hashes."""
    scripts = [(_STATIC / name).read_text(encoding="utf-8") for name in ("page.js", *kind.scripts)]
    styles = [stylesheet(), *((_STATIC / name).read_text(encoding="utf-8") for name in ("work.css", kind.style))]
    filled = {"title": "", "doing": ""} | values
    return (
        environment(TEMPLATES)
        .get_template("work_pack.html")
        .render(
            kind=kind,
            task=as_script(dict(task)),
            style=own_element("style", "".join(styles)),
            scripts=[own_element("script", script) for script in scripts],
            hashes=[Markup("'sha256-{}'").format(sha256_script(script)) for script in scripts],
            version=__version__,
            **filled,
        )
    )


def write_pages(folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """Write files by name into a folder, made where it is missing. Raises SpecError where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise SpecError(
            f"{folder} cannot be written: {error.strerror}", hint="choose another folder with -o"
        ) from error
    return [folder / name for name in pages]
