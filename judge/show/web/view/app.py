"""The server of `judge view`. It has a page for each address, and shows errors as pages with a sentence. It is
read-only and refuses all writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.errors import TELLS_INTACT, JudgeError, SpecError
from judge.base.wording import PLAIN, written
from judge.show.web.pages import static_route
from judge.show.web.view.pages import analyses, answers, changed, maps, overview, pairs
from judge.show.web.view.site import NotFoundError, Site

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access

THREADS = 6
"""Requests answered at a time: each thread keeps memory of its own."""


def view_app(root: Path, access: Access) -> Starlette:
    """The web application of `judge view`, which shows all runs under the folder `root`. Raises SpecError where `root`
    is not a folder.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    if not root.is_dir():
        raise SpecError(
            f"{root} is no folder",
            hint="judge view FOLDER, with the folder that holds the runs; judge demo makes a run",
        )
    site = Site(root, access)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        from anyio.to_thread import current_default_thread_limiter

        current_default_thread_limiter().total_tokens = THREADS
        yield
        site.close()

    pages = overview.PAGES | analyses.PAGES | answers.PAGES | pairs.PAGES
    routes = [Route(address, _endpoint(site, page)) for address, page in pages.items()]
    rated = analyses.OF_RATINGS | answers.OF_RATINGS | changed.OF_RATINGS | maps.PAGES
    routes += [Route(address, _endpoint(site, _of_ratings(page))) for address, page in rated.items()]
    handlers: Any = {
        JudgeError: lambda _, error: _sentence(site, error),
        sqlite3.Error: lambda _, error: _sentence(site, _unreadable(error)),
        HTTPException: lambda request, error: _sentence(site, _unknown(request, error), error.status_code),
    }
    return Starlette(routes=[*routes, static_route()], exception_handlers=handlers, lifespan=life)


def _endpoint(site: Site, page: Callable[[Site, Any], Any]) -> Callable[[Any], Any]:
    """A synchronous function that answers requests with the response of the function `page`. Starlette runs synchronous
    functions in a thread, so that other requests do not wait while SQLite reads the disk.
    """

    def endpoint(request: Request) -> Response:
        response: Response = page(site, request)
        return response

    return endpoint


def _of_ratings(page: Callable[[Site, Any], Any]) -> Callable[[Site, Any], Any]:
    """The page function, wrapped for pages about ratings. It raises NotFoundError for runs that compare stories, which
    have no ratings.
    """

    def shown(site: Site, request: Request) -> Any:
        run = site.run(request)
        wanted = request.query_params.get("judge")
        if site.only_compares(run) or (wanted in run.results and site.compares(run.results[wanted])):
            raise NotFoundError(
                f"run {run.name} compares stories: this page is about ratings", hint=f"/run/{run.key}/judgments"
            )
        return page(site, request)

    return shown


def _sentence(site: Site, error: JudgeError, status: int | None = None) -> Response:
    """Page for an error, with its sentence and hint. `status` is the HTTP status; None = 404 for NotFoundError and 422
    otherwise.
    """
    status = status or (404 if isinstance(error, NotFoundError) else 422)
    sentence, hint = written(error.sentence, PLAIN), written(error.hint or "", PLAIN)
    return site.page("parts/sentence.html", status=status, sentence=sentence, hint=hint or None)


def _unreadable(error: sqlite3.Error) -> JudgeError:
    return JudgeError(f"a file of this run cannot be read ({error})", hint=TELLS_INTACT)


def _unknown(request: Request, error: Any) -> JudgeError:
    if error.status_code == 405:
        return NotFoundError("these pages only show: nothing can be written here")
    return NotFoundError(f"there is no page at {request.url.path}")
