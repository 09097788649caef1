"""From texts to scores with a model that can be counted by hand: passes, cache, truncation, and what is undefined."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint_text
from judge.contamination import scores
from judge.contamination.options import ScoringOptions
from judge.contamination.scoring import Cache, model_key, score
from judge.contamination.texts import Text
from tests.contamination.bigrams import BigramScorer

TALES = ["the cat sat on the mat", "A Zebra, quite QUEER.", "x", "the rain fell on the roof of the old house"]


def texts(bodies: list[str]) -> list[Text]:
    return [Text(str(i), body, fingerprint_text(body)) for i, body in enumerate(bodies)]


def scored(scorer: BigramScorer, options: ScoringOptions, cache: Cache | None = None, bodies: list[str] = TALES, **how):  # type: ignore[no-untyped-def]
    with nullcontext(cache) if cache is not None else Cache(None) as kept:
        return asyncio.run(score(texts(bodies), scorer, options, kept, **how))


def test_every_pass_gives_its_scores() -> None:
    options = ScoringOptions(k=25, lowercase=True, full_distribution=True)
    model, other = BigramScorer("large"), BigramScorer("small")
    found = scored(model, options, before=["zz zz"], reference=other)
    names = {f"{kind}_{k}" for kind in ("min_k", "min_k_pp") for k in (5, 10, 20, 25, 30, 40, 50, 60)}
    names |= {"loss", "zlib", "lowercase", "reference_difference", "reference_ratio", "recall"}
    assert set(found[0].scores) == names
    (told,) = asyncio.run(model.token_logprobs([TALES[1]]))
    (lower,) = asyncio.run(model.token_logprobs([TALES[1].lower()]))
    logprobs = np.array(told.logprobs)
    assert found[1].scores["min_k_25"] == scores.min_k(logprobs, 25)
    assert found[1].scores["lowercase"] == scores.lowercase(logprobs, np.array(lower.logprobs))
    assert found[0].tokens == len(TALES[0]) - 1
    # Texts in the words that were trained on score higher, on every score that needs no second pass.
    for name in ("loss", "min_k_20", "min_k_pp_20"):
        assert found[0].scores[name].value > found[1].scores[name].value
    # After a prefix only the first byte is conditioned otherwise, and it has no partner: the ratio is 1.
    assert found[0].scores["recall"].value == pytest.approx(1.0)


def test_one_token_has_no_score_and_says_why() -> None:
    found = scored(BigramScorer("large"), ScoringOptions())[2]
    assert found.tokens == 0
    assert {one.value for one in found.scores.values()} == {None}
    assert found.scores["min_k_20"].reason == scores.EMPTY


def test_the_cache_is_asked_first_and_keeps_numbers_to_the_last_digit(tmp_path: Path) -> None:
    path = tmp_path / "derived" / "logprobs.sqlite"
    first, again, other = BigramScorer("large"), BigramScorer("large"), BigramScorer("small")
    with Cache(path) as cache:
        before = scored(first, ScoringOptions(), cache)
    with Cache(path) as cache:
        after = scored(again, ScoringOptions(k=33), cache)
        scored(other, ScoringOptions(), cache)
    assert first.calls == [4]
    assert again.calls == []
    assert other.calls == [4]  # another model's log-probabilities are no answer
    for one, two in zip(before, after, strict=True):
        assert one.scores["min_k_20"] == two.scores["min_k_20"]
    assert "min_k_33" in after[0].scores


def test_equal_texts_are_asked_once() -> None:
    scorer = BigramScorer("large")
    found = scored(scorer, ScoringOptions(lowercase=True), bodies=["abc", "abc", "ABC"])
    # The second pass is on "abc" alone, which the first pass had.
    assert scorer.calls == [2]
    assert found[0].scores == found[1].scores


def test_a_broken_cache_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_bytes(b"no database, and longer than a header would be" * 40)
    with pytest.raises(SpecError, match="cannot be used"):
        Cache(tmp_path / "c.sqlite")


def test_texts_longer_than_the_context_are_cut_and_counted() -> None:
    found = scored(BigramScorer("large", context=10), ScoringOptions())
    assert [one.truncated for one in found] == [True, True, False, True]
    assert found[0].tokens == 9


def test_without_the_full_distribution_min_k_plus_plus_is_undefined_with_that_reason() -> None:
    found = scored(BigramScorer("large", full=False), ScoringOptions(full_distribution=True))
    assert found[0].scores["min_k_pp_20"].reason == "undefined: no whole distribution here"
    assert found[0].scores["min_k_20"].value is not None


def test_an_empty_text_has_no_score() -> None:
    (found,) = scored(BigramScorer("large"), ScoringOptions(), bodies=["  \n "])
    assert found.scores["loss"].reason == "undefined: the text is empty"


def test_the_key_is_the_models_and_the_passes() -> None:
    facts = asyncio.run(BigramScorer("large").facts())
    other = asyncio.run(BigramScorer("small").facts())
    keys = {model_key(facts), model_key(other), model_key(facts, full=True), model_key(facts, prefix="a")}
    assert len(keys) == 4
