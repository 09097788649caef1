"""State that all pages of `judge view` share: the runs, stored results and background jobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder
from judge.base.errors import JudgeError
from judge.show.web.pages import Pages
from judge.show.web.view.index import identity_of
from judge.show.web.view.jobs import Jobs, Work
from judge.show.web.view.judgments import asked, judgments
from judge.show.web.view.runs import INDEX, FoundRun, Kept, Live, Runs, state

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from judge.show.web.access import Access

TEMPLATES = Path(__file__).parents[1] / "templates"
TABS = (
    ("", "Overview"),
    ("judgments", "Judgments"),
    ("stories", "Stories"),
    ("map", "Map"),
    ("prompts", "Prompts"),
    ("tables", "Tables"),
    ("disagreements", "Disagreements"),
    ("audit", "Audit"),
)


# Of runs that compare; the other pages show ratings, or what was made of them.
COMPARED_TABS = (("", "Overview"), ("judgments", "Comparisons"), ("tables", "Tables"))


class NotFoundError(JudgeError):
    """An address names a run, judge or story that does not exist."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A file computed from a run; `work` computes it, None where it is up to date."""

    file: Path
    work: Work | None

    @property
    def problem(self) -> str | None:
        """Why the file could not be computed, or None."""
        return self.work.failure if self.work is not None else None


class Site:
    """State that all requests share."""

    def __init__(self, root: Path, access: Access) -> None:
        self.local = access.key is None
        self.runs = Runs(root)
        self.kept = Kept()
        self.jobs = Jobs()
        self.live = Live()
        self._pages = Pages(TEMPLATES, access)
        folders = [folder for run in self.runs.all().values() for folder in run.results.values()]
        self.live.standings(folders, wait=0)

    def close(self) -> None:
        """End all background work and delete the temporary folder."""
        self.jobs.close()
        self.live.close()
        self.kept.close()

    def page(
        self, template: str, run: FoundRun | None = None, tab: str = "", status: int = 200, **values: Any
    ) -> Response:
        """A rendered page; `tab` is the current one of a run's."""
        tabs = COMPARED_TABS if run is not None and self.only_compares(run) else TABS
        more = {"run": run, "tab": tab, "tabs": tabs, "root": self.runs.root, "link": link, **FORMATS}
        return self._pages.response(f"view/{template}", status, **(more | values))

    def run(self, request: Request) -> FoundRun:
        """The run in an address. Raises NotFoundError."""
        key = request.path_params["run"]
        run = self.runs.all().get(key)
        if run is None:
            raise NotFoundError(f"no run is called {key!r} under {self.runs.root}", hint="the list of runs is at /")
        return run

    def compares(self, folder: ResultFolder) -> bool:
        """Whether a judge compares stories; False for an unreadable journal, which other pages report."""
        if not folder.journal.is_file():
            return False
        with suppress(JudgeError, sqlite3.Error), JournalReader(folder.journal) as journal:
            return journal.compares
        return False

    def only_compares(self, run: FoundRun) -> bool:
        """Whether all judges compare; False without results."""
        return bool(run.results) and all(self.compares(folder) for folder in run.results.values())

    def compares_too(self, run: FoundRun) -> bool:
        return any(self.compares(folder) for folder in run.results.values())

    def slug(self, request: Request, run: FoundRun) -> str:
        """Name of the result folder in an address, by default the first with a journal. Raises NotFoundError."""
        wanted = request.query_params.get("judge")
        if not run.results:
            raise NotFoundError(f"run {run.name} has no results yet", hint=f"judge run {run.path}")
        if wanted is None:
            # The first whose journal is there: imported ratings have no answers to look at.
            return next((n for n, f in run.results.items() if f.journal.is_file()), next(iter(run.results)))
        if wanted not in run.results:
            raise NotFoundError(f"run {run.name} has no judge {wanted!r}", hint=f"it has: {', '.join(run.results)}")
        return wanted

    def index(self, folder: ResultFolder) -> Computed:
        """The index of a result folder's judgments; a job updates it if out of date."""
        file = self.kept.folder_of(folder.path) / INDEX
        with judgments(file) as index, JournalReader(folder.journal) as journal:
            if index is not None and index.attempt == journal.last_attempt():
                definition = asked(folder, journal)
                if index.identity == identity_of(definition.definition, definition.reading.parser, journal.created()):
                    return Computed(file, None)
        return self.computed("index", folder.path, INDEX, state(folder), [folder.path])

    def computed(self, kind: str, folder: Path, name: str, wanted: str, before: list[Any]) -> Computed:
        """A file `name` computed from one folder; a job starts unless it has the fingerprint `wanted`. `before` are the
        job's arguments that precede the file."""
        file = self.kept.folder_of(folder) / name
        work = self.jobs.want(kind, [*before, file], wanted, again=not file.is_file())
        return Computed(file, None if work.done and work.state == wanted else work)

    def over_judges(self, kind: str, run: FoundRun, wanted: str, *more: str) -> Work:
        """The job that computes a result over all judges for `wanted`, started even if done before."""
        folders = [folder.path for folder in run.results.values()]
        return self.jobs.want(kind, [self.kept.folder_of(run.path), *more, *folders], wanted, again=True)


def link(path: str, values: Mapping[str, Any] | None = None, **more: Any) -> str:
    """Address of path and query; None and "" are left out."""
    kept = [(key, value) for key, value in {**(values or {}), **more}.items() if value not in (None, "")]
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def number(value: float | None, digits: int = 2) -> str:
    """Rounded, without trailing zeros; a dash for None."""
    return "—" if value is None else f"{round(value, digits):g}"


def percent(value: float | None, digits: int = 1) -> str:
    """Per cent; a dash for None. Below 1 is never 100 %, and above 0 never 0 %."""
    if value is None:
        return "—"
    text = f"{100 * value:.{digits}f}"
    if (value < 1 and float(text) == 100) or (value > 0 and float(text) == 0):
        return f"{'>' if value > 0.5 else '<'}{99.9 if value > 0.5 else 0.1} %"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


FORMATS = {"number": number, "percent": percent}
