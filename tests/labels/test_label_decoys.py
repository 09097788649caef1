"""Sentences that hold a label and do not state it, beside answers that do: none of theirs is read, in any order."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.answers.parsing import parser
from judge.base.records import Criterion, Judgment, Response, Scale

SCALE = Scale.of_labels(["No", "Yes"])
CRITERION = Criterion("Originality", "OR", "is it new?", SCALE)
OURS = parser("ours")
QUICK = settings(derandomize=True, deadline=None, max_examples=120, database=None)

# Each holds the label that is not the answer, as "{0}".
DECOYS = (
    'The captain shouts "{0}" and turns the ship.',
    "When she asks him to stay, he whispers {0}.",
    "Some readers would answer {0} here.",
    "If the last scene were cut, the answer would be {0}.",
    "I would not say {0} lightly.",
    "I was tempted to say {0}.",
    "My first thought was {0}.",
    "A {0} would be too harsh.",
    "Is the answer {0}?",
    "The question was whether to answer yes or no.",
    "One could make a case for {0}.",
    "The story's own answer to that riddle is “{0}”.",
    "The previous story got a {0}.",
    "Human raters said {0}.",
    "It is not a clear {0}.",
    "The daughter can only say {0} to her father.",
    "Had it been shorter, I would have said {0}.",
    "The vote in the village ends with a {0}.",
    "For its style alone I would say {0}.",
    "There is no doubt about the craft, and yes-men are few.",
)
FORMS = (
    "{0}. {1}",
    "{0}\n\n{1}",
    "**{0}**\n\n{1}",
    "Answer: {0}\n\nExplanation: {1}",
    "{1} Therefore, the answer is {0}.",
    "{1}\n\nFinal answer: {0}",
    "{1}\n\n**Verdict:** {0}",
    "{1}\n\n{0}",
    "## Reasoning\n{1}\n\n## Answer\n{0}",
    "<reasoning>{1}</reasoning><answer>{0}</answer>",
    "{1} So I would answer {0}.",
)


def read(text: str) -> tuple[str | None, Judgment]:
    judgment = OURS.parse(Response(text, "stop"), CRITERION)
    return SCALE.label_of(judgment.rating), judgment


def test_no_decoy_is_read_and_nearly_every_answer_is() -> None:
    asked = right = 0
    around = "The form is plain.", "Each scene leads to the next."
    for form, decoy, label, (before, after) in product(FORMS, DECOYS, SCALE.labels, (around, around[::-1])):
        other = SCALE.labels[1 - SCALE.labels.index(label)].lower()
        text = form.format(label, f"{before} {decoy.format(other)} {after}")
        found, judgment = read(text)
        assert found in (label, None), (text, judgment)
        asked, right = asked + 1, right + (found == label)
    assert asked == 880
    assert right / asked > 0.95, right


def test_a_decoy_alone_states_nothing() -> None:
    for decoy, label in product(DECOYS, SCALE.labels):
        found, judgment = read(decoy.format(label.lower()))
        assert found is None, (decoy, judgment)


PIECES = st.sampled_from(
    ["yes", "No", "YES", " ", ", ", ". ", "\n", "\n\n", "**", '"', "(", ")", ": ", "- ", "? ", "not ", "I would say ",
     "the answer is ", "Answer", "Originality", "or ", "and ", "the story ", "doubt ", "<think>", "</think>", "{", "}",
     '{"answer": ', "/", "|", "’", "[[", "]]", "On reflection, ", "because ", "1. ", "Coherence: "]
)  # fmt: skip


@QUICK
@given(st.lists(PIECES, max_size=14))
def test_a_label_that_is_read_stands_where_the_span_says(pieces: list[str]) -> None:
    text = "".join(pieces)
    found, judgment = read(text)
    assert (found is not None) == (judgment.status == "ok")
    if judgment.span is not None:
        assert text[slice(*judgment.span)].lower() == str(found).lower()
