"""The server of `judge view`: it changes no result, and steers runs of this machine; errors are pages with a
sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.errors import TELLS_INTACT, JudgeError, SpecError
from judge.base.wording import PLAIN, written
from judge.show.web.pages import static_route
from judge.show.web.view.pages import analyses, answers, changed, overview, pairs, steering
from judge.show.web.view.pages import map as map_pages
from judge.show.web.view.site import NotFoundError, Site

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access

# Requests answered at a time: each thread keeps memory of its own.
THREADS = 6


def view_app(root: Path, access: Access) -> Starlette:
    """The web application of `judge view` for runs under `root`. Raises SpecError where it is no folder."""
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
    # Starlette runs synchronous functions in a thread, so others do not wait while SQLite reads the disk.
    routes = [Route(address, partial(page, site)) for address, page in pages.items()]
    routes.append(Route(steering.ADDRESS, partial(steering.steered, site), methods=["POST"]))
    rated = analyses.OF_RATINGS | answers.OF_RATINGS | changed.OF_RATINGS | map_pages.PAGES
    routes += [Route(address, partial(_of_ratings(page), site)) for address, page in rated.items()]
    handlers: Any = {
        JudgeError: lambda _, error: _sentence(site, error),
        sqlite3.Error: lambda _, error: _sentence(
            site, JudgeError(f"a file of this run cannot be read ({error})", hint=TELLS_INTACT)
        ),
        HTTPException: lambda request, error: _sentence(site, _unknown(request, error), error.status_code),
    }
    return Starlette(routes=[*routes, static_route()], exception_handlers=handlers, lifespan=life)


def _of_ratings(page: Callable[[Site, Any], Any]) -> Callable[[Site, Any], Any]:
    """For pages about ratings: NotFoundError for runs that compare stories."""

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
    """`status` None = 404 for NotFoundError and 422 otherwise."""
    status = status or (404 if isinstance(error, NotFoundError) else 422)
    sentence, hint = written(error.sentence, PLAIN), written(error.hint or "", PLAIN)
    return site.page("parts/sentence.html", status=status, sentence=sentence, hint=hint or None)


def _unknown(request: Request, error: Any) -> JudgeError:
    if error.status_code == 405:
        return NotFoundError("these pages only show: nothing can be written here")
    return NotFoundError(f"there is no page at {request.url.path}")
