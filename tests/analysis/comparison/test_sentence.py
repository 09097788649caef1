"""Each wording of a contrast's sentence, and that it never says more than the numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge.analysis.comparison.sentence import ContrastFacts, leaves_zero_out, sentence
from judge.base.estimate import Estimate

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


def taus(*values: float | None) -> tuple[tuple[str, Estimate], ...]:
    return tuple(
        (name, Estimate.undefined("people's ratings are all equal") if value is None else Estimate(value, n=960))
        for name, value in zip(CRITERIA, values, strict=False)
    )


FACTS = ContrastFacts(
    first="ep1",
    second="ep3",
    parsed=(0.99, 0.87),
    parse=Estimate(-0.12, 5760, -0.141, -0.099),
    rating=Estimate(0.31, 6, 0.25, 0.38),
    taus=taus(-0.05, -0.04, -0.03, -0.02, -0.06, 0.014),
    inputs=Estimate(-0.031, 6, -0.05, -0.012),
    both=Estimate(-0.031, 6, -0.08, 0.02),
)


def test_the_whole_sentence() -> None:
    assert sentence(FACTS) == (
        "With ep3, 12.0 percentage points fewer of the answers hold a rating than with ep1 [-14.1, -9.9]. "
        "ep3 correlates lower with people on 5 of 6 criteria (mean -3.1 [-5.0, -1.2]): "
        "more than new story-prompts would explain, not more than new systems would "
        "[-8.0, 2.0]."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"parsed": (1.0, 1.0), "parse": Estimate(0.0, 9)},
            "With ep3, as with ep1, every answer holds a rating. ep3 correlates ",
        ),
        (
            {"parsed": (0.9, 0.9), "parse": Estimate(0.0, 9, reason="no interval: the sides agree on every answer")},
            "With ep3 the same share of answers holds a rating as with ep1. ep3 correlates ",
        ),
        (
            {"parse": Estimate(0.02, 9, 0.01, 0.03)},
            "With ep3, 2.0 percentage points more of the answers hold a rating than with ep1 [1.0, 3.0]. ep3 ",
        ),
        (
            {"parse": Estimate(-0.004, 9, -0.012, 0.005)},
            (
                "With ep3, 0.4 percentage points fewer of the answers hold a rating than with ep1 [-1.2, 0.5], "
                "a difference that new story-prompts could turn round. ep3 "
            ),
        ),
        (
            {"parse": Estimate(-0.004, 9)},
            "With ep3, 0.4 percentage points fewer of the answers hold a rating than with ep1 (no interval). ep3 ",
        ),
        ({"parse": Estimate.undefined("imported")}, "Compared with ep1, ep3 correlates lower with people on 5 of 6 "),
    ],
)
def test_words_for_the_parse_rate(changes: dict, words: str) -> None:
    assert sentence(replace(FACTS, **changes)).startswith(words)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((-0.1, -0.2, -0.3, -0.1, -0.1, -0.1), "correlates lower with people on all 6 criteria (mean -3.1 ["),
        # The mean (-3.1, of FACTS) goes against most criteria: it leads, and the count does not gainsay it.
        (
            (0.1, 0.2, 0.3, 0.1, 0.1, -0.9),
            "correlates lower with people on average (mean -3.1 [-5.0, -1.2] over 6 criteria), though higher on 5 of",
        ),
        ((0.1, 0.2, 0.3, -0.1, -0.1, -0.1), "correlates lower with people on 3 and higher on 3 of 6 criteria (mean"),
        ((-0.1, None, -0.3), "correlates lower with people on all 2 criteria (1 undefined) (mean"),
        ((-0.1,), "correlates lower with people on Relevance (-3.1 ["),
        ((0.1,), "correlates higher with people on Relevance (-3.1 ["),
        ((-0.1, 0.0, 0.0), "correlates lower with people on 1 of 3 criteria (mean"),
        ((0.0, 0.0), "correlates with people exactly as ep1 does on all 2 criteria:"),
        ((0.0,), "correlates with people exactly as ep1 does on Relevance:"),
    ],
)
def test_words_for_the_criteria(values: tuple, words: str) -> None:
    assert f". ep3 {words}" in sentence(replace(FACTS, taus=taus(*values)))


def test_systems_are_ordered_at_system_level() -> None:
    text = sentence(replace(FACTS, level="system"))
    assert "orders systems lower" not in text
    assert "ep3 correlates lower with people over system means on 5 of 6 criteria" in text


MORE, NOT_MORE = "more than new story-prompts would explain", "not more than new story-prompts would explain"
NO_SYSTEMS = ". For new systems there is no interval: 4 systems are too few to resample."
PROMPTS = {"out": Estimate(-0.03, 6, -0.05, -0.01), "in": Estimate(-0.03, 6, -0.05, 0.01)}
NONE = Estimate(-0.03, 6).without_interval("fewer than 5 story-prompts to resample")
FEW = Estimate(-0.03, 6).without_interval("4 systems are too few to resample")


@pytest.mark.parametrize(
    ("inputs", "both", "words"),
    [
        (PROMPTS["out"], PROMPTS["out"], ": more than new story-prompts or new systems would explain."),
        (PROMPTS["out"], PROMPTS["in"], f": {MORE}, not more than new systems would [-5.0, 1.0]."),
        (PROMPTS["out"], FEW, f": {MORE}{NO_SYSTEMS}"),
        (PROMPTS["in"], PROMPTS["in"], f": {NOT_MORE}."),
        (PROMPTS["in"], PROMPTS["out"], "leaves 0 out [-5.0, -1.0]: too close to rely on."),
        (PROMPTS["in"], FEW, f": {NOT_MORE}{NO_SYSTEMS}"),
        (
            NONE,
            FEW,
            ": without an interval over story-prompts (fewer than 5 story-prompts to resample) this may be chance.",
        ),
        (NONE, PROMPTS["in"], "this may be chance; over systems and story-prompts [-5.0, 1.0], including 0."),
        (NONE, PROMPTS["out"], "this may be chance; over systems and story-prompts [-5.0, -1.0], excluding 0."),
    ],
)
def test_the_verdict_follows_the_intervals(inputs: Estimate, both: Estimate, words: str) -> None:
    text = sentence(replace(FACTS, inputs=inputs, both=both))
    assert text.endswith(words)
    if inputs.low is None:
        assert "(mean -3.0):" in text


def test_no_difference_in_any_resample_needs_no_verdict() -> None:
    nothing = Estimate(0.0, 6, 0.0, 0.0)
    text = sentence(replace(FACTS, taus=taus(0.0, 0.0), inputs=nothing, both=nothing))
    assert text.endswith("correlates with people exactly as ep1 does on all 2 criteria.")


@pytest.mark.parametrize(
    ("rating", "words"),
    [
        (Estimate(0.31, 6, 0.25, 0.38), "rates the same stories 0.31 points higher [0.25, 0.38]. Nothing"),
        (
            Estimate(-0.31, 6, -0.65, 0.03),
            (
                "rates the same stories 0.31 points lower [-0.65, 0.03], a difference that new story-prompts "
                "could turn round. Nothing"
            ),
        ),
        (Estimate(-0.31, 6), "rates the same stories 0.31 points lower (no interval). Nothing"),
        (Estimate(0.0, 6, 0.0, 0.0), "rates the same stories alike on average. Nothing"),
        (Estimate.undefined("nothing"), "has no ratings on the same stories. Nothing"),
    ],
)
def test_without_people_the_mean_rating_is_told(rating: Estimate, words: str) -> None:
    text = sentence(replace(FACTS, rating=rating, taus=taus(None, None)))
    assert f". ep3 {words} can be said about agreement with people: people's ratings are all equal." in text


def test_an_interval_that_touches_zero_holds_it() -> None:
    assert leaves_zero_out(Estimate(0.1, 9, 0.0, 0.2)) is False
    assert leaves_zero_out(Estimate(0.1, 9, 0.01, 0.2)) is True
    assert leaves_zero_out(Estimate(-0.1, 9, -0.2, -0.01)) is True
    assert leaves_zero_out(Estimate(0.1, 9)) is None
