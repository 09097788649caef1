"""The calibration figure: mean human rating against the judge's, before and after, with numbers of stories below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis.jury.reliability_curve import Curve, Curves, Point
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.questions.charts import shared
from judge.questions.charts.shared import BLUE, VERMILLION, Sign
from judge.questions.figures import panels

BEFORE, AFTER = Sign(VERMILLION, "s", filled=False, dash=(0, (3, 1.5))), Sign(BLUE, "o")
# Panels in one figure.
MOST = 24

_LEAST, _WIDEST = 0.98, 1.8
# Inches of the counts beneath a panel, and of the two lines above it.
_COUNTS, _ERRORS = 0.3, 0.21


def check(number: int) -> None:
    """Raise SpecError for more panels than a figure holds, before they are computed."""
    if number > MOST:
        raise SpecError(
            f"{number} panels are too many for one figure; at most {MOST}",
            hint=Advice("choose with {judge}, {eval_prompt} or {criterion}"),
        )


def draw(curves: Curves, width: float, note: str = "") -> Any:
    """One panel for each curve, `width` inches wide; `note` ends the caption."""
    with panels.style():
        return _draw(curves, width, note)


def _draw(curves: Curves, width: float, note: str) -> Any:
    check(len(curves.curves))
    if not curves.curves:
        raise SpecError(
            f"no judge and no person rated one criterion of {curves.dataset}: there is nothing to calibrate"
        )
    narrow = width < panels.NARROW
    entries = [("as rated", BEFORE), (f"calibrated ({curves.calibrate})", AFTER)]
    rows = panels.rows(entries, width - 2 * panels.MARGIN)
    room = panels.Room(panels.MARGIN + 0.34, above=0.2 + _ERRORS, below=0.36, between=0.24, top=panels.height(rows))
    columns = panels.columns_for(len(curves.curves), width, room, _LEAST)
    inches = min(_WIDEST, (width - room.left - panels.MARGIN - (columns - 1) * room.between) / columns)
    most = max(
        (point.stories for curve in curves.curves for stage in (curve.before, curve.after) for point in stage),
        default=1,
    )
    caption = _caption(curves, most) + note
    foot = panels.Foot.of(caption, curves.signature, width - 2 * panels.MARGIN, 6.5 if narrow else 7.5)
    grid = panels.make(len(curves.curves), width, inches + 0.06 + _COUNTS, room, foot, columns=columns, widest=_WIDEST)
    limits = _limits(curves)
    for axes, curve in zip(grid.axes, curves.curves, strict=True):
        _panel(grid, axes, curve, _name(curve, curves), limits, most)
    first = [axes for axes, _ in grid.row_ends()]
    for axes in first:
        box = axes.get_position()
        grid.figure.text(
            (panels.MARGIN + 0.06) / width, (box.y0 + box.y1) / 2, "people's mean", rotation=90,
            ha="center", va="center", size=panels.LABEL,
        )  # fmt: skip
    panels.draw(grid, rows)
    return grid.figure


def _name(curve: Curve, curves: Curves) -> str:
    """What differs between the curves: judge, Eval-Prompt or criterion; else the criterion."""
    parts = [
        part
        for part, names in (
            (curve.judge, {each.judge for each in curves.curves}),
            (curve.eval_prompt, {each.eval_prompt for each in curves.curves}),
            (curve.criterion, {each.criterion for each in curves.curves}),
        )
        if len(names) > 1
    ]
    return ", ".join(parts) or curve.criterion


def _limits(curves: Curves) -> tuple[float, float]:
    low, high = curves.scale
    space = 0.05 * (high - low or 1.0)
    return low - space, high + space


def _panel(grid: panels.Panels, axes: Any, curve: Curve, name: str, limits: tuple[float, float], most: float) -> None:
    """A square panel, with the number of stories at each point beneath it, of at most `most` in any panel."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    box = axes.get_position()
    counts = _COUNTS / grid.height
    square = box.height - counts - 0.06 / grid.height
    axes.set_position((box.x0, box.y1 - square, box.width, square))
    below = grid.figure.add_axes((box.x0, box.y0, box.width, counts))
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
    if curve.reason:
        axes.text(0.5, 0.5, "undefined", ha="center", style="italic", size=panels.LABEL, transform=axes.transAxes)
        return
    for points, sign, up in ((curve.before, BEFORE, 1), (curve.after, AFTER, -1)):
        _curve(axes, points, sign)
        x, heights = [point.rating for point in points], [up * point.stories for point in points]
        below.vlines(x, 0, heights, color=sign.colour, linewidth=1.2)
    if curve.error_before.value is not None and curve.error_after.value is not None:
        error = f"error {curve.error_before.value:.2f} → {curve.error_after.value:.2f}"
        axes.text(0.5, 1.02, f"{error}\nn = {curve.n:,}", ha="center", va="bottom", size=5.5, transform=axes.transAxes)


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


def _caption(curves: Curves, most: float) -> str:
    judges = list(dict.fromkeys(curve.judge for curve in curves.curves))
    prompts = list(dict.fromkeys(curve.eval_prompt for curve in curves.curves))
    who = f"{', '.join(judges)} ({', '.join(prompts)})"
    if len(curves.criteria) == 1:
        who += f", {curves.criteria[0]}"
    size = shared.counted([curve.n for curve in curves.curves], "stories")
    text = (
        f"People's mean rating of stories with similar ratings, {who}, {curves.dataset} ({size}); points of the scale, "
        "95 % intervals clustered by story-prompt. Beneath: stories at each point, rated (bars up) and calibrated "
        f"(bars down), both axes to {most:.0f}. Calibration is out of fold; error: mean distance from the grey line "
        "(rating = people's mean), weighted by stories."
    )
    text += _larger(curves)
    low, high = _limits(curves)
    shown = [point.people for curve in curves.curves for point in (*curve.before, *curve.after)]
    if any(
        (curve.low is not None and curve.low < low) or (curve.high is not None and curve.high > high) for curve in shown
    ):
        text += " Intervals that leave a panel are cut."
    reasons = list(dict.fromkeys(curve.reason for curve in curves.curves if curve.reason))
    return text + (f" Undefined: {'; '.join(reasons)}." if reasons else "")


def _larger(curves: Curves) -> str:
    """Names the curves whose error is larger after calibration, so that a smaller mean error does not hide them."""
    errors = [(curve.error_before.value, curve.error_after.value) for curve in curves.curves]
    pairs = [(before, after) for before, after in errors if before is not None and after is not None]
    worse = sum(after > before for before, after in pairs)
    if not worse:
        return ""
    where = "Here" if len(pairs) == 1 else f"In {worse} of {len(pairs)} panels"
    return f" {where} calibration made the error larger: the fit on other story-prompts did not transfer."
