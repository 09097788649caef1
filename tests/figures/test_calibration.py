"""Reliability curves: points are the bins of out-of-fold ratings, with their counts beneath."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from judge.analysis.jury.panel import panels
from judge.analysis.jury.reliability_curve import Curves, curves
from judge.analysis.options.table_options import ReliabilityOptions
from judge.analysis.raters import Raters
from judge.base.errors import SpecError
from judge.questions.figures import calibration
from judge.questions.figures import panels as page
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import means
from tests.figures import looks

OPTIONS = ReliabilityOptions(foldings=2)


@pytest.fixture(scope="module")
def found(rated_table: RatingsTable) -> Curves:
    (one,) = curves(rated_table, replace(OPTIONS, bins=5))
    return one


def test_before_calibration_points_are_bins_of_the_judge_s_own_ratings(
    found: Curves, rated_table: RatingsTable
) -> None:
    (matrix,) = build(rated_table)
    assert [(c.eval_prompt, c.criterion) for c in found.curves] == [
        (prompt, name) for prompt in ("ep1", "ep2") for name in ("Coherence", "Complexity")
    ]
    for curve in found.curves:
        (i,) = [
            i
            for i, c in enumerate(matrix.cells)
            if (c.eval_prompt, c.criterion) == (curve.eval_prompt, curve.criterion)
        ]
        rating, people = matrix.judge[i], matrix.people[matrix.criteria.index(curve.criterion)]
        assert sum(point.stories for point in curve.before) == 48 == curve.n
        whole = sum(point.stories * point.people.value for point in curve.before) / 48
        assert whole == pytest.approx(people.mean())
        assert sum(point.stories * point.rating for point in curve.before) / 48 == pytest.approx(rating.mean())
        first = curve.before[0]
        lowest = np.sort(rating)[: int(first.stories)]
        assert first.rating == pytest.approx(lowest.mean())
        inside = rating <= lowest[-1]
        honest = means.clustered(people[inside], matrix.story_prompt[inside])
        assert (first.people.low, first.people.high) == pytest.approx((honest.low, honest.high))


def test_after_calibration_every_story_counts_once_a_folding_and_n_counts_stories(found: Curves) -> None:
    for curve in found.curves:
        assert sum(point.stories for point in curve.after) == pytest.approx(48)
        assert all(point.people.n <= 48 for point in curve.after)
        assert curve.error_after.value is not None
        assert curve.error_after.value < curve.error_before.value


def drawn(axes: Any) -> list[list[float]]:
    """x of the lines with markers: as rated, calibrated."""
    return [list(line.get_xdata()) for line in axes.lines if line.get_marker() not in ("None", None)]


@pytest.mark.parametrize("width", list(page.WIDTHS))
def test_the_figure_shows_these_points_and_covers_nothing(found: Curves, width: str) -> None:
    figure = calibration.draw(found, page.WIDTHS[width])
    panes = [axes for axes in figure.axes if drawn(axes)]
    assert len(panes) == len(found.curves)
    for axes, curve in zip(panes, found.curves, strict=True):
        before, after = drawn(axes)
        assert before == pytest.approx([point.rating for point in curve.before])
        assert after == pytest.approx([point.rating for point in curve.after])
        assert f"n = {curve.n}" in axes.texts[0].get_text()
    counts = [axes for axes in figure.axes if axes.collections]
    heights = [path.vertices[1][1] for path in counts[0].collections[0].get_paths()]
    assert heights == pytest.approx([point.stories for point in found.curves[0].before])
    assert looks.faults(figure) == []
    assert looks.signature(figure) == found.signature
    assert "|calibrate:isotonic|" in found.signature
    assert "|folds:2x5/seed1|" in found.signature
    caption = looks.caption(figure)
    assert "points of the scale, 95 % intervals clustered by story-prompt" in caption
    assert "(n = 48 stories)" in caption


def test_the_caption_says_where_calibration_did_harm_and_whose_the_labels_are(demo_table: RatingsTable) -> None:
    (made,) = curves(demo_table, replace(OPTIONS, bins=5))
    worse = sum((c.error_after.value or 0) > (c.error_before.value or 0) for c in made.curves)
    assert 1 < worse < len(made.curves)
    figure = calibration.draw(made, 6.3, Raters.of(demo_table, "demo").sentence)
    caption = looks.caption(figure)
    assert f"In {worse} of {len(made.curves)} panels calibration made the error larger" in caption
    assert "No person rated these stories: labels set by rule (an original story has its author's grade" in caption
    most = max(point.stories for c in made.curves for point in (*c.before, *c.after))
    assert f"both axes to {most:.0f}." in caption
    assert looks.faults(figure) == []


def test_no_text_stands_on_the_curves(found: Curves) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = calibration.draw(found, 6.3)
    renderer = FigureCanvasAgg(figure).get_renderer()
    inside = [(axes, text) for axes in figure.axes for text in axes.texts if text.get_text()]
    assert len(inside) == len(found.curves)
    for axes, text in inside:
        assert text.get_window_extent(renderer).y0 >= axes.get_window_extent(renderer).y1


def test_a_judge_that_cannot_be_calibrated_is_undefined_with_its_reason(rated_table: RatingsTable) -> None:
    frame = rated_table.frame
    few = replace(rated_table, frame=frame[frame["story_prompt"].isin(frame["story_prompt"].unique()[:3])])
    (found,) = curves(few, OPTIONS)
    assert all(curve.reason and "4 story-prompts" in curve.reason for curve in found.curves)
    figure = calibration.draw(found, 6.3)
    assert "undefined" in looks.texts(figure)
    assert "4 story-prompts" in looks.caption(figure)
    assert panels(build(few)[0], OPTIONS.jury).panels[0].reason is not None


def test_too_many_panels_are_refused() -> None:
    with pytest.raises(SpecError, match="25 panels are too many"):
        calibration.check(25)
