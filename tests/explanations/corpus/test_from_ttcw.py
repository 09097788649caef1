"""Art or Artifice's explanations of both sides: counts, one row of each by eye, and what is not known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judge.explanations.corpus.corpus import EXPERT, ExplanationTexts
from judge.explanations.corpus.reading import read_texts


@pytest.fixture(scope="module")
def texts(studies: Path) -> ExplanationTexts:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_DATA", str(studies))
        return read_texts("ttcw_explanations")


def test_both_sides_are_there_whole(texts: ExplanationTexts) -> None:
    frame = texts.frame
    models = ("cgpt", "gpt4", "claudev13", "claudev2", "claudev21")
    assert frame["side"].value_counts().to_dict() == {EXPERT: 2016, **dict.fromkeys(models, 672)}
    assert (frame["judge"] == frame["side"]).all()
    assert set(frame["criterion"]) == {criterion.name for criterion in texts.criteria}
    assert frame["story"].nunique() == 48
    assert frame.groupby("story")["story_prompt"].nunique().eq(1).all()
    assert set(frame["system"]) == {"NewYorker", "Claude", "GPT3.5", "GPT4"}


def test_experts_explanations_are_as_released(texts: ExplanationTexts) -> None:
    first = texts.frame.iloc[0]
    assert (first["story"], first["criterion"], first["rating"]) == ("0_Claude", "Narrative Ending", 0.0)
    assert first["text"].startswith("The ending seemed arbitrary.")
    assert first["answer"] is None
    assert texts.frame.loc[texts.frame["side"] == EXPERT, "text"].notna().all()


def test_models_explanations_are_what_parsing_leaves(texts: ExplanationTexts) -> None:
    def row(side: str, story: str, criterion: str) -> pd.Series:
        frame = texts.frame
        return frame[(frame["side"] == side) & (frame["story"] == story) & (frame["criterion"] == criterion)].iloc[0]

    gpt4 = row("gpt4", "0_Claude", "Scene vs Summary")
    assert (gpt4["rating"], gpt4["status"]) == (1.0, "ok")
    assert gpt4["answer"].startswith("Yes, the story does have")
    assert gpt4["text"].startswith("the story does have")
    bare = row("claudev13", "0_Claude", "Narrative Pacing")
    assert (bare["answer"], bare["rating"], bare["text"]) == ("Yes", 1.0, None)
    declined = row("claudev2", "6_GPT3.5", "Originality in Form and Structure")
    assert declined["status"] == "refused"
    assert pd.isna(declined["rating"])


def test_the_magazines_texts_are_not_known(texts: ExplanationTexts) -> None:
    known = texts.stories["text"].notna()
    assert (int(known.sum()), len(known)) == (36, 48)
    assert set(texts.stories.loc[~known, "system"]) == {"NewYorker"}
    assert any("12 of 48 stories are the magazine's" in str(note) for note in texts.notes)
