"""Whose ratings run against the others': planted, honest, incomplete, and two who cannot be told apart."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.bias.scale_use import likely_cause, remark, reversed_columns


def ratings(rng: np.random.Generator, turns: tuple[int, ...], n: int = 80) -> np.ndarray:
    quality = rng.normal(0, 1, n)
    return np.column_stack([turn * quality + rng.normal(0, 1, n) for turn in turns])


@pytest.mark.parametrize("turns", [(1, -1, 1), (1, 1, 1, -1), (1, 1, -1, 1, -1)])
def test_who_is_turned_is_named(turns: tuple[int, ...]) -> None:
    found = reversed_columns(ratings(np.random.default_rng(1), turns))
    assert sorted(column for column, _ in found) == [at for at, turn in enumerate(turns) if turn < 0]
    assert all(r < 0 for _, r in found)


def test_gaps_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    values = ratings(rng, (1, 1, -1, 1), 200)
    values[rng.random(values.shape) < 0.5] = np.nan
    assert [column for column, _ in reversed_columns(values)] == [2]


def test_honest_people_are_rarely_named() -> None:
    rng = np.random.default_rng(3)
    noise = [bool(reversed_columns(rng.normal(size=(60, 3)))) for _ in range(300)]
    honest = [bool(reversed_columns(ratings(rng, (1, 1, 1), 60))) for _ in range(300)]
    assert np.mean(noise) < 0.06
    assert np.mean(honest) == 0


def test_of_two_nobody_knows_which() -> None:
    values = ratings(np.random.default_rng(4), (1, -1))
    sentence = likely_cause(values, ("Ada", "Bo"))
    assert sentence.startswith("Ada and Bo run against each other (r = -0.")
    assert remark(values, ("Ada", "Bo"), "people") == sentence
    assert remark(abs(values), ("Ada", "Bo"), "people") is None


def test_without_names_the_cause_is_asked() -> None:
    assert likely_cause(ratings(np.random.default_rng(5), (1, 1, -1)), ()).startswith(
        "ratings of one story differ more"
    )
