"""Charts: well-formed, every number told, undefined shown as such, texts escaped, ink that can be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from judge.base.estimate import Estimate
from judge.questions.charts.distributions import Distributions, Histogram, HistogramRow
from judge.questions.charts.explanation_map import ExplanationMap, explanation_map
from judge.questions.charts.forest import Band, Forest, Line
from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow, Scale, luminance
from judge.questions.charts.shared import CONTROL, JUDGE, SIGNS
from judge.show.pages import charts
from judge.show.pages.charts.dots import picture
from judge.show.pages.charts.svg import BOLD, marker, shortened, text_width

NASTY = "<script>alert('x')</script> & \"q\""
SVG = "{http://www.w3.org/2000/svg}"


def tree(markup: Markup) -> ElementTree.Element:
    return ElementTree.fromstring(str(markup))  # noqa: S314  our own


def tips(root: ElementTree.Element) -> list[str]:
    return [str(one.find(f"{SVG}title").text) for one in root.iter(f"{SVG}g") if one.get("class") == "mark"]  # type: ignore[union-attr]


def heat(*values: float | None, name: str = NASTY) -> HeatMap:
    cells = tuple(HeatCell(v, "" if v is None else f"{v:.0f}", f"tip {v}") for v in values)
    scale = Scale.of([v for v in values if v is not None], digits=0)
    rows = (HeatRow(name, name, name, cells), HeatRow(name, name, "", cells, is_bar=True))
    return HeatMap(name, "two", (name,) * len(values), rows, "Kendall's tau-b ×100", scale, "", "")


def forest_of(*estimates: Estimate, bands: tuple[Band, ...] = (), factor: float = 1.0) -> Forest:
    """A panel with a row for each estimate."""
    lines = tuple(Line("", f"row {i}", ((one,),)) for i, one in enumerate(estimates))
    series = (("judge", JUDGE),)
    return Forest("t", ("one",), ("one",), lines, series, bands, "unit", "", "", factor=factor, from_zero=True)


@dataclass(frozen=True)
class Stored:
    """The form that `judge explain` stores."""

    points: Sequence[Mapping[str, Any]]
    signature: str = "s"
    model: str = "m"
    method: str = "UMAP"
    keywords: Mapping[str, Sequence[str]] = field(default_factory=dict)


def mapped(places: Sequence[tuple[float, float]], ways: Sequence[str], **values: Sequence[Any]) -> ExplanationMap:
    """A map of points at these places, each with its value of every key."""
    points = [
        {"x": x, "y": y, "judge": "j"} | {key: each[i] for key, each in values.items()}
        for i, (x, y) in enumerate(places)
    ]
    return explanation_map(Stored(points), ways)


def test_a_heat_map_tells_every_cell_and_hatches_what_is_undefined() -> None:
    root = tree(charts.heat_map(heat(30, None, 10), "h"))
    assert {"tip 30", "tip None", "tip 10"} <= set(tips(root))
    filled = [one.get("fill") for one in root.iter(f"{SVG}rect") if one.get("fill")]
    assert filled.count("url(#h-hatch)") == 2
    assert root.find(f"{SVG}title").text == NASTY  # type: ignore[union-attr]
    assert root.get("aria-labelledby") == "h-title h-desc"
    assert "<script" not in str(charts.heat_map(heat(30), "h"))


@pytest.mark.parametrize("values", [(0.0, 0.2, 0.4), (-0.4, 0.0, 0.4)])
def test_ink_on_every_colour_has_a_contrast_of_at_least_four_and_a_half(values: tuple[float, ...]) -> None:
    scale = Scale.of(values)
    assert scale.diverging == (min(values) < 0)
    for step in range(101):
        value = scale.low + (scale.high - scale.low) * step / 100
        paper, ink = luminance(scale.colour(value)), 0.0 if scale.ink(value) == "#000000" else 1.0
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
            low = -top / (part % 4) if part % 4 else top
            root = tree(charts.forest(forest_of(Estimate(top, 5, low, top), factor=factor), "i"))
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
    band = Band("bar", (Estimate(0.75, 9, 0.5, 0.8),), hatched=True)
    found = forest_of(Estimate(0.5, 9, 0.25, 1.0), Estimate.undefined("why not"), bands=(band,))
    root = tree(charts.forest(found, "i"))
    said = {"row 0, one: 50.0 [25.0, 100.0]", "row 1, one: why not", "bar, one: 75.0 [50.0, 80.0]"}
    assert said <= set(tips(tree(charts.forest(replace(found, factor=100), "i"))))
    (dot,) = root.iter(f"{SVG}circle")
    lines = {one.get("class"): one for one in reversed(list(root.iter(f"{SVG}line")))}  # the key's come last
    whisker, bar, zero = lines["whisker s1"], lines["reference dashed"], lines["zero"]
    (area,) = [one for one in root.iter(f"{SVG}rect") if one.get("fill") == "url(#i-hatch)"]
    origin = float(str(zero.get("x1")))
    per_unit = 2 * (float(str(dot.get("cx"))) - origin)
    for one, key, value in ((whisker, "x1", 0.25), (whisker, "x2", 1.0), (bar, "x1", 0.75), (area, "x", 0.5)):
        assert float(str(one.get(key))) == pytest.approx(origin + value * per_unit, abs=0.05)
    assert float(str(area.get("width"))) == pytest.approx(0.3 * per_unit, abs=0.05)
    assert [one.text for one in root.iter(f"{SVG}text")].count("undefined") == 1


def test_signs_differ_in_shape_and_a_control_is_hollow() -> None:
    assert len({str(marker(sign, 10, 10)) for sign in SIGNS}) == len(SIGNS)
    assert 'class="hollow s9"' in str(marker(CONTROL, 10, 10))
    assert marker(JUDGE, 10, 10).startswith("<circle")


def test_bars_are_as_tall_as_their_shares_and_people_stand_behind_judges() -> None:
    rows = (
        HistogramRow("people", "", "people", (Histogram((1, 2), (1, 3), 4),)),
        HistogramRow(NASTY, "", "judge", (Histogram((), (), 0, "12 requested, none has a rating"),)),
        HistogramRow("j", "ep1", "control", (Histogram((1, 2), (2, 2), 5),)),
    )
    root = tree(charts.distributions(Distributions("t", ("Coherence",), ("CH",), rows, "", ""), "d"))
    heights = [float(str(one.get("height"))) for one in root.iter(f"{SVG}rect") if one.get("class") == "f8"]
    assert heights[1] == pytest.approx(3 * heights[0], abs=0.03)
    assert "people, Coherence: 2 in 3 of 4 ratings, 75.0 %" in tips(root)
    assert f"{NASTY}, Coherence: 12 requested, none has a rating" in tips(root)
    hatched = [one for one in root.iter(f"{SVG}rect") if one.get("fill") == "url(#d-hatch)"]
    assert len(hatched) == 2
    (line,) = [one for one in root.iter(f"{SVG}path") if one.get("class") == "people"]
    tops = [float(part.split()[1].split("h")[0]) for part in str(line.get("d")).replace("L", "M").split("M")[1:]]
    bottom = float(str(hatched[0].get("y"))) + float(str(hatched[0].get("height")))
    assert [bottom - top for top in tops] == pytest.approx(heights, abs=0.03)


def test_a_map_colours_in_each_way_and_keeps_proportions() -> None:
    own: dict[str, Sequence[Any]] = {"criterion": ["A", NASTY, NASTY], "rating": [1.0, None, 2.2]}
    made = mapped([(0, 0), (2, 0), (2, 1)], ["criterion", "rating"], **own)
    root = tree(picture(made, "m"))
    dots = list(root.iter(f"{SVG}circle"))
    assert [one.get("class") for one in dots] == ["a1 b1", "a2 b0", "a2 b2"]
    assert [one.get("data-i") for one in dots] == ["0", "1", "2"]
    places = [(float(str(one.get("cx"))), float(str(one.get("cy")))) for one in dots]
    assert places[1][0] - places[0][0] == pytest.approx(2 * (places[1][1] - places[2][1]), abs=0.2)
    markup = str(charts.explanation_map(made, "m"))
    assert markup.count('type="radio"') == 2
    assert "<script" not in markup
    assert 'without a rating <span class="faint">1</span>' in markup
    # Ratings rise in lightness, as on paper: a rule for each.
    first, second = re.findall(r"\.b[12] { fill: (#[0-9a-f]{6})", markup)
    assert luminance(first) < luminance(second)


def test_a_name_stands_in_the_map_only_among_its_own_dots_and_over_no_other_name() -> None:
    corners = [(0, 0), (100, 0), (0, 60)]
    places = [(x + i % 5, y + i // 5) for x, y in corners for i in range(25)]
    apart = [name for name in ("one", "two", "three") for _ in range(25)]
    mixed = ["ABC"[i % 3] for i in range(75)]
    root = tree(picture(mapped(places, ["system", "criterion"], system=apart, criterion=mixed), "m"))
    groups = {str(one.get("class")): one for one in root.iter(f"{SVG}g")}
    assert [one.text for one in groups["names names-0"].iter(f"{SVG}text")] == ["one", "two", "three"]
    assert list(groups["names names-1"].iter(f"{SVG}text")) == []


def test_a_map_of_one_point_is_drawn_and_clusters_beyond_the_largest_stand_together() -> None:
    assert len(list(tree(picture(mapped([(3, 3)], ["criterion"], criterion=["A"]), "m")).iter(f"{SVG}circle"))) == 1
    clusters = [*range(12), *range(10), -1]
    (found,) = mapped([(i, i) for i in range(23)], ["cluster"], cluster=clusters).colourings
    assert [group.name for group in found.groups] == [*map(str, range(10)), "other clusters, or none"]
    assert found.groups[-1].n == 3


def test_long_names_are_cut_where_they_end() -> None:
    assert shortened("short", 200) == "short"
    cut = shortened("a judge with a very long name indeed/and-a-revision", 120)
    assert cut.endswith("…")
    assert text_width(cut) <= 120
    assert shortened("two\n lines ", 200) == "two lines"


LONG = "a judge with a very long name indeed/and-a-revision-of-2026-11-22-that-nobody-needs-to-read-to-its-end"


def pictures(name: str, columns: int) -> dict[str, Markup]:
    """One chart of each kind with rows, columns and keys of this name."""
    one = Estimate(0.2, 9, 0.1, 0.3)
    bands = tuple(
        Band(known, (one,) * columns, hatched=known.startswith("control"))
        for known in ("one more person", "control, surface of the text")
    )
    counts = HistogramRow(name, "", "control", (Histogram((1, 2), (1, 2), 3),) * columns)
    line = Line(name, "", ((one,),) * columns)
    titles, axis = (name,) * columns, "tau-b ×100, second − first"
    return {
        "heat map": charts.heat_map(heat(*[20.0] * columns, name=name), "h"),
        "forest": charts.forest(Forest("t", titles, titles, (line,), (("judge", JUDGE),), bands, axis, "", ""), "i"),
        "distributions": charts.distributions(Distributions("t", titles, titles, (counts,), "", ""), "s"),
        "map": picture(mapped([(float(k), float(k % 2)) for k in range(9)], ["system"], system=[name] * 9), "m"),
    }


@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("name", ["e", "Complexity", LONG])
def test_every_text_lies_in_its_picture_and_none_is_cut_in_silence(name: str, columns: int) -> None:
    for kind, drawn in pictures(name, columns).items():
        root = tree(drawn)
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
