"""What a study of ratings takes: figures against simulations done here by other means, and a pilot's own variances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from judge.base.errors import OptionError, SpecError
from judge.base.records import Rating, Story
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import Dataset
from judge.lab.people.options import DesignOptions, StudyPlanOptions
from judge.lab.people.planning import PEOPLE, STORIES, Planned, Shares, plan, plan_table, rated, shares_of, truths
from judge.lab.people.store import StudyStore
from judge.stats.agreement.alt_test import alt_test
from tests.people.conftest import stories

Make = Callable[..., StudyStore]
CRITERIA = load_criteria("hanna").criteria[:3]


def _dataset(given: list[Story], note: str | None = None) -> Dataset:
    return Dataset("mine", (), lambda: iter(given), labels_note=note)


# Six targets by four judges (Shrout & Fleiss 1979, table 2).
SHROUT = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def _rated(criterion: str, *, named: bool = True) -> list[Story]:
    def ratings(values: tuple[int, ...]) -> tuple[Rating, ...]:
        return tuple(Rating(criterion, float(v), f"r{i}" if named else None) for i, v in enumerate(values))

    return [replace(story, ratings=ratings(values)) for story, values in zip(stories(6)[:6], SHROUT, strict=True)]


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan(_dataset(stories(20)), CRITERIA, StudyPlanOptions(plan=True, icc=0.5, judged=0.8), DesignOptions())


def test_tau_is_as_wide_as_in_studies_of_that_size_and_no_wider_with_few_people(planned: Planned) -> None:
    """scipy's tau-b over simulated studies of 100 stories, without scaling."""
    rng = np.random.default_rng(3)
    by_size = {(size.people, size.stories): size for size in planned.sizes}
    for people in (2, 8):
        truth = truths(300, 100, rng)
        judge = np.clip(np.round(3 + 0.8 * truth + 0.6 * rng.normal(size=truth.shape)), 1, 5)
        means = rated(planned.shares, truth, people, rng).mean(axis=-1)
        taus = [stats.kendalltau(x, y).statistic for x, y in zip(judge, means, strict=True)]
        assert by_size[people, 100].half_width == pytest.approx(1.96 * np.std(taus), abs=0.02)
    narrow = [by_size[people, 200].half_width for people in PEOPLE]
    assert max(narrow) - min(narrow) < 0.02


def test_the_annotator_test_passes_as_often_as_it_does(planned: Planned) -> None:
    """The test itself, over story-prompts, in simulated studies of 100 stories and three people."""
    rng = np.random.default_rng(4)
    passed = []
    for truth in truths(150, 100, rng):
        judge = rated(Shares(0.5, 0.0, ""), truth, 1, rng)[:, 0]
        result = alt_test(judge, rated(planned.shares, truth, 3, rng), epsilon=0.2, cluster=np.arange(100) // 5)
        rate = result.clustered_rate.value
        passed.append(rate is not None and rate >= 0.5)
    (size,) = (size for size in planned.sizes if (size.people, size.stories) == (3, 100))
    assert size.passes[0] == pytest.approx(np.mean(passed), abs=0.12)
    assert size.passes[1] < size.passes[0]


def test_means_of_more_people_are_more_reliable_and_cost_more(planned: Planned) -> None:
    """ICC(A,k) by Spearman and Brown; range, hours and pay by hand."""
    by_size = {(size.people, size.stories): size for size in planned.sizes}
    assert len(by_size) == len(STORIES) * len(PEOPLE)
    assert by_size[3, 50].average == pytest.approx(0.75)
    for size in planned.sizes:
        assert size.low < size.average < size.high
    words = np.mean([len(story.text.split()) for story in stories(20)])
    hours = 200 * 3 * (words / 230 + (10 * 3 + 15) / 60) * (1 + 2 / 6) / 60
    assert by_size[3, 200].hours == pytest.approx(hours)
    assert by_size[3, 200].pay == pytest.approx(12 * hours)


def test_the_rules_stand_below_the_table(planned: Planned) -> None:
    notes = " ".join(map(str, plan_table(planned).notes))
    assert "reliable at 0.8: 4 people a story; three only where ICC(A,1) is 0.57 or more" in notes
    assert "however many people rate each" in notes
    assert "10 to 31 people" in notes


def test_a_pilots_own_ratings_say_how_people_differ(study: Make) -> None:
    store = study(20, raters=4, per_story=4, checks=0, practice=0)
    rng = np.random.default_rng(5)
    truth = {number: rng.normal() for number in store.texts()}
    for rater in store.raters():
        lenient = 0.4 * rng.normal()
        for place, entry in enumerate(store.entries(rater)):
            points = 3 + 0.7 * truth[entry.text] + lenient + 0.6 * rng.normal(size=3)
            fields = dict(zip(store.names, np.clip(np.round(points), 1, 5).tolist(), strict=True))
            store.save(rater, place, fields, message=f"m{place}")
    shares = shares_of(StudyPlanOptions(plan=True, pilot_study=store.path))
    assert [name for name, _ in shares.by_criterion] == list(store.names)
    # .49 of .49 + .16 + .36 + 1/12 for whole points.
    assert shares.single == pytest.approx(0.45, abs=0.12)
    assert "720 ratings" in shares.source


@pytest.mark.parametrize(
    ("named", "value", "words"),
    # Their ICC(2,1) is .29; who does not know the judges has ICC(1,1), .17 from -.13 to .72.
    [(True, 0.29, "ICC(A,1) 0.29 ["), (False, 0.17, "ICC(1,1), raters unknown, 0.17 [-0.13, 0.72]")],
)
def test_people_who_rated_these_stories_say_how_people_differ(named: bool, value: float, words: str) -> None:
    shares = shares_of(StudyPlanOptions(plan=True), _dataset(_rated("quality", named=named)), CRITERIA)
    assert shares.single == pytest.approx(value, abs=0.005)
    assert shares.source.startswith(words)
    assert shares.source.endswith("of people's 24 ratings in mine (quality)")


def test_the_criteria_asked_count_and_what_is_given_comes_before_what_people_rated() -> None:
    both = [
        replace(one, ratings=(*one.ratings, *(replace(r, criterion=CRITERIA[0].name, value=3.0) for r in one.ratings)))
        for one in _rated("quality")
    ]
    assert shares_of(StudyPlanOptions(plan=True), _dataset(both), CRITERIA).single == 0.3
    assert shares_of(StudyPlanOptions(plan=True), _dataset(both), CRITERIA[1:]).single == pytest.approx(0.29, abs=0.005)
    assert shares_of(StudyPlanOptions(plan=True, icc=0.5), _dataset(both), CRITERIA[1:]).single == 0.5


def test_labels_are_no_people_and_without_people_the_usual_icc_is_said_to_be_taken() -> None:
    for dataset in (_dataset(_rated("quality"), note="labels set by rule"), _dataset(stories(6))):
        shares = shares_of(StudyPlanOptions(plan=True), dataset, CRITERIA)
        assert (shares.single, shares.by_criterion) == (0.3, ())
        assert shares.source == "ICC(A,1) 0.3, taken as usual: no people's ratings tell it"


def test_what_a_plan_cannot_use_is_refused(study: Make, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no effect without a plan"):
        StudyPlanOptions(pay=15)
    for wrong in ({"icc": 1.0}, {"judged": 0.0}, {"icc": 0.3, "pilot_study": tmp_path}):
        with pytest.raises(OptionError):
            StudyPlanOptions(plan=True, **wrong)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="too few ratings"):
        shares_of(StudyPlanOptions(plan=True, pilot_study=study().path))
