"""Runs of words counted one by one, on people's comments and on planted phrases."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from judge.explanations.corpus.reading import read_texts
from judge.explanations.quality.quoted_evidence import boilerplate, runs
from judge.explanations.quality.specificity import codes


def naive(texts: list[str], story: np.ndarray, words: int, share: float) -> list[float]:
    seen: dict[tuple[str, ...], set[int]] = defaultdict(set)
    split = []
    for text, one in zip(texts, story, strict=True):
        found = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())
        split.append([tuple(found[i : i + words]) for i in range(len(found) - words + 1)])
        for run in split[-1]:
            seen[run].add(int(one))
    least = max(3, share * (len(set(story.tolist())) - 1))
    return [float(np.mean([len(seen[run]) - 1 >= least for run in of])) if of else float("nan") for of in split]


@pytest.mark.parametrize(("words", "share"), [(2, 0.05), (3, 0.03), (4, 0.01)])
def test_shares_are_those_of_counting(studies: Path, words: int, share: float) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    texts, story = frame["text"].tolist(), codes(frame, ("story",))
    found = boilerplate(texts, story, words, share)
    assert found == pytest.approx(naive(texts, story, words, share), nan_ok=True)
    assert 0 < np.nanmean(found) < 1


def test_a_phrase_for_every_story_is_boilerplate_and_the_rest_is_not() -> None:
    texts = [f"I would rate this story because knight{n} loves castle{n} dearly{n}" for n in range(20)]
    found = boilerplate(texts, np.arange(20), 4, 0.05)
    assert found == pytest.approx(np.full(20, 3 / 7))  # of seven runs of four words, three are the phrase's


def test_repeats_of_one_story_are_not_other_stories() -> None:
    texts = [f"knight{n // 5} loves castle{n // 5} dearly and always" for n in range(60)]
    assert boilerplate(texts, np.arange(60) // 5, 4, 0.05) == pytest.approx(np.zeros(60))


def test_short_texts_and_few_stories_have_no_share() -> None:
    assert np.isnan(boilerplate(["good story"] * 12, np.arange(12), 4, 0.05)).all()
    assert np.isnan(boilerplate(["a good story indeed"] * 9, np.arange(9), 4, 0.05)).all()
    assert runs([], 4)[0].size == 0
