"""Which views see a difference, what that shows, and that disagreement is said once for each way of disagreeing."""

from __future__ import annotations

import pytest

from judge.analysis.comparison.sentence import disagreements, holds_for, questions, views
from judge.analysis.options.table_options import Swap
from judge.base.estimate import Estimate

OUT, IN, NONE = Estimate(-0.03, 9, -0.05, -0.01), Estimate(-0.03, 9, -0.05, 0.01), Estimate(-0.03, 9)
SMALL, LARGE = 0.049, 0.05


def test_a_view_is_an_adjusted_p_or_an_interval_and_may_be_missing() -> None:
    assert views(OUT, IN, SMALL, LARGE) == {
        "permutation": True,
        "Williams": False,
        "boot-inputs": True,
        "boot-both": False,
    }
    assert set(views(NONE, NONE, None, None).values()) == {None}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ((OUT, OUT, SMALL, SMALL), "these stories, new story-prompts, new systems"),
        ((OUT, IN, SMALL, SMALL), "these stories, new story-prompts"),
        ((OUT, IN, LARGE, SMALL), "new story-prompts"),
        ((IN, IN, SMALL, LARGE), "these stories"),
        # Williams alone shows nothing: its theory is not tau's.
        ((IN, IN, LARGE, SMALL), "nothing shown"),
        ((IN, NONE, None, None), "nothing shown"),
        ((NONE, NONE, None, None), "—"),
    ],
)
def test_what_is_shown(case: tuple, words: str) -> None:
    assert holds_for(views(*case), "stories") == words


@pytest.mark.parametrize(("swap", "words"), [("story-prompts", "new story-prompts"), ("systems", "new systems")])
def test_a_permutation_test_shows_what_its_swaps_speak_about(swap: Swap, words: str) -> None:
    assert holds_for(views(IN, IN, SMALL, LARGE), swap) == words
    assert holds_for(views(OUT, IN, SMALL, LARGE), "systems") == "new story-prompts, new systems"
    (question, *_) = questions(swap)
    assert words in question


def test_disagreements_are_grouped_and_long_lists_cut() -> None:
    rows = [(f"ep2 − ep1, C{i}", views(OUT, IN, SMALL, LARGE)) for i in range(8)]
    rows += [("agreed", views(OUT, OUT, SMALL, SMALL)), ("agreed too", views(IN, IN, LARGE, LARGE))]
    rows += [("one", views(IN, IN, LARGE, SMALL)), ("untested", views(OUT, NONE, None, None))]
    assert disagreements(rows) == [
        "the views disagree: permutation and boot-inputs see a difference, Williams and boot-both do not: "
        + "; ".join(f"ep2 − ep1, C{i}" for i in range(6))
        + "; and 2 more (column 'shown for')",
        "the views disagree: Williams sees a difference, permutation, boot-inputs and boot-both do not: one",
    ]
