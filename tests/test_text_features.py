"""Surface features: hand-worked values, agreement with HANNA's score file, and what damages do to them."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.inputs.text_features import (
    SCORE_FILE_FEATURES,
    for_regression,
    length,
    own_features,
    score_file_features,
    sentences,
    tokens,
)

STORY = (
    "The lamp went out at nine. Mara waited on the stairs and counted to forty. "
    "Nobody came, so she lit the lamp herself. In the morning there were two cups on the table."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I didn't go.", ["I", "did", "n't", "go", "."]),
        ("did n't", ["did", "n't"]),
        ("She’s here; it’s Tom's.", ["She", "’s", "here", ";", "it", "’s", "Tom", "'s", "."]),
        ("DON'T", ["DO", "N'T"]),
        ("wait... no -- yes", ["wait", "...", "no", "--", "yes"]),
        ("`` Hi , '' he said", ["``", "Hi", ",", "''", "he", "said"]),
        ("well-known 3.5", ["well", "-", "known", "3", ".", "5"]),
        ("  \n", []),
    ],
)
def test_tokens_are_words_and_marks_with_case(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected
    assert length(text) == len(expected)


def test_sentences_lose_their_end_marks_and_wordless_ones() -> None:
    text = 'She said, "Go!" Then left.\n\n* * *\nHe laughed . " Why ? " Pi is 3.14 now…'
    assert sentences(text) == ['She said, "Go', "Then left", "He laughed", '" Why', '" Pi is 3.14 now']


def test_score_file_features_worked_by_hand() -> None:
    # story: a b a b c (5 tokens; 3 distinct words, a and b repeated; pairs ab x 2, ba, bc; triples aba, bab, abc)
    # story-prompt: "B c d" -> case kept, only c is known; case folded, "b c" is copied, and "b" once more
    values = score_file_features("a b a b c", "B c d")
    assert values["length"] == 5
    assert values["compression"] == pytest.approx(3 / 5)
    assert values["repetition-1"] == pytest.approx(2 / 3)
    assert values["repetition-2"] == pytest.approx(1 / 3)
    assert values["repetition-3"] == 0
    assert values["novelty-1"] == pytest.approx(2 / 3)
    assert values["novelty-2"] == 1
    assert values["coverage"] == pytest.approx((1 + 2) / 5)
    assert values["density"] == pytest.approx((1 + 4) / 5)


def test_score_file_features_follow_the_released_columns_as_closely_as_the_module_says(studies: Path) -> None:
    """The counts of exact agreement are those of the module's docstring, measured on the 96 released human stories."""
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    human = dict(zip(header, next(row for row in rows if row[0] == "Human"), strict=True))
    with (studies / "hanna" / "hanna_llm_stories.csv").open(encoding="utf-8", newline="") as stream:
        stories = list(csv.DictReader(stream))[:96]
    computed = [score_file_features(row["Human"], row["Prompt"]) for row in stories]
    exact: dict[str, int] = {}
    correlation: dict[str, float] = {}
    gaps: dict[str, list[float]] = {}
    for name, column in SCORE_FILE_FEATURES.items():
        ours, released = [values[name] for values in computed], json.loads(human[column])
        gaps[name] = [abs(a - b) for a, b in zip(ours, released, strict=True)]
        exact[name] = sum(gap < 1e-9 for gap in gaps[name])
        correlation[name] = _pearson(ours, released)
    none = dict.fromkeys(("compression", "coverage", "density", "novelty-1"), 0)
    some = {"length": 8, "novelty-2": 25, "novelty-3": 82, "repetition-1": 5, "repetition-2": 5, "repetition-3": 6}
    assert exact == none | some
    assert (min(correlation, key=correlation.__getitem__), round(min(correlation.values()), 3)) == ("novelty-2", 0.979)
    assert (max(correlation, key=correlation.__getitem__), round(max(correlation.values()), 4)) == (
        "compression",
        0.9993,
    )
    assert (max(gaps["length"]), sum(gap <= 2 for gap in gaps["length"])) == (187, 69)


def test_looping_shows_in_the_damage_features() -> None:
    whole, looped = own_features(STORY, ""), own_features(f"{STORY} {STORY}", "")
    assert whole["duplicate-sentences"] == 0
    assert looped["duplicate-sentences"] == 0.5
    assert whole["repetition-4"] < 0.1 < 0.9 < looped["repetition-4"]
    assert looped["packed"] < whole["packed"]
    assert looped["words-given-before"] > 0.5 > whole["words-given-before"]


def test_stutter_and_repeats_within_a_sentence() -> None:
    values = own_features("He struck the rock and struck the the rock.", "")
    assert values["stutter"] == pytest.approx(1 / 9)
    assert values["repeats-in-sentence"] == pytest.approx(1 - 2 / 4)


def test_windowed_vocabulary_equals_its_definition() -> None:
    words = [f"w{(i * i) % 37}" for i in range(180)]
    windows = [words[i : i + 50] for i in range(len(words) - 49)]
    expected = sum(len(set(window)) / 50 for window in windows) / len(windows)
    assert own_features(" ".join(words), "")["vocabulary"] == pytest.approx(expected, abs=1e-12)


def test_empty_texts_give_zeros_not_errors() -> None:
    values = own_features("", "")
    assert values.pop("novelty-1") == values.pop("novelty-2") == values.pop("novelty-3") == 1
    assert values.pop("punctuation") == 1
    assert set(values.values()) == {0.0}


@given(st.text(max_size=300), st.text(max_size=60))
def test_all_features_are_finite_and_shares_lie_in_0_to_1(text: str, prompt: str) -> None:
    values = own_features(text, prompt)
    assert all(map(math.isfinite, for_regression(values).values()))
    for name in (
        "coverage",
        "novelty-1",
        "repetition-1",
        "repetition-4",
        "vocabulary",
        "duplicate-sentences",
        "stutter",
    ):
        assert 0 <= values[name] <= 1, name


def test_needs_no_numpy() -> None:
    code = (
        "import sys, judge.inputs.text_features as t; t.own_features('A story.', 'A prompt.');"
        "print({'numpy', 'pandas', 'scipy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def _pearson(xs: list[float], ys: list[float]) -> float:
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    joint = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return joint / math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))


def test_the_spread_of_sentences_is_the_same_on_every_python() -> None:
    # sum() of fractions rounds otherwise since Python 3.12. Sentences of 1, 2, 2 and 5 words: variance 9 / 4.
    text = "One. Two words. Two more. Here are five words now."
    assert own_features(text, "")["sentence-spread"] == 1.5
