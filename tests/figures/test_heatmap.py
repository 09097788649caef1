"""The heat map: what stands in its cells, that nothing overflows, and that equal numbers give equal files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE, Layout, LayoutRow
from judge.base.errors import MissingExtraError, SpecError
from judge.base.estimate import Estimate
from judge.questions.charts.heatmap import heat_map, luminance
from judge.questions.figures import heatmap
from judge.questions.figures import panels as page

pytest.importorskip("matplotlib")

CRITERIA = ("Relevance", "Coherence", "Empathy")
NOBODY = Estimate.undefined("one more person unavailable: who gave which rating is not known")


def row(kind: str, judge: str, eval_prompt: str | None, *values: float | None) -> LayoutRow:
    cells = [NOBODY if v is None else Estimate(v, n=960, low=v - 0.04, high=v + 0.06) for v in values]
    known = [v for v in values if v is not None]
    return LayoutRow(kind, judge, eval_prompt, tuple(cells), Estimate(sum(known) / 3, n=960) if known else NOBODY)


LAYOUT = Layout(
    dataset="hanna",
    statistic="Kendall's tau-b",
    where="over all stories",
    unit="stories",
    criteria=CRITERIA,
    short=("RE", "CH", "EM"),
    rows=(
        row(CEILING, "one more person", None, None, None, None),
        row(JUDGE, "Beluga-13B", "ep1", 0.206, 0.256, 0.274),
        row(JUDGE, "Beluga-13B", "ep2", 0.24, 0.273, 0.265),
        row(JUDGE, "a judge with a rather long name/and-a-revision-7b", "guidelines-first", 0.115, 0.141, 0.004),
        row(CONTROL, "control", None, 0.164, 0.201, 0.152),
    ),
    systems=10,
    signature="hanna:960|crit:RE,CH,EM|ep:ep1,ep2|judge:" + ",".join(f"judge-{i}@rev" for i in range(30)) + "|v0.1.0",
    notes=(),
)


def texts(figure) -> list[str]:
    """All texts, those beneath the cells in reading order."""
    foot = sorted(figure.texts, key=lambda t: -t.get_position()[1])
    return [t.get_text() for axes in figure.axes for t in axes.texts] + [t.get_text() for t in foot]


def test_every_defined_cell_is_printed_and_every_undefined_one_hatched() -> None:
    figure = heatmap.draw(heat_map(LAYOUT))
    (axes, _) = figure.axes
    # Cells and means of the four defined rows; the ceiling's three cells and its mean are hatched.
    numbers = [t.get_text() for t in axes.texts if t.get_text().lstrip("−").isdigit()]
    assert numbers == ["21", "26", "27", "25", "24", "27", "26", "26", "12", "14", "0", "9", "16", "20", "15", "17"]
    assert sum(bool(patch.get_hatch()) for patch in axes.patches) == 4
    assert {"RE", "CH", "EM", "mean", "one more person", "control, surface of the text"} <= set(texts(figure))
    assert texts(figure).count("Beluga-13B") == 1


def test_caption_says_n_units_and_why_cells_are_undefined() -> None:
    caption = " ".join(texts(heatmap.draw(heat_map(LAYOUT))))
    assert "over all stories, hanna (n = 960 stories, 10 systems)." in caption
    assert "RE Relevance, CH Coherence, EM Empathy." in caption
    assert "Half-width of the 95 % intervals, median: 5." in caption
    assert "Hatched: undefined; one more person unavailable: who gave which rating is not known." in caption
    assert "no language model" in caption


def test_the_signature_is_whole_at_the_foot() -> None:
    figure = heatmap.draw(heat_map(LAYOUT))
    small = [t for t in figure.texts if t.get_size() == page.SIGNATURE_SIZE]
    lowest_last = sorted(small, key=lambda t: -t.get_position()[1])
    assert "".join(t.get_text() for t in lowest_last) == LAYOUT.signature


@pytest.mark.parametrize("width", [None, *page.WIDTHS.values()], ids=["as needed", *page.WIDTHS])
@pytest.mark.parametrize("rows", [slice(None), slice(1, 2)], ids=["all rows", "one row"])
def test_nothing_leaves_the_page_or_covers_a_neighbour(rows: slice, width: float | None) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with page.style():
        figure = heatmap.draw(heat_map(replace(LAYOUT, rows=LAYOUT.rows[rows])), width)
        figure.set_dpi(300)  # as pictures are written
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [t.get_window_extent(renderer) for axes in figure.axes[:1] for t in axes.texts]
        boxes += [t.get_window_extent(renderer) for t in figure.texts]
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            # Lines of running text may touch by their descenders; nothing else may.
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            along = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert across < 1 or along < 8


def test_colours_part_at_zero_only_where_a_printed_value_is_below_it() -> None:
    assert heatmap.draw(heat_map(LAYOUT)).axes[1].get_ylim() == pytest.approx((0.0, 27.4))
    rounded = replace(LAYOUT, rows=(*LAYOUT.rows, row(JUDGE, "m", "ep1", -0.004, 0.1, 0.1)))
    assert heatmap.draw(heat_map(rounded)).axes[1].get_ylim()[0] == 0.0
    assert "−0" not in texts(heatmap.draw(heat_map(rounded)))
    signed = replace(LAYOUT, rows=(*LAYOUT.rows, row(JUDGE, "m", "ep1", -0.011, 0.1, 0.1)))
    figure = heatmap.draw(heat_map(signed))
    assert figure.axes[1].get_ylim() == pytest.approx((-27.4, 27.4))
    assert "−1" in texts(figure)
    assert "White is 0, red below it." in " ".join(texts(figure))


def test_text_can_be_read_on_its_cell() -> None:
    from matplotlib.colors import to_hex

    signed = replace(LAYOUT, rows=(*LAYOUT.rows, row(JUDGE, "m", "ep1", -0.27, -0.1, 0.0)))
    for layout in (LAYOUT, signed):
        axes = heatmap.draw(heat_map(layout)).axes[0]
        faces = {patch.get_xy(): patch.get_facecolor() for patch in axes.patches if not patch.get_hatch()}
        checked = 0
        for text in axes.texts:
            x, y = text.get_position()
            face = faces.get((x - 0.5, y - 0.5))
            if face is None or not text.get_text().lstrip("−").isdigit():
                continue
            light = sorted(luminance(to_hex(colour)) for colour in (face, text.get_color()))
            assert (light[1] + 0.05) / (light[0] + 0.05) >= 4.5  # WCAG 2.1, level AA
            checked += 1
        assert checked >= 16


def test_one_criterion_has_no_column_of_means() -> None:
    one = replace(
        LAYOUT, criteria=("Overall",), short=("OV",), rows=(row(JUDGE, "m", "ep1", 0.2), row(JUDGE, "m", "ep2", 0.1))
    )
    assert "mean" not in texts(heatmap.draw(heat_map(one)))


@pytest.mark.parametrize("suffix", page.SUFFIXES)
def test_equal_numbers_give_equal_files(tmp_path: Path, suffix: str) -> None:
    first, again = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    for path in (first, again):
        page.write(heatmap.draw(heat_map(LAYOUT)), path)
    content = first.read_bytes()
    assert content == again.read_bytes()
    assert content.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert b"dc:date" not in content
    assert b"CreationDate" not in content


def test_other_suffixes_and_places_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"allowed: \.png, \.svg, \.pdf"):
        page.write(heatmap.draw(heat_map(LAYOUT)), tmp_path / "a.gif")
    with pytest.raises(SpecError, match="cannot be written"):
        page.write(heatmap.draw(heat_map(LAYOUT)), tmp_path / "nowhere" / "a.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"\[report\]"):
        heatmap.draw(heat_map(LAYOUT))
