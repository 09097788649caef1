"""What the parser `verdict/2` must never do, whatever the text and the labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.answers.parsing.verdict import parse_verdict
from judge.base.records import Response, Verdict
from tests.growth import linear

QUICK = settings(derandomize=True, deadline=None, max_examples=100, database=None)
LABELS = [
    ("A", "B", "C"),
    ("A", "B"),
    ("1", "2", "0"),
    ("Alpha", "Beta", "Tie"),
    ("First", "Second", "Equal"),
    ("x+", "(y)"),
]
NAMES = ["A", "B", "C", "Story A", "Story B", "the second story", "tie", "neither", "{", '"winner": ']
OTHERS = [
    "[[", "]]", "1", "2", " ", "\n", "\n\n", ". ", ", ", "Alpha", " is better than ", " is worse than ", " not ",
    "I prefer ", " over ", "Overall, ", "Verdict: ", "**", "}", '"', "<think>", "</think>", " > ", "if ", "1. ", "2. ",
    "|", "?", "Final verdict: ", "\nUser: ", "Actually, ", "in plot", "\\boxed{", "É",
]  # fmt: skip
PIECES = st.sampled_from([*NAMES, *OTHERS])
PATHOLOGICAL = {
    "brackets": "[[" * 50_000,
    "letters": "A B " * 25_000,
    "comparisons": "Story A is better than Story B " * 3_500,
    "verdicts": "Verdict: " * 11_000,
    "labels in lines": "Verdict: A\n" * 9_000,
    "preferences": "I prefer " * 11_000,
    "quotes": '"a b c ' * 16_000,
    "open objects": '{"winner":' * 10_000,
    "blanks": " " * 100_000 + "A",
    "empty lines": "\n" * 100_000 + "A",
    "signs": "A > B " * 16_000,
    "tables": "| A | B " * 12_000,
    "adverbs": "Story A is " + "clearly " * 12_000,
    "questions": "\nQuestion: A" * 9_000,
    "words of order": "the first second " * 6_000,
    "colons": "a: " * 33_000,
    "headings": "## Plot\nStory A is better.\n" * 4_000,
    "both": "both A and B are " * 6_000,
    "turns": "\nExample 1\n" * 9_000,
}


@QUICK
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=16).map("".join)), st.sampled_from(LABELS),
       st.sampled_from(["stop", "length", "content_filter", None]))  # fmt: skip
def test_any_text_has_a_verdict_exactly_when_it_is_ok(text: str, labels: tuple[str, ...], finish: str | None) -> None:
    found = parse_verdict(Response(text, finish), labels)
    assert (found.preference is not None) == (found.status == "ok")
    assert found == parse_verdict(Response(text, finish), labels)
    if found.span is not None:
        assert 0 <= found.span[0] <= found.span[1] <= len(text)


@QUICK
@given(st.lists(st.sampled_from(OTHERS), max_size=12).map("".join))
def test_a_text_that_names_no_story_prefers_none(text: str) -> None:
    assert parse_verdict(Response(text)).preference is None


@QUICK
@given(st.lists(PIECES, max_size=14))
def test_exchanging_the_letters_never_keeps_the_preference(pieces: list[str]) -> None:
    exchanged = {"A": "B", "B": "A", "Story A": "Story B", "Story B": "Story A", "the second story": "the first story"}
    one = parse_verdict(Response("".join(pieces))).preference
    other = parse_verdict(Response("".join(exchanged.get(piece, piece) for piece in pieces))).preference
    assert one in ("tie", None) or other != one


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_hostile_text_takes_no_more_than_linear_time(name: str) -> None:
    text = PATHOLOGICAL[name]
    assert isinstance(parse_verdict(Response(text)), Verdict)
    assert linear(lambda size: parse_verdict(Response(text[:size])), len(text))
