"""Shares corrected for a judge's errors: the published code's numbers, coverage, and judges like chance."""

from __future__ import annotations

import numpy as np
import pytest

from judge.stats.estimation.proportions import corrected_share

# LLM-judge-reporting (Lee et al., arXiv 2511.21140), calibration.py, point_estimator(p, q0, q1) and
# confidence_interval(p, q0, q1, n, m0, m1): arguments p, q0, q1, n, m0, m1; the first is the README's example.
PUBLISHED = {
    (0.4, 0.7, 0.9, 1000, 200, 200): (0.1666666666666668, 0.05635072484160894, 0.2627330257859588),
    (0.05, 0.9, 0.9, 1000, 200, 200): (0.0, 0.0, 0.0),
}


@pytest.mark.parametrize("case", list(PUBLISHED))
def test_numbers_of_the_published_code(case: tuple[float, ...]) -> None:
    p, q0, q1, n, m0, m1 = case
    counts = {"hits": round(q1 * m1), "positives": int(m1), "rejections": round(q0 * m0), "negatives": int(m0)}
    found = corrected_share(round(p * n), int(n), **counts)
    assert (found.value, found.low, found.high) == pytest.approx(PUBLISHED[case], abs=1e-12)


def test_the_interval_covers() -> None:
    rng = np.random.default_rng(0)
    truth, sensitivity, specificity = 0.3, 0.85, 0.75
    covered, tries = 0, 1000
    for _ in range(tries):
        judged = rng.binomial(400, truth * sensitivity + (1 - truth) * (1 - specificity))
        counts = {"hits": rng.binomial(80, sensitivity), "rejections": rng.binomial(80, specificity)}
        found = corrected_share(int(judged), 400, positives=80, negatives=80, **counts)
        covered += found.low <= truth <= found.high
    assert 0.93 < covered / tries < 0.985


@pytest.mark.parametrize(
    ("hits", "rejections", "positives", "reason"),
    [
        (5, 5, 10, "undefined: sensitivity 0.50 + specificity 0.50 do not exceed 1"),
        (0, 5, 0, "undefined without judged stories and calibration stories of both kinds"),
    ],
)
def test_a_judge_like_chance_or_unmeasured_is_undefined(
    hits: int, rejections: int, positives: int, reason: str
) -> None:
    found = corrected_share(10, 30, hits=hits, positives=positives, rejections=rejections, negatives=10)
    assert (found.value, found.reason) == (None, reason)
