"""How alike a system's stories are."""

from __future__ import annotations

import math

import pytest

from judge.base.records import Story
from judge.lab.measures.overlap import counted
from judge.lab.measures.systems import rows, self_bleu

TEXTS = [
    "the cat sat on the mat by the door",
    "a dog sat on the mat by the sea shore",
    "the cat ran up a tall tree today",
]


def _plain(texts: list[str]) -> float:
    """Each text against the largest counts of the others, one after the other."""
    total = 0.0
    for at, text in enumerate(texts):
        others = [counted(other) for i, other in enumerate(texts) if i != at]
        logs = []
        for order, counts in enumerate(counted(text)):
            hits = sum(min(n, max(other[order][gram] for other in others)) for gram, n in counts.items())
            logs.append(math.log((hits or 0.1) / counts.total()) / 4)
        size = counted(text)[0].total()
        near = min((other[0].total() for other in others), key=lambda n: (abs(n - size), n))
        total += (1 if size > near else math.exp(1 - near / size)) * math.exp(sum(logs))
    return total / len(texts)


def test_self_bleu_is_that_against_all_others() -> None:
    assert self_bleu(TEXTS) == pytest.approx(_plain(TEXTS))
    assert self_bleu([TEXTS[0], TEXTS[0]]) == pytest.approx(1)


def test_what_needs_vectors_or_another_story_says_so() -> None:
    found = rows(
        [Story("1", "p", "a", TEXTS[0]), *(Story(str(i), "p", "b", text) for i, text in enumerate(TEXTS))], None, None
    )
    assert [row.system for row in found] == ["a", "b"]
    assert found[0].self_bleu.reason == "undefined: the system has one story"
    assert found[1].vendi.reason == "undefined: no sentence encoder was named"
    assert found[1].distinct.value == pytest.approx(18 / 24)
