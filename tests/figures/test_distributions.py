"""Rating distributions: bars are the counts, people stand behind judges, nothing covers anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from judge.analysis.distributions import Distributions, distributions, table
from judge.analysis.options.table_options import DistributionOptions
from judge.base.errors import SpecError
from judge.questions.charts import distributions as charts
from judge.questions.figures import distributions as figures
from judge.questions.figures import panels as page
from judge.ratings.ratings_table import RatingsTable
from tests.figures import looks


@pytest.fixture(scope="module")
def found(demo_table: RatingsTable) -> Distributions:
    (one,) = distributions(demo_table)
    return one


def draw(found: Distributions, width: float) -> Any:
    return figures.draw(charts.distributions(found), width)


def bars(axes: Any) -> list[float]:
    return [patch.get_height() for patch in axes.patches if hasattr(patch, "get_height")]


def test_counts_are_those_of_the_ratings_table(found: Distributions, demo_table: RatingsTable) -> None:
    frame = demo_table.frame
    assert found.criteria[0] == "Relevance"
    for row in found.rows:
        for one in row:
            own = frame[frame["criterion"] == one.criterion]
            own = own[own["source"] == "rater"] if one.run is None else own[own["eval_prompt"] == one.eval_prompt]
            ratings = own["rating"].dropna().to_numpy()
            nearest = np.floor(ratings + 0.5)
            assert one.points == (1, 2, 3, 4, 5)
            assert list(one.counts) == [int((nearest == point).sum()) for point in one.points]
            assert one.between == int((ratings != np.round(ratings)).sum())
            assert (one.n, one.asked) == (len(ratings), len(own))
            assert one.mean == pytest.approx(ratings.mean())
    printed = table(found)
    own = [one for row in found.rows for one in row]
    assert len(printed.rows) == len(own) == 18
    assert [[row[f"{point}"] for point in range(1, 6)] for row in printed.rows] == [list(one.shares) for one in own]
    assert sum(own[0].shares) == pytest.approx(1)
    assert (printed.signature, printed.notes) == (found.signature, found.notes)


def test_bars_and_the_line_of_people_are_the_shares(found: Distributions) -> None:
    figure = draw(found, 6.3)
    assert len(figure.axes) == len(found.rows) * len(found.criteria)
    for axes, one in zip(figure.axes, [one for row in found.rows for one in row], strict=True):
        assert bars(axes)[:5] == pytest.approx([100 * share for share in one.shares])
        assert f"n = {one.n:,}" in [t.get_text() for t in axes.texts]
        if one.run is not None:
            people = next(each for each in found.rows[0] if each.criterion == one.criterion)
            (line,) = [patch for patch in axes.patches if type(patch).__name__ == "StepPatch"]
            assert list(line.get_data().values) == pytest.approx([100 * share for share in people.shares])
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


@pytest.mark.parametrize("width", list(page.WIDTHS))
def test_nothing_leaves_the_page_or_covers_a_neighbour(found: Distributions, width: str) -> None:
    figure = draw(found, page.WIDTHS[width])
    assert looks.faults(figure) == []
    assert looks.signature(figure) == found.signature
    caption = looks.caption(figure)
    assert "Share of ratings in %, demo, 48 stories" in caption
    assert "Hatched: a control, no language model." in caption


def test_what_gave_no_rating_is_said_in_the_panel(found: Distributions) -> None:
    row = tuple(replace(one, asked=one.n + 7) for one in found.rows[1])
    figure = draw(replace(found, rows=(found.rows[0], row)), 6.3)
    assert "n = 144 of 151" in looks.texts(figure)
    assert "“n of m”: repeats without a rating are left out" in looks.caption(figure)


def test_wide_scales_are_counted_in_ranges_and_systems_can_be_left_out(demo_table: RatingsTable) -> None:
    frame = demo_table.frame.copy()
    frame["rating"] = 20 * frame["rating"]
    (one,) = distributions(replace(demo_table, frame=frame, facts=()))
    assert all(len(each.points) <= 11 for row in one.rows for each in row)
    assert sum(each.n for row in one.rows for each in row) == int(frame["rating"].notna().sum())
    (fewer,) = distributions(demo_table, DistributionOptions(("looped",)))
    assert "|drop:looped|" in fewer.signature
    assert fewer.rows[0][0].n == 36


def test_too_many_panels_are_refused(found: Distributions) -> None:
    with pytest.raises(SpecError, match="126 panels are too many"):
        draw(replace(found, rows=found.rows * 7), 6.3)
