"""What a reader sees of a figure: every text with its box, whether boxes leave the page or cover each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judge.questions.figures import panels as page


def texts(figure: Any) -> list[str]:
    """All that is written, panel by panel, then what stands around them from the top down."""
    inside = [artist.get_text() for axes in figure.axes for artist in _of(axes)]
    around = sorted(figure.texts, key=lambda t: (-t.get_position()[1], t.get_position()[0]))
    return [text for text in [*inside, *(t.get_text() for t in around)] if text]


def signature(figure: Any) -> str:
    """The lines of signature size, joined from the top down."""
    small = [t for t in figure.texts if t.get_size() == page.SIGNATURE_SIZE and "monospace" in t.get_family()]
    return "".join(t.get_text() for t in sorted(small, key=lambda t: -t.get_position()[1]))


def caption(figure: Any) -> str:
    """What stands between the panels and the signature, in one line."""
    return " ".join(texts(figure))


def faults(figure: Any) -> list[str]:
    """Texts that leave the page or cover each other, at the resolution in which pictures are written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with page.style():
        figure.set_dpi(300)
        canvas = FigureCanvasAgg(figure)
        figure.draw_without_rendering()
        renderer = canvas.get_renderer()
        boxes = [(a.get_text(), a.get_window_extent(renderer)) for a in _all(figure) if a.get_text()]
    found = []
    for text, box in boxes:
        if box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.x1 + 0.5 or box.y1 > figure.bbox.y1 + 0.5:
            found.append(f"{text!r} leaves the page")
    for i, (text, one) in enumerate(boxes):
        for other_text, other in boxes[:i]:
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            along = min(one.y1, other.y1) - max(one.y0, other.y0)
            # Lines of running text may touch by their descenders; nothing else may.
            if across >= 1 and along >= 8:
                found.append(f"{text!r} covers {other_text!r}")
    return found


def _all(figure: Any) -> Iterator[Any]:
    for axes in figure.axes:
        yield from _of(axes)
    yield from figure.texts


def _of(axes: Any) -> Iterator[Any]:
    yield from axes.texts
    if not axes.axison:
        return
    yield from (axes.title, axes.xaxis.label, axes.yaxis.label)
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick, place in zip(axis.get_major_ticks(), axis.get_majorticklocs(), strict=False):
            if tick.label1.get_visible() and low <= place <= high:
                yield tick.label1
