"""Numbers of an answer, each matched whole."""

from __future__ import annotations

from judge.answers.parsing.ours.mentions import mentions


def test_a_number_is_matched_whole_or_not_at_all() -> None:
    # Python 3.11.2 took "1." from "1. two" as long as the pattern was possessive.
    assert [m.value for m in mentions("1. two 3.5 1,000 7b 4.5x 1.2.3 6")] == [1, 2, 3.5, 1000, 6]
