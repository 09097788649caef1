from __future__ import annotations

from tests.growth import linear


def test_a_sum_is_linear_and_a_double_loop_is_not() -> None:
    assert linear(lambda size: sum(range(size)), 20_000_000)
    assert not linear(lambda size: sum(1 for _ in range(size) for _ in range(size)), 8_000)
