"""Pages about runs as a whole: the list of runs, and one run with coverage and distributions of ratings."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judge.asking.in_force import words
from judge.asking.run_folder import Cost, ResultFolder, read_manifest
from judge.base.errors import JudgeError
from judge.inputs.criteria import other_names, set_against
from judge.questions.charts.distributions import Distributions, Histogram, HistogramRow
from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow, Scale
from judge.show.pages import charts
from judge.show.web.view.judgments import Asked, Judgments, judgments, stored
from judge.show.web.view.pages import steering
from judge.show.web.view.runs import FoundRun, Standing
from judge.show.web.view.site import Site

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


# Counts of the verdicts of a run that compares stories: preferences and wins, without statistical inference.

# Systems of which a matrix of wins can be read.
_SYSTEMS = 24

_MATRICES = 6


@dataclass(frozen=True, slots=True)
class PreferredRow:
    """Counts of comparisons with a parsed preference, for one criterion and Eval-Prompt. `leads` counts 1 for the story
    shown first, -1 for the second, 0 for a tie. In `beside` both judge and people prefer a story, in `own` of these the
    same."""

    criterion: str
    eval_prompt: str
    decided: int
    leads: dict[int, int]
    own: int
    beside: int


def preferred(index: Judgments) -> list[PreferredRow]:
    """One row for each criterion and Eval-Prompt with a parsed preference."""
    counts: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: {1: 0, 0: 0, -1: 0})
    for criterion, prompt, _, lead, n in index.cells():
        if lead is not None:
            counts[criterion, prompt][int(lead)] += n
    agreed = index.agreed()
    return [
        PreferredRow(*key, sum(leads.values()), dict(leads), *agreed.get(key, (0, 0))) for key, leads in counts.items()
    ]


def wins(index: Judgments, criteria: list[str]) -> list[tuple[Markup, str]]:
    """A matrix of wins with its caption, for each of the first criteria (at most six). Criteria with only one system or
    too many are left out."""
    matrices: list[tuple[Markup, str]] = []
    for number, criterion in enumerate(criteria[:_MATRICES]):
        won = index.wins(criterion)
        systems = {name for pair in won for name in pair}
        if 1 < len(systems) <= _SYSTEMS:
            matrices.append(_matrix(criterion, won, systems, number))
    return matrices


def _matrix(criterion: str, won: dict[tuple[str, str], float], systems: set[str], number: int) -> tuple[Markup, str]:
    """Share that the row's system won against the column's, the highest mean first; `number` is for a unique name."""

    def share(one: str, other: str) -> float | None:
        met = won.get((one, other), 0.0) + won.get((other, one), 0.0)
        return won.get((one, other), 0.0) / met if met else None

    def mean(name: str) -> float:
        shares = [value for other in systems if (value := share(name, other)) is not None]
        return sum(shares) / len(shares)

    order = sorted(systems, key=lambda name: (-mean(name), name))
    rows = []
    for position, name in enumerate(order, 1):
        cells = [_cell(name, other, share(name, other)) for other in order]
        rows.append(HeatRow("", "", f"{position}  {name}", tuple(cells)))
    values: list[float] = [cell.value for row in rows for cell in row.cells if cell.value]
    caption = (
        f"{criterion}: share of comparisons, in per cent, that the row's system won against the column's, ties one "
        "half, over all Eval-Prompts and both orders. Colours are by distance from 50 %."
    )
    heat_map = HeatMap(
        title=f"Wins of {len(order)} systems, {criterion}",
        alt=f"{len(order)} rows by {len(order)} systems.",
        columns=tuple(str(position) for position, _ in enumerate(order, 1)),
        rows=tuple(rows),
        unit="won, less 50 %",
        scale=Scale.of(values or [10.0], digits=0),
        caption=caption,
        signature="",
    )
    return charts.heat_map(heat_map, f"wins-{number}"), caption


def _cell(name: str, other: str, share: float | None) -> HeatCell:
    if share is None:
        return HeatCell(None, "", f"{name} against {other}: {'the same system' if name == other else 'never compared'}")
    return HeatCell(100 * share - 50, f"{100 * share:.0f}", f"{name} against {other}: {100 * share:.1f} % won")


_COSTS = frozenset({"cost", "cost_basis", "price"})
# What the page of a run shows of a judge of whom nothing is known.
_NOTHING: dict[str, Any] = {
    "facts": [], "coverage": None, "chart": None, "beside": "", "preferred": (), "wins": (), "compares": False,
    "work": None, "steering": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
    """One judge of a run with its figures; `slug` is its result folder in addresses."""

    slug: str
    folder: ResultFolder
    standing: Standing


def sides(site: Site, run: FoundRun) -> list[Side]:
    """All judges of a run with their figures."""
    figures = site.live.standings(run.results.values())
    return [Side(*values) for values in zip(run.results, run.results.values(), figures, strict=True)]


def runs_page(site: Site, request: Request) -> Response:
    """The list of all runs; `/part/runs` is only the list, reloaded every few seconds."""
    runs = list(site.runs.all().values())
    site.live.standings(folder for run in runs for folder in run.results.values())
    runs_with_sides = [(run, sides(site, run)) for run in runs]
    part = request.url.path.startswith("/part/")
    return site.page("parts/runs_list.html" if part else "runs.html", found=runs_with_sides)


def run_page(site: Site, request: Request) -> Response:
    """One run: figures, coverage, distributions, and settings requested and in force."""
    run = site.run(request)
    shown = sides(site, run)
    values: dict[str, Any] = {"sides": shown, "live": any(side.standing.running for side in shown)}
    if request.url.path.endswith("/part/standing"):
        return site.page("parts/standing.html", run, **values)
    if not run.results:
        return site.page("run.html", run, slug=None, **_NOTHING, **values)
    slug = site.slug(request, run)
    (side,) = (candidate for candidate in shown if candidate.slug == slug)
    of_judge = _of_judge(site, side) | {"steering": steering.standing(site, side.folder)}
    return site.page("run.html", run, slug=slug, **of_judge, **values)


def _of_judge(site: Site, side: Side) -> dict[str, Any]:
    folder = side.folder
    nothing = _NOTHING | {"facts": _facts(folder, side.standing.cost)}
    if not folder.journal.is_file():
        return nothing
    try:
        computed = site.index(folder)
        with stored(folder) as opened, judgments(computed.file) as index:
            if index is None or (computed.work is not None and not index.cells()):
                return nothing | {"work": computed.work}
            asked, compares = opened.asked, opened.journal.compares
            each = opened.journal.subject_count() * asked.repeats
            counted = _coverage(index, asked.criteria, asked.eval_prompts, each if computed.work is None else None)
            values: dict[str, Any] = {"coverage": counted, "compares": compares}
            if compares:
                values |= {"preferred": preferred(index), "wins": wins(index, asked.criteria)}
            else:
                beside = set_beside(index, asked)
                picture = chart(index, asked, beside)
                values["chart"] = None if picture is None else charts.distributions(picture, "ratings")
                values["beside"] = other_names((own, t) for own, t in beside.items() if own.casefold() != t.casefold())
    except JudgeError:
        return nothing  # the figures above say why
    return nothing | {"work": computed.work, **values}


def _coverage(index: Judgments, criteria: list[str], prompts: list[str], each: int | None) -> dict[str, Any]:
    """By criterion and Eval-Prompt; `each` repeats are planned, None while answers are still being indexed."""
    rated: dict[tuple[str, str], int] = defaultdict(int)
    tried: dict[tuple[str, str], int] = defaultdict(int)
    lost: dict[str, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for criterion, prompt, status, rating, n in index.cells():
        tried[criterion, prompt] += n
        if rating is not None:
            rated[criterion, prompt] += n
        else:
            lost[status][criterion, prompt] += n
    return {
        "criteria": criteria,
        "prompts": prompts,
        "each": each,
        "rated": rated,
        "tried": tried,
        "untried": any(not tried[criterion, prompt] for criterion in criteria for prompt in prompts),
        "lost": {status: dict(cells) for status, cells in sorted(lost.items())},
        "total": sum(tried.values()),
    }


def set_beside(index: Judgments, asked: Asked) -> dict[str, str]:
    """Human criterion by judge's criterion, where there is one."""
    rated = list(dict.fromkeys(criterion for criterion, _, _ in index.people()))
    declared = {own.casefold(): theirs for own, theirs in asked.people.items()}
    places, _ = set_against([(name, declared.get(name.casefold())) for name in asked.criteria], rated)
    return {name: rated[at] for name, at in zip(asked.criteria, places, strict=True) if at is not None}


def chart(index: Judgments, asked: Asked, beside: Mapping[str, str]) -> Distributions | None:
    """Histograms of ratings, human ones (or labels) first, then one row per Eval-Prompt. None without a rating by the
    judge, or where a scale has too many points. `beside` maps to human criteria."""
    scales, prompts, raters = asked.scales, asked.eval_prompts, asked.raters
    points = {name: scale.points() for name, scale in scales.items()}
    counts: dict[tuple[str, str], list[int]] = {}
    for criterion, prompt, _, rating, n in index.cells():
        if rating is not None:
            _add(counts, (prompt, criterion), points[criterion], rating, n)
    people: dict[tuple[str, str], list[int]] = {}
    for criterion, value, n in index.people():
        for name in (own for own, theirs in beside.items() if theirs == criterion and value in scales[own]):
            _add(people, (raters, name), points[name], value, n)
    if not counts or any(len(some) > 41 for some in points.values()):
        return None

    def histogram(given: list[int] | None, criterion: str) -> Histogram:
        if given is None:
            return Histogram((), (), 0, "no rating")
        return Histogram(tuple(points[criterion]), tuple(given), sum(given), words=scales[criterion].labels)

    def cells(row: str, found: dict[tuple[str, str], list[int]]) -> tuple[Histogram, ...]:
        return tuple(histogram(found.get((row, name)), name) for name in scales)

    rows = [HistogramRow(raters, "", "people", cells(raters, people))] if people else []
    rows += [HistogramRow("", prompt, "judge", cells(prompt, counts)) for prompt in prompts]
    names = tuple(scales)
    return Distributions("Ratings given, by Eval-Prompt and criterion", names, names, tuple(rows), "", "")


def _add(
    counts: dict[tuple[str, str], list[int]], key: tuple[str, str], points: list[float], rating: float, n: int
) -> None:
    cell = counts.setdefault(key, [0] * len(points))
    cell[min(range(len(points)), key=lambda k: abs(points[k] - rating))] += n


def _facts(folder: ResultFolder, cost: Cost | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """(heading, [(name, value)])."""
    try:
        manifest = read_manifest(folder.manifest)
    except JudgeError as error:
        return [("Manifest", [("cannot be read", str(error))])]
    force = manifest.get("in_force") or {}
    definition = force.get("definition") or {}
    environment = manifest.get("environment") or {}
    groups = [
        ("Asked", manifest.get("asked") or {}),
        ("In force", {k: v for k, v in force.items() if k not in ("definition", "server", "settings")}),
        ("Settings", {setting.setting: f"{setting.state}: {setting.evidence}" for setting in words.stored(manifest)}),
        ("Server", force.get("server") or {}),
        ("Hashes", {k: v for k, v in definition.items() if "hash" in k or k in ("judge_key", "eval_prompts")}),
        ("Environment", environment),
        # The manifest's own costs are those of the prices at that time; the page says one.
        ("Totals", _without(_COSTS, manifest.get("totals") or {}) | ({"cost": cost.words()} if cost else {})),
    ]
    sittings = enumerate(manifest.get("sittings") or (), start=1)
    groups += [(f"Sitting {k}", _without(_COSTS, sitting)) for k, sitting in sittings]
    return [(name, list(_flat(values))) for name, values in groups if values]


def _without(keys: frozenset[str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _flat(values: Any, prefix: str = "") -> Any:
    """(path with dots, value) as text."""
    for key, value in values.items() if isinstance(values, dict) else ():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value, start=1):
                yield from _flat(item, f"{name}.{number}.")
        elif key in ("began", "ended") and isinstance(value, int | float):
            yield name, time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value))
        elif isinstance(value, list):
            yield name, ", ".join(map(str, value)) or "—"
        else:
            yield name, "—" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


PAGES: dict[str, Callable[[Site, Any], Any]] = {
    "/": runs_page,
    "/part/runs": runs_page,
    "/run/{run}": run_page,
    "/run/{run}/part/standing": run_page,
}
