"""Money is written in one way."""

from __future__ import annotations

import pytest

from judge.base.printing.text_layout import dollars


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.0, "$0.0000"),
        (0.0818, "$0.0818"),
        (0.09994, "$0.0999"),
        (0.000123, "$0.00012"),
        (0.0000081, "$0.0000081"),
        (12.5, "$12.5000"),
        (99.99999, "$100.0000"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars(amount: float, text: str) -> None:
    assert dollars(amount) == text
