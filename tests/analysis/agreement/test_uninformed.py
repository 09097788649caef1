"""Which judges agree with people more than every uninformed judge, over all stories and within systems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from judge.analysis.agreement.alternative_annotator import CHANCE, THE_CONTROL, WORDS, AltTestRow
from judge.analysis.agreement.replacement import replacement
from judge.analysis.agreement.replacement_verdict import verdict_of
from judge.analysis.options.agreement_options import ReplacementOptions
from tests.benchmarks.simulations.bounded_raters import BoundedRaters, Judges, Spread
from tests.benchmarks.simulations.worlds import Study, World

OPTIONS = ReplacementOptions(resamples=200)


@pytest.fixture(scope="module")
def study() -> Study:
    raters = BoundedRaters(World(systems=6, story_prompts=40, people=3), np.random.default_rng(4), Spread(system=0.7))
    drawn = raters.study()
    judges = Judges(raters, drawn)
    person = judges.one_more()
    made = {
        "constant": np.full_like(person, 4.0),
        "person": person,
        "words": judges.counts_words(),
        "system": judges.system_alone(),
    }
    return drawn.with_judges(**made)


@pytest.fixture(scope="module")
def rows(study: Study) -> dict[str, AltTestRow]:
    tests = replacement(study.table(texts=True), OPTIONS).tests
    return {row.subject.judge: row for row in tests if row.kind == "judge"}


def test_one_more_person_is_above_every_uninformed_judge_in_both_ways(rows: dict[str, AltTestRow]) -> None:
    row = rows["person"]
    assert row.lead is not None
    assert row.within is not None
    assert row.lead.shown
    assert row.within.shown


def test_a_judge_that_counts_words_is_not_above_the_number_of_words(rows: dict[str, AltTestRow]) -> None:
    lead = rows["words"].lead
    assert lead is not None
    assert lead.against == WORDS
    assert not lead.shown


def test_a_judge_that_knows_systems_alone_agrees_with_people_and_not_within_systems(
    rows: dict[str, AltTestRow],
) -> None:
    row = rows["system"]
    assert row.lead is not None
    assert row.within is not None
    assert row.lead.shown
    assert not row.within.shown


def test_a_judge_that_gives_every_story_one_rating_may_not_replace_a_person(rows: dict[str, AltTestRow]) -> None:
    verdict = verdict_of([rows["constant"]])
    assert rows["constant"].constant == 4
    assert verdict.word == "no"
    assert "It gives every story the same rating, so it tells no story from another there." in verdict.sentence()
    assert rows["person"].constant is None
    assert verdict_of([rows["person"], rows["constant"]]).word != "no"


def test_the_difference_is_that_of_two_taus(study: Study, rows: dict[str, AltTestRow]) -> None:
    # scipy 1.17.1, scipy.stats.kendalltau
    people = study.people[0].mean(axis=1)
    tau = {name: kendalltau(said[0, :, 0], people).statistic for name, said in study.judges.items()}
    length = kendalltau(study.words, people).statistic
    lead = rows["words"].lead
    assert lead is not None
    assert lead.over.value == pytest.approx(tau["words"] - length, abs=1e-12)
    lead = rows["system"].lead
    assert lead is not None
    rival = {WORDS: length, CHANCE: 0.0}.get(lead.against)
    if rival is not None:
        assert lead.over.value == pytest.approx(tau["system"] - rival, abs=1e-12)
    else:
        assert lead.against == THE_CONTROL


def test_without_texts_there_is_no_control_and_no_lead(study: Study) -> None:
    table = study.table()
    table.stories["words"] = np.nan
    (row, *_) = (row for row in replacement(table, OPTIONS).tests if row.kind == "judge")
    assert row.lead is not None
    assert not row.lead.over.defined
    assert "texts" in str(row.lead.over.reason)
