"""The best of several rows is cross-fitted: what is claimed of it was not used to choose it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import t

from judge.questions.summary.evidence import Choice, Evidence, chosen
from judge.questions.summary.result import EvidenceOptions
from judge.questions.summary.summarize import summarize
from tests.benchmarks.simulations.bounded_raters import BoundedRaters, Judges
from tests.benchmarks.simulations.worlds import Study, World


def _study(seed: int) -> tuple[Study, BoundedRaters]:
    raters = BoundedRaters(World(systems=4, story_prompts=20, people=3), np.random.default_rng(seed))
    return raters.study(), raters


def _choice(study: Study) -> tuple[Choice, Evidence]:
    evidence = Evidence(study.table(texts=True), EvidenceOptions(resamples=50))
    (matrix,) = evidence.matrices
    best = max(evidence.margins, key=lambda margin: margin.value.value or -1.0)
    return chosen(evidence, matrix, best, evidence.margins), evidence


def test_the_best_of_judges_of_noise_is_not_claimed_to_be_as_good_as_it_looks() -> None:
    flattered, claimed = [], []
    for seed in range(8):
        study, raters = _study(seed)
        noise = raters.rng.integers(1, 6, (12, 1, study.n)).astype(float)
        choice, _ = _choice(study.with_judges(**{f"noise {i}": said for i, said in enumerate(noise)}))
        assert choice.contenders > 1
        flattered.append(choice.best.value.value)
        claimed.append(choice.claimed.value.value)
    # Twelve judges of noise have a true tau of 0; a standard error of one with 80 stories is .08.
    assert np.mean(flattered) > 0.08
    assert abs(np.mean(claimed)) < 3 * 0.08 / np.sqrt(8)


def test_a_clear_winner_is_claimed_by_its_own_ratings() -> None:
    study, raters = _study(1)
    judges = Judges(raters, study)
    choice, evidence = _choice(
        study.with_judges(person=judges.honest_model(), noise=raters.rng.integers(1, 6, (1, study.n)).astype(float))
    )
    assert (choice.elsewhere, choice.contenders) == (0, 1)
    assert choice.claimed is choice.best
    assert choice.evidence is evidence


def test_the_ratings_of_a_fold_are_those_of_the_row_that_the_other_folds_choose() -> None:
    study, raters = _study(3)
    noise = raters.rng.integers(1, 6, (6, 1, study.n)).astype(float)
    choice, evidence = _choice(study.with_judges(**{f"noise {i}": said for i, said in enumerate(noise)}))
    (before,), (after,) = evidence.matrices, choice.evidence.matrices
    assert after.judge.shape == (1, study.n)
    used = {int(np.flatnonzero(before.judge[:, i] == after.judge[0, i])[0]) for i in range(study.n)}
    assert len(used) > 1
    assert np.isfinite(after.judge).all()


def test_the_screen_says_how_the_row_was_chosen() -> None:
    study, raters = _study(3)
    noise = raters.rng.integers(1, 6, (6, 1, study.n)).astype(float)
    table = study.with_judges(**{f"noise {i}": said for i, said in enumerate(noise)}).table(texts=True)
    (screen,) = summarize(Evidence(table, EvidenceOptions(resamples=50)), ["runs/x"]).datasets
    assert "the highest tau of 6 rows" in screen.row
    assert "of 5 folds choose another" in screen.row
    answers = {answer.label: " ".join(answer.sentences) for answer in screen.answers}
    gap = next(gap.words for gap in screen.missing if gap.name == "stories")
    # What is missing names the width that the answer on stories names.
    assert re.findall("±([0-9.]+)", answers["stories"])[0] == re.findall("±([0-9.]+)", gap)[0]


def test_intervals_are_for_all_contenders_at_once() -> None:
    study, raters = _study(3)
    noise = raters.rng.integers(1, 6, (6, 1, study.n)).astype(float)
    choice, _ = _choice(study.with_judges(**{f"noise {i}": said for i, said in enumerate(noise)}))
    (plain,) = choice.evidence.margins if choice.elsewhere else (choice.best,)
    own, wide = plain.value, choice.claimed.value
    assert own.low is not None and own.value is not None and wide.low is not None  # noqa: PT018
    factor = t.ppf(1 - 0.025 / choice.contenders, 19) / t.ppf(0.975, 19)
    assert own.value - wide.low == pytest.approx(factor * (own.value - own.low))
