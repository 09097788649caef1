"""Steers a run from its page, as judge status does from a terminal: pause, go on, stop, requests in flight, budget.

Only pages of this machine itself do: whoever reads them from another machine may look at a run and not end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from judge.asking.run_folder import ResultFolder, is_held
from judge.asking.run_folder.steering import read_steering, steer
from judge.base.errors import JudgeError, SpecError
from judge.show.web.pages import read_body
from judge.show.web.view.site import Site, link

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ADDRESS = "/run/{run}/steer"
_SENDS = ("go", "pause", "stop")


def standing(site: Site, folder: ResultFolder) -> dict[str, object] | None:
    """What the page says of steering; None where nothing can be steered."""
    if not site.local or not folder.journal.is_file():
        return None
    try:
        words = read_steering(folder.path).words
    except JudgeError as error:
        words = error.sentence
    return {"words": words or "as its definition says", "runs": is_held(folder.path)}


async def steered(site: Site, request: Request) -> Response:
    """Write what the form asks for, and show the run again. Raises SpecError for a value that is none."""
    from starlette.responses import RedirectResponse

    run = site.run(request)
    given = {
        name: values[0] for name, values in parse_qs((await read_body(request)).decode("utf-8", "replace")).items()
    }
    slug = given.get("judge", "")
    # A run that just began may not be on the list of a moment ago.
    folder = run.results.get(slug) or site.runs.all(again=True)[run.key].results.get(slug)
    if folder is None or standing(site, folder) is None:
        raise SpecError("this run cannot be steered from here", hint="judge status steers it from a terminal")
    send = given.get("send")
    if send is not None and send not in _SENDS:
        raise SpecError(f"{send!r} is not known", hint=f"allowed: {', '.join(_SENDS)}")
    connections, most = _number(given, "connections"), _number(given, "max_cost")
    if connections is not None and connections != int(connections):
        raise SpecError("connections is a whole number of requests")
    steer(folder.path, send=send, connections=None if connections is None else int(connections), max_cost=most)
    return RedirectResponse(link(f"/run/{run.key}", judge=slug), 303)


def _number(given: dict[str, str], name: str) -> float | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    least = 1 if name == "connections" else 0
    if not least <= value < 1e9 or not value:
        raise SpecError(f"{name}: {text[:40]!r} is no number above 0")
    return value
