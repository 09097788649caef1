"""An Eval-Prompt's own pattern of a rating: what it reads, what is refused, and that no pattern takes long."""

from __future__ import annotations

import pytest

from judge.answers.parsing import parser
from judge.answers.parsing.ours.from_story import check_pattern
from judge.base.errors import SpecError
from judge.base.records import Criterion, Judgment, Response, Scale
from tests.growth import linear


def read(pattern: str, text: str, *, finish: str = "stop", scale: Scale | None = None) -> Judgment:
    check_pattern(pattern, where="test")
    criterion = Criterion("Coherence", "CH", "", scale or Scale())
    return parser("ours").parse(Response(text, finish), criterion, rating_pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "status", "rating"),
    [
        (r"Verdict = (\d)", "A 5 would need an ending. Verdict = 3", "ok", 3),
        (r"(?i)verdict\s*=\s*(?P<rating>[\d.]+)(/5)?", "VERDICT = 3.5/5", "ok", 3.5),
        (r"<score>(\w+)</score>", "<score>four</score>", "ok", 4),
        (r"Verdict = (\d)", "Rating: 3", "no_rating", None),
        (r"Verdict = (\d)", "Verdict = 3 ... Verdict = 4", "ambiguous", None),
        (r"Verdict = (\d)", "Verdict = 3 ... Verdict = 3", "ok", 3),
        (r"Verdict = (\d)", "Verdict = 9", "out_of_scale", None),
        (r"Verdict = (\w+)", "Verdict = none", "no_rating", None),
        (r"Verdict = (\d)", "<think>Verdict = 1</think>Verdict = 4", "ok", 4),
        (r"Verdict = (\d)", "I'm sorry, but I cannot rate this story.", "refused", None),
        ("$.scores.coherence", 'Here: {"scores": {"coherence": 4, "style": 2}}', "ok", 4),
        ("$.scores[1].value", '{"scores": [{"value": 2}, {"value": "3"}]}', "ok", 3),
        ("$['my score']", '```json\n{"my score": 5}\n```', "ok", 5),
        ("$.scores.coherence", '{"scores": {"style": 2}}', "no_rating", None),
        ("$.rating", '{"rating": true}', "no_rating", None),
        ("$.rating", "Rating: 4", "no_rating", None),
        ("$.rating", '{"rating": ' + "9" * 309 + "}", "out_of_scale", None),
        ("$.rating", '{"rating": -' + "9" * 309 + "}", "out_of_scale", None),
        ("$.rating", '{"rating": "' + "9" * 309 + '"}', "out_of_scale", None),
        ("$.rating", '{"rating": ' + "9" * 5000 + "}", "no_rating", None),
    ],
)
def test_only_what_the_pattern_matches_is_a_rating(pattern: str, text: str, status: str, rating: float | None) -> None:
    judgment = read(pattern, text)
    assert (judgment.status, judgment.rating) == (status, rating)


def test_span_explanation_and_flags_are_those_of_other_answers() -> None:
    text = "Verdict = 3.5\n\nOne thread stays open."
    judgment = read(r"Verdict = ([\d.]+)", text, finish="length")
    assert judgment.span is not None
    assert text[slice(*judgment.span)] == "3.5"
    assert (judgment.explanation, judgment.flags) == ("One thread stays open.", ("off_step", "cut"))
    assert read(r"Verdict = (\d)", "Verdict", finish="length").status == "truncated"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"Verdict = \d", "has 0 groups"),
        (r"(Verdict) = (\d)", "has 2 groups"),
        (r"Verdict = (\d", "no regular expression"),
        (r"(?=x)(\d)", "no regular expression"),
        (r"(\d)\1", "no regular expression"),
        ("$.scores..x", "no JSON path"),
        ("$.", "no JSON path"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_place(pattern: str, words: str) -> None:
    with pytest.raises(SpecError, match=words) as refused:
        check_pattern(pattern, where="mine.jinja")
    assert str(refused.value).startswith("mine.jinja: rating_pattern")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:a|aa)*(b)", r"(.*)*x", r"((a{1,100}){1,10})y"])
def test_no_pattern_holds_a_table_up(pattern: str) -> None:
    named = pattern if pattern.count("(") == 1 else pattern.replace("(", "(?P<rating>", 1)
    if "(?P<rating>?:" in named:
        named = pattern
    # A backtracking matcher needs 2 ** 50,000 steps for the first.
    assert read(named, "a" * 50_000 + "!").rating is None
    assert linear(lambda size: read(named, "a" * size + "!"), 50_000)
