"""Layout of a figure: panels of equal size in a grid, labels at their left, caption and signature at the bottom."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from judge.base.errors import MissingExtraError, OptionError, SpecError
from judge.base.files import draft, writing
from judge.base.wording import Advice
from judge.questions.charts import shared
from judge.questions.charts.shared import Sign

# Style and output of figures: fonts, files that are equal for equal figures, and the signature at the bottom.

SUFFIXES = (".png", ".svg", ".pdf")
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "judge",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
# matplotlib writes dates and its own version unless told otherwise: the same numbers must give the same file.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
CAPTION_SIZE, SIGNATURE_SIZE = 8.0, 5.5

# Inches of a column and of the text in ACL's and TACL's format: at these no figure is scaled, and 7 points stay 7.
WIDTHS = {"column": 3.03, "page": 6.30}

# Inches that stay empty around everything.
MARGIN = 0.1

_LEADING = 1.3
_ABOVE_SIGNATURE = 0.08


@dataclass(frozen=True, slots=True)
class Foot:
    """Caption and signature below a figure, broken into lines that fit. `size` is the caption's in points."""

    caption: tuple[str, ...]
    signature: tuple[str, ...]
    size: float = CAPTION_SIZE

    @classmethod
    def of(cls, caption: str, signature: str, inches: float, size: float = CAPTION_SIZE) -> Foot:
        """The text below a figure `inches` wide."""
        return cls(tuple(caption_lines(caption, inches, size)), tuple(signature_lines(signature, inches)), size)

    @property
    def height(self) -> float:
        """Inches from the lower edge of the figure to the top of the caption."""
        lines = len(self.caption) * self.size + len(self.signature) * SIGNATURE_SIZE
        return MARGIN + lines * _LEADING / 72 + _ABOVE_SIGNATURE

    def write(self, figure: Any) -> None:
        """Write caption and signature into a figure."""
        width, height = (float(side) for side in figure.get_size_inches())
        y = MARGIN
        grey = {"color": "#555555", "family": "monospace"}
        for lines, size, font in ((self.signature, SIGNATURE_SIZE, grey), (self.caption, self.size, {})):
            for line in reversed(lines):
                figure.text(MARGIN / width, y / height, line, va="baseline", size=size, **font)
                y += size * _LEADING / 72
            y += _ABOVE_SIGNATURE


@contextmanager
def style() -> Iterator[None]:
    """matplotlib's settings while figures are drawn or written. Raises MissingExtraError without matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("drawing figures", "report") from error
    with matplotlib.rc_context(_STYLE):
        yield


def check_suffix(path: Path) -> None:
    """Raise SpecError unless figures can be written in the format of the file's suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise SpecError(f"{path}: the suffix names the file format; allowed: {', '.join(SUFFIXES)}")


def write(figure: Any, path: Path) -> None:
    """Write a figure in the format of the path's suffix. Equal figures give equal files."""
    check_suffix(path)
    suffix = path.suffix.lower()
    with writing(path), style(), draft(path) as fresh:
        figure.savefig(fresh, format=suffix[1:], metadata=_METADATA[suffix])


def text_width(text: str, size: float, **font: Any) -> float:
    """Inches of a text in font size `size` (points); `font` are matplotlib's properties (weight, style, family)."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(size=size, **font), ismath=False)
    return float(width) / 72


def inches_of(width: str) -> float:
    """Inches of the widths `column` and `page`; OptionError for any other word."""
    if width not in WIDTHS:
        raise OptionError("width", width, allowed=WIDTHS)
    return WIDTHS[width]


def shortened(text: str, size: float, inches: float, **font: Any) -> str:
    """The text, with "…" for its middle if it is wider than `inches`; names differ at both ends."""
    if text_width(text, size, **font) <= inches:
        return text
    for keep in range(len(text) - 1, 1, -1):
        cut = f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"
        if text_width(cut, size, **font) <= inches:
            return cut
    return text[:1] + "…"


def caption_lines(text: str, inches: float, size: float = CAPTION_SIZE) -> list[str]:
    """A caption broken between words into lines at most `inches` wide."""
    return _filled(text.split(" "), " ", inches, size)


def signature_lines(signature: str, inches: float) -> list[str]:
    """A signature broken after vertical bars and commas into lines that fit; joined, they equal it."""
    pieces = re.findall(r"[^|,]*[|,]?", signature)
    return _filled([piece for piece in pieces if piece], "", inches, SIGNATURE_SIZE, family="monospace")


def _filled(pieces: Sequence[str], between: str, inches: float, size: float, **font: Any) -> list[str]:
    # Renderers round each letter to whole pixels: small type comes out up to 2 % wider than its outlines.
    room = 0.98 * inches
    gap = text_width(between, size, **font) if between else 0.0
    lines: list[str] = []
    used = 0.0
    for piece in pieces:
        width = text_width(piece, size, **font)
        if lines and used + gap + width <= room:
            lines[-1] += f"{between}{piece}"
            used += gap + width
        else:
            lines.append(piece)
            used = width
    return lines


# Inches: what a page holds.
TALLEST = 9.2

# Type in points: labels and legends, numbers at axes, titles of panels.
LABEL, TICK, TITLE = 7.0, 6.5, 7.5

# Inches below which names are shortened more and captions are set smaller.
NARROW = 4.0

GRID = "#dddddd"


@dataclass(frozen=True, slots=True)
class Room:
    """Inches around and between panels: left of each row, above and below it, between neighbours, and at the top."""

    left: float
    above: float
    below: float
    between: float
    top: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Panels:
    """A figure with empty axes, one per panel; `columns` is the number in a row. `width` and `height` are in inches."""

    figure: Any
    axes: tuple[Any, ...]
    columns: int
    width: float
    height: float

    @property
    def rows(self) -> int:
        return math.ceil(len(self.axes) / self.columns)

    def row_ends(self) -> Iterator[tuple[Any, Any]]:
        """The axes of the first and the last panel of each row."""
        for start in range(0, len(self.axes), self.columns):
            row = self.axes[start : start + self.columns]
            yield row[0], row[-1]


def columns_for(number: int, width: float, room: Room, least: float) -> int:
    """Number of columns for panels at least `least` inches wide, with rows filled evenly."""
    free = width - room.left - MARGIN
    most = max(1, min(number, int((free + room.between) / (least + room.between) + 1e-9)))
    return math.ceil(number / math.ceil(number / most))


def make(
    number: int,
    width: float,
    panel_height: float,
    room: Room,
    foot: Foot,
    *,
    columns: int,
    widest: float = 9.0,
) -> Panels:
    """A figure with `number` empty panels; its height follows from these. SpecError if it exceeds a page."""
    from matplotlib.figure import Figure

    rows = math.ceil(number / columns)
    free = width - room.left - MARGIN
    panel = min(widest, (free - (columns - 1) * room.between) / columns)
    row_height = room.above + panel_height + room.below
    height = MARGIN + room.top + rows * row_height + foot.height + 0.04
    if height > TALLEST:
        raise SpecError(
            f"the figure would be {height:.0f} inches high; a page holds {TALLEST:g}",
            hint=Advice("draw fewer with {criterion}, {judge} or {eval_prompt}, or take {width}", width="page"),
        )
    figure = Figure(figsize=(width, height))
    axes = []
    for i in range(number):
        row, column = divmod(i, columns)
        x = room.left + column * (panel + room.between)
        y = height - MARGIN - room.top - row * row_height - room.above - panel_height
        axes.append(figure.add_axes((x / width, y / height, panel / width, panel_height / height)))
    foot.write(figure)
    return Panels(figure, tuple(axes), columns, width, height)


def plain(axes: Any) -> None:
    """Style axes without a box: only a line at the bottom, and small tick labels."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_linewidth(0.6)
    axes.tick_params(labelsize=TICK, width=0.5, length=2, pad=1.5)


def ticks(low: float, high: float, inches: float) -> tuple[list[float], list[str]]:
    """Positions and labels of round tick values for an axis `inches` long, as many as fit without overlap."""
    from matplotlib.ticker import MaxNLocator

    for most in (5, 4, 3, 2, 1):
        places = [p for p in MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= p <= high]
        labels = [f"{value:g}".replace("-", "−") for value in places]
        wide = max((text_width(label, TICK) for label in labels), default=0.0)
        apart = (places[1] - places[0]) / (high - low) * inches if len(places) > 1 else inches
        if apart >= wide + 0.07:
            break
    return [float(value) for value in places], labels


def title(axes: Any, text: str, pad: float = 3) -> None:
    """Title `pad` points above a panel, shortened to its width."""
    inches = axes.get_position().width * axes.figure.get_size_inches()[0]
    name = shortened(text, TITLE, inches, weight="bold")
    axes.set_title(name, size=TITLE, weight="bold", pad=pad)


def axis_title(grid: Panels, texts: Sequence[str], drop: float) -> None:
    """Titles of the horizontal axes, `drop` inches below; neighbouring panels with the same one share it."""
    for start in range(0, len(grid.axes), grid.columns):
        row = zip(grid.axes[start : start + grid.columns], texts[start : start + grid.columns], strict=True)
        for unit, group in groupby(row, key=lambda pair: pair[1]):
            boxes = [axes.get_position() for axes, _ in group]
            x, y = (boxes[0].x0 + boxes[-1].x1) / 2, boxes[0].y0 - drop / grid.height
            grid.figure.text(x, y, unit, ha="center", va="top", size=LABEL)


def abbreviated(criteria: Sequence[str], short: Sequence[str], inches: float) -> tuple[Sequence[str], str]:
    """Titles for panels `inches` wide: all in full, or all `short` with a sentence that explains these."""
    if all(text_width(name, TITLE, weight="bold") <= inches for name in criteria) or tuple(short) == tuple(criteria):
        return criteria, ""
    return short, shared.meaning(short, criteria)


# The legend above the panels: names of markers and bands, in as many rows as the figure's width requires.

_ROW, _SIGN, _SPACE = 0.15, 0.22, 0.13
_TEXT = _SIGN + 0.05


@dataclass(frozen=True, slots=True)
class Bar:
    """Symbol of a band in the legend: a grey or a `hatched` area, or only a line if not `wide`."""

    hatched: bool = False
    wide: bool = True

    @property
    def style(self) -> dict[str, Any]:
        """Keyword arguments of matplotlib's patch."""
        if self.hatched:
            return {"facecolor": "none", "edgecolor": "#bbbbbb", "hatch": "//////"}
        return {"facecolor": "#d4d4d4", "edgecolor": "none"}


Entry = tuple[str, Sign | Bar]


def rows(entries: Sequence[Entry], inches: float) -> list[list[Entry]]:
    """Legend entries in rows at most `inches` wide; a name that is wider is shortened."""
    drawn: list[list[Entry]] = []
    used = 0.0
    for name, sign in entries:
        shown = shortened(name, LABEL, inches - _TEXT - _SPACE)
        wide = _width(shown)
        if drawn and used + wide <= inches:
            drawn[-1].append((shown, sign))
            used += wide
        else:
            drawn.append([(shown, sign)])
            used = wide
    return drawn


def height(lines_of_entries: Sequence[Sequence[Entry]]) -> float:
    """Inches of the legend's rows."""
    return _ROW * len(lines_of_entries) + (0.04 if lines_of_entries else 0.0)


def draw(grid: Panels, lines_of_entries: Sequence[Sequence[Entry]], *, lines: bool = True) -> None:
    """The legend at the top of the figure; without `lines`, markers alone."""
    for number, row in enumerate(lines_of_entries):
        x, y = MARGIN, grid.height - MARGIN - (number + 0.5) * _ROW
        for name, sign in row:
            for artist in _key(sign, x, y, grid, lines=lines):
                grid.figure.add_artist(artist)
            at = ((x + _TEXT) / grid.width, y / grid.height)
            grid.figure.text(*at, name, va="center_baseline", size=LABEL)
            x += _width(name)


def _width(name: str) -> float:
    # Renderers round letters to whole pixels: 3 % for that.
    return _TEXT + 1.03 * text_width(name, LABEL) + _SPACE


def _key(sign: Sign | Bar, x: float, y: float, grid: Panels, *, lines: bool) -> Iterator[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    width, tall = grid.width, grid.height
    middle = (x + _SIGN / 2) / width
    if isinstance(sign, Sign):
        if lines:
            ends = [x / width, (x + _SIGN) / width]
            line: dict[str, Any] = {"color": sign.colour, "linewidth": 1.0, "linestyle": sign.dash}
            yield Line2D(ends, [y / tall] * 2, **line)
        style: dict[str, Any] = {"markerfacecolor": sign.face, "markeredgecolor": sign.colour, "markeredgewidth": 0.8}
        yield Line2D([middle], [y / tall], marker=sign.marker, markersize=3.4, linestyle="none", **style)
        return
    corner, size = (x / width, (y - 0.045) / tall), (_SIGN / width, 0.09 / tall)
    if sign.wide:
        yield Rectangle(corner, *size, linewidth=0, **sign.style)
    dash: Any = (0, (1.5, 1)) if sign.hatched else "solid"
    ends = [corner[1], corner[1] + size[1]]
    yield Line2D([middle] * 2, ends, color="#444444", linewidth=0.9, linestyle=dash)
