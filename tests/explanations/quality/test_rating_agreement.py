"""Ratings predicted from texts: where the text says the rating, where it says nothing, where one text was swapped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.base.printing.tables import Table
from judge.explanations.corpus.reading import read_texts
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.measures import agreement, measure, predict, rank_correlation
from judge.inputs.embedding import embed
from judge.stats.correlation.coefficients import spearman
from judge.stats.resampling import bootstrap
from tests.explanations import planted

pytest.importorskip("sklearn")
SAID = ("dreadful tedious nonsense", "weak and dull", "neither good nor bad", "strong and lively", "a brilliant marvel")


def of(frame: pd.DataFrame) -> list[Table]:
    return measure(
        frame, embed(frame["text"].tolist(), None).vectors, NumbersOptions(resamples=100), "signature", "listed"
    )


def told(at: planted.At) -> str:
    said = SAID[at.story % 5]
    return f"This tale of knight{at.story % 11} is {said}, I found it {said} in try {at.repeat}."


def test_texts_that_say_their_rating_are_predicted() -> None:
    first, _ = of(planted.frame(told, criteria=("Empathy",), stories=60))
    (row,) = first.rows
    assert row.result.rho.value > 0.9
    assert row.result.error.value < 0.3
    assert row.result.baseline.value > 1
    assert row.result.gain.low > 0.5
    assert (row.result.texts, row.result.stories) == (180, 60)


def test_texts_that_say_nothing_are_not() -> None:
    rng = np.random.default_rng(3)
    frame = planted.frame(
        lambda at: f"This tale is about knight{at.story} and castle{at.story}.",
        criteria=("Empathy",),
        stories=80,
        rating=lambda _: float(rng.integers(1, 6)),
    )
    (row,) = of(frame)[0].rows
    assert abs(row.result.rho.value) < 0.3
    assert abs(row.result.gain.value) < 0.1


def tells_its_story_prompt(seed: int) -> pd.DataFrame:
    """Stories for one story-prompt are alike in quality, and their texts say which story-prompt it is, no more."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, 24)
    frame = planted.frame(
        lambda at: f"This tale is about castle{at.story % 24} knight{at.story % 24} river{at.story % 24}.",
        criteria=("Empathy",),
        stories=24 * 6,
        repeats=1,
        rating=lambda at: float(np.clip(np.round(quality[at.story % 24] + rng.normal(0, 0.6)), 1, 5)),
    )
    frame["story_prompt"] = [f"prompt {int(story[1:]) % 24}" for story in frame["story"]]
    return frame


def test_texts_that_only_tell_their_story_prompt_are_not() -> None:
    """Of one study the correlation spreads by .23 about 0, since a fold holds five story-prompts: a mean of twelve."""
    frames = [tells_its_story_prompt(seed) for seed in range(12)]
    with_prompts = [of(frame)[0].rows[0].result.rho.value for frame in frames]
    assert abs(np.mean(with_prompts)) < 0.2
    without = [of(frame.assign(story_prompt=""))[0].rows[0].result.rho.value for frame in frames]
    assert min(without) > 0.4


def test_the_order_of_rows_decides_nothing() -> None:
    frame = planted.frame(told, criteria=("Empathy",), stories=60)
    frame["story_prompt"] = [f"prompt {int(story[1:]) % 24}" for story in frame["story"]]
    vectors, options = embed(frame["text"].tolist(), None).vectors, NumbersOptions(resamples=100)
    cells, _ = agreement(frame, vectors, options)
    turned, _ = agreement(frame.iloc[::-1].reset_index(drop=True), vectors[::-1], options)
    # Predictions that nearly tie may change places: sums over rows in another order differ in their last digits.
    assert turned.rho.value == pytest.approx(cells.rho.value, abs=1e-3)


def test_few_story_prompts_give_no_interval_and_one_no_agreement() -> None:
    frame = planted.frame(told, criteria=("Empathy",), stories=60)
    frame["story_prompt"] = [f"prompt {int(story[1:]) % 4}" for story in frame["story"]]
    (row,) = of(frame)[0].rows
    assert row.result.rho.value > 0.5
    assert (row.result.rho.low, row.result.rho.reason) == (None, "no interval with fewer than 5 story-prompts")
    (row,) = of(frame.assign(story_prompt="one"))[0].rows
    assert row.result.rho.reason == "stories for one story-prompt only"


def test_a_text_under_the_wrong_rating_heads_the_list() -> None:
    frame = planted.frame(told, criteria=("Empathy",), stories=60)
    swapped = frame.index[(frame["story"] == "s4") & (frame["repeat"] == 0)][0]
    frame.loc[swapped, "rating"] = 1.0  # its text says "a brilliant marvel"
    _, listed = of(frame)
    assert (listed.rows[0].result.story, listed.rows[0].result.repeat, listed.rows[0].result.rating) == ("s4", 0, 1.0)
    assert listed.rows[0].result.predicted > 4
    assert "brilliant" in listed.rows[0].result.text
    gaps = [abs(row.result.predicted - row.result.rating) for row in listed.rows]
    assert gaps == sorted(gaps, reverse=True)


def test_noise_has_no_correlation_within_folds_and_a_negative_one_over_them() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        x, y = rng.normal(size=(80, 30)), rng.integers(1, 6, size=80).astype(np.float64)
        fold = rng.permutation(80) % 5
        predicted, _ = predict(x, y, fold)
        drawn = bootstrap.draw(np.arange(80), 2, rng, "boot-stories")
        ours = rank_correlation(predicted, y, fold, drawn).value
        assert ours is not None
        found.append((ours, spearman(predicted, y)))
    ours, pooled = np.mean(found, axis=0)
    assert abs(ours) < 0.05
    assert pooled < -0.08


def test_predictions_never_see_the_story_they_are_about() -> None:
    """With a column for each story, a model that saw a story would predict its rating; one that did not cannot."""
    story = np.repeat(np.arange(40), 3)
    y = np.random.default_rng(4).normal(size=40)[story]
    predicted, mean = predict(np.eye(40)[story], y, story % 5)
    assert abs(np.corrcoef(predicted - mean, y)[0, 1]) < 0.2
    seen, _ = predict(np.eye(40)[story], y, np.tile([0, 1, 2], 40))
    assert np.corrcoef(seen, y)[0, 1] > 0.95


def test_peoples_comments_go_with_their_ratings(studies: Path) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    first, _ = of(frame)
    rows = {row.asked.criterion: row for row in first.rows}
    assert rows["Middle"].result.rho.low > 0
    assert rows["Middle"].result.gain.low > 0
    assert rows["Heartwarming"].result.rho.reason == "fewer than 20 rated texts or 10 stories"


def test_what_has_no_rating_is_left_out_and_counted() -> None:
    frame = planted.frame(told, criteria=("Empathy",), stories=40)
    frame.loc[frame["repeat"] == 2, "rating"] = np.nan
    first, _ = of(frame)
    assert first.rows[0].result.texts == 80
    assert "40 texts without a rating or a known story are left out" in first.notes
    alike = planted.frame(told, criteria=("Empathy",), rating=lambda *_: 3.0)
    assert of(alike)[0].rows[0].result.rho.reason == "every text has the same rating"
    assert of(alike)[1].rows == ()
