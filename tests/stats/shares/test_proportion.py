"""Wilson's interval equals statsmodels'."""

from __future__ import annotations

import pytest

from judge.stats.estimation.proportions import wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (400, 1000)])
def test_wilson_equals_statsmodels(successes: int, n: int) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    found = wilson(successes, n)
    theirs = proportion.proportion_confint(successes, n, method="wilson")
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-9)
    assert found.value == successes / n


def test_a_share_of_nothing_is_undefined() -> None:
    assert wilson(0, 0).value is None
