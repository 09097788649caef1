"""Dots and whiskers: every mark stands where the analysis has its number, and nothing covers anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from judge.analysis import correlation
from judge.analysis.agreement.correlation_grid import CEILING, CONTROL, JUDGE, Layout, layouts
from judge.analysis.inputs.control import control_predictions
from judge.analysis.options.signature import abbreviations
from judge.analysis.options.table_options import CorrelationOptions, SystemsOptions
from judge.analysis.reliability import consistency as icc
from judge.analysis.systems import AVERAGE, Standing, standings
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.questions.charts import estimates
from judge.questions.charts import shared as words
from judge.questions.charts.forest import Band, Forest, Line, signs
from judge.questions.charts.shared import CONTROL as CONTROL_SIGN
from judge.questions.charts.shared import PEOPLE, SIGNS
from judge.questions.figures import forest
from judge.questions.figures import panels as page
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable
from tests.figures import looks

BOTH = pytest.mark.parametrize("width", list(page.WIDTHS))


@pytest.fixture(scope="module")
def layout(rated_table: RatingsTable) -> Layout:
    (found,) = layouts(
        correlation.correlations(rated_table, CorrelationOptions(resamples=100), predict=control_predictions)
    )
    return found


@pytest.fixture(scope="module")
def found_systems(demo_table: RatingsTable) -> list[Standing]:
    return standings(build(demo_table), SystemsOptions(resamples=20), {})


def of_systems(found: list[Standing]) -> Forest:
    return estimates.system_means(
        found, dataset="demo", short={}, controls={"surface"}, interval="clustered", signature="demo:48|v0.1.0"
    )


def icc_forest(table: RatingsTable, form: str) -> tuple[Forest, list[dict[str, Any]]]:
    found = icc.consistency(table)
    made = estimates.repeats(
        found, form, dataset="rated", short=abbreviations(table), controls={"surface"}, signature="rated:48|v0.1.0"
    )
    frame = found.frame
    return made, frame[frame["form"] == form].astype(object).to_dict("records")


def marks(axes: Any) -> list[float]:
    """Values of the marks from the top down."""
    lines = [line for line in axes.lines if line.get_marker() not in ("None", None) and len(line.get_xdata()) == 1]
    return [float(line.get_xdata()[0]) for line in sorted(lines, key=lambda line: line.get_ydata()[0])]


def whiskers(axes: Any) -> list[float]:
    """Both ends of each horizontal line, from the top down."""
    lines = [line for line in axes.lines if len(line.get_ydata()) == 2 and line.get_ydata()[0] == line.get_ydata()[1]]
    return [float(end) for line in sorted(lines, key=lambda line: line.get_ydata()[0]) for end in line.get_xdata()]


def test_marks_whiskers_and_bands_of_correlations_are_the_table(layout: Layout) -> None:
    figure = forest.draw(estimates.correlations(layout), 6.3)
    rows = [row for row in layout.rows if row.kind == JUDGE]
    assert len(rows) == 2
    assert len(figure.axes) == 3  # two criteria and their mean
    for j, axes in enumerate(figure.axes):
        cells = [row.cells[j] if j < 2 else row.mean for row in rows]
        assert marks(axes) == pytest.approx([100 * cell.value for cell in cells])
        assert whiskers(axes) == pytest.approx([100 * end for cell in cells for end in (cell.low, cell.high)])
        bars = [patch for patch in axes.patches if patch.get_width() > 0]
        verticals = [line.get_xdata()[0] for line in axes.lines if list(line.get_ydata()) == [0, 1]]
        for kind, bar in ((CEILING, bars[0]), (CONTROL, bars[1])):
            (row,) = [row for row in layout.rows if row.kind == kind]
            cell = row.cells[j] if j < 2 else row.mean
            assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((100 * cell.low, 100 * cell.high))
            assert bool(bar.get_hatch()) == (kind == CONTROL)
            assert any(value == pytest.approx(100 * cell.value) for value in verticals)


def test_consistency_is_the_long_table_and_people_stand_behind(rated_table: RatingsTable) -> None:
    made, rows = icc_forest(rated_table, "ICC(1,1)")
    figure = forest.draw(made, 6.3)
    for axes, name in zip(figure.axes, ("Coherence", "Complexity"), strict=True):
        own = [row for row in rows if row["criterion"] == name]
        judged = [row for row in own if row["judge"] == "surface"]
        assert marks(axes) == pytest.approx([row["icc"] for row in judged])
        assert whiskers(axes) == pytest.approx([row[end] for row in judged for end in ("low", "high")])
        (people,) = [row for row in own if row["judge"] == icc.PEOPLE]
        (bar,) = [patch for patch in axes.patches if patch.get_width() > 0]
        assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((people["low"], people["high"]))
    caption = looks.caption(figure)
    assert "ICC(1,1), rated (n = 48 complete stories, 3 repeats); 95 % intervals." in caption
    assert "3 people's ratings of the same stories. Agreement is not validity." in caption


def test_without_people_the_caption_says_why(demo_table: RatingsTable) -> None:
    made, _ = icc_forest(demo_table, "ICC(1,1)")
    assert "People: undefined with fewer than 2 raters" in made.caption
    assert not made.bands[0].defined


def test_systems_are_the_standings_in_people_s_order(found_systems: list[Standing]) -> None:
    figure = forest.draw(of_systems(found_systems), 6.3)
    people = [one for one in found_systems if one.source.is_people]
    names = people[0].source.matrix.systems
    average = next(one for one in people if one.criterion == AVERAGE)
    order = sorted(range(len(names)), key=lambda s: -average.mean[s].value)
    labels = [t for t in looks.texts(figure) if t in names]
    assert labels[: len(names)] == [names[s] for s in order]
    for axes, criterion in zip(figure.axes, [one.criterion for one in people], strict=True):
        own = [one for one in found_systems if one.criterion == criterion]
        assert marks(axes) == pytest.approx([one.mean[s].value for s in order for one in own])
    assert {"people", "surface, ep1, control", "surface, ep2, control"} <= set(looks.texts(figure))


@BOTH
def test_nothing_leaves_the_page_or_covers_a_neighbour(
    layout: Layout, found_systems: list[Standing], demo_table: RatingsTable, width: str
) -> None:
    inches = page.WIDTHS[width]
    demo, _ = icc_forest(demo_table, "ICC(2,k)")
    long = estimates.correlations(layout)
    long = replace(
        long,
        lines=tuple(replace(x, group=f"openai/meta-llama/Llama-{i}-70B-Instruct") for i, x in enumerate(long.lines)),
    )
    for made in (estimates.correlations(layout), long, demo, of_systems(found_systems)):
        figure = forest.draw(made, inches)
        assert figure.get_size_inches()[0] == pytest.approx(inches)
        assert looks.faults(figure) == []
        assert looks.signature(figure) == made.signature


def test_an_undefined_cell_is_called_so_with_its_reason() -> None:
    nothing = Estimate.undefined("all ratings are equal")
    line = Line("m", "ep1", ((Estimate(0.4, 30, 0.1, 0.6),), (nothing,)))
    made = Forest("t", ("A", "B"), ("A", "B"), (line,), (("judge", SIGNS[0]),), (), "tau", "n = 30 stories.", "x|v0")
    figure = forest.draw(made, 3.03)
    assert [t.get_text() for t in figure.axes[1].texts] == ["undefined"]
    assert marks(figure.axes[1]) == []
    assert "Some values do not exist (all ratings are equal)." in words.undefined([nothing])


def test_controls_are_told_by_their_mark_too(layout: Layout) -> None:
    made = estimates.correlations(layout)
    assert {line.sign for line in made.lines} == {CONTROL_SIGN}
    assert {line.group for line in made.lines} == {"surface"}
    assert "Squares: a control, no language model." in made.caption


def test_no_two_signs_share_colour_and_shape() -> None:
    everything = (*SIGNS, PEOPLE, CONTROL_SIGN)
    assert len({sign.marker for sign in SIGNS}) == len(SIGNS)
    assert len({(sign.marker, sign.colour, sign.filled) for sign in everything}) == len(everything)


def test_what_cannot_be_told_apart_or_fits_no_page_is_refused(layout: Layout) -> None:
    with pytest.raises(SpecError, match="at most 10 can be distinguished"):
        signs([f"j{i}" for i in range(11)], "judges")
    one = estimates.correlations(layout)
    tall = replace(one, lines=tuple(replace(one.lines[0], group=f"j{i}") for i in range(80)))
    with pytest.raises(SpecError, match=r"a page holds 9\.2"):
        forest.draw(tall, 6.3)


def test_a_short_group_leaves_its_room_to_labels_and_a_line_has_no_band_in_the_key() -> None:
    from matplotlib.patches import Rectangle

    there = Estimate(0.7, n=9, low=0.6, high=0.8)
    lines = (Line("discrimination", "unrelated-sentence", ((there, there),)),)
    series = tuple(zip(("a", "b"), signs(("a", "b"), "judges"), strict=True))
    keys = {}
    for wide, bound in ((False, Estimate(0.5, n=0)), (True, Estimate(0.5, n=9, low=0.4, high=0.6))):
        band = Band("chance", (bound,))
        assert band.wide is wide
        made = Forest("t", ("Coherence",), ("CH",), lines, series, (band,), "detection", "A caption.", "s")
        figure = forest.draw(made, page.WIDTHS["page"])
        assert "unrelated-sentence" in [text.get_text() for text in figure.texts]
        keys[wide] = sum(isinstance(artist, Rectangle) for artist in figure.artists)
    assert keys == {False: 0, True: 1}
