"""Charts: well-formed, every number told, undefined shown as such, texts escaped, ink that can be read."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from judge.pages.charts import (
    Colouring,
    Distribution,
    Distributions,
    HeatCell,
    HeatMap,
    HeatRow,
    Interval,
    IntervalPanel,
    Intervals,
    Point,
    Reference,
    ScatterMap,
)
from judge.pages.charts.colours import Scale, _luminance
from judge.pages.charts.svg import BOLD, shortened, text_width

NASTY = "<script>alert('x')</script> & \"q\""
SVG = "{http://www.w3.org/2000/svg}"


def tree(markup: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(str(markup))  # noqa: S314  our own


def tips(root: ElementTree.Element) -> list[str]:
    return [str(one.find(f"{SVG}title").text) for one in root.iter(f"{SVG}g") if one.get("class") == "mark"]  # type: ignore[union-attr]


def heat(*values: float | None) -> HeatMap:
    cells = [HeatCell(v, "" if v is None else f"{100 * v:.0f}", f"tip {v}") for v in values]
    return HeatMap("h", NASTY, "two", ["RE"] * len(values), [HeatRow(NASTY, "ep1", cells)], "tau")


def test_a_heat_map_tells_every_cell_and_hatches_what_is_undefined() -> None:
    root = tree(heat(0.3, None, 0.1).svg())
    assert {"tip 0.3", "tip None", "tip 0.1"} <= set(tips(root))
    filled = [one.get("fill") for one in root.iter(f"{SVG}rect") if one.get("fill")]
    assert filled.count("url(#h-hatch)") == 1
    assert root.find(f"{SVG}title").text == NASTY  # type: ignore[union-attr]
    assert root.get("aria-labelledby") == "h-title h-desc"
    assert "<script" not in str(heat(0.3).svg())


@pytest.mark.parametrize("values", [(0.0, 0.2, 0.4), (-0.4, 0.0, 0.4)])
def test_ink_on_every_colour_has_a_contrast_of_at_least_four_and_a_half(values: tuple[float, ...]) -> None:
    scale = Scale.of(values)
    assert scale.diverging == (min(values) < 0)
    for step in range(101):
        value = scale.low + (scale.high - scale.low) * step / 100
        paper, ink = _luminance(scale.colour(value)[1:]), 0.0 if scale.ink(value) == "#000000" else 1.0
        light, dark = max(paper, ink), min(paper, ink)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_colours_are_those_of_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    for name, scale in (("cividis", Scale(0, 1, diverging=False)), ("RdBu", Scale(-1, 1, diverging=True))):
        for step in range(21):
            share = step / 20
            ours = scale.colour(scale.low + share * (scale.high - scale.low))
            theirs = matplotlib.colormaps[name](share)
            for k in range(3):
                assert int(ours[1 + 2 * k : 3 + 2 * k], 16) == pytest.approx(255 * theirs[k], abs=10)


@pytest.mark.parametrize("factor", [1.0, 100.0])
def test_labels_of_an_axis_are_its_ticks_and_never_rounded(factor: float) -> None:
    for power in range(-4, 3):
        for part in range(10, 100, 3):
            top = part / 10 * 10.0**power
            panels = [IntervalPanel("one", [Interval(top, -top / (part % 4) if part % 4 else top, top, "tip")])]
            picture = Intervals("i", "t", "d", ["row"], panels, "unit", factor=factor)
            root = tree(picture.svg())
            lines = [one for one in root.iter(f"{SVG}line") if one.get("class") in ("axis", "zero")]
            places = [float(str(one.get("x1"))) for one in lines]
            axis = places[1] - places[0]
            zero = next(i for i, one in enumerate(lines) if one.get("class") == "zero")
            labels = [str(one.text).replace("−", "-") for one in root.iter(f"{SVG}text") if one.get("class") == "faint"]
            values = [float(label) for label in labels if label != "unit"]
            step = values[1] - values[0]
            for place, value in zip(places, values, strict=True):
                assert value == pytest.approx(step * (place - places[zero]) / axis, abs=0.01 * abs(step)), top
            assert len(set(values)) == len(values)


def test_intervals_lie_where_their_axis_says() -> None:
    panel = IntervalPanel("one", [Interval(0.5, 0.25, 1.0, "first"), Interval(None, None, None, "why not")])
    panel = IntervalPanel(panel.title, panel.intervals, [Reference(0.75, "bar", dashed=True)])
    root = tree(Intervals("i", "t", "d", ["a", "b"], [panel], "tau").svg())
    assert {"first", "why not", "bar"} <= set(tips(root))
    (dot,) = root.iter(f"{SVG}circle")
    lines = {one.get("class"): one for one in root.iter(f"{SVG}line")}
    whisker, bar, zero = lines["whisker s1"], lines["reference dashed"], lines["zero"]
    per_unit = 2 * (float(str(dot.get("cx"))) - float(str(zero.get("x1"))))
    assert float(str(whisker.get("x1"))) == pytest.approx(float(str(zero.get("x1"))) + 0.25 * per_unit, abs=0.05)
    assert float(str(whisker.get("x2"))) == pytest.approx(float(str(zero.get("x1"))) + 1.00 * per_unit, abs=0.05)
    assert float(str(bar.get("x1"))) == pytest.approx(float(str(zero.get("x1"))) + 0.75 * per_unit, abs=0.05)
    assert [one.text for one in root.iter(f"{SVG}text")].count("undefined") == 1


def test_bars_are_as_tall_as_their_shares() -> None:
    cells = [[Distribution((1, 3), 4)], [Distribution(None, 0, "12 asked, none has a rating")]]
    root = tree(Distributions("d", "t", "d", [["1", "2"]], ["Coherence"], ["people", NASTY], cells, [8, 1]).svg())
    heights = [float(str(one.get("height"))) for one in root.iter(f"{SVG}rect") if one.get("class") == "f8"]
    assert heights[1] == pytest.approx(3 * heights[0], abs=0.03)
    assert "people, Coherence: 2 in 3 of 4 ratings, 75.0 %" in tips(root)
    assert f"{NASTY}, Coherence: 12 asked, none has a rating" in tips(root)


def test_a_map_colours_in_each_way_and_keeps_proportions() -> None:
    points = [Point(0, 0, 0), Point(2, 0, 1), Point(2, 1, 2)]
    colourings = [Colouring("criterion", ["A", NASTY], [0, 1, 1]), Colouring("rating", ["1"], [0, -1, 0])]
    made = ScatterMap("m", "t", "d", points, colourings)
    root = tree(made.svg())
    dots = list(root.iter(f"{SVG}circle"))
    assert [one.get("class") for one in dots] == ["a1 b1", "a2 b0", "a2 b1"]
    assert [one.get("data-i") for one in dots] == ["0", "1", "2"]
    places = [(float(str(one.get("cx"))), float(str(one.get("cy")))) for one in dots]
    assert places[1][0] - places[0][0] == pytest.approx(2 * (places[1][1] - places[2][1]), abs=0.2)
    markup = str(made.markup())
    assert markup.count('type="radio"') == 2
    assert "<script" not in markup
    assert 'none <span class="faint">1</span>' in markup


def test_a_name_stands_in_the_map_only_among_its_own_dots_and_over_no_other_name() -> None:
    corners = [(0, 0), (100, 0), (0, 60)]
    points = [Point(x + i % 5, y + i // 5, i) for x, y in corners for i in range(25)]
    apart = [place for place in range(3) for _ in range(25)]
    mixed = [i % 3 for i in range(75)]
    named = Colouring("cluster", ["one", "two", "three"], apart)
    root = tree(ScatterMap("m", "t", "d", points, [named, Colouring("criterion", ["A", "B", "C"], mixed)]).svg())
    groups = {str(one.get("class")): one for one in root.iter(f"{SVG}g")}
    assert [one.text for one in groups["names names-0"].iter(f"{SVG}text")] == ["one", "two", "three"]
    assert list(groups["names names-1"].iter(f"{SVG}text")) == []


def test_a_map_of_one_point_and_of_none_is_drawn() -> None:
    for points in ([], [Point(3, 3, 0)]):
        made = ScatterMap("m", "t", "d", points, [Colouring("c", ["A"], [0] * len(points))])
        assert len(list(tree(made.svg()).iter(f"{SVG}circle"))) == len(points)


def test_long_names_are_cut_where_they_end() -> None:
    assert shortened("short", 200) == "short"
    cut = shortened("a judge with a very long name indeed/and-a-revision", 120)
    assert cut.endswith("…")
    assert text_width(cut) <= 120
    assert shortened("two\n lines ", 200) == "two lines"


LONG = "a judge with a very long name indeed/and-a-revision-of-2026-11-22-that-nobody-needs-to-read-to-its-end"


def pictures(name: str, columns: int) -> dict[str, Markup]:
    """One chart of each kind with rows, columns and keys of this name."""
    one = Interval(0.2, 0.1, 0.3, "tip")
    lines = [("people, one against the others", False), ("control, surface of the text", True)]
    cells = [HeatCell(0.2, "20", "tip")] * columns
    counts = [Distribution([1, 2], 3)] * columns
    points = [Point(float(k), float(k % 2), k) for k in range(9)]
    return {
        "heat map": HeatMap(
            "h", "t", "d", [name] * columns, [HeatRow(name, name, cells)], "Kendall's tau-b ×100"
        ).svg(),
        "intervals": Intervals(
            "i", "t", "d", [name], [IntervalPanel(name, [one])] * columns, "tau-b ×100, second − first", legend=lines
        ).svg(),
        "distributions": Distributions(
            "s", "t", "d", [["1", "2"]] * columns, [name] * columns, [name], [counts], [1]
        ).svg(),
        "map": ScatterMap("m", "t", "d", points, [Colouring("c", [name], [0] * 9)]).svg(),
    }


@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("name", ["e", "Complexity", LONG])
def test_every_text_lies_in_its_picture_and_none_is_cut_in_silence(name: str, columns: int) -> None:
    for kind, picture in pictures(name, columns).items():
        root = tree(picture)
        around = {child: parent for parent in root.iter() for child in parent}
        for text in root.iter(f"{SVG}text"):
            said, size = str(text.text), float(text.get("font-size", 12))
            wide = text_width(said, size) * (BOLD if text.get("font-weight") else 1)
            before = {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", "start"), 0.0)
            left = float(text.get("x", 0)) - before * wide
            assert left >= 0, (kind, said)
            assert left + wide <= float(root.get("width", 0)), (kind, said)
            if said.endswith("…"):
                whole = around[text].find(f"{SVG}title")
                assert whole is not None, (kind, said)
                assert str(whole.text).startswith(said[:-1])
