"""Numbers that are not the judge's rating, beside one that is: the parser may lose that one, never take the number."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest
import yaml

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale

RESPONSES = Path(__file__).parent.parent / "responses"
OTHERS = ("Relevance", "Empathy", "Surprise", "Engagement", "Complexity")
OURS = parser("ours")
DECOYS: dict[str, list[str]] = yaml.safe_load((RESPONSES / "decoys.yaml").read_text(encoding="utf-8"))
STATED = yaml.safe_load((RESPONSES / "stated.yaml").read_text(encoding="utf-8"))
ANSWERS = (
    "{r}",
    "Rating: {r}",
    "**{r}** — The plot has a few gaps.",
    "{r}/5",
    "I would rate this story a {r} on Coherence.",
    "Score: {r}/5\nThe plot has a few gaps.",
    "{r}. The plot has a few gaps.",
    '{"rating": {r}, "explanation": "The plot has a few gaps."}',
    "The story deserves a {r}.",
    "The plot has a few gaps.\n\nFinal rating: {r}",
    "My rating is {r}.",
    "Feedback: The plot has a few gaps. [RESULT] {r}",
)
ORDERS = ("{decoy} {answer}", "{decoy}\n{answer}", "{answer} {decoy}", "{answer}\n\n{decoy}")


def judged(text: str, finish: str = "stop") -> Judgment:
    criterion = Criterion("Coherence", "CH", "how much the story makes sense", Scale())
    return OURS.parse(Response(text, finish), criterion, other_criteria=OTHERS)


def filled(template: str, key: str, value: object) -> str:
    """`str.format` would trip over the braces of JSON."""
    return template.replace("{" + key + "}", str(value))


def test_there_are_many_decoys_of_every_kind() -> None:
    assert sum(len(decoys) for decoys in DECOYS.values()) >= 700
    assert min(len(decoys) for decoys in DECOYS.values()) >= 15


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_is_read_by_itself(answer: str) -> None:
    assert judged(filled(answer, "r", 3)).rating == 3


@pytest.mark.parametrize("kind", DECOYS)
def test_a_decoy_beside_an_answer_is_never_read(kind: str) -> None:
    wrong = []
    read = total = 0
    for turn, (decoy, answer) in enumerate(product(DECOYS[kind], ANSWERS)):
        for order in ORDERS[
            (turn + turn // len(ANSWERS)) % 2 :: 2
        ]:  # each answer beside each decoy in two of the orders, in turns
            text = order.replace("{decoy}", filled(decoy, "n", 2)).replace("{answer}", filled(answer, "r", 3))
            rating = judged(text).rating
            total += 1
            read += rating == 3
            if rating not in (None, 3):
                wrong.append(text)
    assert wrong == []
    # Not reading anything would also never be wrong.
    assert read >= 0.75 * total


@pytest.mark.parametrize("kind", DECOYS)
def test_a_decoy_alone_gives_no_rating(kind: str) -> None:
    for number in (2, 4):
        assert [d for d in DECOYS[kind] if judged(filled(d, "n", number)).rating is not None] == []


def test_answers_of_judges_at_large_are_read_or_lost_and_never_misread() -> None:
    outcomes: Counter[str] = Counter()
    for answer in STATED:
        judgment = judged(answer["text"])
        outcomes["lost" if judgment.rating is None else "read"] += 1
        assert judgment.rating in (None, answer["rating"]), answer["text"]
    assert len(STATED) >= 300
    # 255 of 328 were read before decoys were told from ratings.
    assert outcomes["read"] >= 275


# Answers of SmolLM2-135M-Instruct to the shipped Eval-Prompts begin like this until they are cut.
@pytest.mark.parametrize(
    "text",
    [
        "1. The story is coherent and has a clear narrative structure. The plot is",
        "1. The story is coherent and has a clear narrative structure.\n2. The characters are well drawn.\n3. The",
        "1) The story is coherent.",
        "(1) The story is coherent.",
        "**1.** The story is coherent.",
        "1.The story is coherent.",
        "1. **Plot**: the plot is clear.",
        "1: This is a great story with a lot of depth and emotion. The story does not",
        "1: 1: This is the original story, not the second one.",
        "Choose one:\n\n1. No reason.\n2. Reason 1: It is coherent.\n3. Reason 2: No one cares.\n4. Reason 3: No.\n5",
        "1: This shows that the story is coherent.\n2: This shows that the rules of the story are applied.",
        "Here is my evaluation of the story:\n\n1. The story is coherent and has a clear structure.",
    ],
)
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_the_number_of_a_list_is_no_rating(text: str, finish: str) -> None:
    judgment = judged(text, finish)
    assert (judgment.status, judgment.rating, judgment.flags) == ("ambiguous", None, ("list",))


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("1.", 1),
        ("1.\n\nThe story makes no sense.", 1),
        ("1/5. The story makes no sense.", 1),
        ("1 out of 5. The story makes no sense.", 1),
        ("Rating: 1. The story makes no sense.", 1),
        ("4. The story makes sense.", 4),
        ("1. The story is coherent. I would rate it a 4.", 4),
        ("1. Rating: 4\n2. Explanation: The scenes follow.", 4),
    ],
)
def test_a_label_a_scale_or_a_bare_line_makes_it_one(text: str, rating: float) -> None:
    assert judged(text).rating == rating


@pytest.mark.parametrize(
    "text",
    [
        "The author writes: 'Rating: 5'. The plot makes no sense.",
        'The author writes: "Rating: 5". The plot makes no sense.',
        "The story ends with “I rate this story a 5”, which is odd.",
        "The last line reads «Score: 5/5».",
        "It says `final rating: 5` at the end.",
    ],
)
def test_a_quoted_rating_is_not_the_judges(text: str) -> None:
    judgment = judged(text)
    assert (judgment.status, judgment.rating, judgment.flags) == ("ambiguous", None, ("quoted",))
    assert judged(f"{text} I would rate it a 2.").rating == 2
    assert judged(f"Rating: 2\n\n{text}").rating == 2


@pytest.mark.parametrize(
    "text", ['"4"', '"Rating: 4"', '"4. The story makes sense."', 'Rating: "4"', "My answer: 'Score: 4'"]
)
def test_quotation_marks_around_the_judges_own_words_quote_nobody(text: str) -> None:
    assert judged(text).rating == 4


def test_words_that_stand_in_the_story_are_quoted() -> None:
    criterion = Criterion("Coherence", "CH", "how much the story makes sense", Scale())
    story = "They won the war.\n\nI would rate this story a 5 out of 5. Final  **rating:** 5"

    def read(text: str) -> Judgment:
        return OURS.parse(Response(text), criterion, story=story)

    for text in ("Final rating: 5", "The plot is odd. I would rate this story a 5 out of 5."):
        assert (read(text).status, read(text).flags) == ("ambiguous", ("quoted",))
        assert judged(text).rating == 5
    # A bare number stands in many stories; other words do not stand in this one.
    assert [read(text).rating for text in ("5", "5/5", "Rating: 4", "I rate it a 5.")] == [5, 5, 4, 5]


@pytest.mark.parametrize(
    "text",
    [
        "between 2 and 4",
        "Between 2 and 4.",
        "somewhere between 2 and 4",
        "from 2 to 4",
        "2 to 4",
        "The rating is between 2 and 4.",
        "I would say between 2 and 4.",
    ],
)
def test_a_range_is_ambiguous_however_it_is_written(text: str) -> None:
    assert (judged(text).status, judged(text).rating) == ("ambiguous", None)


@pytest.mark.parametrize(
    "text",
    [
        "Feedback: It holds together. [RESULT] 4",
        "[RESULT] 4",
        "[RESULT]: (4)",
        "Feedback: A 5 would need an ending. So the overall score is 4. [RESULT] 4",
    ],
)
def test_the_form_of_prometheus_is_read(text: str) -> None:
    judgment = judged(text)
    assert judgment.rating == 4
    assert "RESULT" not in (judgment.explanation or "")


def test_a_json_object_inside_the_story_does_not_overrule_the_judge() -> None:
    assert judged('The story contains {"rating": 5}. I would rate it a 2.').status == "ambiguous"
    assert judged('{"confidence_score": 2, "rating": 3}').rating == 3
    assert judged('3\n{"confidence": 2}').rating == 3
    assert judged('{"human_rating": 2}').rating is None
