"""Sentences that name stories and state no verdict, beside one that does: it may be lost, never turned round."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import yaml

from judge.answers.parsing.verdict import parse_verdict
from judge.base.records import Response

DECOYS: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "decoys.yaml").read_text(encoding="utf-8"))
FORMS = (
    "{x}",
    "[[{x}]]",
    "Verdict: {x}",
    "**Winner: Story {x}**",
    "Story {x} is better.",
    "I prefer {x} over {y}.",
    "Overall, {x} is the better story.",
    '{"winner": "{x}"}',
    "{x}. The story holds together.",
    "So, in short, Story {x}.",
    "{x} > {y}",
    "Story {y} is worse than Story {x}.",
    "My choice is {x}.",
    "The edge goes to {x}.",
    "<answer>{x}</answer>",
    "Final verdict: {x}",
)
ORDERS = ("{d} {a}", "{d}\n\n{a}", "{a} {d}", "{a}\n\n{d}")
WAYS = (("A", "B"), ("B", "A"))


def filled(template: str, x: str, y: str) -> str:
    """`str.format` would trip over the braces of JSON."""
    return template.replace("{x}", x).replace("{y}", y)


def preferred(text: str) -> str | None:
    return parse_verdict(Response(text)).preference


def test_there_are_decoys_of_every_kind() -> None:
    assert sum(map(len, DECOYS.values())) >= 130
    assert min(map(len, DECOYS.values())) >= 6


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_by_itself_for_either_story(form: str) -> None:
    assert [preferred(filled(form, x, y)) for x, y in WAYS] == ["first", "second"]


@pytest.mark.parametrize("kind", DECOYS)
def test_a_decoy_alone_is_no_verdict(kind: str) -> None:
    texts = [filled(decoy, x, y) for decoy in DECOYS[kind] for x, y in WAYS]
    assert [text for text in texts if preferred(text) is not None] == []


@pytest.mark.parametrize("kind", DECOYS)
def test_a_decoy_beside_a_verdict_never_turns_it_round(kind: str) -> None:
    wrong, read, total = [], 0, 0
    for turn, (decoy, form, (x, y)) in enumerate(product(DECOYS[kind], FORMS, WAYS)):
        for order in ORDERS[(turn // 2 + turn // (2 * len(FORMS))) % 2 :: 2]:  # each in two of the orders, in turns
            text = order.replace("{d}", filled(decoy, x, y)).replace("{a}", filled(form, "A", "B"))
            found = preferred(text)
            total += 1
            read += found == "first"
            if found not in (None, "first"):
                wrong.append(text)
    assert wrong == []
    # Not reading anything would also never be wrong.
    assert read >= 0.75 * total


@pytest.mark.parametrize("kind", DECOYS)
def test_names_swapped_swap_the_preference(kind: str) -> None:
    """Metamorphic: the same answer with the names of the stories exchanged prefers the other one."""
    swapped = {"first": "second", "second": "first", "tie": "tie", None: None}
    for decoy in DECOYS[kind]:
        for form in FORMS:
            text = decoy + "\n\n" + form
            assert swapped[preferred(filled(text, "A", "B"))] == preferred(filled(text, "B", "A")), text
