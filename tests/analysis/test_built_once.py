"""Rating matrices are built once within a computation, and anew for a table that was changed between two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judge.ratings.rating_matrix import build, built_once
from judge.ratings.ratings_table import RatingsTable


def test_matrices_are_built_once_and_anew_after_the_computation(make_table: Callable[..., RatingsTable]) -> None:
    table = make_table()
    with built_once():
        (first,) = build(table)
        assert build(table)[0] is first
        assert build(table, drop_systems=first.systems[:1])[0].systems == first.systems[1:]
    table.frame["rating"] = 6 - table.frame["rating"]
    (turned,) = build(table)
    np.testing.assert_allclose(turned.judge, 6 - first.judge, rtol=1e-12)
