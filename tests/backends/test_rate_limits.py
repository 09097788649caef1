"""What headers tell of limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from judge.backends.refusal_body import rate_limits


def test_the_rate_is_read_from_what_lacks_and_when_it_is_whole_again() -> None:
    # Headers as OpenAI sent them for limits of 5,000 requests and 160,000 tokens a minute:
    # https://community.openai.com/t/how-to-get-rate-limit-reset-time-for-response-api/1268905
    told = rate_limits(
        {
            "x-ratelimit-limit-requests": "5000",
            "x-ratelimit-limit-tokens": "160000",
            "x-ratelimit-remaining-requests": "4999",
            "x-ratelimit-remaining-tokens": "159976",
            "x-ratelimit-reset-requests": "12ms",
            "x-ratelimit-reset-tokens": "9ms",
        }
    )
    assert told is not None
    assert told["requests"].rate == pytest.approx(5000 / 60, rel=1e-9)
    assert told["tokens"].rate == pytest.approx(160_000 / 60, rel=1e-9)


def test_a_limit_of_a_day_reads_as_one_of_a_minute_does() -> None:
    # 14,400 requests a day come back at one in six seconds; the reset is written as Groq writes it.
    told = rate_limits(
        {
            "x-ratelimit-limit-requests": "14400",
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-reset-requests": "3m0s",
        }
    )
    assert told is not None
    assert told["requests"].rate == pytest.approx(14_400 / 86_400)


def test_anthropics_names_give_a_point_in_time() -> None:
    at = datetime.now(UTC) + timedelta(seconds=30)
    told = rate_limits(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "25",
            "anthropic-ratelimit-requests-reset": at.isoformat().replace("+00:00", "Z"),
        }
    )
    assert told is not None
    assert told["requests"].rate == pytest.approx(25 / 30, rel=0.05)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-ratelimit-remaining-requests": "10"},
        {"x-ratelimit-remaining-requests": "x", "x-ratelimit-limit-requests": "9", "x-ratelimit-reset-requests": "1s"},
        {"x-ratelimit-remaining-requests": "0", "x-ratelimit-limit-requests": "0", "x-ratelimit-reset-requests": "1s"},
    ],
)
def test_headers_that_tell_too_little_tell_nothing(headers: dict[str, str]) -> None:
    assert rate_limits(headers) is None


def test_a_whole_limit_tells_no_rate() -> None:
    told = rate_limits(
        {
            "x-ratelimit-limit-tokens": "100",
            "x-ratelimit-remaining-tokens": "100",
            "x-ratelimit-reset-tokens": "0s",
        }
    )
    assert told is not None
    assert told["tokens"].rate is None
