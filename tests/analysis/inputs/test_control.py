"""The control row: always out of fold, and it says how it was made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from judge.analysis.inputs.control import PENALTIES, Surface, control_predictions
from judge.backends.surface.model import prompt_mark, read_card, shipped_model
from judge.stats.regression.ridge import fit_standardised

WORDS = ["lamp", "sea", "door", "brother", "stairs", "cup", "morning", "promise", "road", "winter", "letter", "garden"]


def made_stories(count: int, prompts: int, seed: int = 1) -> pd.DataFrame:
    """Stories of 20 to 200 random words."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=int(rng.integers(20, 200)))) + "." for _ in range(count)]
    return pd.DataFrame(
        {"text": texts, "story_prompt": [f"Prompt {i % prompts}" for i in range(count)], "system": "made"},
        index=pd.Index([f"s{i}" for i in range(count)], name="story"),
    )


def mans(studies: Path, name: str) -> pd.DataFrame:
    content = json.loads((studies / "openmeva" / f"mans_{name}.json").read_text(encoding="utf-8"))
    rows = [
        (f"{key}/{system}", made["text"], entry["prompt"], system, float(np.mean(made["score"])))
        for key, entry in content.items()
        for system, made in entry["gen"].items()
    ]
    return pd.DataFrame(rows, columns=["story", "text", "story_prompt", "system", "people"]).set_index("story")


def test_refit_finds_what_the_surface_tells() -> None:
    stories = made_stories(150, 30)
    people = stories["text"].str.split().str.len() / 50.0
    control = control_predictions(stories, people, "Coherence")
    assert (control.how, control.n, control.reason) == ("surface:refit/5x5-fold/less-fold-means/seed1", 150, None)
    assert kendalltau(control.values, people).statistic > 0.8


def test_refit_never_sees_the_story_or_its_prompt() -> None:
    stories, rng = made_stories(120, 24), np.random.default_rng(2)
    people = pd.Series(rng.normal(3, 1, 120), index=stories.index)
    before = control_predictions(stories, people, "Coherence").values  # noqa: PD011
    same_prompt = (stories["story_prompt"] == "Prompt 3").to_numpy()
    changed = people.where(~same_prompt, 100.0)
    after = control_predictions(stories, changed, "Coherence").values  # noqa: PD011
    # All values move with the mean of all ratings, which is one number; nothing else of these stories' values does.
    shift = changed.mean() - people.mean()
    np.testing.assert_allclose(after[same_prompt], before[same_prompt] + shift)
    assert not np.allclose(after, before + shift)


@pytest.mark.parametrize("prompts", [10, 40])
def test_features_that_say_nothing_do_not_run_against_people(prompts: int) -> None:
    """With the folds' own levels in the predictions tau x100 is -17 with 10 story-prompts, -8 with 40."""
    taus = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        index = pd.Index([f"s{i}" for i in range(10 * prompts)], name="story")
        names = tuple(f"Prompt {i % prompts}" for i in range(10 * prompts))
        rows, nothing = rng.normal(size=(len(index), 4)), np.zeros(len(index), dtype=bool)
        surface = Surface(index, ("",) * len(index), names, rows, nothing, ("a", "b", "c", "d"), imported=True)
        people = pd.Series(
            rng.normal(size=prompts)[np.arange(len(index)) % prompts] + rng.normal(size=len(index)), index
        )
        taus.append(kendalltau(surface.predictions(people, "Coherence").values, people).statistic)
    # What is left is that of any correlation out of fold: those whose slope is slight are normalised up.
    assert -0.065 < np.mean(taus) < 0.03


def test_random_ratings_give_no_agreement_out_of_fold() -> None:
    stories, rng = made_stories(300, 60), np.random.default_rng(3)
    people = pd.Series(rng.integers(1, 6, 300).astype(float), index=stories.index)
    assert abs(kendalltau(control_predictions(stories, people, "Coherence").values, people).statistic) < 0.12


def test_unrated_stories_are_predicted_too_and_row_order_does_not_matter() -> None:
    stories = made_stories(140, 28)
    people = (stories["text"].str.len() / 100.0).iloc[:110]
    control = control_predictions(stories, people, "Coherence", seed=2)
    assert control.how == "surface:refit/5x5-fold/less-fold-means/seed2"
    assert not np.isnan(control.values).any()
    turned = control_predictions(stories.iloc[::-1], people, "Coherence", seed=2)
    np.testing.assert_allclose(turned.values[::-1], control.values, atol=1e-9)  # noqa: PD011


def test_stories_without_story_prompts_are_folded_one_by_one() -> None:
    stories = made_stories(100, 1).assign(story_prompt="")
    people = stories["text"].str.len() / 100.0
    assert control_predictions(stories, people, "Overall").how.startswith("surface:refit/5x5-fold/")


def test_what_is_held_out_and_how_often_can_be_had() -> None:
    from judge.stats.regression.ridge import out_of_fold
    from judge.stats.resampling.bootstrap import folds_of_groups

    stories = made_stories(120, 24)
    people = stories["text"].str.len() / 100.0
    systems = [f"system {i % 6}" for i in range(120)]
    surface = Surface.of(stories)
    found = surface.predictions(people, "Coherence", seed=3, folds=4, foldings=1, groups=systems)
    assert found.how == "surface:refit/4-fold/less-fold-means/seed3"
    fold = folds_of_groups(systems, 4, 3)
    predicted, level = out_of_fold(
        surface.rows, people.to_numpy(), fold, lambda x, y: fit_standardised(x, y, PENALTIES)
    )
    for i in (0, 1, 119):
        assert level[i] == pytest.approx(people[fold != fold[i]].mean())
    np.testing.assert_allclose(found.values, predicted - level + people.mean())


def test_one_value_a_story_is_the_mean_over_foldings() -> None:
    stories = made_stories(120, 24)
    people = stories["text"].str.len() / 100.0
    surface = Surface.of(stories)
    single = [surface.predictions(people, "Coherence", seed=seed, foldings=1).values for seed in (1, 2, 3)]  # noqa: PD011
    three = surface.predictions(people, "Coherence", foldings=3)
    np.testing.assert_allclose(three.values, np.mean(single, axis=0))
    assert "/3x5-fold/" in three.how


def test_few_rated_stories_use_the_shipped_model() -> None:
    stories = made_stories(30, 10)
    people = pd.Series(np.nan, index=stories.index)
    control = control_predictions(stories, people, "Complexity")
    assert control.how == f"surface:shipped@{read_card(shipped_model()).hash}"
    assert control.n == 30
    assert ((control.values >= 1) & (control.values <= 5)).all()  # noqa: PD011


def test_one_story_prompt_cannot_be_folded() -> None:
    stories = made_stories(120, 1)
    people = stories["text"].str.len() / 100.0
    assert control_predictions(stories, people, "Coherence").how.startswith("surface:shipped@")


def test_stories_without_text_have_no_prediction() -> None:
    stories = made_stories(150, 30)
    stories.iloc[:20, 0] = ""
    people = pd.Series(np.linspace(1, 5, 150), index=stories.index)
    refitted = control_predictions(stories, people, "Coherence")
    assert np.isnan(refitted.values[:20]).all()  # noqa: PD011
    assert (refitted.n, refitted.reason) == (130, "20 of these 150 stories have no text")
    nothing = control_predictions(stories.assign(text=""), people, "Coherence")
    assert (nothing.how, nothing.n) == ("surface:none", 0)
    assert nothing.reason == "150 of these 150 stories have no text"


@pytest.mark.parametrize(("name", "least"), [("roc", 0.18), ("wp", 0.09)])
def test_refit_on_mans(studies: Path, name: str, least: float) -> None:
    stories = mans(studies, name)
    control = control_predictions(stories, stories["people"], "Overall")
    assert control.n == 1000
    assert kendalltau(control.values, stories["people"]).statistic > least


def test_shipped_model_is_never_used_on_story_prompts_it_was_fitted_on(studies: Path) -> None:
    stories = mans(studies, "roc").iloc[:40]
    seen = control_predictions(stories, stories["people"], "Overall")
    assert (seen.how, seen.n) == ("surface:none", 0)
    assert seen.reason is not None
    assert "40 of these 40 stories" in seen.reason
    assert np.isnan(seen.values).all()
    mixed = stories.copy()
    mixed.loc[mixed.index[:10], "story_prompt"] = "A lamp goes out in a house by the sea ."
    assert control_predictions(mixed, mixed["people"], "Overall").n == 10
    assert prompt_mark(str(stories["story_prompt"].iloc[0])) in read_card(shipped_model()).fitted_on["mans_roc"]
