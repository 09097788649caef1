"""Pages of results computed in the background: tables, disagreements between ratings, and the audit."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge.base.printing.output import html_table, table
from judge.show.web.view import pictures
from judge.show.web.view.jobs import Work
from judge.show.web.view.pages.overview import sides
from judge.show.web.view.runs import FoundRun, read_kept, run_state
from judge.show.web.view.site import Site
from judge.show.web.view.tables import COMPARED, RATED

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BETWEEN = {
    "people": "judge and people",
    "repeats": "repeats of one query",
    "eval-prompts": "Eval-Prompts",
    "judges": "judges",
}
# Seconds between tables of a run that is being written.
_PATIENCE = 60.0


def tables_page(site: Site, request: Request) -> Response:
    """The tables of one analysis over all judges of a run."""
    run = site.run(request)
    offered = COMPARED if site.only_compares(run) else {**RATED, **COMPARED} if site.compares_too(run) else RATED
    show = request.query_params.get("show", "coverage")
    show = show if show in offered else "coverage"
    site.slug(request, run)
    kind = "summary" if show == "summary" else "tables"
    result = _kept(site, run, f"view-{show}.json", kind)
    kept = result["kept"]
    part = "/part/" in request.url.path
    return site.page(
        "parts/tables.html" if part else "tables.html",
        run,
        "tables",
        show=show,
        all=offered,
        tables=_as_html(kept),
        pictures=pictures.drawn(kept.get("pictures", ())) if kept is not None else (),
        **result,
    )


def summary_part(site: Site, request: Request) -> Response:
    """The answers of `judge summary` for a run's Overview."""
    run = site.run(request)
    result = _kept(site, run, "view-summary.json", "summary")
    # The boxes are made by this program of escaped parts, and stored where only it writes.
    boxes = [Markup(box) for box in (result["kept"] or {}).get("boxes", ())]  # noqa: S704
    return site.page("parts/summary.html", run, boxes=boxes, **result)


def _as_html(kept: dict[str, Any] | None) -> list[Markup]:
    return [html_table(table(kept_table), copies=False) for kept_table in (kept["tables"] if kept is not None else ())]


def disagreements_page(site: Site, request: Request) -> Response:
    """Stories on which ratings differ most, with links to all judgments of them."""
    run = site.run(request)
    between = request.query_params.get("between", "people")
    between = between if between in BETWEEN else "people"
    site.slug(request, run)
    name = f"view-disagreements-{between}.json"
    result = _kept(site, run, name, "disagreements", between)
    part = "/part/" in request.url.path
    return site.page(
        "parts/disagreements.html" if part else "disagreements.html",
        run,
        "disagreements",
        between=between,
        all=BETWEEN,
        **result,
        slugs={side.standing.judge: side.slug for side in sides(site, run)},
    )


def _result(
    kept: dict[str, Any] | None, *, waiting: bool = False, problem: str | None = None, newer: bool = False
) -> dict[str, Any]:
    """A stored result, and whether it is being computed, cannot be (the reason), or is out of date."""
    return {"kept": kept, "waiting": waiting, "problem": problem, "newer": newer}


def _being_made(kept: dict[str, Any] | None, work: Work) -> dict[str, Any]:
    return _result(kept, waiting=work.failure is None, problem=work.failure, newer=kept is not None)


def _kept(site: Site, run: FoundRun, name: str, kind: str, *more: str) -> dict[str, Any]:
    """The result in the file `name`, which a job computes where it is missing or out of date."""
    file: Path = site.kept.folder_of(run.path) / name
    kept, wanted = read_kept(file), run_state(run)
    if kept is not None and kept.get("state") == wanted:
        return _result(kept)
    writing = any(side.standing.running for side in sides(site, run))
    if kept is not None and writing and time.time() - file.stat().st_mtime < _PATIENCE:
        return _result(kept, newer=True)
    return _being_made(kept, site.over_judges(kind, run, wanted, *more))


def audit_page(site: Site, request: Request) -> Response:
    """The audit's results, or that there is none."""
    run = site.run(request)
    file = run.path / "audit.sqlite"
    result = _audited(site, run, file) if file.is_file() else _result(None)
    tables = _as_html(result["kept"])
    return site.page("audit.html", run, "audit", file=file, exists=file.is_file(), tables=tables, **result)


def _audited(site: Site, run: FoundRun, file: Path) -> dict[str, Any]:
    status = file.stat()
    wal = file.with_name(file.name + "-wal")
    more = wal.stat() if wal.is_file() else None
    wanted = f"{status.st_mtime_ns}-{status.st_size}-{more.st_mtime_ns if more else 0}"
    kept = read_kept(site.kept.folder_of(run.path) / "view-audit.json")
    if kept is not None and kept.get("state") == wanted:
        return _result(kept, problem=kept.get("problem"))
    return _being_made(kept, site.jobs.want("audit", [site.kept.folder_of(run.path), file], wanted, again=True))


PAGES: dict[str, Callable[[Site, Any], Any]] = {
    "/run/{run}/tables": tables_page,
    "/run/{run}/part/tables": tables_page,
    "/run/{run}/part/summary": summary_part,
}
OF_RATINGS: dict[str, Callable[[Site, Any], Any]] = {
    "/run/{run}/disagreements": disagreements_page,
    "/run/{run}/part/disagreements": disagreements_page,
    "/run/{run}/audit": audit_page,
}
