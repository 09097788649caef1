"""Contradictions: planted ones are flagged, and none where words do not predict ratings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.base.errors import SpecError
from judge.base.records import Criterion, Scale
from judge.cli.main import main
from judge.explanations.corpus.corpus import frame_of
from judge.explanations.corpus.reading import read_texts
from judge.explanations.quality.contradictions import (
    AUDITED,
    Contradictions,
    contradictions,
    mark,
    precision,
    read_flags,
    table,
)
from judge.stats.estimation.proportions import wilson

GOOD = ("vivid", "coherent", "moving", "elegant", "gripping")
BAD = ("dull", "confusing", "flat", "clumsy", "tedious")
COHERENCE = Criterion(
    "Coherence",
    "CH",
    "does it make sense?",
    Scale(1, 5, 1),
    (
        "The story makes no sense at all to anybody.",
        "Most of it is quite hard to follow.",
        "Half of the plot can be followed.",
        "Nearly everything fits together well here.",
        "Each scene follows clearly from the last one.",
    ),
)


def made(turned: int = 0, *, words: bool = True) -> pd.DataFrame:
    """120 texts about 12 story-prompts; of the first `turned` the rating is the other one."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(120):
        high = bool(number % 2)
        said = rng.choice(GOOD if high else BAD, 3) if words else rng.choice((*GOOD, *BAD), 3)
        rating = (5.0 if high else 1.0) if number >= turned else (1.0 if high else 5.0)
        rows.append(
            {
                "judge": "j",
                "dataset": "d",
                "story": f"s{number}",
                "story_prompt": f"p{number % 12}",
                "criterion": "Coherence",
                "eval_prompt": "ep2",
                "repeat": 0,
                "rating": rating,
                "explanation": f"The story is {said[0]}, {said[1]} and {said[2]}.",
            }
        )
    return frame_of(rows)


def stories(found: Contradictions) -> set[str | None]:
    return {one.story for one in found.flagged}


def test_ratings_that_were_turned_are_flagged_and_no_others() -> None:
    found = contradictions(made(turned=4), [COHERENCE])
    assert stories(found) == {"s0", "s1", "s2", "s3"}
    assert {one.rule for one in found.flagged} == {"words"}
    assert found.flagged[0].rating in (1.0, 5.0)
    assert found.share.value == pytest.approx(4 / 120)


def test_nothing_is_flagged_where_words_tell_no_rating() -> None:
    found = contradictions(made(words=False), [COHERENCE])
    assert not found.flagged
    assert "90 % are needed" in found.notes[0]


def test_a_quoted_guideline_of_the_other_side_is_flagged_and_one_of_its_own_is_not() -> None:
    quoting = "Each scene follows clearly from the last one."
    rows = [
        {"story": "a", "criterion": "Coherence", "rating": 1.0, "explanation": quoting},
        {"story": "b", "criterion": "Coherence", "rating": 4.0, "explanation": quoting},
        {"story": "c", "criterion": "Coherence", "rating": 3.0, "explanation": quoting},
    ]
    found = contradictions(frame_of(rows), [COHERENCE])
    assert [(one.story, one.rule, one.suggested) for one in found.flagged] == [("a", "guideline", 5.0)]
    assert "only the rule on guidelines" in found.notes[0]


def test_texts_without_a_rating_are_counted() -> None:
    frame = made()
    frame.loc[0, "rating"] = np.nan
    assert "1 texts without a rating" in contradictions(frame, [COHERENCE]).notes[0]
    with pytest.raises(SpecError, match="no explanation has a rating"):
        contradictions(frame.iloc[:1], [COHERENCE])


def test_one_rating_for_all_teaches_nothing() -> None:
    frame = made()
    frame["rating"] = 5.0
    found = contradictions(frame, [COHERENCE])
    assert not found.flagged
    assert "same rating" in found.notes[0]


def test_the_table_prints_what_a_flag_is_worth() -> None:
    printed = table(contradictions(made(turned=2), [COHERENCE]))
    assert len(printed.rows) == 2
    for said in ("6 of 10", "1 of 33", "0 of 4"):
        assert any(said in note for note in printed.notes), said
    assert "tfidf-ridge" in printed.signature


def test_the_flags_that_were_read_are_those_of_today(studies: Path) -> None:
    # docs/contradictions.md: ten flags of five judges by themselves; the six that contradict when read.
    texts = read_texts(["ttcw_explanations"])
    frame = texts.with_text
    found = [
        (name, one.story, one.criterion)
        for name in ("cgpt", "gpt4", "claudev13", "claudev2", "claudev21")
        for one in contradictions(frame[frame["judge"] == name], texts.criteria).flagged
    ]
    read = {
        ("cgpt", "1_GPT3.5", "Originality in Form and Structure"),
        ("cgpt", "6_Claude", "Originality in Form and Structure"),
        ("claudev13", "4_NewYorker", "Rhetorical Complexity"),
        ("claudev21", "11_NewYorker", "Originality in Theme and Content"),
        ("claudev21", "6_NewYorker", "Originality in Thought"),
        ("claudev21", "8_GPT4", "Narrative Ending"),
    }
    assert read <= set(found)
    assert (("words", len(read), len(found)),) == AUDITED


def test_the_flags_that_were_read_afterwards_are_those_of_today(studies: Path) -> None:
    # docs/contradictions.md: margin and weights as they were; the experts' with the 90 % gate set aside.
    texts = read_texts(["ttcw_explanations"])
    frame = texts.with_text
    experts = contradictions(frame[frame["side"] == "expert"], texts.criteria, least_told=0.0)
    known = {row.text: row for row in read_flags() if row.sample == "experts"}
    flagged = {mark(one.text) for one in experts.flagged}
    assert flagged == {text for text, row in known.items() if row.flagged}
    assert precision("experts") == (sum(known[text].verdict == "contradicts" for text in flagged), len(flagged))
    assert set(known) <= {mark(text) for text in frame["text"]}
    others = [row for row in read_flags() if row.sample == "other deals"]
    for judge, seed in {(row.judge, row.seed) for row in others}:
        found = contradictions(frame[frame["judge"] == judge], texts.criteria, seed=seed)
        wanted = {row.text for row in others if (row.judge, row.seed) == (judge, seed)}
        assert wanted <= {mark(one.text) for one in found.flagged}


def test_what_was_read_is_counted_as_the_document_says() -> None:
    assert (precision("experts"), precision("other deals")) == ((1, 33), (0, 4))
    assert precision("experts", flagged=False) == (0, 27)
    said = Path("docs/contradictions.md").read_text(encoding="utf-8")
    for right, read in (precision("experts"), precision("other deals"), precision("experts", flagged=False)):
        share = wilson(right, read)
        assert share.value is not None
        assert share.low is not None
        assert share.high is not None
        row = f"| {read} | {right} | {100 * share.value:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}] |"
        assert row in said, row


@pytest.mark.parametrize(
    "more",
    [["--set", "name_by=ctfidf"], ["--set", "figure=a.png"], ["--map", "tsne"], ["--top", "3"], ["--by", "side"]],
)
def test_options_of_the_map_are_refused(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain", "storyer_reasons", "--layout", "contradictions", *more])
    assert ended.value.code == 1
    named = " ".join(more).partition("=")[0] if more[0] == "--set" else more[0]
    assert f"{named} has no effect with --layout contradictions" in capsys.readouterr().err
