"""Whether texts tell their criterion: people's comments do, one sentence for everything does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.base.printing.tables import Table
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.corpus.reading import read_texts
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.specificity import measure, sampled, specificity
from judge.inputs.embedding import embed
from judge.stats.resampling.swap_test import AgainstChance
from tests.explanations import planted

pytest.importorskip("sklearn")
QUICK = NumbersOptions(permutations=99, refits=19)


@pytest.fixture(scope="module")
def comments(studies: Path) -> ExplanationTexts:
    return read_texts(studies / "storyer" / "train_rate_reason_data_small.json")


def of(frame: pd.DataFrame, options: NumbersOptions = QUICK) -> list[Table]:
    return measure(frame, embed(frame["text"].tolist(), None).vectors, options, "signature")


def chances(frame: pd.DataFrame) -> tuple[AgainstChance, AgainstChance, AgainstChance]:
    found = specificity(frame, embed(frame["text"].tolist(), None).vectors, QUICK)
    assert found.silhouette is not None
    assert found.purity is not None
    assert found.accuracy is not None
    return found.silhouette, found.purity, found.accuracy


def test_peoples_comments_tell_their_aspect(comments: ExplanationTexts) -> None:
    first, worst = of(comments.with_text)
    (row,) = first.rows
    assert (row.result.texts, row.result.stories, row.result.criteria) == (303, 100, 10)
    assert row.result.silhouette.value > row.result.silhouette_chance
    assert row.result.purity.value > row.result.purity_chance + 0.08
    assert row.result.accuracy.value > 2 * row.result.accuracy_chance
    assert (row.result.silhouette_p, row.result.purity_p, row.result.accuracy_p) == (0.01, 0.01, 0.05)
    assert abs(row.result.accuracy_chance - 0.1) < 0.04
    assert not any("stories have mostly one criterion" in note for note in first.notes)
    taken = [row.result.taken for row in worst.rows]
    assert taken == sorted(taken, reverse=True)
    assert f"the {QUICK.top} most confused of {len(taken)}" in worst.notes[0]


def test_aspects_dealt_anew_within_stories_are_not_told(comments: ExplanationTexts) -> None:
    frame = comments.with_text
    rng = np.random.default_rng(5)
    dealt = frame.groupby("story")["criterion"].transform(lambda one: rng.permutation(one.to_numpy()))
    silhouette, purity, accuracy = chances(frame.assign(criterion=dealt))
    assert min(silhouette.p, purity.p, accuracy.p) > 0.05
    assert abs(accuracy.value - accuracy.mean) < 0.1


def test_one_sentence_for_everything_stands_at_its_baseline() -> None:
    frame = planted.frame(lambda at: f"I liked thing {at.story} of this story for the reason {at.story}.")
    silhouette, purity, accuracy = chances(frame)
    assert abs(accuracy.value - 1 / 3) < 0.1
    assert abs(purity.value - purity.mean) < 0.05
    assert abs(silhouette.value - silhouette.mean) < 0.02
    assert min(silhouette.p, purity.p, accuracy.p) > 0.05


def test_words_of_the_criterion_alone_are_told_perfectly() -> None:
    frame = planted.frame(lambda at: f"The {at.criterion} is good, it has much {at.criterion} here {at.story}.")
    silhouette, purity, accuracy = chances(frame)
    assert accuracy.value == 1
    assert purity.value > 0.9
    assert silhouette.value > 0.3


def test_telling_the_story_is_not_telling_the_criterion() -> None:
    """Every text says what its story is about, and stories have one criterion each: nothing is told across stories."""
    frame = planted.frame(
        lambda at: f"The dragon number{at.story} eats village{at.story} under moon{at.story}.",
        criteria=("Relevance",),
        stories=60,
    ).assign(criterion=lambda f: np.where(f["story"].str[1:].astype(int) % 2, "Relevance", "Coherence"))
    first, _ = of(frame)
    (row,) = first.rows
    # Not the least p of 99 permutations: no text is nearer to one than to another, so rounding says which are near.
    assert row.result.purity_p > 0.01
    assert row.result.accuracy_p > 0.05
    assert any("permuted over all stories" in note for note in first.notes)


def test_too_little_is_undefined_with_its_reason() -> None:
    few = planted.frame(lambda at: f"{at.criterion} {at.story}", stories=4)
    first, worst = of(few)
    assert first.rows[0].result.accuracy.reason == "fewer than 20 texts or 10 stories"
    assert worst.rows == ()
    single = planted.frame(lambda at: f"good {at.story}", criteria=("Empathy",))
    assert of(single)[0].rows[0].result.purity.reason == "one criterion only"


def test_a_criterion_in_one_story_alone_is_never_told() -> None:
    """When its story is held out, the rest has one criterion, and nothing can be fitted."""
    frame = planted.frame(lambda at: f"The {at.criterion} is good {at.story}.", criteria=("Empathy",), stories=20)
    frame.loc[frame["story"] == "s3", "criterion"] = "Charm"
    first, worst = of(frame)
    assert first.rows[0].result.accuracy.value < 0.5
    assert all(row.result.taken <= 1 for row in worst.rows)


def test_vectors_of_nothing_are_looked_at_like_others() -> None:
    """TF-IDF knows no word of some texts; their vectors are zeros."""
    frame = planted.frame(lambda at: f"The {at.criterion} is good {at.story}.")
    vectors = embed(frame["text"].tolist(), None).vectors.copy()
    vectors[::4] = 0
    found = specificity(frame, vectors, QUICK)
    assert found.silhouette is not None
    assert np.isfinite([found.silhouette.value, found.silhouette.mean]).all()


def test_texts_without_a_criterion_are_left_out_and_counted() -> None:
    frame = planted.frame(lambda at: f"The {at.criterion} is good {at.story}.")
    frame.loc[:9, "criterion"] = ""
    first, _ = of(frame)
    assert first.rows[0].result.texts == len(frame) - 10
    assert "10 texts without a known criterion or story are left out" in first.notes


def test_the_sample_holds_whole_stories_and_even_shares() -> None:
    frame = planted.frame(lambda _: "x", stories=100)
    other = frame.assign(eval_prompt="ep3")
    small = frame.iloc[:90].assign(eval_prompt="ep4")
    whole = pd.concat([frame, other, small], ignore_index=True)
    keep = sampled(whole, NumbersOptions(sample=600))
    taken = whole[keep].groupby("eval_prompt").size().to_dict()
    assert taken == {"ep2": 252, "ep3": 252, "ep4": 90}  # whole stories of nine texts within shares of 255
    for _, part in whole[keep].groupby(["eval_prompt", "story"]):
        assert len(part) == 9
    assert (keep == sampled(whole, NumbersOptions(sample=600))).all()
    assert (keep != sampled(whole, NumbersOptions(sample=600, seed=2))).any()
    assert sampled(whole, NumbersOptions(sample=5000)).all()
