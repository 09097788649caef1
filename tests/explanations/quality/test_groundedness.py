"""Whether explanations speak of their story: audited answers beside the human story of that id, and another."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from judge.explanations.corpus.corpus import ExplanationTexts, stories_of
from judge.explanations.corpus.reading import read_texts
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.quoted_evidence import Library, Reading, measure, read_evidence
from tests.explanations import planted


@pytest.fixture(scope="module")
def audited(studies: Path) -> ExplanationTexts:
    return read_texts(studies / "hanna" / "user_study.csv")


def test_audited_answers_name_what_their_human_story_has(audited: ExplanationTexts) -> None:
    found = read_evidence(audited.with_text, Library(audited.stories, audited.criteria), Reading.of)
    names = {name: place for one in found if one is not None for name, place in one.names}
    assert names["Monica"] == "story"
    assert names["Anessa"] == "story"
    assert names["Mark Zuckerberg"] == "story-prompt"
    quotes = {span: place for one in found if one is not None for span, place in one.quotes}
    assert quotes["Meet and Greet/Question of the Week"] == "story-prompt"
    pointing = [bool(one and one.count("names", "story") + one.count("quotes", "story")) for one in found]
    stories = audited.stories.assign(text=np.roll(audited.stories["text"].to_numpy(), 1))
    others = read_evidence(audited.with_text, Library(stories, audited.criteria), Reading.of)
    wrong = [bool(one and one.count("names", "story") + one.count("quotes", "story")) for one in others]
    assert sum(pointing) > 4 * max(1, sum(wrong))


def test_the_table_counts_what_was_read(audited: ExplanationTexts) -> None:
    library = Library(audited.stories, audited.criteria)
    found = measure(audited.with_text, library, Reading.of, NumbersOptions(), "signature")
    evidence = read_evidence(audited.with_text, library, Reading.of)
    assert sum(row.result.names for row in found.rows) == sum(len(one.names) for one in evidence if one is not None)
    assert sum(row.result.texts for row in found.rows) == 100
    relevance = next(row for row in found.rows if row.asked.criterion == "Relevance")
    empathy = next(row for row in found.rows if row.asked.criterion == "Empathy")
    assert (
        relevance.result.boilerplate.value > 3 * empathy.result.boilerplate.value
    )  # guidelines copied, against free text
    assert 0 <= relevance.result.boilerplate.low <= relevance.result.boilerplate.high <= 1
    assert found.rows[1].result.quotes_story.reason == "no quotation"


def test_invented_quotations_are_claims_without_support() -> None:
    frame = planted.frame(
        lambda at: f'It says "the {"red" if at.repeat else "blue"} dragon sleeps".', criteria=("Empathy",), stories=12
    )
    rows = [("toy", f"s{n}", "", "Human", "Here the red dragon sleeps.", None) for n in range(12)]
    found = measure(frame, Library(stories_of(rows), ()), Reading.of, NumbersOptions(), "signature").rows[0]
    assert found.result.unsupported.value == pytest.approx(1 / 3)
    assert (found.result.quotes, found.result.quotes_story.value) == (36, pytest.approx(2 / 3))
    assert found.result.pointing.value == pytest.approx(2 / 3)


def test_stories_without_text_are_said_and_not_counted(audited: ExplanationTexts) -> None:
    without = dataclasses.replace(audited, stories=stories_of([]))
    found = measure(without.with_text, Library(without.stories, ()), Reading.of, NumbersOptions(), "signature")
    assert any(note.startswith("100 texts are about stories whose text is not known") for note in found.notes)
    assert found.rows[0].result.pointing.reason == "no story's text is known"
    assert found.rows[0].result.boilerplate.defined
