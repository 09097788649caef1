"""Style and output of figures: fonts, files that are equal for equal figures, and the signature at the bottom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.base.errors import MissingExtraError, OptionError, SpecError
from judge.base.whole_file import draft

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

WIDTHS = {"column": 3.03, "page": 6.30}
"""Inches of a column and of the text in ACL's and TACL's format: at these no figure is scaled, and 7 points stay 7."""

MARGIN = 0.1
"""Inches that stay empty around everything."""

_LEADING = 1.3
_ABOVE_SIGNATURE = 0.08


@dataclass(frozen=True, slots=True)
class Foot:
    """The text below a figure's data: the caption and, below it, the signature, broken into lines that fit. `size` is
    the caption's font size in points.
    """

    caption: tuple[str, ...]
    signature: tuple[str, ...]
    size: float = CAPTION_SIZE

    @classmethod
    def of(cls, caption: str, signature: str, inches: float, size: float = CAPTION_SIZE) -> Foot:
        """The text below a figure `inches` wide, with caption and signature broken into lines that fit. `size` is the
        caption's font size in points.
        """
        return cls(tuple(caption_lines(caption, inches, size)), tuple(signature_lines(signature, inches)), size)

    @property
    def height(self) -> float:
        """Distance in inches from the lower edge of the figure to the top of the caption, which is above the
        signature.
        """
        lines = len(self.caption) * self.size + len(self.signature) * SIGNATURE_SIZE
        return MARGIN + lines * _LEADING / 72 + _ABOVE_SIGNATURE

    def write(self, figure: Any) -> None:
        """Write caption and signature into a figure, starting at its left margin."""
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
    """Context manager with matplotlib's settings for this program's figures. It is active while a figure is drawn or
    written.

    Raises MissingExtraError where matplotlib is not installed.
    """
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
    try:
        with style(), draft(path) as fresh:
            figure.savefig(fresh, format=suffix[1:], metadata=_METADATA[suffix])
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error


def text_width(text: str, size: float, **font: Any) -> float:
    """Width in inches of a text in font size `size` (points); `font` are matplotlib's font properties (weight, style,
    family).
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    width, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(size=size, **font), ismath=False)
    return float(width) / 72


def inches_of(width: str) -> float:
    """Width in inches of the figure widths `column` and `page`; OptionError for any other word."""
    if width not in WIDTHS:
        raise OptionError("width", width, allowed=WIDTHS)
    return WIDTHS[width]


def shortened(text: str, size: float, inches: float, **font: Any) -> str:
    """The text, with "…" in place of its middle if it is wider than `inches`. Both ends are kept because names differ
    there.
    """
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
    """A signature broken after vertical bars and commas into lines that fit; the joined lines equal the signature."""
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
