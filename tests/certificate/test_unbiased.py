"""A certificate of `unbiased`: what it takes, and what each planted fault fails at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from judge.questions.certificate.certify import Certificate, certify
from judge.questions.certificate.file import Conditions
from judge.questions.certificate.printed import certificate_tables
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.quality import Faults, wrong
from judge.questions.summary.result import EvidenceOptions
from judge.ratings.ratings_table import RatingsTable
from tests.benchmarks.simulations.bounded_raters import BoundedRaters, Judges
from tests.benchmarks.simulations.worlds import Floats, World

OPTIONS = EvidenceOptions(resamples=20, own=("system 0",))


def table_of(making: Callable[[Judges], Floats], **size: int) -> RatingsTable:
    raters = BoundedRaters(World(**{"story_prompts": 96, **size}), np.random.default_rng(3))
    made = raters.study()
    return made.with_judges(j=making(Judges(raters, made))).table()


def certified(table: RatingsTable, *floors: str) -> Certificate:
    return certify(Evidence(table, OPTIONS), Conditions.of(floors, ["unbiased"]), date(2026, 1, 1))


def failed(certificate: Certificate, condition: str) -> str:
    (held,) = [one for one in certificate.conditions if one.condition == condition]
    return "; ".join(held.failed)


def test_an_honest_judge_holds_and_every_bound_is_recorded() -> None:
    certificate = certified(table_of(Judges.honest_model))
    assert certificate.holds
    (row,) = certificate.record["rows"]
    bounds = {bound["test"]: bound for bound in row["bounds"]}
    assert set(bounds) == {"leniency", "length", "compression", "self-preference", "stuck", "reversed"}
    assert bounds["length"]["limit"] == 0.2
    assert -0.2 < bounds["length"]["low"] < bounds["length"]["high"] < 0.2
    assert all(bound["state"] == "within" for bound in bounds.values())


@pytest.mark.parametrize(
    ("making", "words"),
    [
        (Judges.favours_own, "self-preference"),
        (Judges.rewards_length, "length"),
        (Judges.loses_middling, "loses the middling stories"),
        (Judges.turned_round, "rates against people"),
        (Judges.repeats_rater, "repeats one rater (w0)"),
    ],
)
def test_a_planted_fault_is_named_in_the_line_that_fails(making: Callable[[Judges], Floats], words: str) -> None:
    certificate = certified(table_of(making))
    assert not certificate.holds
    assert words in failed(certificate, "unbiased")


def test_a_judge_that_lost_the_middling_stories_fails_without_any_floor_of_coverage() -> None:
    table = table_of(Judges.loses_middling)
    assert failed(certified(table, "tau=0.1"), "coverage=0.9") == "ep1, criterion 0: 0.5396"
    # A table of another program may hold no rows for them at all.
    rated = table.frame[table.frame["rating"].notna()].copy()
    rated.loc[rated["source"] == "judge", "status"] = "imported"
    certificate = certified(replace(table, frame=rated), "tau=0.1")
    assert failed(certificate, "coverage=0.9") == "ep1, criterion 0: 0.5396"
    assert "loses the middling stories" in failed(certificate, "unbiased")


def test_few_story_prompts_and_one_person_cannot_be_told() -> None:
    assert "cannot be told: self-preference" in failed(
        certified(table_of(Judges.one_more, story_prompts=12)), "unbiased"
    )
    alone = failed(certified(table_of(Judges.one_more, people=1)), "unbiased")
    assert "cannot be told: length (undefined: no story has two of people's ratings" in alone


def test_summary_and_certificate_have_the_same_words() -> None:
    evidence = Evidence(table_of(Judges.repeats_rater), OPTIONS)
    certificate = certify(evidence, Conditions.of([], ["unbiased"]), date(2026, 1, 1))
    (best,) = evidence.margins
    answer = wrong(evidence, best)
    faults = Faults.of(evidence.diagnosis(best), best.dataset, best.run)
    assert answer.verdict == faults.verdict
    assert answer.sentences[0] == faults.words()
    assert answer.sentences[0].startswith("It repeats one rater, w0 (1 of 1)")
    _, numbers = certificate_tables(certificate)
    assert numbers.rows[0]["wrong"] == f"{faults.verdict.text}. {faults.words()}"


def test_a_person_whose_scale_is_turned_round_is_named_by_the_summary_and_spoils_a_certificate() -> None:
    raters = BoundedRaters(World(story_prompts=96), np.random.default_rng(3))
    made = raters.study()
    people = made.people.copy()
    people[..., 2] = 6 - people[..., 2]
    made = replace(made, people=people)
    evidence = Evidence(made.with_judges(j=Judges(raters, made).honest_model()).table(), OPTIONS)
    (best,) = evidence.margins
    assert any("Of the people, w2 rates against the other raters" in text for text in wrong(evidence, best).sentences)
    certificate = certify(evidence, Conditions.of([], ["unbiased"]), date(2026, 1, 1))
    assert "rates against the other raters (w2)" in failed(certificate, "unbiased")
