"""What the parser `ours` must never do, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale
from tests.growth import linear

OTHERS = ("Relevance", "Empathy", "Surprise", "Engagement", "Complexity")
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
VALUES = {word: float(i) for i, word in enumerate(WORDS)}
OURS = parser("ours")
QUICK = settings(derandomize=True, deadline=None, max_examples=120, database=None)

ANSWERS = [
    (" 4\n\nThe story is easy to follow from scene to scene.", 4.0),
    (" 2 — Hardly anything follows.\n\nThe captain is dead, then he speaks.", 2.0),
    ("Rating: 3\n\nExplanation: The middle part is out of order.", 3.0),
    ("**Rating:** 4.5/5\n\nOne thread stays open.", 4.5),
    ("I would rate this story a 2 on Coherence. The places change without notice.", 2.0),
    ("I'd give it a five out of five. Nothing is left open.", 5.0),
    ("The scenes connect badly, so I rate it 1.", 1.0),
    ('{"rating": 3, "explanation": "The order of events is odd."}', 3.0),
    ("Coherence: 4\n\nThe plot is simple and sound.", 4.0),
    ("First I doubted the end.\n\nFinal rating: 3\n\nIt does hold.", 3.0),
]
STORY = [
    "Two soldiers and 3 nurses waited 4 months for the thaw.",
    "In 1916 the 2nd regiment lost 5 of its 12 guns.",
    "Chapter 4",
    "It was 3:45 when the train, number 5, came in.",
    "He had three wishes left and used one of them.",
    "A 4-D star unrolled the land into an infinite plane.",
    "She paid $5 for 2 apples and 1/2 of a loaf.",
    "The captain gave each of the five men a 4 of hearts.",
    "\"I give that film a 2 out of 5,\" said the boy.",
    "The hotel had 5 stars and 1 guest.",
    "They won the match 3 to 1, and the next one 4-2.",
    "“Rate me from 1 to 5,” said the robot, “and be honest.”",
    "Seven out of ten sailors never came home.",
    "The dragon was 3.5 metres long and 100% angry.",
    "The teacher gave the essay a 2 and went home.",
    "1",
    "Day 2: nothing. Day 3: nothing. Day 4: rain.",
    "Room 5 was empty; room 4 was not.",
    "He counted: one, two, three, four, five.",
    "She was 5 when she met the 1 friend she kept.",
]  # fmt: skip


def judged(text: str, scale: Scale | None = None, finish: str = "stop", structured: str = "none") -> Judgment:
    criterion = Criterion("Coherence", "CH", "how much the story makes sense", scale or Scale())
    return OURS.parse(Response(text, finish), criterion, structured=structured, other_criteria=OTHERS)  # type: ignore[arg-type]


def spoken(judgment: Judgment, text: str) -> float:
    """The number that stands in the text at the judgment's span."""
    assert judgment.span is not None
    literal = text[slice(*judgment.span)].lower().replace(",", ".")
    half = 0.5 if literal.endswith(("½", "1/2", "half")) else 0.0
    stars = sum(literal.count(c) for c in "★⭐🌟")
    if stars:
        return stars + half
    first = literal.replace("½", " ").split()[0]
    return VALUES.get(first, 0.0) + half if first in VALUES else float(first) + half


PIECES = st.sampled_from([
    "Rating:", " 4", "5", "3/5", " out of ", "five", "I would rate this story a ", " on Coherence", "Empathy: ", "\n\n",
    "\n", " — ", "-", "**", "{", "}", '"rating": ', '"explanation": "x"', "<think>", "</think>", "★★★☆☆", "between ",
    " and ",     "final rating: ", ". ", ", ", "8", "10", "%", "not ", "4.5", "1. ", "2. ", "(", ")", "if ",
    "$\\boxed{", "[[", "]]",
    "The story makes sense.", "1 = worst", "½", "### User:", "Bewertung: ", "I cannot rate this", "-1", "1 to 5",
    " stars", "é",
])  # fmt: skip
MIXED = st.lists(PIECES, max_size=14).map("".join)


@QUICK
@given(st.text(max_size=300))
def test_any_text_is_parsed_without_an_error_and_within_the_scale(text: str) -> None:
    for structured in ("none", "choice", "json"):
        judgment = judged(text, structured=structured)
        assert (judgment.rating is not None) == (judgment.status == "ok")
        assert judgment.rating is None or 1 <= judgment.rating <= 5


@QUICK
@given(MIXED, st.sampled_from(["stop", "length", "content_filter"]))
def test_a_rating_is_on_the_scale_and_stands_in_the_text(text: str, finish: str) -> None:
    judgment = judged(text, finish=finish)
    assert (judgment.rating is not None) == (judgment.status == "ok")
    if judgment.rating is not None:
        assert 1 <= judgment.rating <= 5
        assert spoken(judgment, text) == judgment.rating
    assert judgment == judged(text, finish=finish)


@QUICK
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_categories=("Nd", "Nl", "No"), exclude_characters="★⭐🌟☆"), max_size=40),
            st.sampled_from(["Rating: ", "I would rate it a ", "Coherence:", "\n\n", '{"rating": ', "out of", "stars"]),
        ),
        max_size=8,
    ).map(" ".join)
)  # fmt: skip
def test_a_text_without_a_number_never_yields_a_rating(text: str) -> None:
    for word in WORDS:
        text = text.lower().replace(word, "")
    if any(word in text for word in WORDS):
        return
    assert judged(text).status in ("no_rating", "empty", "refused")


@pytest.mark.parametrize("answer", ANSWERS, ids=[a[0][:24] for a in ANSWERS])
@pytest.mark.parametrize("sentence", STORY)
def test_one_story_sentence_after_an_answer_never_changes_its_rating(answer: tuple[str, float], sentence: str) -> None:
    text, rating = answer
    for between in ("\n\n", " ", "\n"):
        assert judged(f"{text}{between}{sentence} The end.").rating == rating
    assert judged(f'{text}\n\nThe passage "{sentence.strip(chr(34))} So it was." stands out.').rating == rating


@QUICK
@given(
    st.sampled_from(ANSWERS), st.lists(st.sampled_from(STORY), min_size=1, max_size=12), st.sampled_from([" ", "\n\n"])
)
def test_a_story_after_an_answer_never_changes_its_rating(
    answer: tuple[str, float], story: list[str], gap: str
) -> None:
    text, rating = answer
    # A story does not end in a bare number on a line of its own: that is how some judges close an answer.
    assert judged(text + "\n\n" + gap.join([*story, "So it ended."])).rating == rating


@QUICK
@given(st.lists(st.sampled_from(STORY), min_size=1, max_size=12))
def test_a_story_alone_is_never_rated(story: list[str]) -> None:
    assert judged("The story goes like this. " + " ".join(story) + " The end.").rating is None


@QUICK
@given(
    st.one_of(st.integers(6, 99), st.integers(-9, 0), st.floats(5.1, 9.9).map(lambda x: round(x, 1))),
    st.sampled_from([" {}", "Rating: {}", "I would rate this story a {}.", '{{"rating": {}}}', "Coherence: {}\n\nFine.",
                     "{}/10", "Score: {} out of 5"]),
)  # fmt: skip
def test_a_number_off_the_scale_is_never_made_to_fit(value: float, form: str) -> None:
    judgment = judged(form.format(value))
    assert judgment.rating is None
    assert judgment.status in ("out_of_scale", "no_rating")


@QUICK
@given(st.integers(1, 10), st.integers(1, 10), st.sampled_from(["Rating: {}", " {}", "I rate it {}.", "{}\n\nGood."]))
def test_the_scale_decides_what_fits(value: int, top: int, form: str) -> None:
    judgment = judged(form.format(value), Scale(1, top + 1))
    assert (judgment.status, judgment.rating) == (("ok", value) if value <= top + 1 else ("out_of_scale", None))


PATHOLOGICAL = {
    "one long number": "1" * 100_000,
    "numbers": "4 " * 50_000,
    "fractions": "4/5 " * 25_000,
    "hyphens": "4-" * 50_000,
    "blanks": " " * 100_000 + "x",
    "empty lines": "\n" * 100_000 + "4",
    "braces": "{" * 100_000,
    "open objects": '{"a":' * 20_000,
    "rating objects": '{"rating":' * 10_000,
    "quotes": '"a b c ' * 16_000,
    "open thinking": "<think>" * 14_000,
    "closed thinking": "</think>" * 12_000,
    "parentheses": "(" * 100_000 + "4",
    "number words": "one " * 25_000,
    "labels": "Rating: " * 12_500,
    "equal ratings": "Rating: 4\n" * 10_000,
    "a list": "\n".join(f"{i}. x" for i in range(12_000)),
    "stars": "★☆" * 50_000,
    "tags": "<|a|>" * 20_000,
    "turns": "\n### " * 20_000,
    "brackets": "[[" * 50_000,
    "refusals": "i cannot " * 11_000,
    "sentences without a number": "I would rate this story a " * 4_000,
    "anchors": "4 — x" * 20_000,
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_hostile_text_takes_no_more_than_linear_time(name: str) -> None:
    text = PATHOLOGICAL[name]
    assert linear(lambda size: judged(text[:size]), len(text))
