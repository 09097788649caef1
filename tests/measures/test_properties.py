"""What holds of string measures for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.lab.measures import Item, Tools, Undefined, overlap, rouge
from judge.lab.measures import systems as diversity
from judge.lab.measures.rouge import f_score

TEXT = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "Running", "ran"]), min_size=2, max_size=30
)


def _plain_weight(reference: list[str], text: list[str]) -> float:
    """The table of ROUGE-W filled cell by cell, as the program does it."""
    n, m = len(reference), len(text)
    value = [[0.0] * (m + 1) for _ in range(n + 1)]
    run = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if reference[i - 1] == text[j - 1]:
                k = run[i - 1][j - 1]
                value[i][j] = value[i - 1][j - 1] + (k + 1) ** 1.2 - k**1.2
                run[i][j] = k + 1
            else:
                value[i][j] = max(value[i - 1][j], value[i][j - 1])
    i, j, hits = n, m, set()
    while i and j:
        if reference[i - 1] == text[j - 1]:
            hits.add(i)
            i, j = i - 1, j - 1
        elif value[i - 1][j] >= value[i][j - 1]:
            i -= 1
        else:
            j -= 1
    total, length = 0.0, 0
    for place in range(1, n + 2):
        if place in hits:
            length += 1
        else:
            total, length = total + length**1.2, 0
    return total


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_many_tables_at_once_are_what_one_after_the_other_is(pairs: list[tuple[list[str], list[str]]]) -> None:
    texts = [(" ".join(one), " ".join(other)) for one, other in pairs]
    together = rouge.rouge_scores(texts)
    assert together == [rouge.rouge_scores([pair])[0] for pair in texts]
    for (text, reference), one in zip(texts, together, strict=True):
        x, y = rouge.tokens(reference), rouge.tokens(text)
        if x and y:
            wanted = (_plain_weight(x, y) / len(y) ** 1.2) ** (1 / 1.2)
            assert one["w-1.2 precision"] == pytest.approx(wanted, abs=6e-6)


@given(TEXT)
def test_a_text_against_itself_has_the_most_there_is(words: list[str]) -> None:
    text = " ".join(words) + " cat"
    one = rouge.rouge_scores([(text, text)])[0]
    size = len(rouge.tokens(text))
    assert one["1 f"] == one["l f"] == 1
    assert one["w-1.2 recall"] == pytest.approx(size**-0.2, abs=6e-6)
    assert overlap.chrf_scores([(text, text)], beta=2, whitespace=False) == [pytest.approx(100)]
    assert f_score(text, text) == pytest.approx(1)
    if len(words) > 6:
        assert overlap.smoothed_bleu(text, text) == pytest.approx(1)


def test_what_needs_more_words_is_undefined() -> None:
    found = diversity.FAMILIES[0].score([Item("One cat .", "", "")], Tools())[0].values
    assert found["distinct-2"] == 1
    assert found["distinct-3"] == Undefined("the text has fewer than 3 words")
    assert isinstance(found["mattr-50"], Undefined)
    assert isinstance(found["hd-d"], Undefined)
