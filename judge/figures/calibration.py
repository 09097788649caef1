"""Reliability curves: people's mean by a judge's rating, before and after calibration, counts beneath. Never fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis.jury.reliability_curve import Curve, Curves, Point
from judge.charts import words
from judge.charts.signs import BLUE, VERMILLION, Sign
from judge.errors import SpecError
from judge.figures import legend, page, panels
from judge.wording import Advice

BEFORE, AFTER = Sign(VERMILLION, "s", filled=False, dash=(0, (3, 1.5))), Sign(BLUE, "o")
MOST = 24
"""Panels in one figure."""

_LEAST, _WIDEST = 0.98, 1.8
_COUNTS, _ERRORS = 0.3, 0.21
"""Inches of the counts beneath a panel, and of the two lines above it."""


def check(number: int) -> None:
    """Raise SpecError for more panels than a figure can hold: before they are computed."""
    if number > MOST:
        raise SpecError(
            f"{number} panels are too many for one figure; at most {MOST}",
            hint=Advice("choose with {judge}, {eval_prompt} or {criterion}"),
        )


def draw(found: Curves, width: float, note: str = "") -> Any:
    """A matplotlib figure so many inches wide; `note` ends the caption."""
    with page.style():
        return _draw(found, width, note)


def _draw(found: Curves, width: float, note: str) -> Any:
    check(len(found.curves))
    if not found.curves:
        raise SpecError(f"no judge and no person rated one criterion of {found.dataset}: there is nothing to calibrate")
    narrow = width < panels.NARROW
    entries = [("as rated", BEFORE), (f"calibrated ({found.calibrate})", AFTER)]
    rows = legend.rows(entries, width - 2 * page.MARGIN)
    room = panels.Room(page.MARGIN + 0.34, above=0.2 + _ERRORS, below=0.36, between=0.24, top=legend.height(rows))
    columns = panels.columns_for(len(found.curves), width, room, _LEAST)
    inches = min(_WIDEST, (width - room.left - page.MARGIN - (columns - 1) * room.between) / columns)
    most = max(
        (point.stories for one in found.curves for stage in (one.before, one.after) for point in stage), default=1
    )
    caption = _caption(found, most) + note
    foot = page.Foot.of(caption, found.signature, width - 2 * page.MARGIN, 6.5 if narrow else 7.5)
    made = panels.make(len(found.curves), width, inches + 0.06 + _COUNTS, room, foot, columns=columns, widest=_WIDEST)
    limits = _limits(found)
    for axes, one in zip(made.axes, found.curves, strict=True):
        _panel(made, axes, one, _name(one, found), limits, most)
    first = [axes for axes, _ in made.row_ends()]
    for axes in first:
        box = axes.get_position()
        made.figure.text(
            (page.MARGIN + 0.06) / width, (box.y0 + box.y1) / 2, "people's mean", rotation=90, ha="center", va="center",
            size=panels.LABEL,
        )  # fmt: skip
    legend.draw(made, rows)
    return made.figure


def _name(one: Curve, found: Curves) -> str:
    """What tells the curve from the others; the criterion where nothing does."""
    parts = [
        part
        for part, known in (
            (one.judge, {each.judge for each in found.curves}),
            (one.eval_prompt, {each.eval_prompt for each in found.curves}),
            (one.criterion, {each.criterion for each in found.curves}),
        )
        if len(known) > 1
    ]
    return ", ".join(parts) or one.criterion


def _limits(found: Curves) -> tuple[float, float]:
    low, high = found.scale
    space = 0.05 * (high - low or 1.0)
    return low - space, high + space


def _panel(made: panels.Panels, axes: Any, one: Curve, name: str, limits: tuple[float, float], most: float) -> None:
    """The curve as a square, and beneath it how many stories stand behind each point."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    box = axes.get_position()
    counts = _COUNTS / made.height
    square = box.height - counts - 0.06 / made.height
    axes.set_position((box.x0, box.y1 - square, box.width, square))
    below = made.figure.add_axes((box.x0, box.y0, box.width, counts))
    for each in (axes, below):
        panels.plain(each)
        each.set_xlim(*limits)
        each.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.set_ylim(*limits)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.spines["left"].set_visible(True)
    axes.tick_params(labelbottom=False)
    axes.grid(color=panels.GRID, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.plot(limits, limits, color="#888888", linewidth=0.7, zorder=1)
    below.set_ylim(-1.12 * most, 1.12 * most)
    below.axhline(0, color="#888888", linewidth=0.5)
    below.spines["bottom"].set_visible(False)
    below.set_yticks([most])
    below.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    below.tick_params(axis="y", labelsize=5.5, length=0)
    below.set_xlabel("rating", size=panels.LABEL, labelpad=1)
    panels.title(axes, name, pad=3 + 72 * _ERRORS)
    if one.reason:
        axes.text(0.5, 0.5, "undefined", ha="center", style="italic", size=panels.LABEL, transform=axes.transAxes)
        return
    for points, sign, up in ((one.before, BEFORE, 1), (one.after, AFTER, -1)):
        _curve(axes, points, sign)
        x, heights = [point.rating for point in points], [up * point.stories for point in points]
        below.vlines(x, 0, heights, color=sign.colour, linewidth=1.2)
    if one.error_before.value is not None and one.error_after.value is not None:
        error = f"error {one.error_before.value:.2f} → {one.error_after.value:.2f}"
        axes.text(0.5, 1.02, f"{error}\nn = {one.n:,}", ha="center", va="bottom", size=5.5, transform=axes.transAxes)


def _curve(axes: Any, points: Sequence[Point], sign: Sign) -> None:
    x = [point.rating for point in points]
    y = [point.people.value for point in points]
    for point in points:
        if point.people.low is not None and point.people.high is not None:
            axes.plot([point.rating] * 2, [point.people.low, point.people.high], color=sign.colour, linewidth=0.8)
    axes.plot(
        x, y, color=sign.colour, linewidth=0.9, linestyle=sign.dash, marker=sign.marker, markersize=3.0,
        markerfacecolor=sign.face, markeredgecolor=sign.colour, markeredgewidth=0.8, zorder=3,
    )  # fmt: skip


def _caption(found: Curves, most: float) -> str:
    judges = list(dict.fromkeys(one.judge for one in found.curves))
    prompts = list(dict.fromkeys(one.eval_prompt for one in found.curves))
    who = f"{', '.join(judges)} ({', '.join(prompts)})"
    if len(found.criteria) == 1:
        who += f", {found.criteria[0]}"
    size = words.counted([one.n for one in found.curves], "stories")
    text = (
        f"People's mean rating of stories with similar ratings, {who}, {found.dataset} ({size}); points of the scale, "
        "95 % intervals clustered by story-prompt. Beneath: stories behind each point, as rated upwards, calibrated "
        f"downwards, either way to {most:.0f}. Calibration is out of fold; error: mean distance from the grey line "
        "(rating = people's mean), weighted by stories."
    )
    text += _larger(found)
    low, high = _limits(found)
    shown = [point.people for one in found.curves for point in (*one.before, *one.after)]
    if any((one.low is not None and one.low < low) or (one.high is not None and one.high > high) for one in shown):
        text += " Intervals that leave a panel are cut."
    reasons = list(dict.fromkeys(one.reason for one in found.curves if one.reason))
    return text + (f" Undefined: {'; '.join(reasons)}." if reasons else "")


def _larger(found: Curves) -> str:
    """A sentence where calibration did harm, which a lower line elsewhere must not hide."""
    errors = [(one.error_before.value, one.error_after.value) for one in found.curves]
    known = [(before, after) for before, after in errors if before is not None and after is not None]
    worse = sum(after > before for before, after in known)
    if not worse:
        return ""
    where = "Here" if len(known) == 1 else f"In {worse} of {len(known)} panels"
    return f" {where} calibration made the error larger: what other story-prompts taught did not hold."
