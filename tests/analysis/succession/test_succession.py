"""Replacing a judge: decisions, crosswalks and changed verdicts of made-up judges; false equivalence in simulations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from judge.analysis import succession
from judge.analysis.options.agreement_options import SuccessionOptions
from judge.analysis.succession.compute import Pair, agreement_test
from judge.analysis.succession.result import Heir, Succession, decided, sentences
from judge.base.errors import OptionError, SpecError
from judge.base.estimate import Estimate
from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation.means import Equivalence, tost_of
from tests.analysis.conftest import assemble, facts, story_facts
from tests.stats.estimation.clustered_studies import Study, simulate

Floats = NDArray[np.float64]
TRUE_DIFFERENCE = 0.086
"""Of the taus of two simulated judges with noise 0.8 and 1.2."""

RELEVANCE = Criterion("Relevance", "RE", "how well", Scale(1, 5))


def reading(study: Study, judge: str, ratings: Floats, *, prompt: str = "ep1", people: bool = True) -> RatingsTable:
    """One judge's run over a simulated study; `ratings` (n, repeats)."""
    stories, rows = [], []
    for i in range(study.system.size):
        name, story_prompt, system = f"s{i}", f"p{study.story_prompt[i]}", f"sys{study.system[i]}"
        stories.append((name, story_prompt, system, 3, "a b c"))
        base = {"run": judge, "dataset": "toy", "story": name, "story_prompt": story_prompt, "system": system}
        base |= {"criterion": "Relevance", "status": "ok", "flags": ""}
        for r, value in enumerate(ratings[i]):
            rows.append(
                {**base, "judge": judge, "eval_prompt": prompt, "source": "judge", "repeat": r, "rating": value}
            )
        if people:
            rows += [{**base, "source": "rater", "rater": f"p{p}", "rating": v} for p, v in enumerate(study.people[i])]
    return assemble(rows, story_facts("toy", stories), [facts(run=judge, judge=judge, criteria=(RELEVANCE,))])


def compared(
    old: Floats, new: Floats, study: Study, options: SuccessionOptions | None = None, *, people: bool = True
) -> Succession:
    sides = [reading(study, name, one, people=people) for name, one in (("old", old), ("new", new))]
    return succession.succession(*sides, options)


@pytest.fixture(scope="module")
def study() -> Study:
    return simulate(np.random.default_rng(4), 80, noise=(0.6, 0.6, 4.0), repeats=3)


def test_a_judge_of_the_same_kind_is_equivalent(study: Study) -> None:
    found = compared(study.judges[0], study.judges[1], study, SuccessionOptions(margin=0.08))
    (heir,) = found.heirs
    assert isinstance(heir, Heir)
    assert (heir.decision, heir.level_decision) == ("equivalent", "equivalent")
    assert dict(sentences(found))["may it replace it?"].startswith("Yes")
    assert (heir.needed.if_as_seen, heir.needed.if_none) == (None, None)


def test_a_much_noisier_judge_is_worse_and_the_old_one_better(study: Study) -> None:
    (worse,) = compared(study.judges[0], study.judges[2], study).heirs
    (better,) = compared(study.judges[2], study.judges[0], study).heirs
    assert (worse.decision, better.decision) == ("worse", "better")


def test_too_few_stories_leave_it_undecided_and_say_how_many_more() -> None:
    small = simulate(np.random.default_rng(3), 12, noise=(0.8, 0.8))
    found = compared(small.judges[0], small.judges[1], small)
    (heir,) = found.heirs
    assert heir.decision == "undecided"
    assert heir.needed.if_none is not None
    assert heir.needed.if_none > small.system.size
    assert "more stories" in dict(sentences(found))["how many more stories?"]


def test_a_judge_that_rates_a_point_lower_is_mended_by_a_crosswalk(study: Study) -> None:
    old = study.judges[0]
    found = compared(old, np.maximum(old - 1, 1), study)
    (heir,) = found.heirs
    assert heir.level_decision == "worse"
    assert heir.level.difference.value == pytest.approx(float((np.maximum(old - 1, 1) - old).mean()))
    linear, isotonic = heir.crosswalks
    assert heir.raw.value is not None
    for walk in (linear, isotonic):
        assert walk.rmse.value is not None
        assert walk.rmse.value < heir.raw.value / 2
    assert dict(isotonic.points)[3.0] == pytest.approx(4, abs=0.1)
    assert heir.changed.raw.value is not None
    assert heir.changed.crossed.value is not None
    assert heir.changed.crossed.value < heir.changed.raw.value


def test_changed_verdicts_are_those_on_the_other_side_of_the_cut() -> None:
    made = simulate(np.random.default_rng(1), 30, systems=2)
    old = np.where(np.arange(60) < 30, 2.0, 4.0)[:, None]
    new = old.copy()
    new[:6] = 4.0
    found = compared(old, new, made, SuccessionOptions(cut=3))
    assert found.heirs[0].changed.raw.value == pytest.approx(0.1)
    assert {one.story for one in found.stories} <= {f"s{i}" for i in range(60)}


def test_without_people_ratings_alone_are_compared(study: Study) -> None:
    found = compared(study.judges[0], study.judges[1], study, people=False)
    assert found.heirs[0].decision == "no test"
    assert found.heirs[0].level_decision == "equivalent"
    assert "cannot be said" in dict(sentences(found))["may it replace it?"]


def test_tables_and_frame_come_from_one_value(study: Study) -> None:
    found = compared(study.judges[0], study.judges[2], study)
    _, tests, walks, _ = succession.tables(found)
    assert tests.rows[0]["tau"] is found.heirs[0].agreement.difference
    assert found.frame["tau_difference"].tolist() == [tests.rows[0]["tau"].value]
    assert len(walks.rows) == 2
    assert tests.signature == found.signature


def test_what_cannot_be_compared_is_refused(study: Study) -> None:
    one = reading(study, "old", study.judges[0])
    with pytest.raises(SpecError, match="same Eval-Prompt"):
        succession.succession(one, reading(study, "new", study.judges[1], prompt="ep2"))
    with pytest.raises(OptionError):
        SuccessionOptions(margin=0)


def test_the_test_is_that_of_a_mean() -> None:
    assert decided(Equivalence(Estimate(0.0, 5), (-1.0, 1.0))) == "no test"
    test = tost_of(Estimate(0.01, n=90), 0.02, 29, -0.05, 0.05)
    # t(.95, 29) = 1.6991
    assert test.difference.high == pytest.approx(0.01 + 1.69913 * 0.02, abs=1e-6)


@pytest.mark.parametrize("skew", [-0.4, -0.05, 0.05, 0.4])
def test_skewness_only_ever_makes_it_harder_to_call_judges_equivalent(skew: float) -> None:
    plain = tost_of(Estimate(0.01, n=90), 0.02, 29, -0.05, 0.05)
    found = tost_of(Estimate(0.01, n=90), 0.02, 29, -0.05, 0.05, skew=skew)
    assert plain.p is not None
    assert found.p is not None
    assert found.difference.low is not None
    assert found.p >= plain.p
    assert found.difference.high is not None
    # The interval lies inside the bounds exactly where the test says so.
    at_high = tost_of(Estimate(0.01, n=90), 0.02, 29, -0.5, found.difference.high, skew=skew)
    assert at_high.p_high == pytest.approx(0.05, abs=1e-9)
    at_low = tost_of(Estimate(0.01, n=90), 0.02, 29, found.difference.low, 0.5, skew=skew)
    assert at_low.p_low == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("prompts", [20, 96])
def test_false_equivalence_stays_below_five_per_cent(prompts: int) -> None:
    """Two judges whose taus truly differ by just the margin: at most 5 % of studies may call them equivalent.

    The true difference is that of 400,000 story-prompts. In 4,000 to 5,000 studies each of another model it was 1.2 to
    5.1 % for 10 to 192 story-prompts (docs/planning.md; standard error .3 %); 150 are looked at here, so that a limit
    of 5 % has to leave room for luck.
    """
    rng, noise = np.random.default_rng(prompts), (0.8, 1.2)
    options = SuccessionOptions(margin=TRUE_DIFFERENCE)
    hits = []
    for _ in range(150):
        made = simulate(rng, prompts, noise=noise)
        names = tuple(f"s{i}" for i in range(made.system.size))
        sides = [one.mean(axis=1) for one in made.judges]
        pair = Pair("toy", "c", "ep1", names, names, made.story_prompt, *sides, made.means, made.judges[0], None)
        _, test, _ = agreement_test(pair, np.ones(made.system.size, dtype=bool), made.story_prompt, options)
        hits.append(decided(test) == "equivalent")
    assert np.mean(hits) <= 0.05 + 1.645 * np.sqrt(0.05 * 0.95 / 150)
